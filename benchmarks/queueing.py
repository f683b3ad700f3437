"""The queue of turns simulated: bursts, a model that is slow and fails, processes that die.

One run is a sequence of events in time order. A turn goes to the less busy of two processes drawn at random, waits
there for a place, and then takes turns between a core of that process and the model: ``calls`` calls, each between two
stretches of work. With a seed a run repeats exactly. Known cases (M/M/c, M/G/c/c) are checked by the tests.
"""

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

Draw = Callable[[random.Random], float]
"""A random time in seconds."""


def exponential(mean: float) -> Draw:
    return lambda chance: chance.expovariate(1 / mean)


def constant(value: float) -> Draw:
    return lambda _chance: value


def lognormal(mean: float, spread: float) -> Draw:
    """A long-tailed time: ``spread`` is the standard deviation of its logarithm."""
    import math

    middle = math.log(mean) - spread**2 / 2
    return lambda chance: chance.lognormvariate(middle, spread)


@dataclass(frozen=True)
class Load:
    """Turns a second, and how they are bunched: for ``burst_s`` on average at ``burst`` times the rate."""

    rate: float
    burst: float = 1.0
    burst_s: float = 10.0
    calm_s: float = 50.0


@dataclass(frozen=True)
class Service:
    """The processes: how many, their cores, turns at once, places to wait, and how long a turn waits at most."""

    processes: int
    cores: int = 1
    turns: int = 64
    queue: int = 64
    patience_s: float = 10.0
    mtbf_s: float = 0.0
    """Mean time between deaths of one process; 0: it never dies."""
    restart_s: float = 15.0


@dataclass(frozen=True)
class Work:
    """A turn: seconds of a core in all, and calls of a model, which fail with a probability and are tried again.

    ``calls``: how many; of several numbers each turn draws one.
    """

    core: Draw
    calls: int | tuple[int, ...]
    call: Draw
    call_fails: float = 0.0
    tries: int = 3
    backoff_s: float = 1.0


@dataclass
class Outcome:
    """What became of the turns that arrived after the warm-up; times in seconds, in the order of their ends."""

    arrived: int = 0
    served: int = 0
    degraded: int = 0
    refused: int = 0
    expired: int = 0
    lost: int = 0
    waits: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    busy_s: float = 0.0
    down_s: float = 0.0
    most_waiting: int = 0

    def time(self, share: float) -> float:
        """The time that a share of the served turns stayed below."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


@dataclass
class _Turn:
    arrived: float
    counts: bool
    calls: int
    left: int = 0
    home: int = 0
    life: int = 0
    started: float = 0.0
    tried: int = 0
    degraded: bool = False
    gone: bool = False


@dataclass
class _Process:
    free: int
    idle: int
    up: bool = True
    life: int = 0
    down_at: float = 0.0
    places: deque[_Turn] = field(default_factory=deque)
    ready: deque[tuple[_Turn, float]] = field(default_factory=deque)

    @property
    def load(self) -> int:
        return len(self.places) - self.free if self.up else 1 << 30


class Simulation:
    """One run of ``seconds``, of which the first ``warm_s`` are not counted; turns that are in it then are finished."""

    def __init__(
        self, load: Load, service: Service, work: Work, seconds: float, seed: int, warm_s: float = 0.0
    ) -> None:
        self._load, self._service, self._work = load, service, work
        self._seconds, self._warm = seconds, warm_s
        self._chance = random.Random(seed)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._now, self._bursting = 0.0, False
        self._processes = [_Process(service.turns, service.cores) for _ in range(service.processes)]
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """What became of the turns."""
        self._after(0.0, self._arrive)
        if self._load.burst > 1:
            self._after(self._chance.expovariate(1 / self._load.calm_s), self._turn_weather)
        if self._service.mtbf_s:
            for number in range(len(self._processes)):
                self._after(self._chance.expovariate(1 / self._service.mtbf_s), partial(self._die, number))
        while self._events:
            self._now, _, happen = heapq.heappop(self._events)
            happen()
        return self.outcome

    def _after(self, seconds: float, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self._now + seconds, next(self._order), happen))

    # Arrivals

    def _arrive(self) -> None:
        rate = self._load.rate * (self._load.burst if self._bursting else 1.0)
        wait = self._chance.expovariate(rate)
        if self._now + wait < self._seconds:
            self._after(wait, self._arrive)
        calls = self._work.calls
        self._enter(
            _Turn(self._now, self._now >= self._warm, calls if isinstance(calls, int) else self._chance.choice(calls))
        )

    def _turn_weather(self) -> None:
        self._bursting = not self._bursting
        mean = self._load.burst_s if self._bursting else self._load.calm_s
        if self._now < self._seconds:
            self._after(self._chance.expovariate(1 / mean), self._turn_weather)

    def _enter(self, turn: _Turn) -> None:
        self.outcome.arrived += turn.counts
        drawn = [self._chance.randrange(len(self._processes)) for _ in range(2)]
        turn.home = min(drawn, key=lambda number: self._processes[number].load)
        process = self._processes[turn.home]
        if not process.up:
            self.outcome.lost += turn.counts
        elif process.free:
            self._start(process, turn)
        elif len(process.places) < self._service.queue:
            process.places.append(turn)
            self.outcome.most_waiting = max(self.outcome.most_waiting, len(process.places))
            self._after(self._service.patience_s, lambda: self._expire(process, turn))
        else:
            self.outcome.refused += turn.counts

    def _expire(self, process: _Process, turn: _Turn) -> None:
        if not turn.started and not turn.gone:
            turn.gone = True
            process.places.remove(turn)
            self.outcome.expired += turn.counts

    # A turn

    def _start(self, process: _Process, turn: _Turn) -> None:
        process.free -= 1
        turn.started, turn.life, turn.left = self._now or 1e-12, process.life, turn.calls
        self._compute(process, turn)

    def _compute(self, process: _Process, turn: _Turn) -> None:
        needed = self._work.core(self._chance) / (turn.calls + 1)
        if process.idle:
            self._take_core(process, turn, needed)
        else:
            process.ready.append((turn, needed))

    def _take_core(self, process: _Process, turn: _Turn, needed: float) -> None:
        process.idle -= 1
        if turn.counts and turn.left == turn.calls:
            self.outcome.waits.append(self._now - turn.arrived)
        self.outcome.busy_s += needed
        self._after(needed, lambda: self._computed(process, turn))

    def _computed(self, process: _Process, turn: _Turn) -> None:
        if turn.life != process.life:
            return  # it died with its process
        process.idle += 1
        if process.ready:
            self._take_core(process, *process.ready.popleft())
        if turn.left:
            turn.left, turn.tried = turn.left - 1, 0
            self._call(process, turn)
        else:
            self._end(process, turn)

    def _call(self, process: _Process, turn: _Turn) -> None:
        self._after(self._work.call(self._chance), lambda: self._called(process, turn))

    def _called(self, process: _Process, turn: _Turn) -> None:
        if turn.life != process.life:
            return
        if self._work.call_fails and self._chance.random() < self._work.call_fails:
            turn.tried += 1
            if turn.tried < self._work.tries:
                pause = self._work.backoff_s * 2 ** (turn.tried - 1)
                self._after(pause, lambda: self._call(process, turn) if turn.life == process.life else None)
                return
            turn.degraded = True  # an offline role stands in
        self._compute(process, turn)

    def _end(self, process: _Process, turn: _Turn) -> None:
        if turn.counts:
            self.outcome.served += 1
            self.outcome.degraded += turn.degraded
            self.outcome.times.append(self._now - turn.arrived)
        process.free += 1
        if process.places:
            self._start(process, process.places.popleft())

    # Deaths

    def _die(self, number: int) -> None:
        process = self._processes[number]
        if self._now >= self._seconds:
            return
        inside = self._service.turns - process.free
        self.outcome.lost += inside + sum(turn.counts for turn in process.places)
        for turn in process.places:
            turn.gone = True
        process.up, process.down_at, process.life = False, self._now, process.life + 1
        process.places.clear()
        process.ready.clear()
        self._after(self._service.restart_s, lambda: self._rise(number))

    def _rise(self, number: int) -> None:
        process = self._processes[number]
        self.outcome.down_s += self._now - process.down_at
        process.up, process.free, process.idle = True, self._service.turns, self._service.cores
        self._after(self._chance.expovariate(1 / self._service.mtbf_s), lambda: self._die(number))


def erlang_c(arrivals: float, mean_s: float, servers: int) -> float:
    """The mean wait in M/M/c, in seconds (Erlang, 1917)."""
    offered = arrivals * mean_s
    blocked = erlang_b(offered, servers)
    waits = blocked / (1 - (offered / servers) * (1 - blocked))
    return waits * mean_s / (servers - offered)


def erlang_b(offered: float, servers: int) -> float:
    """The share that M/G/c/c turns away."""
    share = 1.0
    for number in range(1, servers + 1):
        share = offered * share / (number + offered * share)
    return share
