"""Checkpoints of running turns, in LangGraph's own checkpointers, on the threads and in the transactions of a database.

They are what LangGraph itself would leave behind, so that its tools can look at a turn, and its graph could go on with
it. Each is written in a transaction in which the lease of the session stands.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, CheckpointMetadata, empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from selfright.domain import answers, chat, judgements, node_outcomes, passages, routing, slots
from selfright.domain.turns import TurnCheckpoint
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

_NEXT = "branch:to:"
"""What LangGraph calls the channels that say which nodes are next."""


@dataclasses.dataclass(slots=True)
class Held:
    """The lease of a turn that runs here, and what of it is kept already.

    ``packed`` has the bytes of the state's values, by identity: records and tuples are never changed in place, so the
    same object means the same bytes. ``before`` was packed for the checkpoint before the last. ``versions`` are those
    of the state's values, ``config`` names the last checkpoint, and ``ended`` the nodes whose updates stand beside it.
    """

    token: int
    packed: dict[int, tuple[Any, bytes]] = dataclasses.field(default_factory=dict)
    before: dict[int, tuple[Any, bytes]] = dataclasses.field(default_factory=dict)
    state: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    versions: ChannelVersions = dataclasses.field(default_factory=dict)
    config: "RunnableConfig | None" = None
    ended: set[str] = dataclasses.field(default_factory=set)
    steps: int = 0


def serializer() -> JsonPlusSerializer:
    """LangGraph's serializer; what it may bring back is a closed list."""
    return JsonPlusSerializer(allowed_msgpack_modules=list(RECORDS))


class TurnCheckpoints:
    """Writes and reads the checkpoints of turns.

    ``saver`` gives LangGraph's own for a connection, ``held`` the lease of each thread whose turn runs here: without it
    nothing is written, and ``SessionLost`` is raised. Each value of the state is packed by itself, once, by LangGraph's
    serializer: most of them do not change from node to node, and PostgreSQL's JSON would lose the kind of an
    enumeration.
    """

    def __init__(self, rows: SessionRows, saver: Callable[[Any], Saver], held: Mapping[str, Held]) -> None:
        self._serde, self._rows, self._saver, self._held = serializer(), rows, saver, held

    async def keep(self, thread: str, checkpoint: TurnCheckpoint) -> None:
        """Keeps how far a turn has come: a new step, or what one of several nodes of a step gave."""
        held = self._held.get(thread)
        if held is None:
            raise session_lost()
        if held.config is None or not checkpoint.ended:
            held.config = await self._keep_step(thread, checkpoint, held)
        for node in checkpoint.ended.keys() - held.ended:
            writes = [(name, self._pack(value, held)) for name, value in checkpoint.ended[node].items()]
            await self._write(thread, held, partial(_put_writes, held.config, writes, node))
            held.ended.add(node)

    async def left(self, thread: str) -> TurnCheckpoint | None:
        """How far a turn came that was broken off. Raises ``ValueError`` when it cannot be read."""
        try:
            found = await self._rows.rows.read(lambda connection: self._saver(connection).get_tuple(_config(thread)))
        except (NotImplementedError, TypeError) as error:  # another kind of serialization; fields of another version
            raise ValueError("a checkpoint cannot be read: it is damaged, or of another version") from error
        if found is None:
            return None
        values = found.checkpoint["channel_values"]
        names = tuple(sorted(name.removeprefix(_NEXT) for name in values if name.startswith(_NEXT)))
        state = {name: self._unpack(value) for name, value in values.items() if not name.startswith(_NEXT)}
        ended: dict[str, dict[str, Any]] = {}
        for node, name, value in found.pending_writes or ():
            if node in names:
                ended.setdefault(node, {})[name] = self._unpack(value)
        return TurnCheckpoint(state, names, ended)

    async def _keep_step(self, thread: str, checkpoint: TurnCheckpoint, held: Held) -> "RunnableConfig":
        held.before, held.packed = held.packed, {}
        state, made = checkpoint.state, empty_checkpoint()
        changed = [name for name, value in state.items() if name not in held.versions or held.state[name] is not value]
        following = [f"{_NEXT}{name}" for name in checkpoint.names]
        new: ChannelVersions = dict.fromkeys((*changed, *following), f"{held.steps:032}.{made['id']}")
        versions: ChannelVersions = {**{n: version for n, version in held.versions.items() if n in state}, **new}
        values = {name: self._pack(value, held) for name, value in state.items()}
        made["channel_values"] = {**values, **dict.fromkeys(following)}
        made["channel_versions"] = versions
        after = held.config or _config(thread)
        facts: CheckpointMetadata = {"source": "loop", "step": held.steps, "parents": {}}

        def put(saver: Saver, connection: Connection) -> "RunnableConfig":
            if self._rows.whole:
                self._rows.drop_checkpoints(connection, thread)
            return saver.put(after, made, facts, new)

        kept = await self._write(thread, held, put)
        held.state, held.versions, held.steps = state, versions, held.steps + 1
        held.ended.clear()
        return kept

    async def _write(self, thread: str, held: Held, put: Callable[[Saver, Connection], T]) -> T:
        def work(connection: Connection) -> T:
            if not self._rows.stands(connection, thread, held.token):
                raise session_lost()
            return put(self._saver(connection), connection)

        # A crash of the server that forgets the last of these costs a node of a turn, no turn.
        return await self._rows.rows.change(work, durable=False)

    def _pack(self, value: Any, held: Held) -> Any:
        """Bytes, or a list of them for several records; None stays as it is."""
        if value is None:
            return value
        if type(value) is tuple and value and dataclasses.is_dataclass(value[0]):  # it grows one by one
            return [self._bytes(one, held) for one in value]
        return self._bytes(value, held)

    def _bytes(self, value: Any, held: Held) -> bytes:
        known, packed = held.packed.get(id(value)) or held.before.get(id(value)) or (None, b"")
        if known is not value:
            packed = self._serde.dumps_typed(value)[1]
        held.packed[id(value)] = value, packed  # held, so that no other object can get its id
        return packed

    def _unpack(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(map(self._unpack, value))
        return restore(self._serde.loads_typed(("msgpack", value))) if isinstance(value, bytes) else value


def _put_writes(
    config: "RunnableConfig", writes: Sequence[tuple[str, Any]], node: str, saver: Saver, connection: Connection
) -> None:
    del connection
    saver.put_writes(config, writes, node)


def _config(thread: str) -> "RunnableConfig":
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}


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
