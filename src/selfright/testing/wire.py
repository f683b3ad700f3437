"""One request's way back to the client: whole responses, streams, and the ways a connection goes wrong."""

import asyncio
import json
import socket
import struct
import time
from collections.abc import Iterable, Mapping
from typing import Any

from selfright.testing import http
from selfright.testing.replies import Said
from selfright.testing.requests import Request

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
        """A whole response; ``how`` as ``http.framed`` takes it: content type, headers, a false length."""
        raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {**how.pop("headers", {}), **self._connection()}
        await self.send(http.framed(status, raw, headers=headers, **how), status)

    async def stream(self, events: Iterable[bytes], *, content_type: str = EVENTS, finished: bool = True) -> None:
        """A streamed response; ``finished=False`` leaves its end out, so that more, or a break, can follow."""
        headers = {"Transfer-Encoding": "chunked", "Cache-Control": "no-cache", **self._connection()}
        pending = http.head_bytes(200, content_type, headers)
        for event in events:
            pending += http.chunk(event)
            if self.pace_s:
                await self.send(pending, 200)
                pending = b""
                await asyncio.sleep(self.pace_s)
                if self.gone:
                    self.request.hung_up = True
                    return
        await self.send(pending + (http.chunk(b"") if finished else b""), 200)

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
            await self._reader.read(http.HEAD_BYTES)
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
