"""Sessions in PostgreSQL: LangGraph's own tables, written while a session is held and by no one else.

What a running turn has found is written as LangGraph's saver does it, one row for each channel that changed, and
deleted when the turn is over. Values are written by our serializer, texts and numbers too: JSON, in which LangGraph
would put those, gives back neither the kind of an enumeration nor every text.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.base import BasePostgresSaver
from langgraph.store.base import BaseStore, Item, Op, PutOp, Result
from langgraph.store.postgres import PostgresStore

from selfright.memory.conversation import HEADS, Retention, lock_key, unlabel
from selfright.memory.postgres import PostgresDatabase
from selfright.memory.postgres_address import decode_value, encode_value
from selfright.memory.postgres_session_locks import PostgresSessionLocks
from selfright.memory.serializing import TurnSerializer
from selfright.memory.sessions import Sessions

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from psycopg import Connection

T = TypeVar("T")

_TABLES = ("store", "checkpoints", "checkpoint_blobs", "checkpoint_writes")


async def open_postgres_sessions(database: PostgresDatabase, retention: Retention | None = None) -> Sessions:
    """Sessions in a database, which stays its owner's to close. Raises ``StoreError`` when it cannot be used."""
    await database.run(lambda connection: connection.execute("SELECT 1"))
    locks = PostgresSessionLocks(database)
    saver, store = HeldSaver(database, locks), HeldStore(database, locks)

    async def scrub() -> None:
        await asyncio.to_thread(database.scrub, *_TABLES)

    return Sessions(store, saver, locks, retention, scrub=scrub, close=locks.close)


@dataclass(frozen=True, slots=True)
class _Boxed:
    """A plain value of the state, which LangGraph would write as JSON."""

    value: str | float


class _Serializer(TurnSerializer):
    """Ours, for boxed values too; they come back without the box."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return super().dumps_typed(obj.value if isinstance(obj, _Boxed) else obj)


class HeldSaver(BasePostgresSaver):
    """A LangGraph checkpointer; only its asynchronous side is there. Writes raise ``SessionLost`` for a lost lock."""

    def __init__(self, database: PostgresDatabase, locks: PostgresSessionLocks) -> None:
        super().__init__(serde=_Serializer())
        self._database = database
        self._locks = locks

    async def aget_tuple(self, config: "RunnableConfig") -> CheckpointTuple | None:
        """The latest checkpoint of a thread. Raises ``ValueError`` when another version wrote it."""
        thread = _thread(config)
        return await self._database.run(lambda connection: self._on(connection).get_tuple(config), after=thread)

    async def aput(
        self,
        config: "RunnableConfig",
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> "RunnableConfig":
        """Saves a checkpoint."""
        values = {name: _boxed(value) for name, value in checkpoint["channel_values"].items()}
        boxed: Checkpoint = {**checkpoint, "channel_values": values}
        return await self._write(_thread(config), lambda saver: saver.put(config, boxed, metadata, new_versions))

    async def aput_writes(
        self, config: "RunnableConfig", writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Saves what one node gave, so that it is not run again while another of the same step is still at work."""
        await self._write(_thread(config), lambda saver: saver.put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """Deletes all there is of a thread."""
        await self._write(thread_id, lambda saver: saver.delete_thread(thread_id))

    async def _write(self, thread: str, work: Callable[[PostgresSaver], T]) -> T:
        lock = self._locks.held_lock(thread.rpartition("/")[0])

        def held(connection: "Connection[Any]") -> T:
            self._locks.check(connection, lock)
            return work(self._on(connection))

        # A crash of the server that forgets the last of these costs a node of a turn, no turn.
        return await self._database.run(held, durable=False, after=thread)

    def _on(self, connection: "Connection[Any]") -> PostgresSaver:
        return PostgresSaver(connection, serde=self.serde)


class HeldStore(BaseStore):
    """LangGraph's store in PostgreSQL; what changes a session's head needs the lock on it, where there was one."""

    def __init__(self, database: PostgresDatabase, locks: PostgresSessionLocks) -> None:
        self._database = database
        self._locks = locks

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """All operations, in one transaction: reads first."""
        return self._database.within(_batch(list(ops), self._locks))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """``batch`` as a coroutine."""
        return await self._database.run(_batch(list(ops), self._locks))


def _batch(ops: list[Op], locks: PostgresSessionLocks) -> "Callable[[Connection[Any]], list[Result]]":
    heads = [op for op in ops if isinstance(op, PutOp) and op.namespace[0] == HEADS]
    held = [locks.held_lock(lock_key(unlabel(head.namespace[1]), unlabel(head.key))) for head in heads]
    plain = [op._replace(value=encode_value(op.value)) if isinstance(op, PutOp) else op for op in ops]

    def work(connection: "Connection[Any]") -> list[Result]:
        for lock in held:
            locks.check(connection, lock)
        return [_restored(result) for result in PostgresStore(connection).batch(plain)]

    return work


def _restored(result: Result) -> Result:
    for item in result if isinstance(result, list) else [result]:
        if isinstance(item, Item):
            item.value = decode_value(item.value)
    return result


def _boxed(value: Any) -> Any:
    return _Boxed(value) if isinstance(value, str | int | float) else value


def _thread(config: "RunnableConfig") -> str:
    return str(config["configurable"]["thread_id"])
