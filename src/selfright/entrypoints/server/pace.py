"""How long turns take, and so how many of them may run at once."""

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from selfright.processes import usable_cpus

_TURNS = 32
_LEAST = 8  # turns that must have ended before anything is judged by them
_QUIET = 0.25  # cores: a turn during which the process used less hardly waited for others, here or outside
_CROWDED = 1.2  # times an undisturbed turn: beyond it, turns wait for one another
_SPREAD = 0.6  # the mean keeps to this part of the bound: the slowest of a hundred take half as long again
_PATIENCE_S = 1.0  # nobody minds a second: below it nothing is refused


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a turn began: the clock, the process's CPU seconds, how many turns had ended and how many ran with it.

    ``others`` counts the pieces of other work that had begun, None while one was under way.
    """

    at: float
    cpu: float
    ended: int
    running: int
    others: int | None


class Pace:
    """Says whether one more turn would end within ``stretch`` times what a turn takes undisturbed; 0: always.

    Two medians of the last turns are enough. One is what a turn takes while the process has little to do. The other
    is what each turn costs all others: its CPU time, or, where turns already take much longer than undisturbed, the
    time between two ends, which covers whatever else they wait for. So many turns end after so many times that,
    however many cores and calls of a model are behind it. No more than ``places`` run at once. ``stretch`` turns a
    core are always let in. A turn beside ``other_work`` is not measured: its CPU time is not that of turns. Not for
    several threads.
    """

    def __init__(
        self,
        stretch: float,
        places: int,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.process_time,
        cores: int = 0,
    ) -> None:
        self._stretch, self._places, self._clock, self._cpu = stretch, places, clock, cpu
        self._cores = cores or usable_cpus()
        self._alone: deque[float] = deque(maxlen=_TURNS)
        self._costs: deque[float] = deque(maxlen=_TURNS)
        self._ended = self._working = self._others = 0
        self._fastest = float("inf")

    @contextmanager
    def other_work(self) -> Iterator[None]:
        """While the process does work that is no turn and may take cores, such as indexing."""
        self._working += 1
        self._others += 1
        try:
            yield
        finally:
            self._working -= 1

    def begin(self, running: int) -> Mark:
        """Marks the beginning of a turn, one of ``running``."""
        others = None if self._working else self._others
        return Mark(self._clock(), self._cpu(), self._ended, running, others)

    def end(self, mark: Mark, running: int) -> None:
        """Notes the end of a turn, one of ``running``."""
        self._ended += 1
        if mark.others != self._others:
            return
        seconds, cpu = max(self._clock() - mark.at, 1e-6), self._cpu() - mark.cpu
        together = max(self._ended - mark.ended, (mark.running + running) / 2)
        self._fastest = min(self._fastest, seconds)
        quiet = cpu < _QUIET * seconds
        if together <= 1 or quiet:
            self._alone.append(seconds)
        # A turn may be long by itself: a greeting takes a hundredth of what a slow model's answer takes.
        crowded = not quiet and seconds > _CROWDED * self._undisturbed
        self._costs.append(seconds / together if crowded else min(seconds, cpu / together))

    def wait(self, present: int) -> float | None:
        """None where another turn beside ``present`` ones keeps the bound; else seconds after which it may."""
        # So few cannot make one another that much slower, whatever they take alone.
        if not self._stretch or present < self._stretch * self._cores or len(self._costs) < _LEAST:
            return None
        most = max(_PATIENCE_S, _SPREAD * self._stretch * self._undisturbed)
        each = max(statistics.median(self._costs), self._undisturbed / self._places)
        over = (present + 1) * each - most
        return over if over > 0 else None

    @property
    def _undisturbed(self) -> float:
        """Seconds; before any turn ran undisturbed, those of the fastest."""
        return statistics.median(self._alone) if self._alone else self._fastest
