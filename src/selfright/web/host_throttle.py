"""Politeness: how many requests a host gets at once, and how soon after one another."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from selfright.domain.errors import PageUnusable

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

    def __init__(
        self,
        at_once: int = 2,
        in_all: int = 16,
        apart_s: float = 0.1,
        patience_s: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._at_once, self._in_all, self._apart_s, self._patience_s = at_once, in_all, apart_s, patience_s
        self._clock = clock
        self._lock = threading.Lock()
        self._hosts: dict[str, _Host] = {}
        self._busy = 0

    @asynccontextmanager
    async def place(self, host: str, apart_s: float = 0.0) -> AsyncIterator[None]:
        """Holds a place in the host's queue. Raises ``PageUnusable`` when none is free within ``patience_s``."""
        last = self._clock() + self._patience_s
        while not self._take(host, max(apart_s, self._apart_s)):
            if self._clock() >= last:
                raise PageUnusable(f"{host} is asked by too many at once; left out")
            await asyncio.sleep(_LOOK_AGAIN_S)
        try:
            yield
        finally:
            self._give_back(host)

    def _take(self, host: str, apart_s: float) -> bool:
        now = self._clock()
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
                now = self._clock()
                self._hosts = {name: one for name, one in self._hosts.items() if one.busy or one.free_at > now}
