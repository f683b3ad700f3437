"""evaluate → quality_check."""

from typing import Any

from selfright.domain.events import DraftWithdrawn
from selfright.domain.judgements import ClaimStatus
from selfright.domain.tools import Tools
from selfright.flow.guards import stop_reason
from selfright.flow.state import AgentState


async def quality_check(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Stops with a reason, or starts another pass at the node it names."""
    wanted = state["needs_retrieval"] and tools.strategy.should_retrieve(state) and not _said_again(state)
    reason = stop_reason(state, tools.flags, tools.meter, wanted)
    spent = {"budget": tools.meter.cost()}
    if reason is not None:
        return {"stop_reason": reason, "next_node": "finalize", **spent}
    target = state.get("next_node")
    if tools.emit is not None:
        tools.emit(DraftWithdrawn(state["iteration_count"], _label(state)))
    return {
        "iteration_count": state["iteration_count"] + 1,
        "retry_count": state["retry_count"] + 1,
        "next_node": target if target in ("retrieve", "classify") else "rewrite",
        **spent,
    }


def _said_again(state: AgentState) -> bool:
    """Whether the draft restates an earlier answer, as requested, and its sources support it."""
    evaluation = state.get("evaluation")
    if state.get("restated") is None or state.get("used_retrieval") or evaluation is None:
        return False
    return all(claim.status is ClaimStatus.SUPPORTED for claim in evaluation.claims)


def _label(state: AgentState) -> str:
    evaluation = state.get("evaluation")
    return evaluation.answer_quality.value if evaluation else ""
