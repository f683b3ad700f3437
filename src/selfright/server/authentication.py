"""Who is let in: looks at the peer, the Host, the Origin and the key before a byte of the body is read."""

import ipaddress
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ParamSpec, TypeVar
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from selfright.background import working_for
from selfright.server.admission import RateLimit
from selfright.server.errors import Refused
from selfright.server.keys import Keys
from selfright.server.service import LOCAL, Caller, in_thread
from selfright.wire.client import forwarding_header

P = ParamSpec("P")
T = TypeVar("T")
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/openapi.json"})
_HERE = "localhost"
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")


@dataclass(frozen=True, slots=True)
class Authenticator:
    """``hosts`` may stand in the Host header besides this machine's own names, ``rate`` bounds a key's requests."""

    keys: Keys
    rate: RateLimit
    hosts: Collection[str] = ()
    keyed: bool = False

    async def caller(self, scope: Scope) -> Caller:
        """Who asks. Raises ``Refused``.

        Without any key the user of this machine is served, and nobody else: a page of the web that resolves its name
        to this machine sends its own Host, one that just sends here its own Origin; a proxy may write what it likes
        into Host, but shows itself otherwise.
        """
        headers = Headers(scope=scope)
        if self.keyed or await self._ask(self.keys.any):
            return await self._holder(headers)
        _check_peer(scope, headers)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not (self._knows(host) or is_here(host)):
            raise _wrong_host()
        if not (origin is None or is_here(urlsplit(origin).netloc)):
            raise Refused(403, "wrong_origin", "pages of other sites may not use this service")
        return LOCAL

    async def _ask(self, ask: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """What the keys say; when they are elsewhere, others are served meanwhile."""
        return await in_thread(ask, *given, **named) if self.keys.remote else ask(*given, **named)

    async def _holder(self, headers: Headers) -> Caller:
        if self.hosts and not self._knows(headers.get("host", "")):
            raise _wrong_host()
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Refused(401, "no_key", "an API key is needed: send it as 'Authorization: Bearer KEY'")
        key = await self._ask(self.keys.find, token.strip())
        if key is None:
            raise Refused(401, "invalid_api_key", "this API key is unknown or was revoked; ask the operator for one")
        self.rate.take(key.id)
        return Caller(key.id, key.user, key.collections, key.admin)

    def _knows(self, host: str) -> bool:
        return host.lower() in self.hosts or host_name(host) in self.hosts


class AuthMiddleware:
    """Puts the caller into the request's state, or turns the request down."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app, self._authenticator = app, authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets one request through."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            scope["state"]["caller"] = caller = await self._authenticator.caller(scope)
            working_for.set("" if caller is LOCAL else caller.key)
        await self._app(scope, receive, send)


def _peer(scope: Scope) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        peer = ipaddress.ip_address((scope.get("client") or ("",))[0])
    except ValueError:
        return None
    return (peer.ipv4_mapped or peer) if isinstance(peer, ipaddress.IPv6Address) else peer


def _check_peer(scope: Scope, headers: Headers) -> None:
    """Refuses who is elsewhere, or behind a proxy; HTTP/1.0 is what a proxy speaks that says nothing of itself."""
    peer = _peer(scope)
    if peer is None or not peer.is_loopback:
        why = "another machine asks"
    elif header := forwarding_header(headers.keys()):
        why = f"a proxy passed the request on (it has the header '{header}')"
    elif scope.get("http_version") == "1.0":
        why = "a proxy passed the request on (it is of HTTP/1.0)"
    else:
        return
    message = f"without API keys this service is for its own machine alone, but {why}; make one: selfright keys add"
    raise Refused(403, "not_this_machine", message)


def host_name(host: str) -> str:
    """The name in a Host header, in lower case and without the port; empty when it is none."""
    found = _HOST.fullmatch(host)
    return found["name"].lower().rstrip(".") if found else ""


def is_here(host: str) -> bool:
    """Whether a Host header names this machine's loopback."""
    name = host_name(host)
    try:
        return name == _HERE or ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _wrong_host() -> Refused:
    return Refused(421, "wrong_host", "this service is not known by that host name; the setting serve_hosts adds names")
