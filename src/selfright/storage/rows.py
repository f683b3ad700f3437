"""Stores of a few rows, kept the same way in a SQLite file or in PostgreSQL."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from selfright.storage.sqlite import Layout, SqliteFile, transaction

T = TypeVar("T")


class Connection(Protocol):
    """What SQLite's and PostgreSQL's connections have in common."""

    def execute(self, query: Any, params: Any = ..., /) -> Any:
        """Runs a statement; gives back its cursor."""
        ...


class Rows(ABC):
    """Rows of tables in a SQL database. Statements mark values with ``%s``, and name ``{table}`` and ``{owner}``."""

    table: ClassVar[str]
    owner: ClassVar[str]
    mark: ClassVar[str]

    @property
    def is_there(self) -> bool:
        """False as long as nothing was ever kept."""
        return True

    @abstractmethod
    def within(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives. Raises ``StoreError``."""

    def changed(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives, in a transaction."""
        return self.within(work)

    def run(self, connection: Connection, statement: str, *values: object) -> Any:
        """The cursor of a statement."""
        named = statement.format(table=self.table, owner=self.owner)
        return connection.execute(named.replace("%s", self.mark), values)

    def rows(self, query: str, *values: object) -> list[Any]:
        """What a query finds; nothing where nothing was ever kept."""

        def work(connection: Connection) -> list[Any]:
            found: list[Any] = self.run(connection, query, *values).fetchall()
            return found

        return self.within(work) if self.is_there else []

    def encode(self, text: str) -> str:
        """Text as the database takes it."""
        return text

    def decode(self, text: str) -> str:
        """Text as it was given to ``encode``."""
        return text

    @abstractmethod
    def close(self) -> None:
        """Closes what was opened here; nothing happens when it is closed already."""


class FileRows(Rows):
    """Rows in a SQLite file that the first change makes, readable for its owner alone. Several processes may use it."""

    mark = "?"

    def __init__(self, path: Path, layout: Layout, patience_s: float = 10.0) -> None:
        self.path = path
        self.file = SqliteFile(path, layout, patience_s)

    @property
    def is_there(self) -> bool:
        """Whether there is a file."""
        return self.path.exists()

    def within(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives. Raises ``StoreError``."""
        with self.file.connected() as connection:
            return work(connection)

    def changed(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives, in a transaction beside which nobody else writes."""
        with self.file.connected() as connection, transaction(connection, "IMMEDIATE"):
            return work(connection)

    def close(self) -> None:
        """Closes the file."""
        self.file.close()
