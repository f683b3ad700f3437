"""Finishes an answer on every path: removals, refusals, introductions, notes."""

from dataclasses import replace
from typing import Any, cast

from selfright.domain.answers import Attempt, Draft
from selfright.domain.codes import codes_in
from selfright.domain.composing import apply_style, first_of_all, with_sources
from selfright.domain.judgements import QueryClass, StopReason, Verdict
from selfright.domain.text import language_of
from selfright.domain.tools import Tools
from selfright.flow.attempts import cite_supported, iteration, repeated_answer, without_unsupported
from selfright.flow.state import AgentState, texts_in


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
        words = texts_in(state["language"])["refusals"]
        notes.append(words["again"] if reason in _REPEATED else words.get(reason, words["unanswered"]))
    draft, unsourced = _require_sources(draft, best, state, tools)
    abstains = abstains or draft.refused
    urgent = tools.pack.urgent(state["user_text"], state["language"])
    draft = _introduce(apply_style(draft, tools.flags.citation_style), state)
    draft = first_of_all(urgent, draft)
    if best.strips and query_class is QueryClass.QUESTION and not (draft.refused or draft.citations):
        notes.append(texts_in(state["language"])["notes"]["uncited"])
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
    note = texts_in(state["language"])["notes"]["early"].format(error=type(error).__name__)
    update["notes"] = (*state.get("notes", ()), *update["notes"], note)
    update["iterations"] = (*state.get("iterations", ()), *update.get("iterations", ()))
    return cast("AgentState", {**state, **update})


def _unjudged_attempt(state: AgentState, reason: StopReason) -> Attempt:
    """The draft of a preset without a judge: score 1 [S0], or 0 if an error prevented the judging."""
    score = 0.0 if reason is StopReason.ERROR else 1.0
    return Attempt(state["draft"], None, score, 0, state.get("verdict"), state.get("strips") or ())


def _refusal(best: Attempt, state: AgentState, tools: Tools) -> Draft:
    """It names the nearest sources; where the verdict is incorrect, or there is none, not those found by meaning alone,
    unless they have codes of the kind that was asked for."""
    hits = (*state.get("retrieved_docs", ()), *best.hits)
    if best.verdict in (Verdict.INCORRECT, None) and any(hit.dense for hit in hits):
        families = {code.family for code in codes_in(state["question"])}
        akin = (hit for hit in hits if not families.isdisjoint(code.family for code in codes_in(hit.passage.text)))
        hits = (*(hit for hit in hits if hit.bm25 or not hit.dense), *akin)
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
    words = texts_in(state["language"])["notes"]
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
    """The draft, introduced by a sentence on its language if it quotes sources in another one than is wanted, or by the
    names of its sources if the user asks for them."""
    repeated = repeated_answer(state)
    if repeated and repeated.named and not draft.refused:
        names = dict.fromkeys(
            f"{one.title} ({one.url or one.document_id})" for one in draft.citations or repeated.sources
        )
        draft = first_of_all(texts_in(state["language"])["leads"]["named"].format(names=", ".join(names)), draft)
    said, language = language_of(draft.text), state["language"]
    quotes = any(language_of(citation.text) == said for citation in draft.citations)
    foreign = not draft.refused and said != language and quotes
    why = "foreign" if language_of(state["question"]) == language else "only_foreign"
    return first_of_all(texts_in(language)["leads"][why], draft) if foreign else draft


_REPEATED = (StopReason.MAX_ITERATIONS, StopReason.DUPLICATE_DOCUMENTS, StopReason.STAGNATED, StopReason.DECLINED)
