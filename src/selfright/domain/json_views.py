"""The fixed JSON views that people script against: one place for the names in them."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from selfright.domain.answers import Answer, Citation
from selfright.domain.judgements import Evaluation
from selfright.domain.passages import DocumentInfo, Hit, Ranked, StoreInfo, Strip, Trust
from selfright.domain.slots import Fact, Profile, Slot


def search_view(hits: Iterable[Hit]) -> list[dict[str, Any]]:
    """``search --json``."""
    return [
        {
            "rank": rank,
            "passage_id": hit.passage.id,
            "document_id": hit.passage.document_id,
            "title": hit.passage.title,
            "text": hit.passage.text,
            "start": hit.passage.start,
            "end": hit.passage.end,
            "rrf_score": hit.rrf_score,
            "bm25": _ranked(hit.bm25),
            "dense": _ranked(hit.dense),
        }
        for rank, hit in enumerate(hits, start=1)
    ]


def searched_view(trust: Trust | None) -> dict[str, str] | None:
    """What searched, ``{"by": "words" | "meaning" | "both", "why"}``; None where that is not known."""
    return {"by": trust.by, "why": trust.why} if trust else None


def profile_view(user: str, profile: Profile, summary: str) -> dict[str, Any]:
    """``profile show --json``."""
    return {
        "user": user,
        "summary": summary,
        "slots": [_slot(slot) for slot in profile.slots],
        "disputed": [_slot(slot) for slot in profile.disputed],
    }


def history_view(user: str, facts: Iterable[Fact]) -> dict[str, Any]:
    """``profile export``: every fact with what has become of it, and when it was said (Unix seconds)."""
    return {"user": user, "facts": [{**_slot(fact.slot), "state": fact.state, "at": fact.at} for fact in facts]}


def _slot(slot: Slot) -> dict[str, Any]:
    return {**asdict(slot), "details": dict(slot.details), "by_hand": slot.start < 0}


def answer_view(answer: Answer) -> dict[str, Any]:
    """``ask --json``; ``evaluation`` is null for presets that do not judge their answers."""
    return {
        "question": answer.question,
        "answer": answer.answer,
        "abstained": answer.abstained,
        "language": answer.language,
        "citations": [asdict(citation) for citation in answer.citations],
        "evaluation": answer.evaluation and _evaluation(answer.evaluation, answer.citations),
        "verdict": answer.verdict and answer.verdict.value,
        "stop_reason": answer.stop_reason.value,
        "preset": answer.preset,
        "degraded": answer.degraded,
        "iterations": [{**asdict(one), "verdict": one.verdict and one.verdict.value} for one in answer.iterations],
        "removed_claims": list(answer.removed_claims),
        "notes": list(answer.notes),
        "cost": {**asdict(answer.cost), "seconds": round(answer.cost.seconds, 4)},
        "trace_id": answer.trace_id,
    }


def evidence_view(strips: Iterable[Strip]) -> list[dict[str, Any]]:
    """The passages that strips were kept of, each once with its text and the places of its strips."""
    found: dict[str, dict[str, Any]] = {}
    for strip in strips:
        passage = strip.passage
        form = found.setdefault(
            passage.id,
            {
                "passage_id": passage.id,
                "document_id": passage.document_id,
                "title": passage.title,
                "section": passage.section,
                "start": passage.start,
                "end": passage.end,
                "text": passage.text,
                "url": passage.url,
                "strips": [],
            },
        )
        form["strips"].append({"start": strip.start, "end": strip.end, "score": strip.score})
    return list(found.values())


def document_view(document: DocumentInfo) -> dict[str, Any]:
    """A row of ``index list --json``."""
    return asdict(document)


def info_view(info: StoreInfo) -> dict[str, Any]:
    """``index info --json``."""
    return {**asdict(info), "collections": dict(info.collections), "languages": dict(info.languages)}


def _ranked(place: Ranked | None) -> dict[str, Any] | None:
    return {"rank": place.rank, "score": place.score} if place else None


def _evaluation(evaluation: Evaluation, citations: tuple[Citation, ...]) -> dict[str, Any]:
    numbers: dict[str, list[int]] = {}
    for citation in citations:
        numbers.setdefault(citation.passage_id, []).append(citation.n)
    return {
        "grounding": evaluation.grounding,
        "completeness": evaluation.completeness,
        "accuracy": evaluation.accuracy,
        "overall": evaluation.overall,
        "answer_quality": evaluation.answer_quality.value,
        "confidence": evaluation.confidence,
        "missing_info": list(evaluation.missing_info),
        "improvement_suggestions": list(evaluation.improvement_suggestions),
        "needs_retrieval": evaluation.needs_retrieval,
        "reason": evaluation.reason,
        "source": evaluation.source.value,
        "claims": [
            {
                "text": claim.text,
                "status": claim.status.value,
                "citations": sorted({n for passage_id in claim.passage_ids for n in numbers.get(passage_id, ())}),
            }
            for claim in evaluation.claims
        ],
    }
