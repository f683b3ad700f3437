"""→ finalize: the last node of every graph."""

from dataclasses import replace
from typing import Any

from selfright.domain.answers import Attempt, Draft
from selfright.domain.composing import first_of_all, styled, with_sources
from selfright.domain.judgements import QueryClass, StopReason
from selfright.domain.passages import Language
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
        update["notes"] = (_STOPPED[state["language"]].format(reason=_reason(reason, state["language"])),)
        reason = StopReason.ABSTAINED
    draft, unsourced = _sourced(draft, best, state, tools)
    urgent = tools.pack.urgent(state["user_text"], state["language"])
    draft = first_of_all(urgent, styled(draft, tools.flags.citation_style))
    return {
        **update,
        "notes": (*update.get("notes", ()), *_notes_of_the_field(draft, unsourced, urgent, state, tools)),
        "removed_claims": (*removed, *unsourced),
        "draft": draft,
        "answer": draft.text,
        "abstained": reason is StopReason.ABSTAINED,
        "stop_reason": reason,
    }


def _sourced(draft: Draft, best: Attempt, state: AgentState, tools: Tools) -> tuple[Draft, tuple[str, ...]]:
    """The draft without what may be said only with a source and has none, and those sentences."""
    if draft.refused:
        return draft, ()
    kept, unsourced = with_sources(draft, tools.pack.needs_source)
    if not kept.sentences and unsourced:
        kept = tools.abstainer.refusal(state["question"], state["language"], best, state.get("retrieved_docs", ()))
    return kept, unsourced


def _notes_of_the_field(
    draft: Draft, unsourced: tuple[str, ...], urgent: str, state: AgentState, tools: Tools
) -> tuple[str, ...]:
    words = _WORDS[state["language"]]
    notes: tuple[str, ...] = (words["unsourced"].format(count=len(unsourced)),) if unsourced else ()
    if draft.refused and not urgent:
        return notes
    left = [] if draft.refused else [c.text for c in state.get("concerns", ()) if not c.is_met_by(draft.text)]
    notes += (words["unheeded"].format(what="; ".join(left)),) if left else ()
    return (*notes, *tools.pack.notes(state["question"], state["language"]))


def _reason(reason: StopReason, language: Language) -> str:
    return _REASONS_KO.get(reason, reason.value) if language == "ko" else reason.value


_REASONS_KO = {
    StopReason.ADEQUATE: "답이 근거와 맞음",
    StopReason.BASIC: "한 번만 검색함",
    StopReason.FAST_PATH: "문서가 필요 없었음",
    StopReason.MAX_ITERATIONS: "반복 한도에 이름",
    StopReason.DUPLICATE_DOCUMENTS: "같은 문서가 다시 검색됨",
    StopReason.STAGNATED: "다시 해도 거의 나아지지 않음",
    StopReason.DECLINED: "다시 하니 나빠짐",
    StopReason.BUDGET: "예산을 다 씀",
    StopReason.DEADLINE: "시간을 다 씀",
    StopReason.DEGRADED: "평가에 실패함",
}
_STOPPED = {"en": "the loop had stopped because: {reason}", "ko": "반복이 멈춘 까닭: {reason}"}
_WORDS = {
    "en": {
        "unsourced": "sentences removed because they may be said only with a source, and had none: {count}",
        "unheeded": "your profile matters here, and the documents found do not say how: {what}",
    },
    "ko": {
        "unsourced": "출처 없이 말해서는 안 되는 내용이라 지운 문장: {count}개",
        "unheeded": "프로필과 관련이 있지만 찾은 자료가 다루지 않는 내용: {what}",
    },
}
