"""Who is let in: looks at the Host, the Origin and the key before a byte of the body is read."""

import ipaddress
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ParamSpec, TypeVar
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from selfright.entrypoints.server.admission import RateLimit
from selfright.entrypoints.server.callers import LOCAL, Caller
from selfright.entrypoints.server.keys_in_database import Keys
from selfright.entrypoints.server.refusals import Refused
from selfright.entrypoints.server.service import in_thread

P = ParamSpec("P")
T = TypeVar("T")
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/openapi.json"})
_HERE = "localhost"
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")


@dataclass(frozen=True, slots=True)
class Door:
    """``hosts`` may stand in the Host header besides this machine's own names, ``origins`` may send from a browser."""

    keys: Keys
    rate: RateLimit
    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    keyed: bool = False

    async def caller(self, headers: Headers) -> Caller:
        """Who asks. Raises ``Refused``.

        Without any key the user of this machine is served, and nobody else: a page of the web that resolves its name
        to this machine sends its own Host, one that just sends here its own Origin.
        """
        if self.keyed or await self._asked(self.keys.any):
            return await self._holder(headers)
        self._check_host(headers.get("host", ""))
        self._check_origin(headers)
        return LOCAL

    async def _asked(self, ask: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """What the keys say; when they are elsewhere, others are served meanwhile."""
        return await in_thread(ask, *given, **named) if self.keys.remote else ask(*given, **named)

    async def _holder(self, headers: Headers) -> Caller:
        if self.hosts and not self._knows(headers.get("host", "")):
            raise _wrong_host()
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Refused(401, "no_key", "an API key is needed: send it as 'Authorization: Bearer KEY'")
        key = await self._asked(self.keys.find, token.strip())
        if key is None:
            raise Refused(401, "invalid_api_key", "this API key is unknown or was revoked; ask the operator for one")
        self.rate.take(key.id)
        return Caller.of(key)

    def _check_host(self, host: str) -> None:
        if not (self._knows(host) or is_here(host)):
            raise _wrong_host()

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is None or origin in self.origins:
            return
        if not is_here(urlsplit(origin).netloc):
            raise Refused(403, "wrong_origin", "pages of other sites may not use this service; see serve_origins")

    def _knows(self, host: str) -> bool:
        return host.lower() in self.hosts or host_name(host) in self.hosts


class Gate:
    """Puts the caller into the request's state, or turns the request down."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets one request through."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            scope["state"]["caller"] = await self._door.caller(Headers(scope=scope))
        await self._app(scope, receive, send)


def host_name(host: str) -> str:
    """The name in a Host header, in lower case and without the port; empty when it is none."""
    found = _HOST.fullmatch(host)
    return found["name"].lower().rstrip(".") if found else ""


def is_here(host: str) -> bool:
    """Whether a Host header names this machine's loopback."""
    name = host_name(host)
    if name == _HERE:
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _wrong_host() -> Refused:
    return Refused(421, "wrong_host", "this service is not known by that host name; the setting serve_hosts adds names")
