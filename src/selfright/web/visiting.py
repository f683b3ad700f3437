"""Visiting pages as a polite guest: robots.txt is asked first, hosts are not crowded."""

import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from selfright.domain.errors import PageUnusable
from selfright.web import robots
from selfright.web.host_throttle import HostThrottle
from selfright.web.types import AGENT, PAGES, Reply, Request, Tally, Transport, no_queue
from selfright.web.urls import Target, target_of

_ORIGINS = 1_000
_KEPT_S = 3_600.0
_LONGEST_DELAY_S = 5.0
_ACCEPT = "text/html, application/xhtml+xml, text/plain;q=0.8, text/markdown;q=0.8, application/pdf;q=0.7"


class Visitor:
    """Fetches pages through ``transport``; remembers robots.txt of the last hosts for an hour. Thread-safe."""

    def __init__(
        self, transport: Transport, throttle: HostThrottle | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._transport = transport
        self._throttle = throttle or HostThrottle()
        self._asking = HostThrottle(at_once=1, apart_s=0.0)  # who comes second waits for what the first one hears
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[float, robots.Rules]] = OrderedDict()

    async def fetch(self, url: str, tally: Tally) -> Reply:
        """The page at ``url``, or where it redirects to: HTML, text or PDF.

        Raises ``PageRefused`` for an address that is not to be fetched, ``PageUnusable`` for any other reason.
        """

        @asynccontextmanager
        async def entry(target: Target) -> AsyncIterator[None]:
            rules = await self._rules(target, tally)
            if not rules.allows(target.path):
                raise PageUnusable(f"{target.host} does not want robots to read this page")
            if rules.delay_s > _LONGEST_DELAY_S:
                raise PageUnusable(f"{target.host} wants {rules.delay_s:g} s between two requests; left out")
            async with self._throttle.place(target.host, rules.delay_s):
                yield

        request = Request(target_of(url), headers={"Accept": _ACCEPT}, types=PAGES)
        reply = await self._transport.follow(request, tally, entry)
        if reply.status != 200:
            raise PageUnusable(f"{reply.target.host} answered with status {reply.status}", status=reply.status)
        return reply

    async def _rules(self, target: Target, tally: Tally) -> robots.Rules:
        if (known := self._remembered(target.origin)) is not None:
            return known
        async with self._asking.place(target.origin):
            known = self._remembered(target.origin)
            if known is None:
                known = await self._asked(target, tally)
                self._remember(target.origin, known)
        return known

    async def _asked(self, target: Target, tally: Tally) -> robots.Rules:
        """As RFC 9309 §2.3.1: what is missing allows everything, what cannot be reached forbids everything."""
        request = Request(target_of(f"{target.origin}/robots.txt"))
        try:
            reply = await self._transport.follow(request, tally, no_queue)
        except PageUnusable:
            return robots.NOTHING
        if reply.status == 200:
            text = reply.body[: robots.MAX_BYTES].decode("utf-8", "replace")
            return robots.parse(text, AGENT.partition("/")[0])
        return robots.EVERYTHING if 400 <= reply.status < 500 and reply.status != 429 else robots.NOTHING

    def _remembered(self, origin: str) -> robots.Rules | None:
        with self._lock:
            kept = self._known.get(origin)
            return kept[1] if kept and self._clock() - kept[0] < _KEPT_S else None

    def _remember(self, origin: str, rules: robots.Rules) -> None:
        with self._lock:
            self._known[origin] = (self._clock(), rules)
            self._known.move_to_end(origin)
            while len(self._known) > _ORIGINS:
                self._known.popitem(last=False)
