"""Ratings in one SQLite file, readable for its owner alone, or in PostgreSQL for all programs that share it.

Erasing overwrites what is in the file and empties its log; in PostgreSQL it clears the space in the tables.
"""

import json
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfright.domain.ratings import MAX_RATINGS, Place, Rating, checked
from selfright.storage.rows import Connection, DatabaseRows, FileRows, Rows
from selfright.storage.sqlite import Layout

if TYPE_CHECKING:
    from selfright.storage.postgres import PostgresDatabase

FORMAT = 1
_TABLES = (
    "CREATE TABLE IF NOT EXISTS ratings (user TEXT NOT NULL, trace TEXT NOT NULL, at REAL NOT NULL,"
    " question TEXT NOT NULL, helpful INTEGER NOT NULL, places TEXT NOT NULL, PRIMARY KEY (user, trace)) STRICT",
    "CREATE INDEX IF NOT EXISTS ratings_at ON ratings (at)",
)
_LAYOUT = Layout("ratings", FORMAT, _TABLES, ("secure_delete = ON",))
_PUT = (
    "INSERT INTO {table} ({owner}, trace, at, question, helpful, places) VALUES (%s, %s, %s, %s, %s, %s)"
    " ON CONFLICT ({owner}, trace) DO UPDATE SET at = excluded.at, question = excluded.question,"
    " helpful = excluded.helpful, places = excluded.places"
)
_NEWEST_FIRST = "ORDER BY at DESC, {owner}, trace"
# Of users with the most first, so that nobody's ratings drive out another's.
_DROP_OLDEST = (
    "DELETE FROM {table} WHERE ({owner}, trace) IN (SELECT {owner}, trace FROM (SELECT {owner}, trace, at,"
    " row_number() OVER (PARTITION BY {owner} ORDER BY at DESC, trace) AS place FROM {table}) AS placed"
    " ORDER BY place, at DESC, {owner}, trace LIMIT 1000000000 OFFSET %s)"
)


class Ratings(Rows):
    """A ``RatingStore``. Several processes may use it."""

    _most = MAX_RATINGS

    def put(self, rating: Rating) -> None:
        """Keeps a rating; beyond the bound the oldest of who has the most go. Raises ``InputError`` for a large one."""
        checked(rating)
        places = json.dumps([[place.document_id, place.start, place.end, place.digest] for place in rating.places])
        texts = (self.encode(text) for text in (rating.user, rating.trace_id, rating.question, places))
        owner, trace, question, places = texts

        def work(connection: Connection) -> None:
            self.run(connection, _PUT, owner, trace, rating.at, question, rating.helpful, places)
            self.run(connection, _DROP_OLDEST, self._most)

        self.changed(work)

    def listed(self, user: str | None = None) -> Sequence[Rating]:
        """A user's ratings, or everybody's, the newest first."""
        where, values = self._where(owner=user)
        columns = "{owner}, trace, at, question, helpful, places"
        return tuple(map(self._rating, self.rows(f"SELECT {columns} FROM {{table}}{where} {_NEWEST_FIRST}", *values)))

    def forget(self, user: str | None, trace_id: str | None = None) -> int:
        """Erases; no byte of them is left. Raises ``StoreError`` while another process keeps the log open."""
        if not self.is_there:
            return 0
        where, values = self._where(owner=user, trace=trace_id)
        drop = f"DELETE FROM {{table}}{where}"
        gone: int = self.within(lambda connection: self.run(connection, drop, *values).rowcount)
        self._scrub(gone)
        return gone

    @abstractmethod
    def _scrub(self, gone: int) -> None:
        """Leaves nothing of what was deleted, ``gone`` of them just now."""

    def _where(self, **wanted: str | None) -> tuple[str, list[str]]:
        said = {name: self.encode(value) for name, value in wanted.items() if value is not None}
        tests = " AND ".join(f"{'{owner}' if name == 'owner' else name} = %s" for name in said)
        return (f" WHERE {tests}" if said else ""), list(said.values())

    def _rating(self, row: Sequence[Any]) -> Rating:
        user, trace_id, at, question, helpful, places = row
        found = (
            Place(str(of), int(start), int(end), str(digest))
            for of, start, end, digest in json.loads(self.decode(places))
        )
        return Rating(self.decode(user), self.decode(trace_id), at, self.decode(question), bool(helpful), tuple(found))


class SqliteRatings(Ratings, FileRows):
    """Ratings in the file ``path``."""

    table, owner = "ratings", "user"

    def __init__(self, path: Path, most: int = MAX_RATINGS) -> None:
        super().__init__(path, _LAYOUT)
        self._most = most

    def _scrub(self, gone: int) -> None:
        del gone  # where nothing went now, another process may have hindered it before
        with self.file.connected() as connection:
            self.file.scrub(connection)


class PostgresRatings(Ratings, DatabaseRows):
    """Ratings in a database."""

    table, owner = "answer_ratings", "owner"

    def __init__(self, database: "PostgresDatabase", most: int = MAX_RATINGS) -> None:
        super().__init__(database)
        self._most = most

    def _scrub(self, gone: int) -> None:
        if gone:
            self.database.scrub(self.table)
