"""The outermost layer: each request gets an id, safe headers, a line in the log, and an answer whatever happens."""

import re
import secrets
import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfright.domain.errors import SelfrightError
from selfright.entrypoints.server import logging
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

    def __init__(self, app: ASGIApp, metrics: Metrics, clock: Callable[[], float] = time.monotonic) -> None:
        self._app, self._metrics, self._clock = app, metrics, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets one request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        passing = _Passing(scope, send)
        began = self._clock()
        try:
            await self._app(scope, receive, passing.send)
        except ClientGone:
            passing.status = _GONE
        except Exception as error:
            await self._answer(error, passing, scope, receive)
        finally:
            self._note(scope, passing, self._clock() - began)

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
