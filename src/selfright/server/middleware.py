"""Layers that every request passes: an id, safe headers, a line in the log, an answer; and how much may be sent."""

import asyncio
import re
import secrets
import time
from collections.abc import Callable
from functools import partial

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfright.domain.errors import SelfrightError
from selfright.server import logging
from selfright.server.admission import Limits, Shares
from selfright.server.errors import Refused, refusal_of
from selfright.server.metrics import Metrics

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
    """Around the whole service: refuses bad framing, answers errors, counts and logs each request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is not HTTP as it is."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        passing = _Passing(scope, send)
        try:
            await self._guard(passing, scope, receive)
        except ClientGone:
            passing.status = _GONE
        finally:
            self._note(scope, passing)

    async def _guard(self, passing: "_Passing", scope: Scope, receive: Receive) -> None:
        try:
            names = Headers(scope=scope).keys()
            if "transfer-encoding" in names and ("content-length" in names or scope["http_version"] == "1.0"):
                # A proxy in front may cut this into other requests than this service does (RFC 9112, section 6.1).
                why = "a body has either a Content-Length or, in HTTP/1.1, a Transfer-Encoding; send one of them"
                raise Refused(400, "bad_framing", why, headers={"Connection": "close"})
            await self._app(scope, receive, passing.send)
        except ClientGone:
            raise
        except Exception as error:
            if passing.status:
                logging.broke(error, passing.id)
                raise ConnectionAbortedError from None  # half a reply is sent: only closing tells that it is incomplete
            await refusal_for(error, passing.id).response()(scope, receive, passing.send)

    def _note(self, scope: Scope, passing: "_Passing") -> None:
        route, seconds = getattr(scope.get("route"), "path", "unknown"), time.monotonic() - passing.began
        self._metrics.request(route, scope["method"], passing.status, seconds)
        caller = scope["state"].get("caller")
        logging.note(
            "request",
            request_id=passing.id,
            method=scope["method"][:16],
            route=route,
            status=passing.status,
            ms=round(1000 * seconds, 1),
            bytes=passing.sent,
            key=caller.key if caller else None,
        )


def refusal_for(error: Exception, request_id: str) -> Refused:
    """What the caller is told of any error; what the operator should know goes to the log."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, SelfrightError):
        refused = refusal_of(error)
        if refused.status_code >= 500:
            logging.log_refusal(error, request_id)
        return refused
    logging.broke(error, request_id)
    return Refused(500, "internal", "something went wrong here, not with the request; its id is in X-Request-Id")


class _Passing:
    """One request's way out."""

    def __init__(self, scope: Scope, send: Send) -> None:
        given = Headers(scope=scope).get("x-request-id", "")
        self.id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        self.began = time.monotonic()
        self.status = self.sent = 0
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
        self._uploads = _byte_shares(spool, "uploads_full", "too many files are being sent")
        self._others = _byte_shares(limits.held_bytes, "overloaded", "too much is being sent")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises ``Refused`` for a body that is compressed, too large or too slow, or where there is no room for it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, upload, caller = Headers(scope=scope), scope["path"] == UPLOADS, scope["state"].get("caller")
        most = self._limits.upload_bytes if upload else self._limits.body_bytes
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused(415, "packed_body", "a body must not be compressed; send it as it is")
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > most:
            raise _too_large(most)
        with (self._uploads if upload else self._others).share(caller.key if caller else "", 0) as take:
            await self._app(scope, self._limit_body(receive, most, take), send)

    def _limit_body(self, receive: Receive, most: int, take: Callable[[int], None]) -> Receive:
        """The messages of one body. Raises ``Refused`` when there is too much of it, or it does not come."""
        came, whole, began = 0, False, asyncio.get_running_loop().time()

        async def limited_receive() -> Message:
            nonlocal came, whole
            if whole:
                return await receive()
            try:
                async with asyncio.timeout_at(began + self._limits.body_s + came / _BYTES_A_SECOND):
                    message = await receive()
            except TimeoutError:
                slow = "the body did not come in time; send it faster, or less of it"
                raise Refused(408, "slow_body", slow) from None
            size = len(message.get("body", b""))
            came, whole = came + size, not message.get("more_body", False)
            if came > most:
                raise _too_large(most)
            take(size)
            return message

        return limited_receive


def _byte_shares(most: int, code: str, why: str) -> Shares:
    """So many bytes for the bodies of all requests together, from when they come until their request is over."""
    full = partial(Refused, 503, code, f"{why} at the moment; try again later", retry_after=10)
    return Shares(most, most / 2, full)


def _too_large(most: int) -> Refused:
    return Refused(413, "too_large", f"the body may have at most {most:,} bytes; send less, or several requests")
