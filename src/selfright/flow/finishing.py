"""Finishes an answer on every path: removals, refusals, introductions, notes.

An answer of a model that fails its checks is replaced by sentences from the documents.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from selfright.domain.answers import Attempt, Draft
from selfright.domain.composing import apply_style, first_of_all, with_sources
from selfright.domain.errors import RECOVERABLE_ERRORS
from selfright.domain.judgements import AnswerQuality, ClaimStatus, QueryClass, StopReason
from selfright.domain.passages import Language
from selfright.domain.ports import Evaluator
from selfright.domain.text import language_of
from selfright.domain.tools import Tools
from selfright.flow.attempts import better, iteration, judge_of, without_unsupported, write_draft
from selfright.flow.state import AgentState
from selfright.flow.strategies import evaluation_request

log = logging.getLogger(__name__)


async def best_quotation(state: AgentState, tools: Tools, written: Attempt) -> Attempt | None:
    """The best extractive answer of all passes so far, judged locally.

    None is made for an answer that passed its checks. No model is called.
    """
    best = state.get("quoted")
    attempt = None if holds_up(written) else await _quotation(state, tools, written)
    if attempt is None:
        return best
    return attempt if best is None or _rank(attempt) > _rank(best) else best


async def instead_of_refusal(state: AgentState, tools: Tools) -> Attempt | None:
    """An extractive answer for a turn that would otherwise refuse: offline, the turn might have had an answer."""
    best, beside = state.get("best"), state.get("quoted")
    if best is None or best.evaluation is None or best.draft.stands_in:
        return None
    return beside or await _quotation(state, tools, best)


async def _quotation(state: AgentState, tools: Tools, written: Attempt) -> Attempt | None:
    """An extractive answer from the evidence of ``written``, judged locally; None if the evidence gives none."""
    if tools.fallback_generator is None:
        return None
    try:
        draft = await write_draft({**state, "strips": written.strips}, tools.fallback_generator)
        if draft.refused:
            return None
        return await _judge_attempt(tools.referee, state, replace(written, draft=replace(draft, stands_in=True)))
    except RECOVERABLE_ERRORS as error:
        log.warning("nothing could be quoted beside the model's answer (%s)", type(error).__name__)
        return None


async def _judge_attempt(judge: Evaluator, state: AgentState, attempt: Attempt) -> Attempt:
    """The attempt as ``judge`` scores it, by its own evidence."""
    request = evaluation_request({**state, "draft": attempt.draft, "strips": attempt.strips})
    evaluation = await judge.evaluate(replace(request, hits=attempt.hits))
    return replace(attempt, evaluation=evaluation, score=evaluation.overall)


async def better_of_quotation(state: AgentState, tools: Tools) -> Attempt | None:
    """The turn's best attempt, or the best extractive one if that is better.

    The local judge scores both, because scores of two judges cannot be compared.
    """
    best, beside = state.get("best"), state.get("quoted")
    if best is None or beside is None or holds_up(best):
        return best
    try:
        own = await _judge_attempt(tools.referee, state, best)
    except RECOVERABLE_ERRORS as error:
        log.warning("the model's answer could not be held against a quoting one (%s)", type(error).__name__)
        return best
    return beside if _rank(beside) > _rank(own) else best


async def best_of(state: AgentState, tools: Tools, new: Attempt) -> Attempt:
    """The turn's best attempt, or ``new`` if that is better.

    The local judge scores both if different judges scored them. One that only a heuristic scored is never better.
    """
    best = state.get("best")
    if best is None or judge_of(best.evaluation) is judge_of(new.evaluation):
        return better(best, new)
    if _is_verified(best) != _is_verified(new):
        return best if _is_verified(best) else new
    try:
        before, after = [await _judge_attempt(tools.referee, state, attempt) for attempt in (best, new)]
    except RECOVERABLE_ERRORS as error:
        log.warning("the drafts of two passes could not be compared (%s): the first stands", type(error).__name__)
        return best
    return new if _rank(after) > _rank(before) else best


def _is_verified(attempt: Attempt) -> bool:
    return attempt.evaluation is not None and attempt.evaluation.verified


def holds_up(best: Attempt) -> bool:
    """Whether a draft passed its checks: adequate, and no unsupported claim.

    True also for drafts that were not judged, and for extractive ones.
    """
    evaluation = best.evaluation
    if evaluation is None or best.draft.stands_in:
        return True
    unsupported = any(claim.status is ClaimStatus.UNSUPPORTED for claim in evaluation.claims)
    adequate = evaluation.answer_quality is AnswerQuality.ADEQUATE
    return adequate and evaluation.verified and not unsupported and not best.draft.refused


def _rank(attempt: Attempt) -> tuple[bool, bool, bool, float]:
    """Sort key: answers over refusals, then adequate ones, then those without unsupported claims, then the score."""
    evaluation = attempt.evaluation
    if evaluation is None:
        return False, False, False, 0.0
    unsupported = any(claim.status is ClaimStatus.UNSUPPORTED for claim in evaluation.claims)
    adequate = evaluation.answer_quality is AnswerQuality.ADEQUATE
    return not attempt.draft.refused, adequate, not unsupported, round(evaluation.overall, 6)


def finish(state: AgentState, tools: Tools) -> dict[str, Any]:
    """The state update with the best answer, without unsupported sentences, or with a refusal.

    ``abstained`` is true whenever the text is a refusal. A turn that an error ended keeps ``error`` as its reason.
    """
    reason = state.get("stop_reason") or StopReason.BASIC
    best, notes = state.get("best") or _unjudged_attempt(state, reason), []
    draft, removed = without_unsupported(best.draft, best.evaluation)
    query_class = state.get("query_class", QueryClass.QUESTION)
    abstains = tools.abstainer.should_abstain(state["question"], query_class, replace(best, draft=draft), tools.flags)
    if abstains:
        draft = _refusal(best, state, tools)
        notes.append(_WORDS[state["language"]]["stopped"].format(reason=_reason(reason, state["language"])))
    draft, unsourced = _require_sources(draft, best, state, tools)
    abstains = abstains or draft.refused
    urgent = tools.pack.urgent(state["user_text"], state["language"])
    draft = _introduce(apply_style(draft, tools.flags.citation_style), state)
    draft = first_of_all(urgent, draft)
    return {
        "best": best,
        "quality_score": best.score,
        "evaluation": best.evaluation,
        "verdict": best.verdict,
        **({} if state.get("best") else {"iterations": (iteration(state, (), None),)}),
        "notes": (*notes, *_notes_of_the_field(draft, unsourced, urgent, state, tools)),
        "removed_claims": (*removed, *unsourced),
        "draft": draft,
        "answer": draft.text,
        "abstained": abstains,
        "stop_reason": StopReason.ABSTAINED if abstains and reason is not StopReason.ERROR else reason,
    }


def broken_off(state: AgentState, tools: Tools, error: Exception) -> AgentState:
    """The end state of a turn that ``error`` ended after its first draft: the usual finish, and a note."""
    update = finish({**state, "stop_reason": StopReason.ERROR}, tools)
    note = _WORDS[state["language"]]["early"].format(error=type(error).__name__)
    update["notes"] = (*state.get("notes", ()), *update["notes"], note)
    update["iterations"] = (*state.get("iterations", ()), *update.get("iterations", ()))
    ended: AgentState = {**state, **update}  # type: ignore[typeddict-item]  # parts of it
    return ended


def _unjudged_attempt(state: AgentState, reason: StopReason) -> Attempt:
    """The draft of a preset without a judge: score 1 [S0], or 0 if an error prevented the judging."""
    score = 0.0 if reason is StopReason.ERROR else 1.0
    return Attempt(state["draft"], None, score, 0, state.get("verdict"), state.get("strips") or ())


def _refusal(best: Attempt, state: AgentState, tools: Tools) -> Draft:
    return tools.abstainer.refusal(state["question"], state["language"], best, state.get("retrieved_docs", ()))


def _require_sources(draft: Draft, best: Attempt, state: AgentState, tools: Tools) -> tuple[Draft, tuple[str, ...]]:
    """The draft without sentences that need a source and have none, and the removed sentences."""
    if draft.refused:
        return draft, ()
    kept, unsourced = with_sources(draft, tools.pack.needs_source)
    return (_refusal(best, state, tools) if unsourced and not kept.sentences else kept), unsourced


def _notes_of_the_field(
    draft: Draft, unsourced: tuple[str, ...], urgent: str, state: AgentState, tools: Tools
) -> tuple[str, ...]:
    words = _WORDS[state["language"]]
    notes: tuple[str, ...] = (words["passed_over"].format(model=tools.passed_over),) if tools.passed_over else ()
    notes += (words["unsourced"].format(count=len(unsourced)),) if unsourced else ()
    warnings = [concern.text for concern in state.get("concerns", ()) if concern.warns]
    begins = tools.pack.warning.get(state["language"], words["warns"])
    notes = (*((f"{begins}: {'; '.join(warnings)}",) if warnings else ()), *notes)
    if draft.refused and not urgent:
        return notes
    open_points = [] if draft.refused else [c for c in state.get("concerns", ()) if not c.is_met_by(draft.text)]
    left = [concern.text for concern in open_points if not concern.warns]
    notes += (words["unheeded"].format(what="; ".join(left)),) if left else ()
    return (*notes, *tools.pack.notes(state["question"], state["language"]))


def _introduce(draft: Draft, state: AgentState) -> Draft:
    """The draft, introduced by a sentence on its language if it quotes sources in another one than is wanted."""
    said, language = language_of(draft.text), state["language"]
    quotes = any(language_of(citation.text) == said for citation in draft.citations)
    foreign = not draft.refused and said != language and quotes
    why = "foreign" if language_of(state["question"]) == language else "only_foreign"
    return first_of_all(_WORDS[language][why], draft) if foreign else draft


def _reason(reason: StopReason, language: Language) -> str:
    return _REASONS[language][reason]


_REASONS: Mapping[Language, Mapping[StopReason, str]] = {
    "en": {
        StopReason.ADEQUATE: "the draft agrees with its sources, but they do not seem to answer the question",
        StopReason.BASIC: "one pass was made",
        StopReason.FAST_PATH: "no documents were needed",
        StopReason.MAX_ITERATIONS: "the limit of passes was reached",
        StopReason.DUPLICATE_DOCUMENTS: "the search brought the same documents again",
        StopReason.STAGNATED: "another pass hardly made it better",
        StopReason.DECLINED: "another pass made it worse",
        StopReason.BUDGET: "the budget was used up",
        StopReason.DEADLINE: "the time was used up",
        StopReason.ABSTAINED: "nothing supported an answer",
        StopReason.DEGRADED: "the judge failed",
        StopReason.ERROR: "an error ended it early",
    },
    "ko": {
        StopReason.ADEQUATE: "초안이 근거와는 맞지만, 그 근거가 질문의 답은 아닌 것으로 보임",
        StopReason.BASIC: "한 번만 검색함",
        StopReason.FAST_PATH: "문서가 필요 없었음",
        StopReason.MAX_ITERATIONS: "반복 한도에 도달함",
        StopReason.DUPLICATE_DOCUMENTS: "같은 문서가 다시 검색됨",
        StopReason.STAGNATED: "다시 해도 거의 나아지지 않음",
        StopReason.DECLINED: "다시 하니 나빠짐",
        StopReason.BUDGET: "예산을 다 씀",
        StopReason.DEADLINE: "제한 시간을 다 씀",
        StopReason.ABSTAINED: "답을 뒷받침하는 내용이 없음",
        StopReason.DEGRADED: "평가에 실패함",
        StopReason.ERROR: "오류로 일찍 끝남",
    },
}
_WORDS = {
    "en": {
        "stopped": "the loop had stopped because: {reason}",
        "foreign": "The sources on this are in Korean. They say:",
        "only_foreign": "I found no English sources that answer this. The Korean ones say:",
        "early": "the turn ended early ({error}): this is the best answer it had by then",
        "unsourced": "sentences removed because they may be said only with a source, and had none: {count}",
        "passed_over": "{model} was not asked to write: a check found that it writes badly (llm_judging=never lets it"
        " write, and the offline judges check that)",
        "warns": "this conflicts with your profile",
        "unheeded": "your profile matters here, and the documents found do not say how: {what}",
    },
    "ko": {
        "stopped": "반복이 멈춘 이유: {reason}",
        "foreign": "관련 자료가 영어로 되어 있어 원문 그대로 옮깁니다.",
        "only_foreign": "이에 답하는 한국어 자료를 찾지 못해 영어 원문을 그대로 옮깁니다.",
        "early": "오류({error})로 일찍 끝났습니다. 그때까지의 가장 나은 답입니다",
        "unsourced": "출처 없이 말해서는 안 되는 내용이라 지운 문장: {count}개",
        "passed_over": "점검 결과 글쓰기가 서툴러 {model} 모델에는 답변 작성을 맡기지 않았습니다"
        "(llm_judging=never로 설정하면 이 모델이 쓰고 오프라인 기능이 확인합니다)",
        "warns": "프로필에 따르면 주의해야 합니다",
        "unheeded": "프로필과 관련이 있지만 찾은 자료가 다루지 않는 내용: {what}",
    },
}
