"""What is asked of a server, what it answers, and who may carry it: the types that the web package shares."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from selfright.web.urls import Target

AGENT = "Selfright/0.1"

HTML = frozenset(("text/html", "application/xhtml+xml"))
TEXT = frozenset(("text/plain", "text/markdown"))
PDF = frozenset(("application/pdf",))
PAGES = HTML | TEXT | PDF


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request may take: ``seconds`` in all, ``bytes`` of the body (as sent, and as unpacked)."""

    seconds: float = 10.0
    connect_s: float = 4.0
    bytes: int = 5_000_000
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class Request:
    """One request. A reply of 200 must have one of the media ``types``; with none given, any will do."""

    target: Target
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: header names in lower case; ``media_type`` as told from type and content; body only with a 200."""

    target: Target
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    media_type: str = ""
    charset: str | None = None


@dataclass(slots=True)
class Tally:
    """Counts the requests that were sent for one search."""

    requests: int = 0


Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Name and port to the textual addresses of the name."""

Entry = Callable[[Target], AbstractAsyncContextManager[None]]
"""What is held while a host is asked: a place in its queue. May raise ``PageRefused`` or ``PageUnusable``."""


class Transport(Protocol):
    """Sends requests: the guard."""

    async def exchange(self, request: Request, tally: Tally) -> Reply:
        """One request and its reply; redirects are not followed. Raises ``PageRefused`` or ``PageUnusable``."""
        ...

    async def follow(self, request: Request, tally: Tally, entry: Entry) -> Reply:
        """As ``exchange``, over a bounded number of redirects; ``entry`` is held at each step."""
        ...


def no_queue(_target: Target) -> AbstractAsyncContextManager[None]:
    """An ``Entry`` that is always open."""
    return nullcontext()
