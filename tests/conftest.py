"""What every test lives under: no network, no trace on the user's machine, no reading of the user's settings."""

import asyncio
import inspect
import ipaddress
import os
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.postgres import database, postgres, server_uri, shared_database

# Fixtures of all tests; the server starts when one asks for it.
__all__ = ["database", "postgres", "server_uri", "shared_database"]

PROVIDER_KEYS = ("OPENAI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "TAVILY_API_KEY", "BRAVE_API_KEY")

# The machine's speed is no property of the code: no deadline, no complaint about slow generation.
settings.register_profile("local", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")


# A shell without job control lets what it starts in the background ignore SIGINT, and the children inherit that: those
# that tests end by SIGINT would run on.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class NetworkForbidden(OSError):
    """A test tried to leave this machine. An OSError, so that libraries clean up as after any failed connection."""


_attempts: list[str] = []


def _is_here(host: object) -> bool:
    """Whether a host is this machine, without asking anyone."""
    name = host.decode("utf-8", "replace") if isinstance(host, bytes) else host
    if name is None or name in ("", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(str(name).split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _is_address(host: object) -> bool:
    try:
        ipaddress.ip_address(str(host).split("%")[0])
    except ValueError:
        return False
    return True


def _forbid_network(event: str, arguments: tuple[object, ...]) -> None:
    if not event.startswith("socket."):
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        target = arguments[1]
        allowed = not isinstance(target, tuple) or _is_here(target[0])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        target = arguments[0]
        allowed = _is_here(target) or (event == "socket.getaddrinfo" and _is_address(target))
    else:
        return
    if not allowed:
        _attempts.append(f"{event} {target}")
        raise NetworkForbidden(
            f"tests do not use the network, but this one did: {event} {target}; use a fake or 127.0.0.1"
        )


# An audit hook sees every socket, also those that libraries hold on to, and cannot be patched away by a test.
sys.addaudithook(_forbid_network)


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test may be a coroutine; it gets an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.function):
        return None
    asyncio.run(pyfuncitem.function(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}))
    return True


@pytest.fixture(autouse=True)
def network_attempts() -> Iterator[list[str]]:
    """Fails a test that tried to leave the machine even where the code under test swallowed the refusal."""
    _attempts.clear()
    yield _attempts
    if _attempts:
        pytest.fail(f"the test tried to use the network: {', '.join(_attempts)}")


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base = tmp_path_factory.mktemp("homes")
    return (base / str(number) for number in count())


@pytest.fixture(autouse=True)
def home_folder(_homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for each test (not made until it is written to), with no settings and no keys around it."""
    for name in [*PROVIDER_KEYS, *(name for name in os.environ if name.startswith("SELFRIGHT_"))]:
        monkeypatch.delenv(name, raising=False)
    home = next(_homes)
    monkeypatch.setenv("SELFRIGHT_HOME", str(home / "home"))
    monkeypatch.setenv("SELFRIGHT_INDEX", str(home / "index"))
    return home
