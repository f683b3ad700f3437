"""One SQLite file, and the one thread that touches it.

Callers on any event loop hand their work to the thread, so nothing here is bound to a loop, and two statements never
meet in the middle. Writes that come in while the thread is busy are committed together: with many turns at once, that
is what keeps the cost of a checkpoint small.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from selfright.domain.errors import StoreError
from selfright.storage.sqlite import LOG_BYTES, Layout, open_file, transaction

T = TypeVar("T")
Statement = tuple[str, Sequence[Sequence[Any]]]
"""A statement and the rows of values to run it with."""

FORMAT = 1
_BUSY_SECONDS = 10.0
_LAYOUT = Layout(
    "sessions",
    FORMAT,
    pragmas=(
        # What is committed survives the death of the process; a power cut may cost the last turns, never the file.
        "synchronous = NORMAL",
        # What was deleted is overwritten, or forgetting a conversation would leave it on the disk.
        "secure_delete = ON",
        LOG_BYTES,
    ),
)


class Database:
    """A SQLite file that several processes may have open; ``open`` it before use, ``close`` it after."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="selfright-sessions")
        self._connection: sqlite3.Connection | None = None
        self._waiting: list[_Write] = []
        self._lock = threading.Lock()

    async def open(self) -> None:
        """Opens the file, making it when it is missing: readable for its owner alone.

        Raises ``StoreError`` for a file that is damaged, no database, of a newer version, or cannot be written.
        """
        await self._given(self._open)

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What ``work`` gives for the connection, on the file's thread. Raises ``StoreError`` for SQLite's errors."""
        return await self._given(lambda: work(self._opened()))

    async def write(self, statements: Sequence[Statement]) -> None:
        """Runs the statements and commits them, in one transaction with what others write at the same moment.

        Statements that fail are undone, and the others' are kept.
        """
        loop = asyncio.get_running_loop()
        write = _Write(statements, loop, loop.create_future())
        with self._lock:
            if not self._waiting:
                self._submit(self._flush)
            self._waiting.append(write)
        await write.done

    async def scrub(self) -> None:
        """Empties the write-ahead log, so that what was deleted is gone from there too, if nobody reads it just now."""
        await self.run(lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())

    async def close(self) -> None:
        """Closes the file and ends its thread; nothing happens when it is closed already."""
        if self._connection is not None:
            await self._given(self._close)
        self._thread.shutdown(wait=False)

    async def _given(self, work: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._submit(lambda: self._explained(work)))

    def _submit(self, work: Callable[[], T]) -> "Future[T]":
        try:
            return self._thread.submit(work)
        except RuntimeError as error:
            raise StoreError(f"the sessions in {self.path} are closed; open them again") from error

    def _explained(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except (sqlite3.Error, OSError, ValueError) as error:
            cause = error.__cause__ if isinstance(error, ValueError) else error
            if not isinstance(cause, sqlite3.Error | OSError):
                raise
            raise _LAYOUT.explained(self.path, cause) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"the sessions in {self.path} are not open; open them first")
        return self._connection

    def _open(self) -> None:
        self._connection = open_file(self.path, _LAYOUT, _BUSY_SECONDS)

    def _close(self) -> None:
        connection, self._connection = self._opened(), None
        connection.close()

    def _flush(self) -> None:
        with self._lock:
            batch, self._waiting = self._waiting, []
        ends: Sequence[Exception | None]
        try:
            ends = self._explained(lambda: self._commit([write.statements for write in batch]))
        except Exception as error:  # whatever it was, somebody waits for it
            ends = [error] * len(batch)
        told: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[None], Exception | None]]] = {}
        for write, end in zip(batch, ends, strict=True):
            told.setdefault(write.loop, []).append((write.done, end))
        for loop, those in told.items():  # one wake-up for all that wait on a loop
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                loop.call_soon_threadsafe(_tell, those)

    def _commit(self, writes: Sequence[Sequence[Statement]]) -> list[Exception | None]:
        """Commits what can be written, in one transaction; for each write the error that undid it."""
        connection = self._opened()
        try:
            with transaction(connection, "IMMEDIATE"):
                for statement, rows in chain.from_iterable(writes):
                    connection.executemany(statement, rows)
            return [None] * len(writes)
        except Exception:  # rare: now each by itself, to find whose fault it is
            if not writes[1:]:
                raise
        with transaction(connection, "IMMEDIATE"):
            return [self._write(connection, statements) for statements in writes]

    def _write(self, connection: sqlite3.Connection, statements: Sequence[Statement]) -> Exception | None:
        """Runs one write's statements, or none of them. Raises where the whole transaction is lost (a full disk)."""
        connection.execute("SAVEPOINT one")
        try:
            self._explained(lambda: [connection.executemany(statement, rows) for statement, rows in statements])
        except Exception as error:  # what is wrong with a value, the binding says in many ways
            if not connection.in_transaction:
                raise
            connection.execute("ROLLBACK TO one")
            return error
        finally:
            if connection.in_transaction:
                connection.execute("RELEASE one")
        return None


@dataclass(slots=True)
class _Write:
    """Statements, and the future of the loop on which somebody waits for them."""

    statements: Sequence[Statement]
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[None]"


def _tell(ends: Sequence[tuple["asyncio.Future[None]", Exception | None]]) -> None:
    for done, end in ends:
        if done.done():  # who waited was cancelled
            continue
        if end is None:
            done.set_result(None)
        else:
            done.set_exception(end)
