"""What several threads ask of a network at the same time, as one call of it."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


@dataclass(slots=True, eq=False)
class _Asked(Generic[Item, Found]):
    """One thread's items. ``woken`` when they are found, when that failed, or when this thread ``leads`` the next."""

    items: Sequence[Item]
    size: int
    woken: threading.Event = field(default_factory=threading.Event)
    leads: bool = False
    found: Sequence[Found] | None = None


class DynamicBatcher(Generic[Item, Found]):
    """Calls ``run``, which gives one result for each item, for all that has come while the call before was at work.

    A thread alone waits for nobody. Of a crowd the first runs its own items, and the next one those of all others, as
    long as their sizes add up to ``most``. Items of a larger size run by themselves, and so do those of a call that
    failed. ``run`` must give the same for an item whatever stands beside it. Safe to share between threads;
    ``run`` must not call it again.
    """

    def __init__(
        self, run: Callable[[Sequence[Item]], Sequence[Found]], size: Callable[[Item], int], most: int
    ) -> None:
        self._run, self._size, self._most = run, size, most
        self._lock = threading.Lock()
        self._waiting: list[_Asked[Item, Found]] = []
        self._busy = False

    def __call__(self, items: Sequence[Item]) -> Sequence[Found]:
        """One result for each item, in order. Raises what ``run`` raises for these items."""
        mine = _Asked[Item, Found](items, sum(map(self._size, items)))
        if not 0 < mine.size <= self._most:
            return self._run(items)
        with self._lock:
            mine.leads = not self._busy
            self._busy = True
            if not mine.leads:
                self._waiting.append(mine)
        if not mine.leads:
            self._wait(mine)
        if mine.leads:
            self._lead(mine)
        return self._run(items) if mine.found is None else mine.found

    def _wait(self, mine: _Asked[Item, Found]) -> None:
        try:
            mine.woken.wait()
        except BaseException:  # Ctrl-C: nobody may be left waiting for this thread
            with self._lock:
                if mine in self._waiting:
                    self._waiting.remove(mine)
            if mine.leads:
                self._hand_on()
            raise

    def _lead(self, mine: _Asked[Item, Found]) -> None:
        """Runs the network for this thread and others, then lets the next one that waits do so."""
        batch = [mine]
        try:
            batch = self._batch(mine)
            found = self._run([item for asked in batch for item in asked.items])
            start = 0
            for asked in batch:
                asked.found = found[start : start + len(asked.items)]
                start += len(asked.items)
        except Exception:
            if not batch[1:]:
                raise
        finally:
            for asked in batch[1:]:
                asked.woken.set()
            self._hand_on()

    def _hand_on(self) -> None:
        """Lets the next thread that waits lead, if there is one."""
        with self._lock:
            after = self._waiting.pop(0) if self._waiting else None
            self._busy = after is not None
            if after:
                after.leads = True
                after.woken.set()

    def _batch(self, mine: _Asked[Item, Found]) -> list[_Asked[Item, Found]]:
        batch, room = [mine], self._most - mine.size
        with self._lock:
            while self._waiting and self._waiting[0].size <= room:
                batch.append(self._waiting.pop(0))
                room -= batch[-1].size
        return batch
