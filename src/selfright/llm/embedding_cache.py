"""Embeddings kept on disk by the hash of their text, for all indexes and processes of one user.

``CachedEmbedder`` is the embedder to the outside; ``VectorFile`` is the file, and may fail at any time: what is lost
then is speed, never a vector. The file holds hashes and vectors, no text; only its owner can read it.
"""

import hashlib
import logging
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from selfright.domain.ports import Embedder
from selfright.sqlite import write_ahead

Vector = NDArray[np.float32]
T = TypeVar("T")

DEFAULT_BYTES = 1_000_000_000
LEAST_BYTES = 1_000_000

_FORMAT = 1
_BLOCK = 1_024  # texts that are embedded, and then kept, at a time: what an interruption can cost
_ASKED_AT_ONCE = 500
_BEHIND = 128  # vectors that wait for company before they are written: single ones cost as much as many
_PATIENCE_S = 5.0
_OPENINGS = 5
_PAGE_BYTES = 16_384  # ten vectors of 384 numbers, one of 3,072
_HOUR_S = 3_600
_DROPPED_SHARE = 0.1  # of the entries, when the file is full

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, used INTEGER NOT NULL, checksum INTEGER NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS vectors_by_use ON vectors (used);
"""

log = logging.getLogger(__name__)


class CachedEmbedder:
    """An embedder that computes no vector twice, whichever index or process asked for it first.

    ``path`` is the shared file, made when it is missing, ``max_bytes`` about its greatest size; the entries used
    longest ago go first. Entries belong to an embedder by its name and dimension, so give only embedders whose name
    says which model they are. A file that cannot be used costs one warning and is then left alone. Thread-safe.
    """

    def __init__(self, embedder: Embedder, path: Path, max_bytes: int = DEFAULT_BYTES) -> None:
        self._embedder = embedder
        self._file = VectorFile(path, max_bytes)
        self.languages = tuple(getattr(embedder, "languages", ()))

    @property
    def name(self) -> str:
        """The embedder's own: an index does not care where its vectors were kept."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vector:
        """One row per text: float32, shape ``(len(texts), dimension)``, rows of length one."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BLOCK):
            vectors[start : start + _BLOCK] = self._rows(texts[start : start + _BLOCK], "text", self._embedder.embed)
        return vectors

    def embed_query(self, text: str) -> Vector:
        """The vector to search with: float32, shape ``(dimension,)``, of length one."""
        special: Callable[[str], Vector] | None = getattr(self._embedder, "embed_query", None)
        if special is None:
            rows = self._rows([text], "text", self._embedder.embed)
        else:
            rows = self._rows([text], "query", lambda texts: np.stack([special(text) for text in texts]))
        vector: Vector = rows[0]
        return vector

    def close(self) -> None:
        """Closes the file; it is opened again when it is needed."""
        self._file.close()

    def _rows(self, texts: Sequence[str], side: str, compute: Callable[[Sequence[str]], Vector]) -> Vector:
        prefix = f"{self.name}\0{self.dimension}\0{side}\0"
        keys = [hashlib.sha256((prefix + text).encode("utf-8", "surrogatepass")).digest() for text in texts]
        found = self._file.read(keys, self.dimension)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            new = dict(zip(missing, compute(list(missing.values())), strict=True))
            self._file.write(new)
            found = {**found, **new}
        return np.stack([found[key] for key in keys])


class VectorFile:
    """Vectors by key in one SQLite file that many processes may read and write at once; bounded, checked, expendable.

    After the first error of the file, nothing is read or written any more for the life of this object.
    """

    def __init__(self, path: Path, max_bytes: int = DEFAULT_BYTES) -> None:
        self._path = path
        self._max_bytes = max(max_bytes, LEAST_BYTES)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._failed = False
        self._waiting: dict[bytes, Vector] = {}

    def read(self, keys: Sequence[bytes], dimension: int) -> dict[bytes, Vector]:
        """The vectors that are there; one that is damaged or of another dimension counts as missing."""
        return self._guarded(lambda: self._read(keys, dimension), {})

    def write(self, vectors: Mapping[bytes, Vector]) -> None:
        """Keeps vectors, the last few of them in memory until there are more, or until ``close``."""
        self._guarded(lambda: self._write(vectors), None)

    def close(self) -> None:
        """Writes what waits and closes the file; it is opened again when it is needed."""
        self._guarded(self._flush, None)
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                connection.close()

    def _guarded(self, work: Callable[[], T], otherwise: T) -> T:
        with self._lock:
            if self._failed:
                return otherwise
            try:
                return work()
            except (sqlite3.Error, OSError) as error:
                self._give_up()
                log.warning(
                    "the embedding cache %s cannot be used (%s); going on without it. "
                    "If this stays so, delete the file: it only saves time",
                    self._path,
                    error,
                )
                return otherwise

    def _give_up(self) -> None:
        self._failed, self._waiting = True, {}
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _opened(self) -> sqlite3.Connection:
        # A connection must not be used across a fork.
        if self._connection is None or self._process != os.getpid():
            self._connection, self._process = _opened(self._path), os.getpid()
        return self._connection

    def _read(self, keys: Sequence[bytes], dimension: int) -> dict[bytes, Vector]:
        connection = self._opened()
        found = {key: self._waiting[key] for key in keys if key in self._waiting}
        stale: list[int] = []
        now = _hour()
        for some in _chunks(dict.fromkeys(key for key in keys if key not in found), _ASKED_AT_ONCE):
            marks = ",".join("?" * len(some))
            rows = connection.execute(
                f"SELECT id, key, used, checksum, vector FROM vectors WHERE key IN ({marks})",  # noqa: S608 (marks only)
                some,
            )
            for number, key, used, checksum, content in rows:
                if _is_sound(key, checksum, content, dimension):
                    found[key] = np.frombuffer(content, dtype="<f4").astype(np.float32, copy=False)
                    stale += [number] if used != now else []
        if stale:
            with connection:
                connection.executemany("UPDATE vectors SET used = ? WHERE id = ?", ((now, number) for number in stale))
        return found

    def _write(self, vectors: Mapping[bytes, Vector]) -> None:
        self._waiting.update((key, np.array(vector, dtype="<f4")) for key, vector in vectors.items())
        if len(self._waiting) >= _BEHIND:
            self._flush()

    def _flush(self) -> None:
        """Writes what waits, after dropping the entries used longest ago where the file would grow too large."""
        if not self._waiting:
            return
        connection, now = self._opened(), _hour()
        contents = [(key, vector.tobytes()) for key, vector in self._waiting.items()]
        room = self._max_bytes - sum(len(content) for _, content in contents)
        while _used_bytes(connection) > room and _drop_oldest(connection):
            pass
        with connection:
            connection.executemany(
                "INSERT OR REPLACE INTO vectors (key, used, checksum, vector) VALUES (?, ?, ?, ?)",
                ((key, now, _checksum(key, content), content) for key, content in contents),
            )
        self._waiting = {}


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to the file, made with access for its owner alone. Raises ``sqlite3.Error`` or ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    for attempt in range(_OPENINGS):
        connection = sqlite3.connect(path, timeout=_PATIENCE_S, check_same_thread=False)
        try:
            _prepare(connection)
        except sqlite3.OperationalError:
            # Two processes that make the file at once can be refused without being made to wait.
            connection.close()
            if attempt + 1 == _OPENINGS:
                raise
            time.sleep(0.05 * (attempt + 1))
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise sqlite3.OperationalError("the file could not be opened")


def _prepare(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, _FORMAT):
        raise sqlite3.DatabaseError(f"it has format {version}, this version writes {_FORMAT}")
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    write_ahead(connection, _PATIENCE_S)
    # Waiting for the disk would cost more than most vectors. Only a crash of the machine can then damage the file,
    # which the checksums tell; a crash of the process cannot.
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"PRAGMA journal_size_limit = {LEAST_BYTES}")
    if not version:
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_FORMAT}; COMMIT;")


def _used_bytes(connection: sqlite3.Connection) -> int:
    page_count, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((page_count - free) * size)


def _drop_oldest(connection: sqlite3.Connection) -> bool:
    """Drops a share of the entries, those used longest ago first; false when there were none."""
    (entries,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    with connection:
        dropped = connection.execute(
            "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY used, id LIMIT ?)",
            (max(1, int(entries * _DROPPED_SHARE)),),
        )
    return dropped.rowcount > 0


def _is_sound(key: object, checksum: object, content: object, dimension: int) -> bool:
    """Whether an entry is as it was written; in a damaged file even the types can be others."""
    return (
        isinstance(key, bytes)
        and isinstance(content, bytes)
        and len(content) == 4 * dimension
        and checksum == _checksum(key, content)
    )


def _checksum(key: bytes, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(key))


def _hour() -> int:
    """Hours since 1970: fine enough to tell what is old, so coarse that reading seldom writes."""
    return int(time.time() // _HOUR_S)


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while chunk := list(islice(remaining, size)):
        yield chunk
