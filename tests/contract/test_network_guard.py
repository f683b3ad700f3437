"""What every test lives under: off the network but for this machine's own sockets, and SIGINT is heard."""

import contextlib
import socket
import subprocess
import sys
from pathlib import Path

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


def test_in_the_background_children_of_tests_can_still_be_ended_by_sigint() -> None:
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import tests.conftest"
    told = f"{deaf}; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run(
        [sys.executable, "-c", told], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"
