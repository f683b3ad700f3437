"""quality_check → rewrite → retrieve."""

from typing import Any

from selfright.domain.answers import RewriteRequest
from selfright.domain.slots import Profile
from selfright.domain.tools import Tools
from selfright.flow.state import AgentState

ANSWER_CHARACTERS = 200


async def rewrite(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Writes a new query from what was missing; answers are still judged by the original question."""
    if not tools.flags.query_rewrite_enabled:
        return {}
    evaluation = state.get("evaluation")
    query = await tools.rewriter.rewrite(
        RewriteRequest(
            question=state["question"],
            query=state["query_for_retrieval"],
            language=state["language"],
            previous_answer=state.get("answer", "")[:ANSWER_CHARACTERS],
            missing_info=evaluation.missing_info if evaluation else (),
            improvement_suggestions=evaluation.improvement_suggestions if evaluation else (),
            profile_summary=_profile(state, tools),
            slots=state.get("slot_out", ()),
            hits=state.get("retrieved_docs", ()),
            iteration=state["iteration_count"],
            tried=tuple(done.query for done in state.get("iterations", ())),
        )
    )
    return {"query_for_retrieval": query.strip() or state["question"]}


def _profile(state: AgentState, tools: Tools) -> str:
    """The profile, if it concerns the question; other queries should not contain it."""
    said_now = state.get("given_profile", Profile()).slots or state.get("slot_out", ())
    return state.get("profile_summary", "") if said_now or tools.pack.about(state["question"]) else ""
