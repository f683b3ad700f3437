"""Ratings in PostgreSQL, for all programs that share the database."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from selfright.domain.ratings import MAX_RATINGS, Rating, checked
from selfright.memory.postgres import PostgresDatabase
from selfright.memory.postgres_address import decode, encode
from selfright.memory.ratings import rating_of, row_of

if TYPE_CHECKING:
    from psycopg import Connection

_TABLE = "answer_ratings"
_PUT = (
    "INSERT INTO answer_ratings VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (owner, trace) DO UPDATE SET"
    " at = excluded.at, question = excluded.question, helpful = excluded.helpful, places = excluded.places"
)
_TOO_MANY = (
    "DELETE FROM answer_ratings WHERE (owner, trace) IN"
    " (SELECT owner, trace FROM answer_ratings ORDER BY at DESC, owner, trace OFFSET %s)"
)
_LISTED = (
    "SELECT owner, trace, at, question, helpful, places FROM answer_ratings"
    " WHERE %(owner)s::text IS NULL OR owner = %(owner)s ORDER BY at DESC, owner, trace"
)
_FORGET = (
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
            connection.execute(_PUT, row)
            connection.execute(_TOO_MANY, (self._most,))

        self._database.within(work)

    def listed(self, user: str | None = None) -> Sequence[Rating]:
        """A user's ratings, or everybody's, the newest first."""
        wanted = {"owner": None if user is None else encode(user)}
        rows = self._database.within(lambda connection: connection.execute(_LISTED, wanted).fetchall())
        return tuple(rating_of([decode(cell) if isinstance(cell, str) else cell for cell in row]) for row in rows)

    def forget(self, user: str | None, trace_id: str | None = None) -> int:
        """Erases from the tables, and clears their space."""
        wanted = {name: None if said is None else encode(said) for name, said in (("owner", user), ("trace", trace_id))}
        gone = self._database.within(lambda connection: connection.execute(_FORGET, wanted).rowcount)
        if gone:
            self._database.scrub(_TABLE)
        return gone

    def close(self) -> None:
        """Nothing: the database is its owner's."""
