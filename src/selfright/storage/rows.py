"""Stores of rows, the same statements for a SQLite file and for PostgreSQL."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from selfright.domain.errors import StoreError
from selfright.storage.sqlite import Layout, SqliteFile, transaction

if TYPE_CHECKING:
    from selfright.storage.postgres import PostgresDatabase

T = TypeVar("T")


class Connection(Protocol):
    """What SQLite's and PostgreSQL's connections have in common."""

    def execute(self, query: Any, params: Any = ..., /) -> Any:
        """Runs a statement; gives back its cursor."""


class Rows(ABC):
    """Rows of tables in a SQL database.

    Statements mark values with ``%s``, and name ``{table}`` and ``{owner}``, ``{now}``, the database's own clock in
    Unix seconds, and ``{share}``, which lets nobody else change the found rows before the transaction ends.
    """

    table: ClassVar[str] = ""
    owner: ClassVar[str] = ""
    mark: ClassVar[str]
    now: ClassVar[str]
    share: ClassVar[str] = ""

    @property
    def is_there(self) -> bool:
        """False as long as nothing was ever stored."""
        return True

    @property
    def ephemeral(self) -> bool:
        """Whether rows that were meant to last end with the process."""
        return False

    @abstractmethod
    def within(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives. Raises ``StoreError``."""

    @abstractmethod
    def transact(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """What ``work`` gives, in a transaction.

        Without ``durable`` a crash of the machine, or of the database's server, may lose it.
        """

    async def read(self, work: Callable[[Connection], T]) -> T:
        """``within`` on a thread."""
        return await self._aside(partial(self.within, work))

    async def change(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """``transact`` on a thread; it is done although the caller goes away."""
        return await self._aside(partial(self.transact, work, durable=durable))

    def run(self, connection: Connection, statement: str, *values: object) -> Any:
        """The cursor of a statement."""
        named = statement.format(table=self.table, owner=self.owner, now=self.now, share=self.share)
        return connection.execute(named.replace("%s", self.mark), values)

    def rows(self, query: str, *values: object) -> list[Any]:
        """What a query finds; nothing where nothing was ever stored."""

        def work(connection: Connection) -> list[Any]:
            found: list[Any] = self.run(connection, query, *values).fetchall()
            return found

        return self.within(work) if self.is_there else []

    @abstractmethod
    def scrub(self, *tables: str) -> None:
        """Leaves nothing of what was deleted from these tables. Raises ``StoreError`` while others hinder that."""

    @abstractmethod
    def close(self) -> None:
        """Closes what was opened here; nothing happens when it is closed already."""

    @abstractmethod
    async def _aside(self, call: Callable[[], T]) -> T: ...


class FileRows(Rows):
    """Rows in a SQLite file that is made when it is first opened, readable for its owner alone.

    Several processes may use it. Without a ``path`` they are in memory, and with ``or_memory`` also where the file
    cannot be written.
    """

    mark = "?"
    now = "((julianday('now') - 2440587.5) * 86400.0)"

    def __init__(self, path: Path | None, layout: Layout, patience_s: float = 10.0, *, or_memory: bool = False) -> None:
        self.path = path
        self.file = SqliteFile(path, layout, patience_s, or_memory=or_memory)
        self._thread: ThreadPoolExecutor | None = ThreadPoolExecutor(1, thread_name_prefix="selfright-rows")

    @property
    def is_there(self) -> bool:
        """Whether there is a file."""
        return self.file.path is None or self.file.path.exists()

    @property
    def ephemeral(self) -> bool:
        """Whether they are in memory, because the file could not be written."""
        return self.path is not None and self.file.path is None

    def within(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives. Raises ``StoreError``."""
        with self.file.connect() as connection:
            return work(connection)

    def transact(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """What ``work`` gives, in a transaction beside which nobody else writes."""
        del durable
        with self.file.connect() as connection, transaction(connection, "IMMEDIATE"):
            return work(connection)

    def scrub(self, *tables: str) -> None:
        """Leaves no byte of what was deleted in any table: makes the file anew and empties its log."""
        del tables
        with self.file.connect() as connection:
            self.file.scrub(connection)

    def close(self) -> None:
        """Closes the file."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown(wait=True)
        self.file.close()

    async def _aside(self, call: Callable[[], T]) -> T:
        if self._thread is None:
            raise StoreError(f"{self.path} is closed; open it again")
        return await asyncio.shield(asyncio.wrap_future(self._thread.submit(call)))


class DatabaseRows(Rows):
    """Rows in a database, which stays its owner's to close. A change is seen by the next request of every program."""

    mark = "%s"
    now = "extract(epoch FROM clock_timestamp())::float8"
    share = "FOR SHARE"

    def __init__(self, database: "PostgresDatabase") -> None:
        self.database = database

    def within(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives, in a transaction."""
        return self.database.within(work)

    def transact(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """``within``."""
        return self.database.within(work, durable=durable)

    def scrub(self, *tables: str) -> None:
        """Frees the space of what was deleted, or of what the tables held before."""
        self.database.scrub(*tables)

    def close(self) -> None:
        """Nothing: the database is its owner's."""

    async def _aside(self, call: Callable[[], T]) -> T:
        return await self.database.aside(call)
