"""The single source of truth of an index: documents, passages and what changed, in one SQLite file beside the vectors.

Every record carries a checksum and every count is kept twice, so that a damaged file is noticed when it is read.
"""

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from selfright.domain.passages import Document, DocumentInfo, Language, Passage
from selfright.retrieval.catalogue_file import (
    FILE_NAME,
    LOCK_NAME,
    Connections,
    IndexStats,
    check_unused,
    make_file,
    read_meta,
    read_stats,
)
from selfright.retrieval.records import (
    INFO_COLUMNS,
    SHOWN_COLUMNS,
    TERMS_COLUMNS,
    SearchRow,
    damage_error,
    document_of,
    id_hash,
    info_of,
    read_row,
    seal,
)
from selfright.retrieval.schema import IndexMeta
from selfright.retrieval.vectors import FOLDER, VectorFile, arrays
from selfright.storage.files import WriterLock
from selfright.storage.sqlite import transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BATCH = 500  # rows read at a time


@dataclass(frozen=True, slots=True)
class Entry:
    """What the lexical index takes of a passage: its key, its id hash (for ties), collection and terms."""

    key: int
    id_hash: int
    collection: str
    terms: str


@dataclass(frozen=True, slots=True)
class Changes:
    """The passage keys that came and went between two places of the change log, up to ``sequence``.

    ``embedded`` got their vector in it, and were added before it.
    """

    sequence: int
    added: tuple[int, ...]
    removed: tuple[int, ...]
    embedded: tuple[int, ...] = ()


class Catalogue:
    """Reads the catalogue in ``folder``, from any thread, as last committed; ``CatalogueWriter`` changes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self.connections = Connections(self.path)
        try:
            self.meta = read_meta(self.connections)
        except BaseException:
            self.connections.close()
            raise
        self._vectors: VectorFile | None = None

    @classmethod
    def create(cls, folder: Path, tokenizer: str, embedder: str, dimension: int) -> "Catalogue":
        """A new, empty catalogue; the folder must be empty or not exist, else ``NotAnIndex``.

        Raises ``IndexBusy`` when another process is making one there.
        """
        check_unused(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with WriterLock(folder / LOCK_NAME):
            check_unused(folder)  # again, for another process may have been quicker
            make_file(folder, IndexMeta(uuid.uuid4().hex, tokenizer, embedder, dimension))
        return cls(folder)

    def close(self) -> None:
        """Closes the file, dropping what was not committed."""
        self.connections.close()

    # Documents

    def document(self, document_id: str) -> Document | None:
        """The document with its text, or None."""
        for row in self._all(f"SELECT {INFO_COLUMNS}, text FROM documents WHERE id = ?", (document_id,)):
            return document_of(row, self.path)
        # The second way in: a document that only one of two indexes knows was not removed but lost.
        if self._all("SELECT 1 FROM documents WHERE mark = ?", (id_hash(document_id),)):
            raise damage_error(self.path, f"the way to document '{document_id}'")
        return None

    def documents(self, after: str = "", collections: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """The documents behind ``after``, ordered by id; reading all of them shows when some are lost."""
        before, count = self.sequence(), 0
        among = f"AND collection IN ({', '.join('?' * len(collections))})" if collections else ""
        query = f"SELECT {INFO_COLUMNS} FROM documents WHERE id > ? {among} ORDER BY id LIMIT ?"
        for row in self._pages(query, after, *collections):
            yield info_of(row, self.path)
            count += 1
        if after or collections:
            return
        expected = self.stats().documents
        if count != expected and before == self.sequence():
            raise damage_error(self.path, f"the list of documents ({count:,} of {expected:,} can be read): it")

    def passages_of(self, document_id: str) -> list[Passage]:
        """A document's passages in reading order."""
        query = f"SELECT {SHOWN_COLUMNS} FROM passages WHERE document_id = ? AND NOT removed ORDER BY start, key"
        with self.connections.reading() as connection, transaction(connection):
            rows = connection.execute(query, (document_id,)).fetchall()
            known = connection.execute("SELECT passages FROM documents WHERE id = ?", (document_id,)).fetchone()
        if len(rows) != (known[0] if known else 0):
            raise damage_error(self.path, f"the list of passages of document '{document_id}'")
        return [read_row(row, self.path).passage for row in rows]

    # Passages

    def search_rows(self, keys: Sequence[int], *, removed: bool = True) -> dict[int, SearchRow]:
        """The passages with these keys, removed ones only where wanted; keys that are gone are left out."""
        if not keys:
            return {}
        query = f"SELECT {SHOWN_COLUMNS} FROM passages WHERE key IN ({', '.join('?' * len(keys))})"
        if not removed:
            query += " AND NOT removed"
        return {row[0]: read_row(row, self.path) for row in self._all(query, keys)}

    def all_shown(self) -> Iterator[SearchRow]:
        """All passages, by key."""
        query = f"SELECT {SHOWN_COLUMNS} FROM passages WHERE NOT removed AND key > ? ORDER BY key LIMIT ?"
        return (read_row(row, self.path) for row in self._pages(query, 0))

    def keys_in(self, collections: Sequence[str]) -> "NDArray[np.int64]":
        """The keys of all passages of these collections, in rising order."""
        query = (
            "SELECT key FROM passages WHERE NOT removed AND collection IN (SELECT value FROM json_each(?)) ORDER BY key"
        )
        return self._numbers(query, (json.dumps(list(collections)),), 1).reshape(-1)

    def entries(self, keys: Sequence[int]) -> Iterator[Entry]:
        """What the lexical index takes of these passages; those removed meanwhile are left out."""
        query = (
            f"SELECT {TERMS_COLUMNS} FROM passages "
            "WHERE NOT removed AND key IN (SELECT value FROM json_each(?)) ORDER BY key"
        )
        for start in range(0, len(keys), _BATCH):
            yield from map(self._entry, self._all(query, (json.dumps(keys[start : start + _BATCH]),)))

    def all_entries(self) -> Iterator[Entry]:
        """What the lexical index takes, of every passage, by key."""
        query = f"SELECT {TERMS_COLUMNS} FROM passages WHERE NOT removed AND key > ? ORDER BY key LIMIT ?"
        return map(self._entry, self._pages(query, 0))

    def _entry(self, row: Sequence[Any]) -> Entry:
        key, tie, collection, terms, crc = row
        if seal(key, tie, collection, terms) != crc:
            raise damage_error(self.path, f"the terms of passage number {key}")
        return Entry(key, tie, collection, terms)

    def first_waiting(self, limit: int) -> list[SearchRow]:
        """Of the passages that are yet to get a vector those that wait longest."""
        if not self.stats().waiting:
            return []
        keys = [key for (key,) in self._all("SELECT key FROM waiting ORDER BY key LIMIT ?", (limit,))]
        return list(self.search_rows(keys, removed=False).values())

    def waiting_among(self, keys: Sequence[int]) -> frozenset[int]:
        """Those of these keys whose passages are yet to get a vector."""
        query = "SELECT key FROM waiting WHERE key IN (SELECT value FROM json_each(?))"
        return frozenset(key for (key,) in self._all(query, (json.dumps(list(keys)),)))

    def count_waiting(self, collections: Sequence[str]) -> int:
        """How many passages of these collections are yet to get a vector."""
        query = (
            "SELECT COUNT(*) FROM waiting JOIN passages USING (key) "
            "WHERE collection IN (SELECT value FROM json_each(?))"
        )
        return int(self._all(query, (json.dumps(list(collections)),))[0][0])

    def languages_of(self, keys: Sequence[int]) -> dict[int, str]:
        """The language of each of these passages, by key; raises ``IndexDamaged`` for what is none."""
        query = "SELECT key, language FROM passages WHERE key IN (SELECT value FROM json_each(?))"
        found: dict[int, str] = dict(self._all(query, (json.dumps(list(keys)),)))
        for key, language in found.items():
            if language not in get_args(Language):
                raise damage_error(self.path, f"the language of passage number {key}")
        return found

    def vector_places(self, keys: Sequence[int] | None = None) -> "NDArray[np.int64]":
        """``(n, 4)``: key, id hash, row and checksum of passages that have a vector, all or ``keys``, by key."""
        query = "SELECT key, mark, row, vector_sum FROM passages WHERE NOT removed AND row IS NOT NULL"
        if keys is None:
            return self._numbers(f"{query} ORDER BY key", (), 4)
        some = f"{query} AND key IN (SELECT value FROM json_each(?)) ORDER BY key"
        return self._numbers(some, (json.dumps(list(keys)),), 4)

    def vectors(self, name: str | None = None) -> VectorFile:
        """The file of vectors in use, or the one called ``name``."""
        name = name or self.stats().vectors
        if self._vectors is None or self._vectors.path.name != name:
            self._vectors = self.vector_file(name)
        return self._vectors

    def vector_file(self, name: str) -> VectorFile:
        """The file of vectors called ``name``, whether it exists or not."""
        return VectorFile(self.folder / FOLDER / name, self.meta.dimension)

    def vectors_of(self, document_id: str) -> "dict[str, NDArray[np.float32]]":
        """The vectors of a document's passages by passage id, of those that have one."""
        query = "SELECT id, row, vector_sum FROM passages WHERE document_id = ? AND NOT removed AND row IS NOT NULL"
        rows = self._all(query, (document_id,))
        table = arrays([row[1:] for row in rows], 2)
        return dict(zip((row[0] for row in rows), self.vectors().read(table[:, 0], table[:, 1]), strict=True))

    # The whole

    def described_collections(self) -> Iterator[tuple[str, ...]]:
        """Name, description, classes and slots of what was described; raises ``IndexDamaged``."""
        for *said, crc in self._all("SELECT name, description, classes, slots, crc FROM collections"):
            if seal(*said) != crc:
                raise damage_error(self.path, f"the description of collection '{said[0]}'")
            yield tuple(said)

    def stats(self) -> IndexStats:
        """The counts as of the last commit. Raises ``IncompatibleIndex`` when the embedder is another one by now."""
        with self.connections.reading() as connection:
            return read_stats(connection, self.path, self.meta)

    def sequence(self) -> int:
        """The place of the last committed change."""
        query = "SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'changes'"
        return int(self._numbers(query, (), 1)[0, 0])

    def changes_since(self, sequence: int) -> Changes | None:
        """What came and went after ``sequence``; None when the log does not reach back that far."""
        with self.connections.reading() as connection, transaction(connection):
            last, oldest = connection.execute(
                "SELECT (SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'changes'), "
                "(SELECT MIN(sequence) FROM changes)"
            ).fetchone()
            if sequence > last or (sequence < last and (oldest is None or oldest > sequence + 1)):
                return None
            query = "SELECT action, first, last FROM changes WHERE sequence > ? ORDER BY sequence"
            rows = connection.execute(query, (sequence,)).fetchall()
            (highest,) = connection.execute("SELECT COALESCE(MAX(key), 0) FROM passages").fetchone()
        if not all(isinstance(key, int) and key > 0 for row in rows for key in row[1:]):
            raise damage_error(self.path, "the log of changes")
        ranges = [(action, range(first, min(last, highest) + 1)) for action, first, last in rows]
        removed = tuple(key for action, keys in ranges if action == "remove" for key in keys)
        gone = frozenset(removed)
        added = tuple(key for action, keys in ranges if action == "add" for key in keys if key not in gone)
        known = gone.union(added)
        embedded = (key for action, keys in ranges if action == "embed" for key in keys if key not in known)
        return Changes(last, added, removed, tuple(dict.fromkeys(embedded)))

    def _numbers(self, query: str, parameters: Sequence[object], columns: int) -> "NDArray[np.int64]":
        """Rows of whole numbers; anything else in them is damage."""
        try:
            return arrays(self._all(query, parameters), columns)
        except (ValueError, TypeError, OverflowError):
            raise damage_error(self.path, "a column of numbers") from None

    def _pages(self, query: str, last: object, *given: object) -> Iterator[Any]:
        """The rows of a query, some at a time: it takes the first column of the row before, and how many at most."""
        while rows := self._all(query, (last, *given, _BATCH)):
            yield from rows
            last = rows[-1][0]

    def _all(self, query: str, parameters: Sequence[object] = ()) -> list[Any]:
        with self.connections.reading() as connection:
            return connection.execute(query, tuple(parameters)).fetchall()
