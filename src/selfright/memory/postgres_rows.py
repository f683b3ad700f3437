"""Rows in PostgreSQL, for all programs that share the database."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from selfright.memory.postgres_address import decode, encode
from selfright.storage.rows import Connection, Rows

if TYPE_CHECKING:
    from selfright.memory.postgres import PostgresDatabase

T = TypeVar("T")


class DatabaseRows(Rows):
    """Rows in a database. A change is seen by the next request of every program."""

    mark = "%s"

    def __init__(self, database: "PostgresDatabase") -> None:
        self.database = database

    def within(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives, in a transaction."""
        return self.database.within(work)

    def encode(self, text: str) -> str:
        """Text without NUL."""
        return encode(text)

    def decode(self, text: str) -> str:
        """Text as it was given to ``encode``."""
        return decode(text)

    def close(self) -> None:
        """Nothing: the database is its owner's."""
