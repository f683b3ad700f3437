"""Ratings in one SQLite file, readable for its owner alone, or in PostgreSQL for all programs that share it.

Erasing overwrites what is in the file and empties its log; in PostgreSQL it clears the space in the tables.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfright.domain.ratings import MAX_RATINGS, Place, Rating, checked
from selfright.memory.postgres import PostgresDatabase
from selfright.memory.postgres_address import decode, encode
from selfright.storage.sqlite import Layout, SqliteFile, transaction

if TYPE_CHECKING:
    from psycopg import Connection

FORMAT = 1
_TABLES = (
    "CREATE TABLE IF NOT EXISTS ratings (user TEXT NOT NULL, trace TEXT NOT NULL, at REAL NOT NULL,"
    " question TEXT NOT NULL, helpful INTEGER NOT NULL, places TEXT NOT NULL, PRIMARY KEY (user, trace)) STRICT",
    "CREATE INDEX IF NOT EXISTS ratings_at ON ratings (at)",
)
_LAYOUT = Layout("ratings", FORMAT, _TABLES, ("secure_delete = ON",))
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
        self._file = SqliteFile(path, _LAYOUT)

    def put(self, rating: Rating) -> None:
        """Keeps a rating; beyond the bound the oldest go. Raises ``InputError`` for one that is too large."""
        row = row_of(checked(rating))
        with self._file.connected() as connection, transaction(connection, "IMMEDIATE"):
            connection.execute("INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?, ?, ?)", row)
            connection.execute(_TOO_MANY, (self._most,))

    def listed(self, user: str | None = None) -> Sequence[Rating]:
        """A user's ratings, or everybody's, the newest first."""
        if not self.path.exists():
            return ()
        with self._file.connected() as connection:
            return tuple(rating_of(row) for row in connection.execute(_LISTED, (user,)).fetchall())

    def forget(self, user: str | None, trace_id: str | None = None) -> int:
        """Erases; no byte of them is left. Raises ``StoreError`` while another process keeps the log open."""
        if not self.path.exists():
            return 0
        with self._file.connected() as connection:
            gone = connection.execute(_FORGET, (user, trace_id)).rowcount
            self._file.scrub(connection)
        return gone

    def close(self) -> None:
        """Closes the file; nothing happens when it is closed already."""
        self._file.close()


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


_TABLE = "answer_ratings"
_PUT_ROW = (
    "INSERT INTO answer_ratings VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (owner, trace) DO UPDATE SET"
    " at = excluded.at, question = excluded.question, helpful = excluded.helpful, places = excluded.places"
)
_DROP_OLDEST = (
    "DELETE FROM answer_ratings WHERE (owner, trace) IN"
    " (SELECT owner, trace FROM answer_ratings ORDER BY at DESC, owner, trace OFFSET %s)"
)
_LIST_ROWS = (
    "SELECT owner, trace, at, question, helpful, places FROM answer_ratings"
    " WHERE %(owner)s::text IS NULL OR owner = %(owner)s ORDER BY at DESC, owner, trace"
)
_FORGET_ROWS = (
    "DELETE FROM answer_ratings WHERE (%(owner)s::text IS NULL OR owner = %(owner)s)"
    " AND (%(trace)s::text IS NULL OR trace = %(trace)s)"
)


class PostgresRatings:
    """A ``RatingStore`` in a database, which stays its owner's to close."""

    def __init__(self, database: PostgresDatabase, most: int = MAX_RATINGS) -> None:
        self._database = database
        self._most = most

    def put(self, rating: Rating) -> None:
        """Keeps a rating; beyond the bound the oldest go. Raises ``InputError`` for one that is too large."""
        owner, trace, at, question, helpful, places = row_of(checked(rating))
        row = (encode(owner), encode(trace), at, encode(question), bool(helpful), encode(places))

        def work(connection: "Connection[Any]") -> None:
            connection.execute(_PUT_ROW, row)
            connection.execute(_DROP_OLDEST, (self._most,))

        self._database.within(work)

    def listed(self, user: str | None = None) -> Sequence[Rating]:
        """A user's ratings, or everybody's, the newest first."""
        wanted = {"owner": None if user is None else encode(user)}
        rows = self._database.within(lambda connection: connection.execute(_LIST_ROWS, wanted).fetchall())
        return tuple(rating_of([decode(cell) if isinstance(cell, str) else cell for cell in row]) for row in rows)

    def forget(self, user: str | None, trace_id: str | None = None) -> int:
        """Erases from the tables, and clears their space."""
        wanted = {name: None if said is None else encode(said) for name, said in (("owner", user), ("trace", trace_id))}
        gone = self._database.within(lambda connection: connection.execute(_FORGET_ROWS, wanted).rowcount)
        if gone:
            self._database.scrub(_TABLE)
        return gone

    def close(self) -> None:
        """Nothing: the database is its owner's."""
