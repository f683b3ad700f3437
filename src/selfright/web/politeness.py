"""Visiting pages as a polite guest: robots.txt (RFC 9309) is asked first, hosts are not crowded."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfright.background import Recent
from selfright.domain.errors import PageUnusable
from selfright.web.addresses import Target, target_of
from selfright.web.types import AGENT, PAGES, Reply, Request, RequestCounter

if TYPE_CHECKING:
    from protego import Protego

    from selfright.web.guard import Guard

MAX_BYTES = 500_000
_NAME = AGENT.partition("/")[0]
_EVERYTHING, _NOTHING = "", "User-agent: *\nDisallow: /"  # as robots.txt


_LOOK_AGAIN_S = 0.02
_HOSTS = 1_000


@dataclass(slots=True)
class _Host:
    busy: int = 0
    free_at: float = 0.0


class HostThrottle:
    """Lets at most ``at_once`` requests to one host and ``in_all`` to all hosts go at a time.

    The next one to the same host begins at least ``apart_s`` after the one before. Shared by all turns, whichever
    thread and event loop they run in; hence it looks again and again instead of waiting on one loop's lock.
    """

    def __init__(self, at_once: int = 2, in_all: int = 16, apart_s: float = 0.1, patience_s: float = 10.0) -> None:
        self._at_once, self._in_all, self._apart_s, self._patience_s = at_once, in_all, apart_s, patience_s
        self._lock = threading.Lock()
        self._hosts: dict[str, _Host] = {}
        self._busy = 0

    @asynccontextmanager
    async def place(self, host: str, apart_s: float = 0.0) -> AsyncIterator[None]:
        """Holds a place in the host's queue. Raises ``PageUnusable`` when none is free within ``patience_s``."""
        last = time.monotonic() + self._patience_s
        while not self._take(host, max(apart_s, self._apart_s)):
            if time.monotonic() >= last:
                raise PageUnusable(f"{host} is asked by too many at once; left out")
            await asyncio.sleep(_LOOK_AGAIN_S)
        try:
            yield
        finally:
            self._give_back(host)

    def _take(self, host: str, apart_s: float) -> bool:
        now = time.monotonic()
        with self._lock:
            state = self._hosts.setdefault(host, _Host())
            if state.busy >= self._at_once or self._busy >= self._in_all or now < state.free_at:
                return False
            state.busy += 1
            self._busy += 1
            state.free_at = now + apart_s
            return True

    def _give_back(self, host: str) -> None:
        with self._lock:
            self._busy -= 1
            self._hosts[host].busy -= 1
            if len(self._hosts) > _HOSTS:
                now = time.monotonic()
                self._hosts = {name: one for name, one in self._hosts.items() if one.busy or one.free_at > now}


_ORIGINS = 1_000
_KEPT_S = 3_600.0
_LONGEST_DELAY_S = 5.0
_ACCEPT = "text/html, application/xhtml+xml, text/plain;q=0.8, text/markdown;q=0.8, application/pdf;q=0.7"


class Visitor:
    """Fetches pages through ``transport``; remembers robots.txt of the last hosts for an hour. Thread-safe."""

    def __init__(self, transport: "Guard", throttle: HostThrottle | None = None) -> None:
        self._transport = transport
        self._throttle = throttle or HostThrottle()
        self._asking = HostThrottle(at_once=1, apart_s=0.0)  # who comes second waits for what the first one hears
        self._known: Recent[str, tuple[float, Protego]] = Recent(_ORIGINS)

    async def fetch(self, url: str, tally: RequestCounter) -> Reply:
        """The page at ``url``, or where it redirects to: HTML, text or PDF.

        Raises ``PageRefused`` for an address that is not to be fetched, ``PageUnusable`` for any other reason.
        """

        @asynccontextmanager
        async def entry(target: Target) -> AsyncIterator[None]:
            rules = await self._rules(target, tally)
            if not rules.can_fetch(f"{target.origin}{target.path}", _NAME):
                raise PageUnusable(f"{target.host} does not want robots to read this page")
            delay_s = rules.crawl_delay(_NAME) or 0.0
            if delay_s > _LONGEST_DELAY_S:
                raise PageUnusable(f"{target.host} wants {delay_s:g} s between two requests; left out")
            async with self._throttle.place(target.host, delay_s):
                yield

        request = Request(target_of(url), headers={"Accept": _ACCEPT}, types=PAGES)
        reply = await self._transport.follow(request, tally, entry)
        if reply.status != 200:
            raise PageUnusable(f"{reply.target.host} answered with status {reply.status}", status=reply.status)
        return reply

    async def _rules(self, target: Target, tally: RequestCounter) -> "Protego":
        from protego import Protego  # of the extra ``web``, which a folder of pages does without

        if (known := self._cached_robots(target.origin)) is not None:
            return known
        async with self._asking.place(target.origin):
            if (known := self._cached_robots(target.origin)) is None:
                known = Protego.parse(await self._fetch_robots(target, tally))
                self._known.keep([(target.origin, (time.monotonic(), known))])
        return known

    async def _fetch_robots(self, target: Target, tally: RequestCounter) -> str:
        """As RFC 9309 §2.3.1: what is missing allows everything, what cannot be reached forbids everything."""
        request = Request(target_of(f"{target.origin}/robots.txt"))
        try:
            reply = await self._transport.follow(request, tally)
        except PageUnusable:
            return _NOTHING
        if reply.status == 200:
            return reply.body[:MAX_BYTES].decode("utf-8", "replace")
        return _EVERYTHING if 400 <= reply.status < 500 and reply.status != 429 else _NOTHING

    def _cached_robots(self, origin: str) -> "Protego | None":
        kept = self._known.find([origin]).get(origin)
        return kept[1] if kept and time.monotonic() - kept[0] < _KEPT_S else None
