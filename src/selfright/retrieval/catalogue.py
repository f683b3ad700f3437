"""The single source of truth of an index: documents, passages and what changed, in one SQLite file."""

import json
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from selfright.domain.errors import IndexNotFound, NotAnIndex
from selfright.domain.passages import Document, DocumentInfo, Passage
from selfright.retrieval.connections import Connections, transaction
from selfright.retrieval.files import sync_folder
from selfright.retrieval.locking import WriterLock
from selfright.retrieval.schema import APPLICATION_ID, FORMAT_VERSION, TABLES, IndexMeta, check_format

FILE_NAME = "catalogue.sqlite"
LOCK_NAME = "writer.lock"
_UNFINISHED = ".new"
_BATCH = 500  # rows read at a time


@dataclass(frozen=True, slots=True)
class Entry:
    """What the search indexes take of a passage: its key, collection, terms, and its vector's bytes (float32)."""

    key: int
    collection: str
    tokens: str
    embedding: bytes | None


@dataclass(frozen=True, slots=True)
class Changes:
    """The passage keys that came and went between two places of the change log, up to ``sequence``."""

    sequence: int
    added: tuple[int, ...]
    removed: tuple[int, ...]


class Catalogue:
    """Reads the catalogue in ``folder``, from any thread, at its last committed state; ``Ledger`` changes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.connections = Connections(folder / FILE_NAME)
        try:
            self.meta = self._read_meta()
        except BaseException:
            self.connections.close()
            raise

    @classmethod
    def create(cls, folder: Path, tokenizer: str, embedder: str, dimension: int) -> "Catalogue":
        """A new, empty catalogue; the folder must be empty or not exist, else ``NotAnIndex``.

        Raises ``IndexBusy`` when another process is making one there.
        """
        _check_unused(folder)
        folder.mkdir(parents=True, exist_ok=True)
        lock = WriterLock(folder / LOCK_NAME)
        lock.acquire()
        try:
            _check_unused(folder)  # again, for another process may have been quicker
            _make(folder, IndexMeta(uuid.uuid4().hex, tokenizer, embedder, dimension))
        finally:
            lock.release()
        return cls(folder)

    def close(self) -> None:
        """Closes the file, dropping what was not committed."""
        self.connections.close()

    # Reading

    def document(self, document_id: str) -> Document | None:
        """The document with its text, or None."""
        query = (
            "SELECT id, title, text, language, source, url, media_type, collection, metadata "
            "FROM documents WHERE id = ?"
        )
        for *columns, metadata in self._all(query, (document_id,)):
            return Document(*[*columns, json.loads(metadata)])
        return None

    def documents(self) -> Iterator[DocumentInfo]:
        """All documents, ordered by id."""
        query = (
            "SELECT id, title, collection, language, source, content_hash, characters, "
            "(SELECT COUNT(*) FROM passages WHERE document_id = documents.id AND NOT removed) "
            "FROM documents WHERE id > ? ORDER BY id LIMIT ?"
        )
        last = ""
        while rows := self._all(query, (last, _BATCH)):
            yield from (DocumentInfo(*row) for row in rows)
            last = rows[-1][0]

    def passages_of(self, document_id: str) -> list[Passage]:
        """A document's passages in reading order."""
        query = (
            'SELECT id, document_id, title, text, start, "end", section, language, collection, url '
            "FROM passages WHERE document_id = ? AND NOT removed ORDER BY start, key"
        )
        return [Passage(*row) for row in self._all(query, (document_id,))]

    def passages(self, keys: Sequence[int]) -> dict[int, Passage]:
        """The passages with these keys; keys that are gone are left out."""
        query = (
            'SELECT key, id, document_id, title, text, start, "end", section, language, collection, url '
            "FROM passages WHERE key IN (SELECT value FROM json_each(?))"
        )
        return {row[0]: Passage(*row[1:]) for row in self._all(query, (json.dumps(list(keys)),))}

    def ids(self, keys: Sequence[int]) -> dict[int, str]:
        """The passage ids of these keys; keys that are gone are left out."""
        query = "SELECT key, id FROM passages WHERE key IN (SELECT value FROM json_each(?))"
        return dict(self._all(query, (json.dumps(list(keys)),)))

    def keys_in(self, collections: Sequence[str]) -> list[int]:
        """The keys of all passages of these collections."""
        query = "SELECT key FROM passages WHERE NOT removed AND collection IN (SELECT value FROM json_each(?))"
        return [key for (key,) in self._all(query, (json.dumps(list(collections)),))]

    def entries(self, keys: Sequence[int]) -> Iterator[Entry]:
        """What search indexes take of these passages."""
        query = (
            "SELECT key, collection, tokens, embedding FROM passages "
            "WHERE NOT removed AND key IN (SELECT value FROM json_each(?)) ORDER BY key"
        )
        for start in range(0, len(keys), _BATCH):
            some = keys[start : start + _BATCH]
            yield from (Entry(*row) for row in self._all(query, (json.dumps(some),)))

    def all_entries(self) -> Iterator[Entry]:
        """What search indexes take, of every passage, by key."""
        query = (
            "SELECT key, collection, tokens, embedding FROM passages WHERE NOT removed AND key > ? ORDER BY key LIMIT ?"
        )
        last = 0
        while rows := self._all(query, (last, _BATCH)):
            yield from (Entry(*row) for row in rows)
            last = rows[-1][0]

    def collections(self) -> dict[str, int]:
        """Documents of each collection."""
        return dict(self._all("SELECT collection, COUNT(*) FROM documents GROUP BY collection ORDER BY collection"))

    def languages(self) -> dict[str, int]:
        """Documents of each language."""
        return dict(self._all("SELECT language, COUNT(*) FROM documents GROUP BY language ORDER BY language"))

    def passage_count(self) -> int:
        """How many passages can be found."""
        return int(self._all("SELECT COUNT(*) FROM passages WHERE NOT removed")[0][0])

    # The change log

    def sequence(self) -> int:
        """The place of the last committed change."""
        return int(self._all("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'changes'")[0][0])

    def changes_since(self, sequence: int) -> Changes | None:
        """What came and went after ``sequence``; None when the log does not reach back that far."""
        with self.connections.reading() as connection, transaction(connection):
            last, oldest = connection.execute(
                "SELECT (SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'changes'), "
                "(SELECT MIN(sequence) FROM changes)"
            ).fetchone()
            if sequence > last or (sequence < last and (oldest is None or oldest > sequence + 1)):
                return None
            rows = connection.execute("SELECT action, passage FROM changes WHERE sequence > ?", (sequence,)).fetchall()
        removed = tuple(passage for action, passage in rows if action == "remove")
        gone = frozenset(removed)
        added = tuple(passage for action, passage in rows if action == "add" and passage not in gone)
        return Changes(last, added, removed)

    def _read_meta(self) -> IndexMeta:
        where = self.folder
        if not where.exists() or (where.is_dir() and not any(map(_is_content, where.iterdir()))):
            raise IndexNotFound(
                f"there is no index at {where}; make one with: selfright index add PATH --index {where}"
            )
        if not (where / FILE_NAME).is_file():
            raise NotAnIndex(
                f"{where} is not a Selfright index: expected a folder with {FILE_NAME}; choose another place"
            )
        with self.connections.reading() as connection:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if application != APPLICATION_ID:
                raise NotAnIndex(f"{where / FILE_NAME} is a database of another program; choose another place")
            check_format(where, version)
            found = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        return IndexMeta(found["identity"], found["tokenizer"], found["embedder"], int(found["dimension"]), version)

    def _all(self, query: str, parameters: Sequence[object] = ()) -> list[Any]:
        with self.connections.reading() as connection:
            return connection.execute(query, tuple(parameters)).fetchall()


def _make(folder: Path, meta: IndexMeta) -> None:
    # Under another name until it is whole, so that a crash leaves no half-made index.
    unfinished = folder / f"{FILE_NAME}{_UNFINISHED}"
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(unfinished)) as connection:
        connection.executescript(TABLES)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        rows = [(name, str(value)) for name, value in asdict(meta).items()]
        connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
        connection.commit()
        connection.execute("PRAGMA journal_mode = WAL")
    unfinished.replace(folder / FILE_NAME)
    sync_folder(folder)


def _check_unused(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(map(_is_content, folder.iterdir()))):
        raise NotAnIndex(f"cannot make an index at {folder}: expected an empty or new folder, but it has content")


def _is_content(path: Path) -> bool:
    """Whether a file means that a folder is in use; what a crash while making an index may leave does not."""
    return path.name != LOCK_NAME and not path.name.startswith(f"{FILE_NAME}{_UNFINISHED}")
