"""What the web answered, kept on disk for a while: one SQLite file, bounded in bytes and age, expendable.

The file holds hashes of queries, never queries; only its owner can read it. An error of the file costs one warning and
the cache for a while, never a search.
"""

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from selfright.sqlite import write_ahead

T = TypeVar("T")

DAY_S = 86_400.0

_FORMAT = 1
_PATIENCE_S = 2.0
_REST_S = 60.0  # how long a file that failed is left alone
_LARGEST_SHARE = 0.25  # of the bound, for one entry
_MOST_UNPACKED = 50_000_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    key BLOB PRIMARY KEY, kept REAL NOT NULL, size INTEGER NOT NULL, value BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_by_time ON entries (kept);
"""
# Everything that, added up from the oldest on, had not yet made the room that is needed.
_DROP_OLDEST = """
DELETE FROM entries WHERE key IN (
    SELECT key FROM (SELECT key, size, sum(size) OVER (ORDER BY kept, key) AS freed FROM entries) WHERE freed - size < ?
)
"""

log = logging.getLogger(__name__)


class WebCache:
    """Values of JSON by key, at most ``max_bytes`` of them in all and none older than ``max_age_s``.

    The oldest go first. Thread-safe, and several processes may share the file. Calls do disk work: use a thread.
    """

    def __init__(
        self,
        path: Path,
        max_bytes: int = 100_000_000,
        max_age_s: float = DAY_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path, self._max_bytes, self._max_age_s, self._clock = path, max_bytes, max_age_s, clock
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._rests_until = 0.0  # on the monotonic clock
        self._told = False

    def get(self, *names: object) -> Any:
        """What was kept under these names, or None when there is nothing, or nothing fresh."""
        return self._guarded(lambda connection: self._read(connection, _key(names)))

    def put(self, value: Any, *names: object) -> None:
        """Keeps a value that JSON can hold; one that is too large for this cache is not kept."""
        packed = zlib.compress(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"), 6)
        if len(packed) <= self._max_bytes * _LARGEST_SHARE:
            self._guarded(lambda connection: self._write(connection, _key(names), packed))

    def close(self) -> None:
        """Closes the file; it is opened again when it is needed."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _read(self, connection: sqlite3.Connection, key: bytes) -> Any:
        oldest = self._clock() - self._max_age_s
        row = connection.execute("SELECT value FROM entries WHERE key = ? AND kept > ?", (key, oldest)).fetchone()
        if row is None:
            return None
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(row[0], _MOST_UNPACKED)
        return json.loads(text.decode("utf-8", "surrogatepass")) if unpacker.eof else None

    def _write(self, connection: sqlite3.Connection, key: bytes, packed: bytes) -> None:
        now = self._clock()
        with connection:
            connection.execute("DELETE FROM entries WHERE kept <= ?", (now - self._max_age_s,))
            connection.execute("REPLACE INTO entries VALUES (?, ?, ?, ?)", (key, now, len(packed), packed))
            (total,) = connection.execute("SELECT sum(size) FROM entries").fetchone()
            if total > self._max_bytes:
                connection.execute(_DROP_OLDEST, (total - self._max_bytes,))

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        with self._lock:
            if time.monotonic() < self._rests_until:
                return None
            try:
                return work(self._opened())
            except (sqlite3.Error, OSError, ValueError, zlib.error) as error:
                if "locked" in str(error):  # another process writes just now
                    return None
                self._rests_until = time.monotonic() + _REST_S
                level = logging.DEBUG if self._told else logging.WARNING
                log.log(level, "the web cache %s is left alone (%s); delete it if it is damaged", self._path, error)
                self._told = True
                return None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(self._path, timeout=_PATIENCE_S, check_same_thread=False)
            try:
                _prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA auto_vacuum = FULL")  # deleted entries make the file smaller
    connection.execute("PRAGMA secure_delete = ON")
    write_ahead(connection, _PATIENCE_S)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_size_limit = 16777216")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, _FORMAT):
        connection.execute("DROP TABLE IF EXISTS entries")
    connection.executescript(_SCHEMA)
    connection.execute(f"PRAGMA user_version = {_FORMAT}")


def _key(names: tuple[object, ...]) -> bytes:
    return hashlib.sha256(json.dumps([str(name) for name in names]).encode()).digest()
