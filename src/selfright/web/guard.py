"""The one door to the web: every request of this package goes through it. The only module that opens connections.

A name is resolved once for each connection, every address it has is checked, and the connection goes to one of the
checked addresses, so that nothing can change between check and use. Redirects begin again at the first check.
Proxies, cookies and settings of the environment have no say here.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from functools import cache
from typing import Any

import httpcore

from selfright.domain.errors import PageRefused, PageUnusable
from selfright.web.addresses import Address, Permissions, Target, redirect, unwrap
from selfright.web.types import AGENT, Entry, Reply, Request, RequestCounter, RequestLimits, Resolve, media_of

_REDIRECTS = (301, 302, 303, 307, 308)
_ADDRESSES = 64  # a name with more is refused
_ATTEMPTS = 3  # addresses of a name that are tried


async def system_addresses(host: str, port: int) -> list[str]:
    """The addresses of a name, from the system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(entry[4][0]) for entry in found]


class Guard:
    """Sends requests to where ``permissions`` allow, within ``limits``.

    ``resolve`` and ``tls`` stand in for the system's resolver and the usual certificates. Holds no connection, no
    cookie and no event loop; may be shared.
    """

    def __init__(
        self,
        permissions: Permissions | None = None,
        limits: RequestLimits | None = None,
        resolve: Resolve = system_addresses,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.permissions = permissions or Permissions()
        self.limits = limits or RequestLimits()
        self._resolve = resolve
        self._tls = tls

    async def follow(self, request: Request, tally: RequestCounter, entry: Entry | None = None) -> Reply:
        """One page: the reply after at most ``limits.redirects`` redirects, each checked as the first was.

        Raises ``PageRefused`` or ``PageUnusable``. All steps together take at most ``limits.seconds``, and waiting
        for ``entry`` as long again.
        """
        seen: set[Target] = set()
        async with _deadline(request.target, 2 * self.limits.seconds):
            while len(seen) <= self.limits.redirects:
                seen.add(request.target)
                async with entry(request.target) if entry else nullcontext():
                    reply = await self.exchange(request, tally)
                location = reply.headers.get("location", "")
                if reply.status not in _REDIRECTS or not location:
                    return reply
                request = replace(request, target=redirect(request.target, location))
                if request.target in seen:
                    raise PageUnusable(f"{request.target.host} redirects in a circle")
        raise PageUnusable(f"{request.target.host} redirects more than {self.limits.redirects} times")

    async def exchange(self, request: Request, tally: RequestCounter) -> Reply:
        """One request and its reply. Raises ``PageRefused`` or ``PageUnusable``."""
        host = request.target.host
        self.permissions.check_name(request.target)
        try:
            async with _deadline(request.target, self.limits.seconds):
                return await self._send(request, tally)
        except httpcore.TimeoutException:
            raise PageUnusable(f"{host} did not answer in time") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError, UnicodeError) as error:
            raise PageUnusable(f"the connection to {host} failed ({type(error).__name__})") from None

    async def _send(self, request: Request, tally: RequestCounter) -> Reply:
        target = request.target
        backend = _CheckedBackend(self.permissions, target, self._resolve, self.limits.connect_s, tally)
        tls = (self._tls or _usual_tls()) if target.scheme == "https" else None
        url = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        async with (
            httpcore.AsyncConnectionPool(tls, max_connections=1, network_backend=backend) as pool,
            pool.stream(request.method, url, headers=_headers(request), content=request.body) as response,
        ):
            return await self._read(request, response)

    async def _read(self, request: Request, response: httpcore.Response) -> Reply:
        headers = _plain(response.headers)
        kind, charset = media_of(headers.get("content-type", ""))
        if response.status != 200:
            return Reply(request.target, response.status, headers, media_type=kind, charset=charset)
        _check_type(request, kind, declared=True)
        host, most = request.target.host, self.limits.bytes
        length = headers.get("content-length", "")
        if length.isdigit() and (len(length) > 15 or int(length) > most):
            raise PageUnusable(f"the reply of {host} has more than {most:,} bytes")
        if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise PageUnusable(f"the reply of {host} is packed, though that was not asked for")
        body = await _body(response.aiter_stream(), most)
        kind, charset = media_of(headers.get("content-type", ""), body)
        _check_type(request, kind, declared=False)
        return Reply(request.target, 200, headers, body, kind, charset)


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to checked addresses of one target, and to nothing else."""

    def __init__(
        self, permissions: Permissions, target: Target, resolve: Resolve, seconds: float, tally: RequestCounter
    ) -> None:
        self._permissions, self._target, self._resolve = permissions, target, resolve
        self._seconds, self._tally = seconds, tally
        self._wire = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002, ASYNC109 - the library's parameters
        local_address: str | None = None,  # noqa: ARG002 - likewise
        socket_options: Any = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first address that answers; TLS is then spoken with the target's name."""
        addresses = await self._addresses()
        self._tally.requests += 1
        trouble: Exception | None = None
        for address in addresses[:_ATTEMPTS]:
            try:
                stream = await self._wire.connect_tcp(str(address), port, self._seconds, None, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                trouble = error
                continue
            peer = stream.get_extra_info("server_addr")
            if not peer or ipaddress.ip_address(str(peer[0])) != address:
                await stream.aclose()
                host = self._target.host
                raise PageRefused(f"the connection to {host} ended at another address than the checked one")
            return stream
        raise trouble or httpcore.ConnectError("no address")

    async def _addresses(self) -> list[Address]:
        target = self._target
        texts = [target.host] if target.address else await self._resolve_target(target)
        try:
            addresses = [ipaddress.ip_address(text) for text in dict.fromkeys(texts)]
        except ValueError:
            raise PageUnusable(f"the resolver gave no address for {target.host}") from None
        for address in addresses:
            self._permissions.check_address(target, address)
        # A mapped address is connected to as what it stands for; one behind NAT64 only as it is.
        return [unwrap(one) if one.version == 6 and one.ipv4_mapped else one for one in addresses]

    async def _resolve_target(self, target: Target) -> list[str]:
        try:
            texts = await self._resolve(target.host, target.port)
        except (OSError, UnicodeError):
            raise PageUnusable(f"the name {target.host} has no address") from None
        if not 0 < len(texts) <= _ADDRESSES:
            raise PageUnusable(f"{target.host} has {len(texts)} addresses, but 1 to {_ADDRESSES} were expected")
        return texts


_usual_tls = cache(httpcore.default_ssl_context)


@asynccontextmanager
async def _deadline(target: Target, seconds: float) -> AsyncIterator[None]:
    """A time-out whose end is told as ``PageUnusable``; cancelling from outside stays what it is."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise PageUnusable(f"{target.host} took longer than {seconds:g} s") from None


def _headers(request: Request) -> list[tuple[str, str]]:
    own = {
        "Host": request.target.authority,
        "User-Agent": AGENT,
        "Accept-Encoding": "identity",  # what cannot be packed cannot be a bomb
        "Connection": "close",
        **({"Content-Length": str(len(request.body))} if request.body is not None else {}),
    }
    return list({**own, **request.headers}.items())


def _plain(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """By name in lower case; of several of one name, joined by commas as RFC 9110 has it."""
    plain: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        plain[key] = f"{plain[key]}, {text}" if key in plain else text
    return plain


def _check_type(request: Request, kind: str, *, declared: bool) -> None:
    if request.types and kind not in request.types and not (declared and not kind):
        said = "says that it is" if declared else "is really"
        raise PageUnusable(f"the reply of {request.target.host} {said} '{kind[:60]}', which is not read")


async def _body(stream: AsyncIterator[bytes], most: int) -> bytes:
    """The body as it is sent; reading ends with an error as soon as it is too large."""
    pieces, sent = [], 0
    async for piece in stream:
        sent += len(piece)
        if sent > most:
            raise PageUnusable(f"the reply has more than {most:,} bytes")
        pieces.append(piece)
    return b"".join(pieces)
