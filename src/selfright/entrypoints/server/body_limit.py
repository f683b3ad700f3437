"""How much a caller may send, and how long that may take."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.limits import Limits

UPLOADS = "/v1/documents"
_BYTES_A_SECOND = 100_000  # slower than that, a large body is taken for an attack


class BodyLimit:
    """Bounds every body in size and time, counted as it comes, and all bodies together: headers may be wrong."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits
        spool = 4 * limits.upload_bytes if limits.spool_bytes is None else limits.spool_bytes
        self._uploads = _ByteBudget(spool, "uploads_full", "too many files are being sent")
        self._others = _ByteBudget(limits.held_bytes, "overloaded", "too much is being sent")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets one request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        upload = scope["path"] == UPLOADS
        most = self._limits.upload_bytes if upload else self._limits.body_bytes
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused(415, "packed_body", "a body must not be compressed; send it as it is")
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > most:
            raise _too_large(most)
        body = _Bounded(receive, most, self._limits.body_s, self._uploads if upload else self._others)
        try:
            await self._app(scope, body.receive, send)
        finally:
            body.done()


class _ByteBudget:
    """So many bytes for the bodies of all requests together, from when they come until their request is over."""

    def __init__(self, most: int, code: str, why: str) -> None:
        self._most, self._code, self._why = most, code, why
        self._held = 0

    def take(self, size: int) -> None:
        """Raises ``Refused`` (503) where there is no room for so much more."""
        if self._held + size > self._most:
            raise Refused(503, self._code, f"{self._why} at the moment; try again later", retry_after=10)
        self._held += size

    def give_back(self, size: int) -> None:
        """Makes room again."""
        self._held -= size


class _Bounded:
    """One request's body."""

    def __init__(self, receive: Receive, most: int, patience_s: float, budget: _ByteBudget) -> None:
        self._receive, self._most, self._patience_s, self._budget = receive, most, patience_s, budget
        self._came = self._held = 0
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
        size = len(message.get("body", b""))
        self._came += size
        self._whole = not message.get("more_body", False)
        if self._came > self._most:
            raise _too_large(self._most)
        self._budget.take(size)
        self._held += size
        return message

    def done(self) -> None:
        """The request is over, and nothing of its body is kept."""
        self._budget.give_back(self._held)
        self._held = 0


def _too_large(most: int) -> Refused:
    return Refused(413, "too_large", f"the body may have at most {most:,} bytes; send less, or several requests")
