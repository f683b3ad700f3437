"""What the web answered, kept on disk for a while: one SQLite file, bounded in bytes and age, expendable.

The file holds hashes of queries, never queries; only its owner can read it. An error of the file costs one warning and
the cache for a while, never a search.
"""

import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selfright.storage.cache_file import CacheFile
from selfright.storage.sqlite import LOG_BYTES, Layout, transaction

DAY_S = 86_400.0

_PATIENCE_S = 2.0
_LARGEST_SHARE = 0.25  # of the bound, for one entry
_MOST_UNPACKED = 50_000_000
_LAYOUT = Layout(
    "web cache",
    1,
    (
        "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, kept REAL NOT NULL, size INTEGER NOT NULL,"
        " value BLOB NOT NULL) WITHOUT ROWID",
        "CREATE INDEX IF NOT EXISTS entries_by_time ON entries (kept)",
    ),
    ("auto_vacuum = FULL", "secure_delete = ON", "synchronous = NORMAL", LOG_BYTES),  # deleted entries leave no pages
)
# Everything that, added up from the oldest on, had not yet made the room that is needed.
_DROP_OLDEST = """
DELETE FROM entries WHERE key IN (
    SELECT key FROM (SELECT key, size, sum(size) OVER (ORDER BY kept, key) AS freed FROM entries) WHERE freed - size < ?
)
"""


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
        self._max_bytes, self._max_age_s, self._clock = max_bytes, max_age_s, clock
        self._file = CacheFile(path, _LAYOUT, _PATIENCE_S)

    def get(self, *names: object) -> Any:
        """What was kept under these names, or None when there is nothing, or nothing fresh."""
        return self._file.attempt(lambda connection: self._read(connection, _key(names)), None)

    def put(self, value: Any, *names: object) -> None:
        """Keeps a value that JSON can hold; one that is too large for this cache is not kept."""
        packed = zlib.compress(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"), 6)
        if len(packed) <= self._max_bytes * _LARGEST_SHARE:
            self._file.attempt(lambda connection: self._write(connection, _key(names), packed), None)

    def close(self) -> None:
        """Closes the file; it is opened again when it is needed."""
        self._file.close()

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
        with transaction(connection, "IMMEDIATE"):
            connection.execute("DELETE FROM entries WHERE kept <= ?", (now - self._max_age_s,))
            connection.execute("REPLACE INTO entries VALUES (?, ?, ?, ?)", (key, now, len(packed), packed))
            (total,) = connection.execute("SELECT sum(size) FROM entries").fetchone()
            if total > self._max_bytes:
                connection.execute(_DROP_OLDEST, (total - self._max_bytes,))


def _key(names: tuple[object, ...]) -> bytes:
    return hashlib.sha256(json.dumps([str(name) for name in names]).encode()).digest()
