"""How much a caller may send, and how long that may take."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfright.entrypoints.server.limits import Limits
from selfright.entrypoints.server.refusals import Refused

UPLOADS = "/v1/documents"
_BYTES_A_SECOND = 100_000  # slower than that, a large body is taken for an attack


class Bodies:
    """Bounds every body in size and time, counted as it comes: what the headers say may be wrong."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets one request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        most = self._limits.upload_bytes if scope["path"] == UPLOADS else self._limits.body_bytes
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused(415, "packed_body", "a body must not be compressed; send it as it is")
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > most:
            raise _too_large(most)
        await self._app(scope, _Bounded(receive, most, self._limits.body_s).receive, send)


class _Bounded:
    """One request's body."""

    def __init__(self, receive: Receive, most: int, patience_s: float) -> None:
        self._receive, self._most, self._patience_s = receive, most, patience_s
        self._came = 0
        self._whole = False
        self._began = asyncio.get_running_loop().time()

    async def receive(self) -> Message:
        """The next message. Raises ``Refused`` when there is too much of it, or it does not come."""
        if self._whole:
            return await self._receive()
        until = self._began + self._patience_s + self._came / _BYTES_A_SECOND
        try:
            async with asyncio.timeout_at(until):
                message = await self._receive()
        except TimeoutError:
            raise Refused(408, "slow_body", "the body did not come in time; send it faster, or less of it") from None
        self._came += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._came > self._most:
            raise _too_large(self._most)
        return message


def _too_large(most: int) -> Refused:
    return Refused(413, "too_large", f"the body may have at most {most:,} bytes; send less, or several requests")
