"""Runs one turn: events as they happen, and the answer at the end."""

import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from selfright.domain.answers import Answer
from selfright.domain.events import AnswerCorrected, AnswerToken, DraftWithdrawn, NodeFinished, TurnEvent, TurnFinished
from selfright.domain.tools import Tools
from selfright.flow.finishing import broken_off
from selfright.flow.outcome import outcome
from selfright.flow.presets import Preset
from selfright.flow.state import AgentState
from selfright.flow.walk import Part, walk

if TYPE_CHECKING:
    from selfright.flow.compile import Graph

Keep = Callable[[AgentState, Answer], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Turn:
    """A preset and the tools of one turn.

    ``graph`` is the preset's compiled graph, where LangGraph is to run the turn: to keep checkpoints, or to tell
    callbacks of the nodes. ``thread`` names the turn's checkpoints, for a graph that stores any. ``keep`` is awaited
    with the end state and the answer before the last event.
    """

    preset: Preset
    graph: "Graph | None"
    tools: Tools
    trace_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    thread: str | None = None
    keep: Keep | None = None

    @property
    def recursion_limit(self) -> int:
        """How many steps the turn's visits may take."""
        return self.preset.max_visits(self.tools.flags) + 1


async def run(turn: Turn, start: Mapping[str, Any] | None) -> AsyncGenerator[TurnEvent, None]:
    """Runs the turn; without ``start``, continues after the last node that an interrupted run of its thread finished.

    An error after the first draft ends the turn with the best draft so far.
    """
    state = AgentState(**start) if start is not None else await _left(turn)  # type: ignore[typeddict-item]  # as the API fills it
    meter, heard = turn.tools.meter, _Heard()
    try:
        async with aclosing(_parts(turn, state, resumes=start is None)) as parts:
            async for kind, part in parts:
                if kind == "values":
                    state = part
                    continue
                for event in _events(kind, part):
                    heard.hear(event)
                    yield event
    except Exception as error:
        if state.get("draft") is None:
            raise
        state = broken_off(state, turn.tools, error)
    answer = outcome(state, turn.preset.name, meter, turn.trace_id)
    if turn.keep is not None:
        await turn.keep(state, answer)
    if turn.tools.emit is not None and (last := heard.still_to_say(answer.answer)):
        yield last
    yield TurnFinished(answer)


def _parts(turn: Turn, state: AgentState, *, resumes: bool) -> AsyncGenerator[Part, None]:
    if turn.graph is None:
        return walk(turn.preset, state, turn.tools, turn.recursion_limit)
    config: Any = {"recursion_limit": turn.recursion_limit}
    if turn.thread is not None:
        config["configurable"] = {"thread_id": turn.thread}
    return turn.graph.astream(  # type: ignore[return-value]  # several stream modes come as pairs
        None if resumes else state,
        config=config,
        context=turn.tools,
        stream_mode=["updates", "values", "custom"],
        durability="sync" if turn.thread is not None else None,
    )


async def _left(turn: Turn) -> AgentState:
    if turn.graph is None:
        raise ValueError("only a turn with a graph leaves checkpoints to go on from")
    left = await turn.graph.aget_state({"configurable": {"thread_id": turn.thread}})
    state: Any = left.values
    return state  # type: ignore[no-any-return]  # the values of a graph over AgentState


def _events(kind: str, part: Any) -> list[TurnEvent]:
    if kind == "custom":
        return [part]
    # Besides updates of nodes, LangGraph reports that a step interrupted by a crash is known already.
    steps = (step for name, update in part.items() if not name.startswith("__") for step in update["trace"])
    return [NodeFinished(step.node, step.seconds, step.outcome) for step in steps]


class _Heard:
    """The part of the answer that the listener has received so far."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def hear(self, event: TurnEvent) -> None:
        if isinstance(event, AnswerToken):
            self._pieces.append(event.text)
        elif isinstance(event, DraftWithdrawn):
            self._pieces.clear()

    def still_to_say(self, answer: str) -> AnswerToken | AnswerCorrected | None:
        """The event that completes the listener's text: the whole answer, a correction, or None."""
        if not self._pieces:
            return AnswerToken(answer)
        return None if "".join(self._pieces).strip() == answer.strip() else AnswerCorrected(answer)
