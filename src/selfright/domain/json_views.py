"""The fixed JSON views that people script against: one place for the names in them."""

from collections.abc import Iterable
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from typing import Any

from selfright.domain.answers import Answer, Citation, Step
from selfright.domain.judgements import Claim
from selfright.domain.node_outcomes import NodeOutcome
from selfright.domain.passages import DocumentInfo, Hit, StoreInfo, Strip, Trust, is_of_the_web
from selfright.domain.slots import Fact, Profile, Slot

_ANSWER = (
    "question", "answer", "abstained", "language", "citations", "evaluation", "verdict", "stop_reason", "preset",
    "degraded", "iterations", "removed_claims", "notes", "cost", "trace_id",
    "uncovered",
)  # fmt: skip
_EVALUATION = (
    "grounding", "completeness", "accuracy", "overall", "answer_quality", "confidence", "missing_info",
    "improvement_suggestions", "needs_retrieval", "reason", "source", "claims",
)  # fmt: skip
_PASSAGE = ("document_id", "title", "text", "start", "end")
_EVIDENCE = ("document_id", "title", "section", "start", "end", "text", "url")


def search_view(hits: Iterable[Hit]) -> list[dict[str, Any]]:
    """``search --json``."""
    return [
        {
            "rank": rank,
            "passage_id": hit.passage.id,
            **{name: getattr(hit.passage, name) for name in _PASSAGE},
            "rrf_score": hit.rrf_score,
            "bm25": hit.bm25 and hit.bm25._asdict(),
            "dense": hit.dense and hit.dense._asdict(),
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
    form = {name: _plain(getattr(answer, name)) for name in _ANSWER}
    form["citations"] = [{**_plain(one), "from_web": one.from_web} for one in answer.citations]
    form["cost"]["seconds"] = round(answer.cost.seconds, 4)
    if answer.evaluation:
        form["evaluation"] = {name: _plain(getattr(answer.evaluation, name)) for name in _EVALUATION}
        form["evaluation"]["claims"] = [_claim(claim, answer.citations) for claim in answer.evaluation.claims]
    return form


def step_view(step: Step) -> dict[str, Any]:
    """A step of a trace: what it decided in words, and as the facts that apply."""
    return {
        "node": step.node,
        "seconds": round(step.seconds, 6),
        "said": step.said,
        "outcome": outcome_view(step.outcome),
    }


def outcome_view(outcome: NodeOutcome) -> dict[str, Any]:
    """The facts of a node's outcome that apply."""
    form = _plain(outcome)
    return {name: value for name, value in form.items() if value is not None and value is not False and value != ""}


def evidence_view(strips: Iterable[Strip]) -> list[dict[str, Any]]:
    """The passages that strips were kept of, each once with its text and the places of its strips."""
    found: dict[str, dict[str, Any]] = {}
    for strip in strips:
        passage = strip.passage
        known = {"passage_id": passage.id, **{name: getattr(passage, name) for name in _EVIDENCE}}
        form = found.setdefault(passage.id, {**known, "from_web": is_of_the_web(passage.id), "strips": []})
        form["strips"].append({"start": strip.start, "end": strip.end, "score": strip.score})
    return list(found.values())


def document_view(document: DocumentInfo) -> dict[str, Any]:
    """A row of ``index list --json``."""
    return asdict(document)


def info_view(info: StoreInfo) -> dict[str, Any]:
    """``index info --json``."""
    return {**asdict(info), "collections": dict(info.collections), "languages": dict(info.languages)}


def _claim(claim: Claim, citations: Iterable[Citation]) -> dict[str, Any]:
    numbers = sorted({one.n for one in citations if one.passage_id in claim.passage_ids})
    return {"text": claim.text, "status": claim.status.value, "citations": numbers}


def _plain(value: Any) -> Any:
    """A record, or a value in one, as JSON has it."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.value if isinstance(value, Enum) else value
