"""Checkpoints of running turns, in LangGraph's own checkpointers, on the threads and in the transactions of a database.

They are what LangGraph itself would leave behind, so that its tools can look at a turn, and its graph could go on with
it. Each is written in a transaction in which the lease of the session stands.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, CheckpointMetadata, empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from selfright.domain.turns import TurnCheckpoint
from selfright.memory.session_rows import SessionRows, session_lost
from selfright.storage.rows import Connection

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

T = TypeVar("T")
Saver = BaseCheckpointSaver[Any]

_NEXT = "branch:to:"
"""What LangGraph calls the channels that say which nodes are next."""


@dataclass(slots=True)
class Held:
    """The lease of a turn that runs here, and what of it is kept already.

    ``versions`` are those of the state's values, ``config`` names the last of the ``steps`` checkpoints, and ``ended``
    the nodes whose updates stand beside it.
    """

    token: int
    state: Mapping[str, bytes] = field(default_factory=dict)
    versions: ChannelVersions = field(default_factory=dict)
    config: "RunnableConfig | None" = None
    ended: set[str] = field(default_factory=set)
    steps: int = 0


def serializer() -> JsonPlusSerializer:
    """LangGraph's serializer; it may bring back no class."""
    return JsonPlusSerializer(allowed_msgpack_modules=[])


class TurnCheckpoints:
    """Writes and reads the checkpoints of turns.

    ``saver`` gives LangGraph's own for a connection, ``held`` the lease of each thread whose turn runs here: without it
    nothing is written, and ``SessionLost`` is raised. The values of a state are bytes: those that do not change from
    step to step are stored once in PostgreSQL.
    """

    def __init__(self, rows: SessionRows, saver: Callable[[Any], Saver], held: Mapping[str, Held]) -> None:
        self._rows, self._saver, self._held = rows, saver, held

    async def keep(self, thread: str, checkpoint: TurnCheckpoint) -> None:
        """Keeps how far a turn has come: a new step, or what one of several nodes of a step gave."""
        held = self._held.get(thread)
        if held is None:
            raise session_lost()
        if held.config is None or not checkpoint.ended:
            held.config = await self._keep_step(thread, checkpoint, held)
        for node in checkpoint.ended.keys() - held.ended:
            writes = list(checkpoint.ended[node].items())
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
        state = {name: value for name, value in values.items() if not name.startswith(_NEXT)}
        ended: dict[str, dict[str, bytes]] = {}
        for node, name, value in found.pending_writes or ():
            if node in names:
                ended.setdefault(node, {})[name] = value
        return TurnCheckpoint(state, names, ended)

    async def _keep_step(self, thread: str, checkpoint: TurnCheckpoint, held: Held) -> "RunnableConfig":
        state, made = checkpoint.state, empty_checkpoint()
        changed = [name for name, value in state.items() if held.state.get(name) != value]
        following = [f"{_NEXT}{name}" for name in checkpoint.names]
        new: ChannelVersions = dict.fromkeys((*changed, *following), f"{held.steps:032}.{made['id']}")
        versions: ChannelVersions = {**{n: version for n, version in held.versions.items() if n in state}, **new}
        made["channel_values"] = {**state, **dict.fromkeys(following)}
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


def _put_writes(
    config: "RunnableConfig", writes: Sequence[tuple[str, Any]], node: str, saver: Saver, connection: Connection
) -> None:
    del connection
    saver.put_writes(config, writes, node)


def _config(thread: str) -> "RunnableConfig":
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
