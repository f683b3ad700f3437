"""Has drafts written, compares and records them, and removes unsupported sentences."""

from collections.abc import Sequence
from dataclasses import replace

from selfright.domain.answers import Attempt, Draft, GenerationRequest, Iteration, Repetition
from selfright.domain.chat import OnText
from selfright.domain.composing import with_citations, with_sentences
from selfright.domain.judgements import ClaimStatus, Evaluation, EvaluationSource, QueryClass
from selfright.domain.passages import Hit
from selfright.domain.ports import Generator
from selfright.flow.evidence import whole
from selfright.flow.guards import duplicate_share, improvement
from selfright.flow.state import AgentState


def generation_request(state: AgentState) -> GenerationRequest:
    """The request to the writer in this pass."""
    return GenerationRequest(
        question=state["question"],
        language=state["language"],
        query_class=state.get("query_class", QueryClass.QUESTION),
        strips=state.get("strips") or (),
        system_prompt=state["system_prompt"],
        user_prompt=state["user_prompt"],
        history=state.get("messages", ()),
        concerns=state.get("concerns", ()),
        summary=state.get("summary", ""),
        hits=(*state.get("retrieved_docs", ()), *state.get("web_docs", ())),
    )


def repeated_answer(state: AgentState) -> Repetition | None:
    """The previous answer, if this pass restates it."""
    return None if state.get("used_retrieval") else state.get("restated")


async def write_draft(state: AgentState, writer: Generator, on_text: OnText | None = None) -> Draft:
    """The writer's draft; an extractive writer repeats the previous answer if this pass restates it."""
    again = repeated_answer(state) if writer.needs_documents else None
    if again is None:
        return await writer.generate(generation_request(state), on_text)
    if on_text is not None:
        on_text(again.draft.text)
    return again.draft


def judge_of(evaluation: Evaluation | None) -> EvaluationSource | None:
    """Who scored a draft: scores of two judges cannot be compared."""
    return evaluation.source if evaluation else None


def better(best: Attempt | None, new: Attempt) -> Attempt:
    """The attempt with the higher score of one judge; on a tie the one with documents, else the earlier one."""
    if best is None or new.score > best.score:
        return new
    return new if new.score == best.score and _has_documents(new) and not _has_documents(best) else best


def _has_documents(attempt: Attempt) -> bool:
    return bool(attempt.strips or attempt.hits)


def iteration(state: AgentState, scores: Sequence[float], overall: float | None) -> Iteration:
    """The record of the pass that ends here."""
    history = state.get("retrieved_docs_history", ())
    hits = (*state.get("retrieved_docs", ()), *state.get("web_docs", ()))
    return Iteration(
        query=state["query_for_retrieval"],
        verdict=state.get("verdict"),
        overall=overall,
        documents=tuple(dict.fromkeys(hit.passage.document_id for hit in hits)),
        improvement=improvement(scores),
        duplicate_share=duplicate_share(history),
        removed_share=state.get("removed_share"),
    )


def repair(best: Attempt, evaluation: Evaluation | None, hits: Sequence[Hit]) -> tuple[Attempt, tuple[str, ...]]:
    """The attempt as judged with ``hits``, and the texts of the claims that these support.

    Unchanged unless the judge, given the hits, finds more claims supported than before and none fewer.
    """
    before, after = best.evaluation, evaluation
    if before is None or after is None or not after.verified:
        return best, ()
    supported = {claim.text: claim for claim in after.claims if claim.status is ClaimStatus.SUPPORTED}
    lost = [c for c in before.claims if c.status is ClaimStatus.SUPPORTED and c.text not in supported]
    found = {hit.passage.id: hit.passage for hit in hits}
    won = {
        claim.text: next((found[name] for name in supported[claim.text].passage_ids if name in found), None)
        for claim in before.claims
        if claim.status is ClaimStatus.UNSUPPORTED and claim.text in supported
    }
    mended = {text: passage for text, passage in won.items() if passage is not None}
    if lost or not mended:
        return best, ()
    strips = (*best.strips, *(strip for strip in whole(hits) if strip.passage in mended.values()))
    score = max(best.score, after.overall) if judge_of(before) is judge_of(after) else after.overall
    return replace(best, evaluation=after, score=score, strips=strips), tuple(mended)


def cite_supported(attempt: Attempt) -> Attempt:
    """The attempt with a citation for each sentence without one that its judge found supported by the evidence."""
    pieces = [strip.passage for strip in attempt.strips] + [hit.passage for hit in attempt.hits]
    passages = {passage.id: passage for passage in reversed(pieces)}
    uncited = {sentence.text for sentence in attempt.draft.sentences if not sentence.citations}
    claims = attempt.evaluation.claims if attempt.evaluation else ()
    support = {
        claim.text: passages[claim.passage_ids[0]]
        for claim in claims
        if claim.status is ClaimStatus.SUPPORTED
        and claim.text in uncited
        and claim.passage_ids
        and claim.passage_ids[0] in passages
    }
    return replace(attempt, draft=with_citations(attempt.draft, support)) if support else attempt


def without_unsupported(draft: Draft, evaluation: Evaluation | None) -> tuple[Draft, tuple[str, ...]]:
    """The draft without unsupported sentences, and the removed sentences.

    If no sentence is supported, the draft stays as it is: abstention decides about it.
    """
    claims = evaluation.claims if evaluation else ()
    unsupported = {claim.text for claim in claims if claim.status is ClaimStatus.UNSUPPORTED}
    kept = [sentence for sentence in draft.sentences if sentence.text not in unsupported]
    if not kept or len(kept) == len(draft.sentences):
        return draft, ()
    removed = tuple(sentence.text for sentence in draft.sentences if sentence.text in unsupported)
    return with_sentences(draft, kept), removed
