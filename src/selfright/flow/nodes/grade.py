"""retrieve → grade."""

import logging
import math
from collections.abc import Sequence
from typing import Any

from selfright.domain.errors import JudgeFailed
from selfright.domain.judgements import Grading, Verdict
from selfright.domain.passages import Hit
from selfright.domain.ports import Tools
from selfright.flow.state import AgentState

log = logging.getLogger(__name__)


async def grade(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Judges what was retrieved against the original question, not against a rewritten one."""
    grading, notes = await _grade(state["question"], state["retrieved_docs"], tools)
    ask_web = tools.web is not None and tools.flags.web_search_enabled
    if not ask_web and grading.verdict is Verdict.INCORRECT:
        notes = (*notes, _NO_WEB[state["language"]])
    return {"grading": grading, "verdict": grading.verdict, "ask_web": ask_web, "notes": notes}


_NO_WEB = {
    "en": "the index does not seem to answer this, and no web search is configured",
    "ko": "색인에 알맞은 자료가 없는 것으로 보이며, 웹 검색은 설정되어 있지 않습니다",
}


async def _grade(question: str, hits: Sequence[Hit], tools: Tools) -> tuple[Grading, tuple[str, ...]]:
    try:
        return _checked(await tools.grader.grade(question, hits)), ()
    except Exception as error:
        # Whatever a judge dies of, it has said neither yes nor no.
        log.warning("the grader failed: %s", type(error).__name__)
        reason = f"the grader failed ({type(error).__name__})"
        return Grading(Verdict.UNKNOWN, None, reason=reason), (f"{reason}; its verdict is unknown",)


def _checked(grading: Grading) -> Grading:
    given = [grading.sufficiency, *(grade.probability for grade in grading.grades)]
    if any(p is not None and not (math.isfinite(p) and 0 <= p <= 1) for p in given):
        raise JudgeFailed("a probability from 0 to 1 was expected of the grader, and something else came")
    return grading
