"""How much is let in: requests by rate, turns by number. What is too much is refused at once, with a time to wait."""

import asyncio
import math
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from selfright.server.errors import Refused

MIB = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """Settings ``serve_*`` and what hangs on them. Times are seconds, sizes bytes.

    ``turns`` run at once, ``queue`` more wait, at most ``wait_s``; of one key half of each, and ``turns_each`` in all,
    its searches among them.
    ``rate`` is how many requests a minute a key may make in the long run, ``burst`` how many at once. ``spool_bytes``
    is what all uploads together may take while they come in and wait, None for four of the largest; ``held_bytes`` the
    same of all other bodies.
    """

    turns: int = 64
    turns_each: int = 16
    queue: int = 64
    wait_s: float = 10.0
    turn_s: float = 300.0
    upload_s: float = 300.0
    rate: float = 300.0
    burst: int = 60
    body_bytes: int = 2 * MIB
    upload_bytes: int = 100 * MIB
    upload_files: int = 20
    spool_bytes: int | None = None
    held_bytes: int = 256 * MIB
    body_s: float = 30.0
    heartbeat_s: float = 15.0
    idle_s: int = 30
    connections: int = 2_048
    grace_s: int = 330


def limits_of(settings: Any) -> Limits:
    """The limits as the settings ``serve_*`` have them."""
    names = ("turns", "queue", "rate", "upload_bytes")
    return Limits(**{name: getattr(settings, f"serve_{name}") for name in names})


def shared(limits: Limits, processes: int) -> Limits:
    """The share of one of several processes in what runs and waits at once. Rates count in each of them."""
    names = ("turns", "queue", "connections", "held_bytes")
    return replace(limits, **{name: math.ceil(getattr(limits, name) / processes) for name in names})


LOCAL_KEY = "local"  # the user of this machine, who shares the service with nobody
_MOST_BUCKETS = 10_000


class RateLimit:
    """A token bucket for each key; those used longest ago are forgotten first, and a forgotten one is full again."""

    def __init__(self, per_minute: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_minute / 60, max(1, burst), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> None:
        """Counts a request. Raises ``Refused`` (429) when there are too many."""
        now = self._clock()
        tokens, at = self._buckets.pop(key, (float(self._burst), now))
        tokens = min(float(self._burst), tokens + (now - at) * self._per_second)
        allowed = tokens >= 1
        self._buckets[key] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > _MOST_BUCKETS:
            self._buckets.popitem(last=False)
        if not allowed:
            message = "too many requests with this key; wait, then try again"
            raise Refused(429, "rate_limited", message, retry_after=(1 - tokens) / self._per_second)


Refusal = Callable[[], Refused]


class Shares:
    """Divides ``most`` of something among keys; one may hold ``each``, so that there is room for others.

    The user of this machine may hold all. A key that has its share gets the error ``own``, any other ``full``.
    """

    def __init__(self, most: float, each: float, own: Refusal, full: Refusal | None = None) -> None:
        self._most, self._each, self._own, self._full = most, each, own, full or own
        self.held: Counter[str] = Counter()

    @contextmanager
    def share(self, key: str, first: int = 1) -> Iterator[Callable[[int], None]]:
        """While something lasts that takes ``first``; what comes takes more. Raises ``Refused``."""
        taken = 0

        def take(amount: int) -> None:
            nonlocal taken
            if key != LOCAL_KEY and self.held[key] + amount > self._each:
                raise self._own()
            if self.held.total() + amount > self._most:
                raise self._full()
            self.held[key] += amount
            taken += amount

        try:
            take(first)
            yield take
        finally:
            self.held[key] -= taken
            if not self.held[key]:
                del self.held[key]


_UPLOADS, _UPLOADS_EACH = 8, 4
_READERS = 2  # each may take a core, and the memory that a file may take


class UploadLimiter:
    """Lets a bounded number of uploads in, of one key fewer, so that nobody's files keep everybody else's waiting.

    ``readers`` is held while a file is read; of an upload that was let in, one file at a time is ``working``.
    """

    def __init__(self) -> None:
        own = f"{_UPLOADS_EACH} uploads of this key are waiting; wait for one of them"
        full = "too many uploads are waiting; try again in a moment"
        self._uploads = Shares(
            _UPLOADS,
            _UPLOADS_EACH,
            partial(Refused, 429, "too_many_uploads", own, retry_after=10),
            partial(Refused, 503, "uploads_waiting", full, retry_after=10),
        )
        self.working: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.readers = asyncio.Semaphore(_READERS)

    @contextmanager
    def admit(self, key: str) -> Iterator[None]:
        """While an upload is taken in. Raises ``Refused``: 429 for one key's excess, 503 for everybody's."""
        try:
            with self._uploads.share(key):
                yield
        finally:
            if key not in self._uploads.held:
                self.working.pop(key, None)


class TurnLimiter:
    """Lets so many turns run at once, has a bounded number wait, and refuses the rest.

    A key runs half of the turns and fills half of the queue at most, so that there is always room for others.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.running = 0
        own = f"this key runs as many turns and searches as it may at once ({limits.turns_each}); wait for one of them"
        full = "the service is full; try again in a moment"
        # Turns that run or wait, and searches.
        self._of_key = Shares(math.inf, limits.turns_each, partial(Refused, 429, "too_many_turns", own, retry_after=1))
        self._queue = Shares(
            limits.queue, math.ceil(limits.queue / 2), partial(Refused, 503, "overloaded", full, retry_after=2)
        )
        self._places = asyncio.Semaphore(limits.turns)
        self._halves: dict[str, asyncio.Semaphore] = {}

    @property
    def waiting(self) -> int:
        """How many turns wait for a place."""
        return self._queue.held.total()

    async def acquire(self, key: str) -> ExitStack:
        """The right to run a turn, held until the stack is closed; it comes now or when it is one's turn.

        Raises ``Refused``: 429 for one key's excess, 503 for everybody's.
        """
        with ExitStack() as held:
            held.enter_context(self.searching(key))
            places = [self._places]
            if key != LOCAL_KEY:
                half = asyncio.Semaphore(math.ceil(self._limits.turns / 2))
                places.insert(0, self._halves.setdefault(key, half))
            with self._queue.share(key) if any(place.locked() for place in places) else nullcontext():
                try:
                    async with asyncio.timeout(self._limits.wait_s):
                        for place in places:
                            await place.acquire()
                            held.callback(place.release)
                except TimeoutError:
                    raise Refused(503, "overloaded", "the service is full; try again later", retry_after=10) from None
            self.running += 1
            held.callback(self._leave)
            return held.pop_all()

    @contextmanager
    def searching(self, key: str) -> Iterator[None]:
        """While a search runs: it counts as a turn of its key, and waits for none. Raises ``Refused`` (429)."""
        try:
            with self._of_key.share(key):
                yield
        finally:
            if key not in self._of_key.held:
                self._halves.pop(key, None)

    def _leave(self) -> None:
        self.running -= 1
