"""What is asked of a server, what it answers, and who may carry it; bodies of replies told apart."""

import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from selfright.web.addresses import Target

AGENT = "Selfright/0.1"

HTML = frozenset(("text/html", "application/xhtml+xml"))
TEXT = frozenset(("text/plain", "text/markdown"))
PDF = frozenset(("application/pdf",))
PAGES = HTML | TEXT | PDF


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What one request may take: ``seconds`` in all, ``bytes`` of the body."""

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
class RequestCounter:
    """Counts the requests that were sent for one search."""

    requests: int = 0


Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Name and port to the textual addresses of the name."""

Entry = Callable[[Target], AbstractAsyncContextManager[None]]
"""What is held while a host is asked: a place in its queue. May raise ``PageRefused`` or ``PageUnusable``."""


_SNIFFED = 1_024
_BINARY = (
    b"PK\x03\x04", b"\x7fELF", b"MZ", b"GIF8", b"\x89PNG", b"\xff\xd8\xff", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"Rar!",
    b"\x28\xb5\x2f\xfd", b"RIFF", b"OggS", b"ID3", b"\x00\x00\x00", b"SQLite format",
)  # fmt: skip
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MARKUP = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<article", b"<div", b"<p>")


def media_of(header: str, body: bytes | None = None) -> tuple[str, str | None]:
    """Media type and charset of a ``Content-Type``; with the ``body``, the type is what the content looks like.

    PDF is PDF whatever it is called, and a binary body that is called text is ``application/octet-stream``. Markup that
    is sent as plain text stays plain text.
    """
    kind, _, rest = header.partition(";")
    kind = kind.strip().lower()
    match = re.search(r"""charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", rest, re.IGNORECASE)
    return kind if body is None else _sniff(kind, body), match[1] if match else None


def _sniff(kind: str, body: bytes) -> str:
    head = body[:_SNIFFED]
    if b"%PDF-" in head:
        return "application/pdf"
    if kind in PDF or head.startswith(_BINARY) or (b"\0" in head and not head.startswith(_UNICODE_MARKS)):
        return "application/octet-stream"
    return kind or ("text/html" if any(mark in head.lower() for mark in _MARKUP) else "text/plain")
