"""How the catalogue changes: documents go in and out within one transaction, and every change is logged."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from selfright.domain.passages import Document
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import IndexStats, explain_errors, read_stats, write_stats
from selfright.retrieval.preparing import VectorRow, text_hash, text_to_index
from selfright.retrieval.records import (
    DOCUMENT_COLUMNS,
    PASSAGE_COLUMNS,
    PassageRow,
    SearchRow,
    damage_error,
    document_row,
    passage_row,
    row_checksum,
    seal,
    vector_sums,
)
from selfright.storage.sqlite import transaction

if TYPE_CHECKING:
    from numpy.typing import NDArray


_LOOKUPS = 500  # values in one query


class CatalogueWriter:
    """The writer's side of a catalogue; only the holder of the writer's lock may use it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._connections = catalogue.connections
        self._stats = IndexStats()
        self._unsynced = False

    @property
    def pending(self) -> bool:
        """Whether there is something to commit."""
        return self._connections.writing

    @contextmanager
    def step(self) -> Iterator[None]:
        """A part of the open transaction (which it begins where needed) that happens wholly or not at all."""
        writer = self._connections.writer
        first = not self.pending
        with explain_errors(self._connections.path):
            writer.execute("BEGIN IMMEDIATE" if first else "SAVEPOINT step")
        before = self._stats
        try:
            if first:
                self._stats, self._unsynced = read_stats(writer, self._connections.path, self._catalogue.meta), False
            before = deepcopy(self._stats)
            with explain_errors(self._connections.path):
                yield
        except BaseException:
            self._stats = before
            if writer.in_transaction:  # a full disk ends it
                writer.execute("ROLLBACK" if first else "ROLLBACK TO step")
            raise
        finally:
            if not first and writer.in_transaction:
                writer.execute("RELEASE step")

    def rollback(self) -> None:
        """Forgets the open transaction; rows of vectors that it wrote are waste."""
        if self.pending:
            with explain_errors(self._connections.path):
                self._connections.writer.execute("ROLLBACK")

    def put(self, batch: Sequence[tuple[Document, Sequence[PassageRow]]]) -> None:
        """Stores documents with different ids, each in place of the one with the same id."""
        for document, passages in batch:
            self.remove(document.id)
            self._stats.count(document.collection, document.language, len(passages), 1)
        self._connections.writer.executemany(
            f"INSERT INTO documents ({DOCUMENT_COLUMNS}) VALUES ({_marks(15)})",
            (document_row(document, len(passages)) for document, passages in batch),
        )
        self._insert([prepared for _, passages in batch for prepared in passages])

    def _insert(self, passages: Sequence[PassageRow]) -> None:
        writer = self._connections.writer
        (last,) = writer.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'passages'").fetchone()
        keys = range(last + 1, last + 1 + len(passages))
        writer.executemany(
            f"INSERT INTO passages ({PASSAGE_COLUMNS}) VALUES ({_marks(20)})", map(passage_row, keys, passages)
        )
        if passages:
            writer.execute("INSERT INTO changes (action, first, last) VALUES ('add', ?, ?)", (keys[0], keys[-1]))
        waiting = [(key,) for key, prepared in zip(keys, passages, strict=True) if prepared.waits]
        writer.executemany("INSERT INTO waiting VALUES (?)", waiting)
        self._stats.waiting += len(waiting)

    def remove(self, document_id: str) -> bool:
        """Takes a document out; whether it was there."""
        writer = self._connections.writer
        found = writer.execute(
            "SELECT collection, language, passages FROM documents WHERE id = ?", (document_id,)
        ).fetchone()
        if found is None:
            return False
        writer.execute(
            "INSERT INTO changes (action, first, last) "
            "SELECT 'remove', key, key FROM passages WHERE document_id = ? AND NOT removed ORDER BY key",
            (document_id,),
        )
        self._let_go("SELECT key FROM passages WHERE document_id = ? AND NOT removed", document_id)
        changed = writer.execute(
            "UPDATE passages SET removed = 1 WHERE document_id = ? AND NOT removed", (document_id,)
        )
        if changed.rowcount != found[2]:
            raise damage_error(self._connections.path, f"the list of passages of document '{document_id}'")
        writer.execute("DELETE FROM documents WHERE id = ?", (document_id,))
        self._stats.count(found[0], found[1], found[2], -1)
        return True

    def _let_go(self, keys: str, *parameters: object) -> None:
        """Waits no longer for vectors of the passages that a query gives."""
        found = self._connections.writer.execute(f"DELETE FROM waiting WHERE key IN ({keys})", parameters)
        self._stats.waiting -= found.rowcount

    def embed(self, some: Sequence[SearchRow], vectors: "Mapping[bytes, NDArray[np.float32]]") -> None:
        """Stores the vectors, by the hash of the text, of those passages that still wait for theirs."""
        writer, made = self._connections.writer, self.rows(list(vectors))
        new = [digest for digest in vectors if digest not in made]
        if new:
            made.update(zip(new, self.append(np.stack([vectors[digest] for digest in new])), strict=True))
        waiting = self._catalogue.waiting_among([shown.key for shown in some])
        for shown in (shown for shown in some if shown.key in waiting):
            self.revector([shown], [made[text_hash(text_to_index(shown.passage))]])
            writer.execute("INSERT INTO changes (action, first, last) VALUES ('embed', ?, ?)", (shown.key, shown.key))
            self._let_go("SELECT ?", shown.key)

    def rows(self, text_hashes: Sequence[bytes]) -> dict[bytes, tuple[int, int]]:
        """Row and checksum of vectors that are already stored, by the hash of the embedded text."""
        found: dict[bytes, tuple[int, int]] = {}
        for start in range(0, len(text_hashes), _LOOKUPS):
            some = text_hashes[start : start + _LOOKUPS]
            rows = self._connections.writer.execute(
                "SELECT text_hash, row, vector_sum FROM passages "
                f"WHERE row IS NOT NULL AND text_hash IN ({_marks(len(some))})",
                some,
            )
            found.update((text_hash, (row, checksum)) for text_hash, row, checksum in rows)
        return found

    def append(self, matrix: "NDArray[np.float32]") -> list[tuple[int, int]]:
        """Stores vectors; gives the row and the checksum of each."""
        first = self._stats.rows
        self._catalogue.vectors(self._stats.vectors).write(first, matrix)
        self._stats.rows += len(matrix)
        self._unsynced = True
        return list(zip(range(first, self._stats.rows), vector_sums(matrix).tolist(), strict=True))

    def describe(self, said: Sequence[str]) -> None:
        """Keeps name, description, classes and slots of a collection in place of those before."""
        row = (*said, seal(*said))
        self._connections.writer.execute("INSERT OR REPLACE INTO collections VALUES (?, ?, ?, ?, ?)", row)

    def revector(self, some: Iterable[SearchRow], places: Iterable[VectorRow | None]) -> None:
        """Writes down where the vectors of passages are now; None for one that has none."""
        moved = (
            replace(shown, row=row, vector_sum=vector_sum)
            for shown, (row, vector_sum) in zip(some, (place or (None, None) for place in places), strict=True)
        )
        self._connections.writer.executemany(
            "UPDATE passages SET row = ?, vector_sum = ?, crc = ? WHERE key = ?",
            ((shown.row, shown.vector_sum, row_checksum(shown), shown.key) for shown in moved),
        )

    def move_vectors(self, name: str, rows: int, moved: Mapping[int, int]) -> None:
        """Names another file of vectors, of ``rows`` rows, in which the old rows ``moved`` to new places."""
        self._erase_removed()
        for shown in self._catalogue.all_shown():
            if shown.row is not None and shown.vector_sum is not None:
                self.revector([shown], [(moved[shown.row], shown.vector_sum)])
        self._stats.vectors, self._stats.rows = name, rows

    def begin_vectors(self, name: str, embedder: str, dimension: int) -> None:
        """Names another file of vectors, which another embedder makes: no passage has one until ``revector``."""
        self._erase_removed()
        writer = self._connections.writer
        writer.execute("UPDATE passages SET row = NULL, vector_sum = NULL")
        made = [(embedder, "embedder"), (str(dimension), "dimension")]
        writer.executemany("UPDATE meta SET value = ? WHERE name = ?", made)
        self._let_go("SELECT key FROM waiting")
        self._stats.vectors, self._stats.rows = name, 0
        self._catalogue.meta = replace(self._catalogue.meta, embedder=embedder, dimension=dimension)

    def _erase_removed(self) -> None:
        self._connections.writer.execute("DELETE FROM passages WHERE removed")

    def commit(self) -> None:
        """Makes the open transaction lasting; the vectors first, for the records name them."""
        if self.pending:
            with explain_errors(self._connections.path):
                if self._unsynced:
                    self._catalogue.vectors(self._stats.vectors).sync()
                write_stats(self._connections.writer, self._stats)
                self._connections.writer.execute("COMMIT")
                self._connections.shrink()

    def forget(self, sequence: int) -> None:
        """Erases removed passages and the log up to ``sequence``, once every search index has followed that far."""
        writer = self._connections.writer
        if writer.execute("SELECT 1 FROM changes WHERE sequence <= ? LIMIT 1", (sequence,)).fetchone() is None:
            return
        with explain_errors(self._connections.path), transaction(writer, "IMMEDIATE"):
            writer.execute(
                "DELETE FROM passages WHERE removed AND key IN "
                "(SELECT first FROM changes WHERE action = 'remove' AND sequence <= ?)",
                (sequence,),
            )
            writer.execute("DELETE FROM changes WHERE sequence <= ?", (sequence,))


def _marks(count: int) -> str:
    return ", ".join("?" * count)
