"""Layers that every request passes: an id, safe headers, a line in the log, an answer; and how much may be sent."""

import asyncio
import re
import secrets
import time
from collections import Counter

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfright.domain.errors import SelfrightError
from selfright.entrypoints.server import logging
from selfright.entrypoints.server.admission import LOCAL_KEY, Limits
from selfright.entrypoints.server.errors import Refused, internal, refusal_of
from selfright.entrypoints.server.metrics import Metrics

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_GONE = 499


class ClientGone(Exception):
    """The caller hung up."""


class Envelope:
    """Wraps the whole service."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets one request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        passing = _Passing(scope, send)
        began = time.monotonic()
        try:
            await self._app(scope, receive, passing.send)
        except ClientGone:
            passing.status = _GONE
        except Exception as error:
            await self._answer(error, passing, scope, receive)
        finally:
            self._note(scope, passing, time.monotonic() - began)

    async def _answer(self, error: Exception, passing: "_Passing", scope: Scope, receive: Receive) -> None:
        if passing.status:
            logging.broke(error, passing.id)
            raise ConnectionAbortedError from None  # the reply is half sent: only closing tells that it is incomplete
        try:
            await refusal_for(error, passing.id).response()(scope, receive, passing.send)
        except ClientGone:
            passing.status = _GONE

    def _note(self, scope: Scope, passing: "_Passing", seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        self._metrics.request(route, scope["method"], passing.status, seconds)
        caller = scope["state"].get("caller")
        logging.request_done(
            {
                "request_id": passing.id,
                "method": scope["method"][:16],
                "route": route,
                "status": passing.status,
                "ms": round(1000 * seconds, 1),
                "bytes": passing.sent,
                "key": caller.key if caller else None,
            }
        )


def refusal_for(error: Exception, request_id: str) -> Refused:
    """What the caller is told of any error; what the operator should know goes to the log."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, SelfrightError):
        refused = refusal_of(error)
        if refused.status_code >= 500:
            logging.refused_by(error, request_id)
        return refused
    logging.broke(error, request_id)
    return internal()


class _Passing:
    """One request's way out."""

    def __init__(self, scope: Scope, send: Send) -> None:
        given = Headers(scope=scope).get("x-request-id", "")
        self.id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        self.status = 0
        self.sent = 0
        self._send = send
        scope.setdefault("state", {})["request_id"] = self.id

    async def send(self, message: Message) -> None:
        """Passes a message on. Raises ``ClientGone`` when the caller has hung up."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = self.id
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        else:
            self.sent += len(message.get("body", b""))
        try:
            await self._send(message)
        except OSError as error:
            raise ClientGone from error


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
        budget = self._uploads if upload else self._others
        caller = scope["state"].get("caller")
        body = _Bounded(receive, most, self._limits.body_s, budget, caller.key if caller else "")
        try:
            await self._app(scope, body.receive, send)
        finally:
            body.done()


class _ByteBudget:
    """So many bytes for the bodies of all requests together, from when they come until their request is over.

    One key has half of them at most, so that there is room for others.
    """

    def __init__(self, most: int, code: str, why: str) -> None:
        self._most, self._code, self._why = most, code, why
        self._held: Counter[str] = Counter()

    def take(self, key: str, size: int) -> None:
        """Raises ``Refused`` (503) where there is no room for so much more."""
        own = self._most if key == LOCAL_KEY else self._most / 2
        if self._held[key] + size > own or self._held.total() + size > self._most:
            raise Refused(503, self._code, f"{self._why} at the moment; try again later", retry_after=10)
        self._held[key] += size

    def give_back(self, key: str, size: int) -> None:
        """Makes room again."""
        self._held[key] -= size
        if not self._held[key]:
            del self._held[key]


class _Bounded:
    """One request's body."""

    def __init__(self, receive: Receive, most: int, patience_s: float, budget: _ByteBudget, key: str) -> None:
        self._receive, self._most, self._patience_s, self._budget, self._key = receive, most, patience_s, budget, key
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
        self._budget.take(self._key, size)
        self._held += size
        return message

    def done(self) -> None:
        """The request is over, and nothing of its body is kept."""
        self._budget.give_back(self._key, self._held)
        self._held = 0


def _too_large(most: int) -> Refused:
    return Refused(413, "too_large", f"the body may have at most {most:,} bytes; send less, or several requests")
