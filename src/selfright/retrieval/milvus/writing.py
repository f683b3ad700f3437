"""Writes an index in Milvus: what is put waits here until the commit, which brings document after document.

A document changes at one moment: its passages and text are written first, then its head row, which names their
generation, and only then are those of older generations removed. A commit that was cut off is tidied up by the next
writer.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from selfright.domain.errors import IndexBusy, InputError
from selfright.domain.passages import Document
from selfright.retrieval.milvus.layout import (
    PIECE,
    Counts,
    DocumentRecord,
    bound_terms,
    document_row,
    encode_document,
    encode_term,
    passage_of,
    record_of,
    term_row,
    write_about,
)
from selfright.retrieval.milvus.reading import IndexReader
from selfright.retrieval.milvus.server import Server
from selfright.retrieval.preparing import BatchVectors, Prepare
from selfright.retrieval.records import PassageRow, id_hash

_MOST_WAITING = 20_000  # passages; more are written before the commit is asked for
_MARKS = 500  # in one condition
_FLUSH_FROM = 1_000  # passages


@dataclass(slots=True)
class _Waiting:
    """What was put and removed since the last commit."""

    put: dict[str, tuple[Document, list[dict[str, Any]]]] = field(default_factory=dict)
    removed: dict[str, None] = field(default_factory=dict)

    @property
    def passages(self) -> int:
        return sum(len(rows) for _, rows in self.put.values())

    def __bool__(self) -> bool:
        return bool(self.put or self.removed)


class Writing:
    """The writer's side of an index; one store of a process at a time (else ``IndexBusy``)."""

    def __init__(self, server: Server, reader: IndexReader, dimension: int) -> None:
        self._server = server
        self._reader = reader
        self._dimension = dimension
        self._waiting = _Waiting()
        self._held = False

    @contextmanager
    def _step(self) -> Iterator[None]:
        """Holds the writer's lock from the first change on."""
        first = not self._held
        if first and not self._server.writer.acquire(blocking=False):
            raise IndexBusy(
                f"the index {self._server.place.shown} is being written to elsewhere in this process; "
                "wait until that is done, then try again"
            )
        self._held = True
        try:
            if first:
                self._reader.refresh()
            if self._reader.about.get("writing"):
                self.tidy()
            yield
        finally:
            if not self._waiting:
                self._release()

    def put(self, prepare: Prepare) -> None:
        """Takes documents; a part of those that wait is written when there are too many."""
        with self._step():
            vectors, ready = BatchVectors(), {}
            for document, passages in prepare(vectors):
                encode_document(document, len(passages), 0)  # raises for what Milvus cannot keep
                ready[document.id] = document, [self._row(found, vectors) for found in passages]
            self._check_ids(ready)
            self._waiting.put |= ready
            if self._waiting.passages > _MOST_WAITING:
                self._write()

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Takes documents out; those that were there."""
        with self._step():
            id_hashes = {id_hash(document_id): document_id for document_id in document_ids}
            stored = {id_hashes[row["key"]] for row in self._server.get("documents", list(id_hashes), ["key"])}
            waiting = self._waiting
            there = [
                name
                for name in id_hashes.values()
                if name in waiting.put or (name in stored and name not in waiting.removed)
            ]
            for name in there:
                waiting.put.pop(name, None)
                if name in stored:
                    waiting.removed[name] = None
            return there

    def commit(self) -> None:
        """Writes what waits."""
        try:
            if self._waiting:
                self._write()
        finally:
            self.discard()

    def discard(self) -> None:
        """Forgets what waits."""
        self._waiting = _Waiting()
        self._release()

    def close(self) -> None:
        """Forgets what waits, and closes the reader."""
        self.discard()
        self._reader.close()

    def describe(self, said: Sequence[str]) -> None:
        """Keeps what the operator says of a collection."""
        with self._step():
            write_about(self._server, {f"collection:{id_hash(said[0])}": json.dumps(said)})

    def tidy(self) -> None:
        """Removes what a commit that was cut off left, and counts everything anew."""
        server = self._server
        heads = [DocumentRecord.of(row["record"]) for row in server.rows("documents", "part == 0", ["record"])]
        current = {id_hash(head.id): head.generation for head in heads}
        stale = [
            row["key"]
            for row in server.rows("documents", "part > 0", ["key", "document", "generation"])
            if current.get(row["document"]) != row["generation"]
        ]
        server.delete("documents", stale)
        counts, frequencies, stale = Counts(), Counter[str](), []
        for head in heads:
            counts.count(head.collection, head.language, head.passages, 1)
        fields = ["key", "document", "generation", "terms", "record", *(["known"] if self._dimension else [])]
        for row in server.rows("passages", "key >= 0", fields):
            if current.get(row["document"]) != row["generation"]:
                stale.append(row["key"])
                continue
            frequencies.update(set(_measure(counts, row, 1)))
        server.delete("passages", stale)
        known = [row["term"] for row in server.rows("terms", 'term != ""', ["term"])]
        server.delete("terms", [term for term in known if term not in frequencies])
        server.write("upsert", "terms", [term_row(term, count) for term, count in frequencies.items()])
        write_about(server, {"writing": "", "counts": counts.text()})
        self._reader.refresh()

    # Inside

    def _row(self, found: PassageRow, vectors: BatchVectors) -> dict[str, Any]:
        passage = found.passage
        row: dict[str, Any] = {
            "mark": id_hash(passage.id),
            "document": id_hash(passage.document_id),
            "collection": id_hash(passage.collection),
            "record": record_of(passage),
            "terms": bound_terms(" ".join(encode_term(term) for term in found.terms.split()), passage),
        }
        if self._dimension:
            vector = vectors.of(found)
            row["known"] = vector is not None
            row["dense"] = np.zeros(self._dimension, np.float32) if vector is None else vector
        return row

    def _check_ids(self, ready: Mapping[str, tuple[Document, list[dict[str, Any]]]]) -> None:
        """Raises ``InputError`` for passage ids that two documents share."""
        replaced = {id_hash(name) for name in (*ready, *self._waiting.put, *self._waiting.removed)}
        owners: dict[int, int] = {}
        kept = {name: some for name, (_, some) in self._waiting.put.items() if name not in ready}
        for row in (row for some in (*kept.values(), *(rows for _, rows in ready.values())) for row in some):
            if row["mark"] in owners:
                raise _shared(row)
            owners[row["mark"]] = row["document"]
        id_hashes = [row["mark"] for _, rows in ready.values() for row in rows]
        for start in range(0, len(id_hashes), _MARKS):
            condition = f"mark in {id_hashes[start : start + _MARKS]}"
            for stored in self._server.rows("passages", condition, ["mark", "document", "record"]):
                if stored["document"] not in replaced:
                    raise _shared(stored)

    def _write(self) -> None:
        server, waiting = self._server, self._waiting
        self._reader.refresh()
        counts = deepcopy(self._reader.counts)  # what searches go by stays as it is until the end
        first = max(time.time_ns(), int(self._reader.about.get("last_key", 0)) + 1)
        pieces = sum(1 + len(document.text) // PIECE for document, _ in waiting.put.values())
        write_about(server, {"writing": "1", "last_key": str(first + waiting.passages + pieces + 1)})
        self._reader.about["writing"] = "1"
        names = {**waiting.removed, **dict.fromkeys(waiting.put)}
        stored = server.get("documents", [id_hash(name) for name in names], ["record"])
        old = [head for head in (DocumentRecord.of(row["record"]) for row in stored) if head.generation < first]
        frequencies = Counter[str]()
        keys = iter(range(first, first + waiting.passages + pieces + 1))
        self._insert(keys, first, counts, frequencies)
        self._delete(old, counts, frequencies)
        self._write_frequencies(frequencies)
        write_about(server, {"writing": "", "counts": counts.text()})
        if waiting.passages >= _FLUSH_FROM:
            server.call("flush", "passages")  # searches are slow until then
        self._waiting = _Waiting()
        self._reader.refresh()

    def _insert(self, keys: Iterator[int], generation: int, counts: Counts, frequencies: Counter[str]) -> None:
        server, put = self._server, self._waiting.put
        rows = [{**row, "key": next(keys), "generation": generation} for _, rows in put.values() for row in rows]
        for row in rows:
            frequencies.update(set(_measure(counts, row, 1)))
        server.write("insert", "passages", rows)
        server.write(
            "insert",
            "documents",
            [
                document_row(next(keys), id_hash(name), generation, part, document.text[start : start + PIECE])
                for name, (document, _) in put.items()
                for part, start in enumerate(range(0, len(document.text), PIECE), start=1)
            ],
        )
        heads = {name: encode_document(document, len(some), generation) for name, (document, some) in put.items()}
        rows = [document_row(id_hash(name), id_hash(name), generation, 0, head) for name, head in heads.items()]
        server.write("upsert", "documents", rows)
        for document, some in put.values():
            counts.count(document.collection, document.language, len(some), 1)

    def _delete(self, old: Sequence[DocumentRecord], counts: Counts, frequencies: Counter[str]) -> None:
        server = self._server
        server.delete("documents", [id_hash(name) for name in self._waiting.removed if name not in self._waiting.put])
        fields = ["key", "terms", "record", *(["known"] if self._dimension else [])]
        for head in old:
            here = f"document == {id_hash(head.id)} and generation == {head.generation}"
            server.delete(
                "documents", [row["key"] for row in server.rows("documents", f"{here} and part > 0", ["key"])]
            )
            rows = list(server.rows("passages", here, fields))
            server.delete("passages", [row["key"] for row in rows])
            for row in rows:
                frequencies.subtract(set(_measure(counts, row, -1)))
            counts.count(head.collection, head.language, head.passages, -1)

    def _write_frequencies(self, changes: Counter[str]) -> None:
        changed = {term: count for term, count in changes.items() if count}
        known = {row["term"]: int(row["df"]) for row in self._server.get("terms", list(changed), ["term", "df"])}
        after = {term: known.get(term, 0) + count for term, count in changed.items()}
        self._server.write("upsert", "terms", [term_row(term, count) for term, count in after.items() if count > 0])
        self._server.delete("terms", [term for term, count in after.items() if count <= 0])

    def _release(self) -> None:
        if self._held:
            self._held = False
            self._server.writer.release()


def _measure(counts: Counts, row: Mapping[str, Any], sign: int) -> list[str]:
    """Counts the terms of a passage that came (1) or went (-1); gives them."""
    terms: list[str] = row["terms"].split()
    counts.length += sign * len(terms)
    counts.blank += sign * (row.get("known") is False)
    counts.size += sign * (len(row["record"].encode()) + len(row["terms"]))
    return terms


def _shared(row: Mapping[str, Any]) -> InputError:
    name = passage_of(row["record"]).id
    return InputError(f"documents and passages need ids of their own, but some are shared (passage '{name}')")
