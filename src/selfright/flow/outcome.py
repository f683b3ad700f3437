"""The end state of a turn → the answer the user gets."""

from dataclasses import replace

from selfright.domain.answers import Answer
from selfright.domain.budget import Meter
from selfright.domain.judgements import StopReason
from selfright.flow.state import AgentState


def outcome(state: AgentState, preset: str, meter: Meter, trace_id: str) -> Answer:
    """The answer, its evidence and how it came about."""
    draft = state["draft"]
    evaluation = state.get("evaluation")
    iterations = state.get("iterations", ())
    return Answer(
        question=state["question"],
        answer=draft.text,
        abstained=state.get("abstained", False),
        language=state["language"],
        citations=draft.citations,
        evaluation=evaluation,
        verdict=state.get("verdict"),
        stop_reason=state.get("stop_reason") or StopReason.ERROR,
        preset=preset,
        degraded=meter.degraded,
        iterations=iterations,
        removed_claims=state.get("removed_claims", ()),
        notes=tuple(dict.fromkeys(state.get("notes", ()))),
        cost=meter.cost(),
        trace_id=trace_id,
        trace=state.get("trace", ()),
    )


def broken_off(state: AgentState, preset: str, meter: Meter, trace_id: str, error: Exception) -> Answer:
    """The best draft so far of a turn that an error ended: partial work is kept, and said to be partial."""
    best = state.get("best")
    answer = outcome({**state, "draft": best.draft if best else state["draft"]}, preset, meter, trace_id)
    note = f"the turn ended early ({type(error).__name__}): this is the best answer it had by then"
    return replace(
        answer,
        evaluation=best.evaluation if best else None,
        stop_reason=StopReason.ERROR,
        notes=(*answer.notes, note),
    )
