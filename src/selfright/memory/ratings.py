"""Ratings in one SQLite file, readable for its owner alone; erasing overwrites them and empties the log."""

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from selfright.domain.errors import StoreError
from selfright.domain.ratings import MAX_RATINGS, Place, Rating, checked
from selfright.sqlite import write_ahead

T = TypeVar("T")

FORMAT = 1
_BUSY_S = 10.0
_TABLES = (
    "CREATE TABLE IF NOT EXISTS ratings (user TEXT NOT NULL, trace TEXT NOT NULL, at REAL NOT NULL,"
    " question TEXT NOT NULL, helpful INTEGER NOT NULL, places TEXT NOT NULL, PRIMARY KEY (user, trace)) STRICT",
    "CREATE INDEX IF NOT EXISTS ratings_at ON ratings (at)",
)
_TOO_MANY = (
    "DELETE FROM ratings WHERE rowid IN (SELECT rowid FROM ratings ORDER BY at DESC, rowid DESC LIMIT -1 OFFSET ?)"
)
_LISTED = (
    "SELECT user, trace, at, question, helpful, places FROM ratings WHERE ?1 IS NULL OR user = ?1"
    " ORDER BY at DESC, rowid DESC"
)
_FORGET = "DELETE FROM ratings WHERE (?1 IS NULL OR user = ?1) AND (?2 IS NULL OR trace = ?2)"


class SqliteRatings:
    """A ``RatingStore`` in the file ``path``, which the first rating makes. Several processes may use it."""

    def __init__(self, path: Path, most: int = MAX_RATINGS) -> None:
        self.path = path
        self._most = most
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def put(self, rating: Rating) -> None:
        """Keeps a rating; beyond the bound the oldest go. Raises ``InputError`` for one that is too large."""
        row = row_of(checked(rating))

        def work(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?, ?, ?)", row)
                connection.execute(_TOO_MANY, (self._most,))

        self._run(work)

    def listed(self, user: str | None = None) -> Sequence[Rating]:
        """A user's ratings, or everybody's, the newest first."""
        if not self.path.exists():
            return ()
        rows = self._run(lambda connection: connection.execute(_LISTED, (user,)).fetchall())
        return tuple(rating_of(row) for row in rows)

    def forget(self, user: str | None, trace_id: str | None = None) -> int:
        """Erases; no byte of them is left. Raises ``StoreError`` while another process keeps the log open."""
        if not self.path.exists():
            return 0

        def work(connection: sqlite3.Connection) -> int:
            with connection:
                gone = connection.execute(_FORGET, (user, trace_id)).rowcount
            connection.execute("VACUUM")
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise StoreError(
                    f"the ratings were erased from {self.path}, but another process keeps SQLite's log open; run it "
                    "again when that process is done"
                )
            return gone

        return self._run(work)

    def close(self) -> None:
        """Closes the file; nothing happens when it is closed already."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                return work(self._opened())
            except (sqlite3.Error, OSError) as error:
                raise StoreError(
                    f"the ratings in {self.path} cannot be used ({error}); allow writing there, or if the file is "
                    "damaged move it away to begin with an empty one"
                ) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(self.path, timeout=_BUSY_S, check_same_thread=False)
            try:
                self._set_up(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _set_up(self, connection: sqlite3.Connection) -> None:
        write_ahead(connection, _BUSY_S)
        connection.execute("PRAGMA secure_delete = ON")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > FORMAT:
            raise StoreError(
                f"the ratings in {self.path} are of format {version}, but this version reads up to {FORMAT}; update it"
            )
        for statement in _TABLES:
            connection.execute(statement)
        if version != FORMAT:
            connection.execute(f"PRAGMA user_version = {FORMAT}")


def row_of(rating: Rating) -> tuple[Any, ...]:
    """A rating as a row: user, turn, time, question, helpful, places as JSON."""
    places = json.dumps([[place.document_id, place.start, place.end, place.digest] for place in rating.places])
    return rating.user, rating.trace_id, rating.at, rating.question, int(rating.helpful), places


def rating_of(row: Sequence[Any]) -> Rating:
    """The rating that a row holds."""
    user, trace_id, at, question, helpful, places = row
    return Rating(user, trace_id, at, question, bool(helpful), tuple(_places(json.loads(places))))


def _places(stored: Iterable[Sequence[Any]]) -> Iterable[Place]:
    return (Place(str(document), int(start), int(end), str(digest)) for document, start, end, digest in stored)
