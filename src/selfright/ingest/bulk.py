"""Bulk ingestion: passages are tokenised and embedded on a cluster; files are read, and committed, here.

What is stored is what ``ingest`` stores without a cluster: names, replacements and what is unchanged are decided here,
in the order of the files, so that a document goes in once however often its task was tried.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.domain.passages import Document, Passage
from selfright.domain.stores import Store
from selfright.ingest.ray_cluster import RayWorkers

_PART = 128  # passages that are prepared in one task; with 64, the encoder pads more and takes a tenth longer

Prepared = tuple[list[str], NDArray[np.float32] | None]
"""The terms of each text, joined by blanks, and a row for each text that was to be embedded."""


@dataclass(frozen=True, slots=True)
class Preparing:
    """How passages become ready to be stored.

    ``here`` does in this process what a node does: it makes ``Prepared`` of ``{"texts": [...], "embedded": [places]}``.
    ``text`` is what is indexed of a passage, ``embeds`` whether it gets a vector, and ``learn`` is told the terms of
    texts before they are stored.
    """

    here: Callable[[dict[str, Any]], Prepared]
    text: Callable[[Passage], str]
    embeds: Callable[[Passage], bool]
    learn: Callable[[Mapping[str, str]], None]


_Documents = Sequence[tuple[Document, Sequence[Passage]]]


@dataclass(slots=True)
class _Part:
    """Some passages of a batch on their way through the cluster."""

    passages: list[Passage]
    task: dict[str, Any]
    reference: Any


class PreparedAhead:
    """A writer that has batches prepared by workers and puts them into ``store`` in the order they came.

    At most as many tasks are in flight as the workers take, and those of one batch. Nothing is lasting before
    ``finish``, but for what was committed on the way.
    """

    def __init__(self, store: Store, preparing: Preparing, workers: RayWorkers) -> None:
        self._store, self._preparing, self._workers = store, preparing, workers
        self._waiting: deque[tuple[_Documents, list[_Part]]] = deque()  # without documents: a commit

    def __enter__(self) -> "PreparedAhead":
        return self

    def __exit__(self, *_: object) -> None:
        """Gives up what is still on its way."""
        self._workers.cancel(part.reference for _, parts in self._waiting for part in parts)
        self._waiting.clear()

    def put(self, batch: _Documents) -> None:
        """Sends the passages out; waits when too many are out already."""
        every = [passage for _, passages in batch for passage in passages]
        while (
            self._waiting and sum(len(parts) for _, parts in self._waiting) + len(every) // _PART >= self._workers.limit
        ):
            self._settle()
        parts = []
        for start in range(0, len(every), _PART):
            passages = every[start : start + _PART]
            embedded = [place for place, passage in enumerate(passages) if self._preparing.embeds(passage)]
            task = {"texts": list(map(self._preparing.text, passages)), "embedded": embedded}
            parts.append(_Part(passages, task, self._workers.submit(task)))
        if batch:
            self._waiting.append((batch, parts))

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents, after all that was put before."""
        self._settle_all()
        return self._store.remove(document_ids)

    def commit(self) -> None:
        """Commits what was put so far, once it is ready; the work goes on meanwhile."""
        self._waiting.append(((), []))

    def finish(self) -> None:
        """Waits for everything and commits."""
        self._settle_all()
        self._store.commit()

    def _settle_all(self) -> None:
        while self._waiting:
            self._settle()

    def _settle(self) -> None:
        """Puts the oldest batch into the store."""
        documents, parts = self._waiting[0]
        terms: dict[str, str] = {}
        vectors: dict[str, NDArray[np.float32]] = {}
        for part in parts:
            joined, matrix = self._workers.result(part.reference, part.task, self._preparing.here)
            terms.update(zip(part.task["texts"], joined, strict=True))
            if matrix is not None:
                names = [part.passages[place].id for place in part.task["embedded"]]
                vectors.update(zip(names, matrix, strict=True))
        if documents:
            self._preparing.learn(terms)
            self._store.put(documents, vectors=vectors or None)
        else:
            self._store.commit()
        self._waiting.popleft()
