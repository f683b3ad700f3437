"""Embeddings kept on disk by the hash of their text, for all indexes and processes of one user.

The file holds hashes and vectors, no text; only its owner can read it. It may fail at any time: what is lost then is
speed, never a vector.
"""

import hashlib
import logging
import sqlite3
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from selfright.domain.embedding import cross_language_penalty, query_vector
from selfright.domain.errors import StoreError
from selfright.domain.passages import Language
from selfright.domain.ports import Embedder
from selfright.storage.sqlite import Layout, SqliteFile, is_busy, transaction

Vector = NDArray[np.float32]
T = TypeVar("T")

DEFAULT_BYTES = 1_000_000_000
LEAST_BYTES = 1_000_000

_BLOCK = 500  # texts that are asked for, embedded and kept at a time: what an interruption can cost
_PATIENCE_S = 5.0
REST_S = 60.0  # how long a file that failed is left alone
_DROPPED_SHARE = 0.1  # of the entries, when the file is full
_LAYOUT = Layout(
    "embedding cache",
    2,
    (
        "DROP TABLE IF EXISTS vectors",  # of another format: it only saves time
        "CREATE TABLE vectors (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,"
        " checksum INTEGER NOT NULL, vector BLOB NOT NULL)",
    ),
    (
        "page_size = 16384",  # ten vectors of 384 numbers, one of 3,072
        # Waiting for the disk would cost more than most vectors. Only a crash of the machine can then damage the file,
        # which the checksums tell; a crash of the process cannot.
        "synchronous = OFF",
        f"journal_size_limit = {LEAST_BYTES}",
    ),
)


log = logging.getLogger(__name__)


class CachedEmbedder:
    """An embedder that computes no vector twice, whichever index or process asked for it first.

    ``path`` is the shared file, made when it is missing, ``max_bytes`` about its greatest size; the oldest entries
    go first. Entries belong to an embedder by its name and dimension, so give only embedders whose name
    says which model they are. A file that cannot be used costs one warning, and is left alone for a minute; one that
    cannot be written just now (another process writes, the disk is full) is read all the same. Thread-safe.
    """

    def __init__(self, embedder: Embedder, path: Path, max_bytes: int = DEFAULT_BYTES) -> None:
        self._embedder = embedder
        self._max_bytes = max(max_bytes, LEAST_BYTES)
        self._path, self._file = path, SqliteFile(path, _LAYOUT, _PATIENCE_S)
        self._used_from = self._written_from = 0.0  # on the monotonic clock
        self._warned = False
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
        side = "query" if hasattr(self._embedder, "embed_query") else "text"
        vector: Vector = self._rows([text], side, lambda _: query_vector(self._embedder, text).reshape(1, -1))[0]
        return vector

    def cross_language_penalty(self, vector: Vector, language: Language) -> Vector:
        """As the embedder makes a query's vector lean towards the other language; as it is, where it makes none."""
        return cross_language_penalty(self._embedder, vector, language)

    def close(self) -> None:
        """Closes the file; it is opened again when it is needed."""
        with suppress(sqlite3.Error):
            self._file.close()

    def _attempt(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What ``work`` gives; ``otherwise`` when the file is locked, fails, or failed just before."""
        if time.monotonic() < self._used_from:
            return otherwise
        try:
            with self._file.connect() as connection:
                return work(connection)
        except (StoreError, ValueError) as error:
            cause = error.__cause__ or error
            if not is_busy(cause):  # else another process writes just now
                self._warn(cause)
                self._used_from = time.monotonic() + REST_S
                self.close()
            return otherwise

    def _warn(self, error: BaseException) -> None:
        """Says once that the file cannot be used; after that only for debugging."""
        log.log(
            logging.DEBUG if self._warned else logging.WARNING,
            "the %s %s cannot be used (%s); going on without it for now. "
            "If this stays so, delete the file: it only saves time",
            *(_LAYOUT.name, self._path, error),
        )
        self._warned = True

    def _rows(self, texts: Sequence[str], side: str, compute: Callable[[Sequence[str]], Vector]) -> Vector:
        prefix = f"{self.name}\0{self.dimension}\0{side}\0"
        keys = [hashlib.sha256((prefix + text).encode("utf-8", "surrogatepass")).digest() for text in texts]
        found: dict[bytes, Vector] = self._attempt(lambda connection: self._read(connection, keys), {})
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            new = dict(zip(missing, compute(list(missing.values())), strict=True))
            self._attempt(lambda connection: self._write(connection, new), None)
            found = {**found, **new}
        return np.stack([found[key] for key in keys])

    def _read(self, connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors that are there; one that is damaged or of another dimension counts as missing."""
        found, size = {}, 4 * self.dimension
        rows = connection.execute(
            f"SELECT key, checksum, vector FROM vectors WHERE key IN ({','.join('?' * len(keys))})",  # noqa: S608 (marks only)
            keys,
        )
        for key, checksum, content in rows:
            # In a damaged file even the types can be others.
            if not (isinstance(key, bytes) and isinstance(content, bytes) and checksum == _checksum(key, content)):
                continue
            if len(content) == size:
                found[key] = np.frombuffer(content, dtype="<f4").astype(np.float32, copy=False)
        return found

    def _write(self, connection: sqlite3.Connection, vectors: Mapping[bytes, Vector]) -> None:
        """Adds vectors, unless that was refused just before."""
        if time.monotonic() < self._written_from:
            return
        contents = [(key, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in vectors.items()]
        room = self._max_bytes - sum(len(content) for _, content in contents)
        try:
            with transaction(connection, "IMMEDIATE"):
                while _used_bytes(connection) > room and _drop_oldest(connection):
                    pass
                connection.executemany(
                    "INSERT OR REPLACE INTO vectors (key, checksum, vector) VALUES (?, ?, ?)",
                    ((key, _checksum(key, content), content) for key, content in contents),
                )
        except sqlite3.OperationalError as error:
            self._warn(error)
            self._written_from = time.monotonic() + REST_S


def _used_bytes(connection: sqlite3.Connection) -> int:
    page_count, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((page_count - free) * size)


def _drop_oldest(connection: sqlite3.Connection) -> bool:
    """Drops a share of the entries, the oldest first; false when there were none."""
    (entries,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    dropped = connection.execute(
        "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY id LIMIT ?)",
        (max(1, int(entries * _DROPPED_SHARE)),),
    )
    return dropped.rowcount > 0


def _checksum(key: bytes, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(key))
