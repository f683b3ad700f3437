"""One turn, run: events as nodes finish, and the answer at the end."""

import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selfright.domain.answers import NodeFinished, TurnEvent, TurnFinished
from selfright.domain.ports import Tools
from selfright.flow.outcome import broken_off, outcome
from selfright.flow.presets import Preset
from selfright.flow.state import AgentState

if TYPE_CHECKING:
    from selfright.flow.compile import Graph


@dataclass(frozen=True, slots=True)
class Turn:
    """A preset's compiled graph and the tools of one turn."""

    preset: Preset
    graph: "Graph"
    tools: Tools


async def run(turn: Turn, start: Mapping[str, Any]) -> AsyncIterator[TurnEvent]:
    """Runs the turn to its end. An error after the first draft ends it with the best draft so far."""
    state = AgentState(**start)  # type: ignore[typeddict-item]  # the API fills the fields of the start state
    trace_id = uuid.uuid4().hex
    meter = turn.tools.meter
    config: Any = {"recursion_limit": turn.preset.max_visits(turn.tools.flags) + 1}
    try:
        parts: AsyncIterator[tuple[str, Any]] = turn.graph.astream(  # type: ignore[assignment]  # two stream modes
            state, config=config, context=turn.tools, stream_mode=["updates", "values"]
        )
        async for kind, part in parts:
            if kind == "values":
                state = part
                continue
            for update in part.values():
                for step in update["trace"]:
                    yield NodeFinished(step.node, step.seconds, step.said)
    except Exception as error:
        if state.get("draft") is None:
            raise
        yield TurnFinished(broken_off(state, turn.preset.name, meter, trace_id, error))
        return
    yield TurnFinished(outcome(state, turn.preset.name, meter, trace_id))
