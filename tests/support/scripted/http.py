"""The little of HTTP/1.1 that a server needs which must also break it: requests in, framed bytes out."""

import asyncio
import json
import socket
import struct
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from tests.support.scripted.replies import Said
from tests.support.scripted.requests import Request

HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Head:
    """The request line and the headers: names in lower case, ``path`` without its query."""

    method: str
    path: str
    headers: Mapping[str, str]
    keeps_alive: bool


async def read_head(reader: asyncio.StreamReader) -> Head:
    """The next request's head. Raises ``EOFError`` when the client has hung up, ``ValueError`` for what is no head."""
    line, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    method, target, version = line.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (header.partition(":") for header in rest)}
    wish = headers.get("connection", "").lower()
    keeps_alive = wish != "close" if version == "HTTP/1.1" else wish == "keep-alive"
    return Head(method, target.partition("?")[0], headers, keeps_alive)


async def read_body(head: Head, reader: asyncio.StreamReader) -> bytes:
    """The request's body. Raises ``EOFError`` when the client has hung up."""
    return await reader.readexactly(int(head.headers.get("content-length", "0")))


def framed(
    status: int,
    body: bytes,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
    *,
    length: int | None = None,
) -> bytes:
    """A whole response. ``length`` is what Content-Length claims, when that is to be a lie."""
    claimed = len(body) if length is None else length
    return head_bytes(status, content_type, {**(headers or {}), "Content-Length": str(claimed)}) + body


def head_bytes(status: int, content_type: str, headers: Mapping[str, str]) -> bytes:
    """The status line and headers of a response, with the empty line behind them."""
    lines = [f"HTTP/1.1 {status} {_phrase(status)}", f"Content-Type: {content_type}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk(data: bytes) -> bytes:
    """One piece of a body with ``Transfer-Encoding: chunked``; the empty one ends the body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(data: Any) -> bytes:
    """One server-sent event; text goes out as it is, anything else as JSON."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"data: {text}\n\n".encode("utf-8", "replace")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


EVENTS = "text/event-stream; charset=utf-8"
_SEEN_S = 0.02  # what was sent before a break should have reached the client


class Wire:
    """Answers one request. ``said`` is what a sound answer says; ``pace_s`` seconds lie between its streamed pieces.

    ``keeps_alive`` is false once the connection cannot serve another request.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        request: Request,
        *,
        keeps_alive: bool = True,
        pace_s: float = 0.0,
    ) -> None:
        self.request = request
        self.said = Said()
        self.keeps_alive = keeps_alive
        self.pace_s = pace_s
        self._reader, self._writer = reader, writer

    @property
    def gone(self) -> bool:
        """Whether the client has hung up."""
        return self._reader.at_eof() or self._writer.is_closing()

    async def respond(self, status: int, body: "Mapping[str, Any] | bytes", **how: Any) -> None:
        """A whole response; ``how`` as ``framed`` takes it: content type, headers, a false length."""
        raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {**how.pop("headers", {}), **self._connection()}
        await self.send(framed(status, raw, headers=headers, **how), status)

    async def stream(self, events: Iterable[bytes], *, content_type: str = EVENTS, finished: bool = True) -> None:
        """A streamed response; ``finished=False`` leaves its end out, so that more, or a break, can follow."""
        headers = {"Transfer-Encoding": "chunked", "Cache-Control": "no-cache", **self._connection()}
        pending = head_bytes(200, content_type, headers)
        for event in events:
            pending += chunk(event)
            if self.pace_s:
                await self.send(pending, 200)
                pending = b""
                await asyncio.sleep(self.pace_s)
                if self.gone:
                    self.request.hung_up = True
                    return
        await self.send(pending + (chunk(b"") if finished else b""), 200)

    async def send(self, data: bytes, status: int) -> None:
        """Sends bytes as they are, and notes with which status the answer began."""
        self.request.status = status
        self.request.hung_up |= self.gone
        self.request.ended = time.monotonic()  # noted before the client can know of it
        if not self._writer.is_closing():
            self._writer.write(data)
            await self._writer.drain()

    async def hang(self) -> None:
        """Says nothing more until the client gives up."""
        self.keeps_alive = False
        while not self.gone:
            await self._reader.read(HEAD_BYTES)
        self.request.hung_up = True
        self.request.ended = time.monotonic()

    async def reset(self) -> None:
        """Breaks the connection off, so that the client's next read fails (TCP RST)."""
        await asyncio.sleep(_SEEN_S if self.request.status else 0)
        self.keeps_alive = False
        self.request.ended = time.monotonic()
        connection = self._writer.get_extra_info("socket")
        if connection is not None and not self._writer.is_closing():
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        """Ends the connection behind what was sent."""
        self.keeps_alive = False

    def _connection(self) -> dict[str, str]:
        return {} if self.keeps_alive else {"Connection": "close"}
