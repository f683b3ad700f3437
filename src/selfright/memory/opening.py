"""Sessions over a SQLite file, and how running turns are kept in it."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.base import Op, Result
from langgraph.store.sqlite import SqliteStore

from selfright.domain.errors import StoreError
from selfright.memory.conversation import Retention
from selfright.memory.database import Database
from selfright.memory.serializing import Packed, TurnSerializer
from selfright.memory.session_locks import FileSessionLocks
from selfright.memory.sessions import Sessions

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

_MOST_TURNS = 500
_HELD_S = 0.02
_PUT = (
    "INSERT OR REPLACE INTO checkpoints "
    "(thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_DROP_OLDER = "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id < ?"
_DROP_OLDER_WRITES = "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id < ?"
_DROP = "DELETE FROM checkpoints WHERE thread_id = ?"
_DROP_WRITES = "DELETE FROM writes WHERE thread_id = ?"
_PUT_WRITES = (
    "INSERT OR {conflict} INTO writes "
    "(thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class TurnSaver(SqliteSaver):
    """A LangGraph checkpointer for ``graph.compile(checkpointer=...)``; its asynchronous side is the one to use.

    It writes to LangGraph's own tables. Only the latest checkpoint of a turn is kept: it is there to go on after a
    crash, not to travel back.
    Run a graph with ``durability="sync"``: then a node begins when what the nodes before it did is in the file.
    """

    @classmethod
    async def over(cls, database: Database) -> "TurnSaver":
        """The saver of an open database, with its tables made."""

        def made(connection: Any) -> TurnSaver:
            saver = cls(connection, serde=TurnSerializer())
            saver.setup()
            saver.database, saver.packed, saver.held = database, OrderedDict(), {}
            return saver

        return await database.run(made)

    database: Database
    packed: OrderedDict[str, Packed]
    held: dict[str, list["asyncio.Future[None]"]]

    def _packed(self, thread: str) -> Packed:
        """What has been written of this turn already; the turns heard of last are remembered."""
        packed = self.packed.pop(thread, None) or Packed()
        self.packed[thread] = packed
        while len(self.packed) > _MOST_TURNS:
            self.packed.popitem(last=False)
        return packed

    async def aget_tuple(self, config: "RunnableConfig") -> CheckpointTuple | None:
        """The latest checkpoint of a thread. Raises ``ValueError`` when another version wrote it."""
        return await self.database.run(lambda _: self.get_tuple(config))

    async def aput(
        self,
        config: "RunnableConfig",
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> "RunnableConfig":
        """Saves a checkpoint in the place of the one before it."""
        del new_versions
        where = config["configurable"]
        place = (str(where["thread_id"]), where["checkpoint_ns"], checkpoint["id"])
        for step in self.held.pop(place[0], ()):
            _let_go(step)
        described = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
        row = (*place, where.get("checkpoint_id"), *self._packed(place[0]).checkpoint(checkpoint), described)
        await self.database.write([(_DROP_OLDER, [place]), (_DROP_OLDER_WRITES, [place]), (_PUT, [row])])
        thread, namespace, identity = place
        return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": identity}}

    async def aput_writes(
        self, config: "RunnableConfig", writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Saves what one node gave, so that it is not run again while another of the same step is still at work.

        Where no other is, the step's checkpoint comes at once and holds the same: the writes wait a moment for it.
        """
        where = config["configurable"]
        special = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        if not special and await self._superseded(str(where["thread_id"])):
            return
        place = (str(where["thread_id"]), where["checkpoint_ns"], where["checkpoint_id"], task_id, task_path)
        packed = self._packed(place[0])
        rows = [
            (*place, WRITES_IDX_MAP.get(channel, number), channel, *packed.value(value))
            for number, (channel, value) in enumerate(writes)
        ]
        await self.database.write([(_PUT_WRITES.format(conflict="REPLACE" if special else "IGNORE"), rows)])

    async def _superseded(self, thread: str) -> bool:
        """Whether the checkpoint of the running step comes within a moment."""
        step = asyncio.get_running_loop().create_future()
        self.held.setdefault(thread, []).append(step)
        try:
            async with asyncio.timeout(_HELD_S):
                await step
        except TimeoutError:
            return False
        finally:
            waiting = self.held.get(thread, [])
            if step in waiting:
                waiting.remove(step)
            if not waiting:
                self.held.pop(thread, None)
        return True

    async def adelete_thread(self, thread_id: str) -> None:
        """Deletes all there is of a thread."""
        self.packed.pop(thread_id, None)
        await self.database.write([(_DROP, [(thread_id,)]), (_DROP_WRITES, [(thread_id,)])])


def _let_go(step: "asyncio.Future[None]") -> None:
    if not step.done():
        step.set_result(None)


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
