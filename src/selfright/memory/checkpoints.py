"""LangGraph's own checkpointers, run on the threads and in the transactions of a database.

LangGraph's asynchronous ones belong to one event loop, and sessions to none. Its synchronous ones write here, as they
are, in a transaction in which the lease of the session stands.
"""

import asyncio
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from selfright.domain import answers, chat, judgements, node_outcomes, passages, routing, slots
from selfright.memory.session_rows import SessionRows, session_lost
from selfright.storage.rows import Connection

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

T = TypeVar("T")
Saver = BaseCheckpointSaver[Any]

RECORDS = tuple(
    value
    for module in (answers, chat, judgements, node_outcomes, passages, routing, slots)
    for value in vars(module).values()
    if isinstance(value, type) and value.__module__ == module.__name__
)
"""Every record of a turn: what may be read back. Nothing is imported on the say-so of a file."""

_HELD_S = 0.02


@dataclasses.dataclass(slots=True)
class Held:
    """The lease of a turn that runs here, what of its state is packed, by identity, and which writes wait.

    Records and tuples are never changed in place, so the same object means the same bytes. ``before`` was packed for
    the checkpoint before the last.
    """

    token: int
    packed: dict[int, tuple[Any, bytes]] = dataclasses.field(default_factory=dict)
    before: dict[int, tuple[Any, bytes]] = dataclasses.field(default_factory=dict)
    steps: list[asyncio.Event] = dataclasses.field(default_factory=list)


def serializer() -> JsonPlusSerializer:
    """LangGraph's serializer; what it may bring back is a closed list."""
    return JsonPlusSerializer(allowed_msgpack_modules=list(RECORDS))


class TurnSaver(BaseCheckpointSaver[Any]):
    """A checkpointer for ``graph.compile(checkpointer=...)``; its asynchronous side is the one to use.

    ``saver`` gives LangGraph's own for a connection, ``held`` the lease of each thread whose turn runs here: without it
    nothing is written, and ``SessionLost`` is raised. Each value of the state is packed by itself, once, by LangGraph's
    serializer: most of them do not change from node to node, and PostgreSQL's JSON would lose the kind of an
    enumeration. Run a graph with ``durability="sync"``: then a node begins when what the nodes before it did is stored.
    """

    def __init__(self, rows: SessionRows, saver: Callable[[Any], Saver], held: Mapping[str, Held]) -> None:
        super().__init__(serde=serializer())
        self._rows, self._saver, self._held = rows, saver, held

    async def aget_tuple(self, config: "RunnableConfig") -> CheckpointTuple | None:
        """The latest checkpoint of a thread. Raises ``ValueError`` when it cannot be read."""
        try:
            found = await self._rows.rows.read(lambda connection: self._saver(connection).get_tuple(config))
        except (NotImplementedError, TypeError) as error:  # another kind of serialization; fields of another version
            raise ValueError("a checkpoint cannot be read: it is damaged, or of another version") from error
        if found is None:
            return None
        values = {name: self._unpack(value) for name, value in found.checkpoint["channel_values"].items()}
        writes = [(task, channel, self._unpack(value)) for task, channel, value in found.pending_writes or ()]
        return found._replace(checkpoint={**found.checkpoint, "channel_values": values}, pending_writes=writes)

    async def aput(
        self,
        config: "RunnableConfig",
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> "RunnableConfig":
        """Saves a checkpoint."""
        held = self._turn(config)
        for step in held.steps:
            step.set()
        held.before, held.packed = held.packed, {}
        values = {name: self._pack(name, value, held) for name, value in checkpoint["channel_values"].items()}
        packed: Checkpoint = {**checkpoint, "channel_values": values}

        def put(saver: Saver, connection: Connection) -> "RunnableConfig":
            if self._rows.whole:
                self._rows.drop_checkpoints(connection, _thread(config))
            return saver.put(config, packed, metadata, new_versions)

        return await self._write(config, held, put)

    async def aput_writes(
        self, config: "RunnableConfig", writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Saves what one node gave, so that it is not run again while another of the same step is still at work.

        Where no other is, the step's checkpoint comes at once and holds the same: the writes wait a moment for it.
        """
        held, step = self._turn(config), asyncio.Event()
        held.steps.append(step)
        try:
            async with asyncio.timeout(0 if any(channel.startswith("__") for channel, _ in writes) else _HELD_S):
                await step.wait()
            return
        except TimeoutError:
            packed = [(channel, self._pack(channel, value, held)) for channel, value in writes]
        finally:
            held.steps.remove(step)
        await self._write(config, held, lambda saver, _: saver.put_writes(config, packed, task_id, task_path))

    get_next_version: Any = SqliteSaver.get_next_version

    def _turn(self, config: "RunnableConfig") -> Held:
        held = self._held.get(_thread(config))
        if held is None:
            raise session_lost()
        return held

    async def _write(self, config: "RunnableConfig", held: Held, put: Callable[[Saver, Connection], T]) -> T:
        def work(connection: Connection) -> T:
            if not self._rows.stands(connection, _thread(config), held.token):
                raise session_lost()
            return put(self._saver(connection), connection)

        # A crash of the server that forgets the last of these costs a node of a turn, no turn.
        return await self._rows.rows.change(work, durable=False)

    def _pack(self, channel: str, value: Any, held: Held) -> Any:
        """Bytes, or a list of them for several records; what is LangGraph's own stays as it is."""
        if value is None or channel.startswith("__"):
            return value
        if type(value) is tuple and value and dataclasses.is_dataclass(value[0]):  # it grows one by one
            return [self._bytes(one, held) for one in value]
        return self._bytes(value, held)

    def _bytes(self, value: Any, held: Held) -> bytes:
        known, packed = held.packed.get(id(value)) or held.before.get(id(value)) or (None, b"")
        if known is not value:
            packed = self.serde.dumps_typed(value)[1]
        held.packed[id(value)] = value, packed  # held, so that no other object can get its id
        return packed

    def _unpack(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(map(self._unpack, value))
        return restore(self.serde.loads_typed(("msgpack", value))) if isinstance(value, bytes) else value


def _thread(config: "RunnableConfig") -> str:
    return str(config["configurable"]["thread_id"])


def restore(value: Any) -> Any:
    """A value as it was: msgpack makes lists of tuples, also within records, and nothing of ours holds a list.

    Changes records in place, which nobody else has seen yet.
    """
    if isinstance(value, list):
        return tuple(map(restore, value))
    if isinstance(value, tuple):  # a named one
        return type(value)(*map(restore, value))
    if isinstance(value, dict):
        return {name: restore(one) for name, one in value.items()}
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            object.__setattr__(value, field.name, restore(getattr(value, field.name)))
    return value
