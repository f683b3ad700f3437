"""Sessions over what there is to keep them in: a SQLite file, or memory."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import Op, Result
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from selfright.domain.errors import StoreError
from selfright.memory.checkpoints import TurnSaver
from selfright.memory.conversation import Retention
from selfright.memory.database import Database
from selfright.memory.serializing import TurnSerializer
from selfright.memory.session_locks import FileSessionLocks, LocalSessionLocks
from selfright.memory.sessions import Sessions

_SETUP = "set up the tables"
_SETUP_TRIES = 100
_SETUP_PAUSE = 0.05


class _Store(SqliteStore):
    """LangGraph's SQLite store, on the thread of its database."""

    database: Database

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """All operations, in one transaction: reads first."""
        given = list(ops)
        return await self.database.run(lambda _: self.batch(given))


async def open_sessions(path: Path, retention: Retention | None = None) -> Sessions:
    """Sessions in the SQLite file ``path``, which is made when it is missing; close them when done.

    Several processes of one machine may have the file open. Raises ``StoreError``, which names the file, when it is
    damaged or cannot be written.
    """
    locks = FileSessionLocks(path.with_name(f"{path.name}-running"))
    database = Database(path)
    try:
        locks.sweep()
        await database.open()
        saver, store = await _set_up(database, locks)
    except BaseException:
        await database.close()
        raise
    return Sessions(store, saver, locks, retention, scrub=database.scrub, close=database.close)


def sessions_in_memory(retention: Retention | None = None) -> Sessions:
    """Sessions for as long as the process lives."""
    return Sessions(InMemoryStore(), InMemorySaver(serde=TurnSerializer()), LocalSessionLocks(), retention)


async def _set_up(database: Database, locks: FileSessionLocks) -> tuple[TurnSaver, _Store]:
    """Makes the tables, one process at a time: LangGraph's migrations do not expect company."""
    for _ in range(_SETUP_TRIES):
        if await locks.take(_SETUP):
            break
        await asyncio.sleep(_SETUP_PAUSE)
    else:
        raise StoreError(f"another process has been opening {database.path} for too long; end it, then try again")
    try:
        return await TurnSaver.over(database), await _store_over(database)
    finally:
        await locks.release(_SETUP)


async def _store_over(database: Database) -> _Store:
    def made(connection: object) -> _Store:
        store = _Store(connection)  # type: ignore[arg-type]  # the database gives its sqlite3.Connection
        store.setup()
        store.database = database
        return store

    return await database.run(made)
