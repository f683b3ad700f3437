"""The guard that keeps tests off the network works, and leaves this machine's own sockets alone."""

import contextlib
import socket

import pytest


def test_connections_are_refused(network_attempts: list[str]) -> None:
    with pytest.raises(OSError, match="do not use the network"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    assert len(network_attempts) == 1
    network_attempts.clear()


def test_names_are_not_looked_up(network_attempts: list[str]) -> None:
    with pytest.raises(OSError, match=r"getaddrinfo example\.org"):
        socket.getaddrinfo("example.org", 443)
    network_attempts.clear()


def test_datagrams_are_refused(network_attempts: list[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender, pytest.raises(OSError, match="sendto"):
        sender.sendto(b"hello", ("198.51.100.7", 53))
    network_attempts.clear()


def test_a_swallowed_refusal_is_remembered(network_attempts: list[str]) -> None:
    with contextlib.suppress(OSError):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    assert network_attempts == ["socket.connect ('192.0.2.1', 80)"]
    network_attempts.clear()


def test_loopback_works() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        connection, _ = server.accept()
        with connection:
            client.sendall(b"ping")
            assert connection.recv(4) == b"ping"
