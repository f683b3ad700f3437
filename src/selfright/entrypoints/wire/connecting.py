"""What the clients share below their calls: httpx, set up, and its errors as ours."""

import importlib.util
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selfright.domain.errors import MissingExtra, ServiceUnreachable

DEFAULT_URL = "http://127.0.0.1:8000"
TIMEOUT_S = 330.0  # longer than a turn may take
BROKE_OFF = "the stream broke off before the answer was complete; ask again"
_CONNECT_S = 5.0
File = tuple[str, bytes]
"""A file to send: its name and its content."""
Files = str | Path | File | Iterable[str | Path | File]


def library() -> Any:
    """httpx. Raises ``MissingExtra`` where it is not installed."""
    if importlib.util.find_spec("httpx") is None:
        raise MissingExtra("what the client needs", 'pip install "selfright[server]"')
    import httpx

    return httpx


def set_up(url: str, key: str | None, timeout_s: float) -> dict[str, Any]:
    """How a client of httpx is made."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = library().Timeout(timeout_s, connect=_CONNECT_S)
    # A proxy of the environment has no business between a page and the service of the same machine.
    return {"base_url": url, "headers": headers, "timeout": timeout, "trust_env": False}


def parts(files: Files) -> list[tuple[str, File]]:
    """The parts of a form that sends files; one file may come alone."""
    read = [(Path(f).name, Path(f).read_bytes()) if isinstance(f, str | Path) else f for f in _each(files)]
    return [("files", each) for each in read]


def _each(files: Files) -> Iterable[str | Path | File]:
    if isinstance(files, str | Path):
        return [files]
    match files:
        case (str(name), bytes(content)):
            return [(name, content)]
    return files


@contextmanager
def reachable() -> Generator[None, None, None]:
    """Errors of the connection as one of ours."""
    import httpx

    try:
        yield
    except httpx.TransportError as error:
        raise ServiceUnreachable(
            f"the service did not answer ({type(error).__name__}); check its address, and that it runs"
        ) from error


_NAMES = frozenset(
    "forwarded via x-real-ip x-client-ip true-client-ip client-ip x-cluster-client-ip x-proxyuser-ip cdn-loop "  # noqa: SIM905 - quoted one by one they read worse
    "x-host x-scheme x-url-scheme".split()
)
_BEGINNINGS = ("x-forwarded", "x-original-", "x-envoy-", "x-amz", "x-azure-", "x-appengine-", "cf-", "fly-", "fastly-")


def forwarding_header(names: Iterable[str]) -> str | None:
    """The first of these names of headers that only a proxy, a balancer or a CDN sends, in lower case."""
    lower = (name.lower() for name in names)
    return next((name for name in lower if name in _NAMES or name.startswith(_BEGINNINGS)), None)
