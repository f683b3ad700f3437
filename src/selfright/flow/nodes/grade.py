"""retrieve → grade."""

from typing import Any

from selfright.domain.events import VerdictReached
from selfright.domain.judgements import Verdict
from selfright.domain.tools import Tools
from selfright.flow.judging import judged
from selfright.flow.state import AgentState


async def grade(state: AgentState, tools: Tools) -> dict[str, Any]:
    """Judges the passages against the original question, not against a rewritten one."""
    grading, notes = await judged(tools.grader, state["question"], state["retrieved_docs"], tools.flags)
    ask_web = tools.web is not None and tools.flags.web_search_enabled
    if not ask_web and grading.verdict is Verdict.INCORRECT:
        notes = (*notes, _NO_WEB[state["language"]])
    if tools.emit is not None:
        tools.emit(VerdictReached(grading.verdict, grading.sufficiency))
    return {"grading": grading, "verdict": grading.verdict, "ask_web": ask_web, "notes": notes}


_NO_WEB = {
    "en": "the index does not seem to answer this, and no web search is configured",
    "ko": "색인에 알맞은 자료가 없는 것으로 보이며, 웹 검색은 설정되어 있지 않습니다",
}
