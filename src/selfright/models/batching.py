"""What the embedded networks share: batches, the last vectors, one call for several threads."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from selfright.background import Recent

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


_BLOCK = 2_048  # texts that are tokenized at a time, so that memory stays bounded
CACHED_TEXTS = 4_096
_CACHED_CHARACTERS = 400  # claims, strips and questions; longer texts are embedded once and stored by the index
BATCH_TOKENS = 640  # of the texts of several threads that run together
_LANE_TOKENS = 320  # rows x length of one batch: small enough for a core's cache, and for little padding
_LEAST_TOKENS = 64  # smaller batches cost more for each token


def embed_batches(
    texts: Sequence[str],
    recent: "Recent[str, NDArray[np.float32]]",
    encode: "Callable[[Sequence[str]], NDArray[np.float32]]",
    size: int,
) -> "NDArray[np.float32]":
    """One row of ``size`` numbers per text: those of ``recent`` as they are, the others encoded block by block."""
    vectors = np.empty((len(texts), size), dtype=np.float32)
    known = recent.find(texts)
    for row, text in enumerate(texts):
        if text in known:
            vectors[row] = known[text]
    missing = [row for row, text in enumerate(texts) if text not in known]
    for start in range(0, len(missing), _BLOCK):
        block = missing[start : start + _BLOCK]
        vectors[block] = encode([texts[row] for row in block])
    recent.keep((texts[row], vectors[row].copy()) for row in missing if len(texts[row]) <= _CACHED_CHARACTERS)
    return vectors


def pad_pieces(pieces: Sequence[Sequence[int]], pad: int = 0) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """Numbers of pieces as a matrix filled up with ``pad``, and a mask of the same shape: 1 where a piece is."""
    ids = np.full((len(pieces), max(map(len, pieces))), pad, dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, piece in enumerate(pieces):
        ids[row, : len(piece)] = piece
        mask[row, : len(piece)] = 1
    return ids, mask


class Lanes:
    """Runs batches on ``threads`` cores, each on one of them: cores that share a batch wait for each other at each of
    a network's steps, which costs a tenth of their time."""

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def __call__(self, lengths: Sequence[int], run: Callable[[list[int]], None]) -> None:
        """Calls ``run`` with the row numbers of each batch, long texts first. Raises what it raises."""
        share = -(-sum(lengths) // self._threads)
        parts = list(batches(lengths, min(_LANE_TOKENS, max(_LEAST_TOKENS, share))))[::-1]
        if self._threads < 2 or len(parts) < 2:
            for rows in parts:
                run(rows)
            return
        # Threads that stay would keep a command from ending: it waits for all of them.
        with ThreadPoolExecutor(min(self._threads, len(parts)), "selfright-network") as pool:
            list(pool.map(run, parts))


def batches(lengths: Sequence[int], most: int = _LANE_TOKENS) -> Iterator[list[int]]:
    """Row numbers, shortest texts first, cut so that a batch padded to its longest text stays within ``most``."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        if batch and lengths[row] * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
