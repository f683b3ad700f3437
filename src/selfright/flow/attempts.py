"""Drafts compared, recorded, and cleaned of what nobody could support."""

import re
from collections.abc import Sequence
from dataclasses import replace

from selfright.domain.answers import Attempt, Citation, Draft, Iteration, Sentence
from selfright.domain.judgements import ClaimStatus, Evaluation
from selfright.flow.guards import duplicate_share, improvement
from selfright.flow.state import AgentState


def better(best: Attempt | None, new: Attempt) -> Attempt:
    """The attempt with the higher score; of equals the earlier one, which cost less."""
    return new if best is None or new.score > best.score else best


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
    )


def without_unsupported(draft: Draft, evaluation: Evaluation | None) -> tuple[Draft, tuple[str, ...]]:
    """The draft without sentences judged unsupported, and those sentences. All of them gone leaves it as it was:
    then the answer as a whole is unsupported, which abstention decides on.
    """
    claims = evaluation.claims if evaluation else ()
    unsupported = {claim.text for claim in claims if claim.status is ClaimStatus.UNSUPPORTED}
    kept = [sentence for sentence in draft.sentences if sentence.text not in unsupported]
    if not kept or len(kept) == len(draft.sentences):
        return draft, ()
    removed = tuple(sentence.text for sentence in draft.sentences if sentence.text in unsupported)
    return _rebuilt(draft, kept), removed


def _rebuilt(draft: Draft, kept: Sequence[Sentence]) -> Draft:
    used = list(dict.fromkeys(n for sentence in kept for n in sentence.citations))
    renumbered = {old: new for new, old in enumerate(used, start=1)}
    by_number: dict[int, Citation] = {citation.n: citation for citation in draft.citations}
    sentences = tuple(replace(s, citations=tuple(renumbered[n] for n in s.citations)) for s in kept)
    text = " ".join(s.text + "".join(f" [{n}]" for n in s.citations) for s in sentences)
    return Draft(
        text=re.sub(r"[ \t]+", " ", text),
        sentences=sentences,
        citations=tuple(replace(by_number[old], n=new) for old, new in renumbered.items()),
        refused=draft.refused,
    )
