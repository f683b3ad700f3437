"""→ finalize: the last node of every graph."""

from dataclasses import replace
from typing import Any

from selfright.domain.answers import Attempt
from selfright.domain.composing import styled
from selfright.domain.judgements import QueryClass, StopReason
from selfright.domain.tools import Tools
from selfright.flow.attempts import iteration, without_unsupported
from selfright.flow.state import AgentState


async def finalize(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Gives the best answer seen, without what could not be supported, or says that there is none."""
    unjudged = state.get("best") is None
    best = state.get("best") or Attempt(state["draft"], None, 1.0, 0, state.get("verdict"), state.get("strips") or ())
    draft, removed = without_unsupported(best.draft, best.evaluation)
    reason = state.get("stop_reason") or StopReason.BASIC
    update: dict[str, Any] = {
        "best": best,
        "quality_score": best.score,
        "evaluation": best.evaluation,
        "verdict": best.verdict,
        "removed_claims": removed,
    }
    if unjudged:
        update["iterations"] = (iteration(state, (), None),)
    query_class = state.get("query_class", QueryClass.QUESTION)
    if tools.abstainer.should_abstain(state["question"], query_class, replace(best, draft=draft), tools.flags):
        draft = tools.abstainer.refusal(state["question"], state["language"], best, state.get("retrieved_docs", ()))
        update["notes"] = (_STOPPED[state["language"]].format(reason=reason.value),)
        reason = StopReason.ABSTAINED
    draft = styled(draft, tools.flags.citation_style)
    return {
        **update,
        "draft": draft,
        "answer": draft.text,
        "abstained": reason is StopReason.ABSTAINED,
        "stop_reason": reason,
    }


_STOPPED = {"en": "the loop had stopped because: {reason}", "ko": "반복이 멈춘 까닭: {reason}"}
