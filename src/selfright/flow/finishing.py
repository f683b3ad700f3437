"""Finishes an answer on every path: removals, refusals, introductions, notes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from selfright.domain.answers import Attempt, Draft
from selfright.domain.composing import apply_style, first_of_all, with_sources
from selfright.domain.judgements import QueryClass, StopReason, Verdict
from selfright.domain.passages import Language
from selfright.domain.text import language_of
from selfright.domain.tools import Tools
from selfright.flow.attempts import cite_supported, iteration, without_unsupported
from selfright.flow.state import AgentState


def finish(state: AgentState, tools: Tools) -> dict[str, Any]:
    """The state update with the best answer, without unsupported sentences, or with a refusal.

    ``abstained`` is true whenever the text is a refusal. A turn that an error ended keeps ``error`` as its reason.
    """
    reason = state.get("stop_reason") or StopReason.BASIC
    best, notes = cite_supported(state.get("best") or _unjudged_attempt(state, reason)), []
    draft, removed = without_unsupported(best.draft, best.evaluation)
    query_class = state.get("query_class", QueryClass.QUESTION)
    abstains = tools.abstainer.should_abstain(state["question"], query_class, replace(best, draft=draft), tools.flags)
    if abstains:
        draft = _refusal(best, state, tools)
        words = _WORDS[state["language"]]
        notes.append(words["again"] if reason in _REPEATED else words.get(reason, words["unanswered"]))
    draft, unsourced = _require_sources(draft, best, state, tools)
    abstains = abstains or draft.refused
    urgent = tools.pack.urgent(state["user_text"], state["language"])
    draft = _introduce(apply_style(draft, tools.flags.citation_style), state)
    draft = first_of_all(urgent, draft)
    if best.strips and query_class is QueryClass.QUESTION and not (draft.refused or draft.citations):
        notes.append(_WORDS[state["language"]]["uncited"])
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
    """It names the nearest sources; where the verdict is incorrect, none that was found by meaning alone."""
    hits = (*state.get("retrieved_docs", ()), *best.hits)
    if best.verdict is Verdict.INCORRECT and any(hit.dense for hit in hits):
        hits = tuple(hit for hit in hits if hit.bm25 or not hit.dense)
        near = {hit.passage.id for hit in hits}
        best = replace(best, strips=tuple(strip for strip in best.strips if strip.passage.id in near))
    return tools.abstainer.refusal(state["question"], state["language"], best, hits)


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


_REPEATED = (StopReason.MAX_ITERATIONS, StopReason.DUPLICATE_DOCUMENTS, StopReason.STAGNATED, StopReason.DECLINED)
_WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "unanswered": "what was found does not seem to answer the question",
        "again": "searching again brought nothing better",
        StopReason.BUDGET: "the budget of this question was used up",
        StopReason.DEADLINE: "the time for this question was used up",
        StopReason.DEGRADED: "the answer could not be judged",
        StopReason.ERROR: "an error ended it early",
        "foreign": "The sources on this are in Korean. They say:",
        "only_foreign": "I found no English sources that answer this. The Korean ones say:",
        "early": "the turn ended early ({error}): this is the best answer it had by then",
        "uncited": "no citations: no sentence of this answer could be matched to a document",
        "unsourced": "sentences removed because they need a source and had none: {count}",
        "passed_over": "{model} was not asked to write: a check found that it writes badly (llm_judging=never lets it"
        " write, and the offline judges check that)",
        "warns": "this conflicts with your profile",
        "unheeded": "relevant to your profile, but not covered by the documents found: {what}",
    },
    "ko": {
        "unanswered": "찾은 내용이 질문에 대한 답은 아닌 것 같습니다",
        "again": "다시 찾아봐도 더 알맞은 내용이 없었습니다",
        StopReason.BUDGET: "이번 질문의 예산을 다 썼습니다",
        StopReason.DEADLINE: "이번 질문의 제한 시간을 다 썼습니다",
        StopReason.DEGRADED: "답을 평가하지 못했습니다",
        StopReason.ERROR: "오류로 중단되었습니다",
        "foreign": "관련 자료가 영어로 되어 있어 원문 그대로 옮깁니다.",
        "only_foreign": "이에 답하는 한국어 자료를 찾지 못해 영어 원문을 그대로 옮깁니다.",
        "early": "오류({error})로 중단되어, 그때까지 나온 가장 좋은 답을 보여 드립니다",
        "uncited": "답변을 문서에서 확인하지 못해 인용이 없습니다",
        "unsourced": "꼭 필요한 출처가 없어 삭제한 문장: {count}개",
        "passed_over": "점검 결과 답변 작성 능력이 부족해 {model} 모델에는 작성을 맡기지 않았습니다"
        "(llm_judging=never로 설정하면 이 모델이 쓰고 오프라인 기능이 확인합니다)",
        "warns": "프로필에 따르면 주의해야 합니다",
        "unheeded": "프로필과 관련이 있지만 찾은 자료에는 없는 내용: {what}",
    },
}
