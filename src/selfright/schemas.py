"""The fixed forms that people script against: what CLI, API, traces, MCP and evaluations write is rendered here alone.

Names and order of the fields are fixed. Records of the domain that are sent as they are stand in them as they are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from selfright.domain import answers, judgements
from selfright.domain.answers import Cost, Iteration
from selfright.domain.events import NodeFinished
from selfright.domain.node_outcomes import NodeOutcome, WithheldPassage
from selfright.domain.passages import Hit, SearchWeights, StoreInfo, Strip, is_of_the_web
from selfright.domain.routing import RoutingDecision
from selfright.domain.row_lists import RowList, split_row_lists
from selfright.domain.slots import Fact, Profile, Slot
from selfright.domain.tables import read_table
from selfright.domain.traces import Replay, Trace
from selfright.domain.wordings import Wording, format_outcome, wordings

__all__ = [
    "Cost", "Iteration", "NodeOutcome", "RoutingDecision", "RowList", "Wording", "format_outcome", "split_row_lists",
    "wordings",
]  # fmt: skip


_EXPECTED: dict[str, str] = read_table(__package__, "schemas")["expected"]
_MOST_SHOWN = 60


def fault_of(error: Mapping[str, Any]) -> str:
    """What one of pydantic's errors says, in plain words: what was expected, and what came."""
    kind, expected = error["type"], _EXPECTED.get(error["type"])
    if expected is None:
        names = {"missing": "it is missing", "extra_forbidden": "there is no field of this name"}
        return names.get(kind) or str(error["msg"]).removeprefix("Value error, ")
    given = repr(error["input"])
    shown = given if len(given) <= _MOST_SHOWN else f"{given[:_MOST_SHOWN]}…"
    return f"expected {expected.format(**error.get('ctx', {}))}, but got {shown}"


class Reply(BaseModel):
    """A body that the service sends. A client passes over names that only a newer service knows."""

    model_config = ConfigDict(extra="ignore", frozen=True, from_attributes=True)


class Citation(Reply):
    """What an answer rests on: ``text`` is exactly the document's text from ``start`` to ``end``."""

    n: int
    passage_id: str
    document_id: str
    title: str
    section: str
    start: int
    end: int
    text: str
    url: str | None = None
    head: str = ""
    from_web: bool = False


class Claim(Reply):
    """A sentence of the answer: ``supported``, ``unsupported`` or ``unknown``, and by which citations."""

    text: str
    status: str
    citations: list[int]


class Evaluation(Reply):
    """What judging said of the answer; all scores lie in 0…1."""

    grounding: float
    completeness: float
    accuracy: float
    overall: float
    answer_quality: str
    confidence: float
    missing_info: list[str]
    improvement_suggestions: list[str]
    needs_retrieval: bool
    reason: str
    source: str
    claims: list[Claim]


class AnswerReply(Reply):
    """The outcome of a turn, the same as ``selfright ask --json``.

    ``uncovered`` is what was asked and left out; if there is any, the first of the ``notes`` says it. ``withheld`` are
    passages that were found and could not be evidence, and why.
    """

    question: str
    answer: str
    abstained: bool
    language: str
    citations: list[Citation]
    evaluation: Evaluation | None
    verdict: str | None
    verdict_confidence: float | None = None
    stop_reason: str
    preset: str
    degraded: bool
    iterations: list[Iteration]
    removed_claims: list[str]
    notes: list[str]
    cost: Cost
    trace_id: str
    uncovered: list[str] = Field(default_factory=list)
    withheld: list[WithheldPassage] = Field(default_factory=list)


class KeptStrip(Reply):
    """One to three sentences that were kept of a passage: ``document.text[start:end]``; ``score`` lies in 0…1."""

    start: int
    end: int
    score: float


class Evidence(Reply):
    """A passage that the answer was written from, and which of its strips were kept.

    ``text`` is the document's text from ``start`` to ``end``, and the strips lie within.
    """

    passage_id: str
    document_id: str
    title: str
    section: str
    start: int
    end: int
    text: str
    url: str | None = None
    head: str = ""
    from_web: bool = False
    strips: list[KeptStrip]


def answer_view(answer: answers.Answer) -> dict[str, Any]:
    """``ask --json``; ``evaluation`` is None for presets that do not judge their answers."""
    judged = answer.evaluation and evaluation_form(answer.evaluation, answer.citations)
    cost = replace(answer.cost, seconds=round(answer.cost.seconds, 4))
    form = {**_fields(answer, AnswerReply), "evaluation": judged, "cost": cost}
    return AnswerReply.model_validate(form).model_dump(mode="json")


def evaluation_form(judged: judgements.Evaluation, citations: Iterable[answers.Citation] = ()) -> Evaluation:
    """The form of an evaluation; its claims name the numbers of ``citations``."""
    numbers = [sorted({one.n for one in citations if one.passage_id in claim.passage_ids}) for claim in judged.claims]
    claims = [
        Claim(text=claim.text, status=claim.status, citations=cited)
        for claim, cited in zip(judged.claims, numbers, strict=True)
    ]
    return Evaluation.model_validate({**_fields(judged, Evaluation), "claims": claims})


def _fields(record: object, form: type[BaseModel]) -> dict[str, Any]:
    return {name: getattr(record, name) for name in form.model_fields if hasattr(record, name)}


def evidence_view(strips: Iterable[Strip]) -> list[dict[str, Any]]:
    """The passages that strips were kept of, each once with its text and the places of its strips."""
    kept: dict[str, list[Strip]] = {}
    for strip in strips:
        kept.setdefault(strip.passage.id, []).append(strip)
    forms = (
        {**_fields(of[0].passage, Evidence), "passage_id": name, "from_web": is_of_the_web(name), "strips": of}
        for name, of in kept.items()
    )
    return [Evidence.model_validate(form).model_dump() for form in forms]


def step_view(step: answers.Step | NodeFinished) -> dict[str, Any]:
    """A visited node: what it decided in words, and as the facts that apply."""
    outcome = outcome_view(step.outcome)
    return {"node": step.node, "seconds": round(step.seconds, 6), "said": step.said, "outcome": outcome}


_OUTCOME = TypeAdapter(NodeOutcome)


def outcome_view(outcome: NodeOutcome) -> dict[str, Any]:
    """The facts of a node's outcome that apply."""
    form: dict[str, Any] = _OUTCOME.dump_python(outcome, mode="json", exclude_defaults=True)
    return form


def replay_view(replayed: Replay) -> dict[str, Any]:
    """``trace replay --json``; ``before`` is the recorded answer."""
    return {
        "of": replayed.of.id,
        "faithful": replayed.faithful,
        "answer": answer_view(replayed.answer),
        "fresh_cost": asdict(replayed.fresh),
        "reused": dict(replayed.reused),
        "asked": dict(replayed.asked),
        "missing": list(replayed.missing),
        "notes": list(replayed.notes),
        "before": replayed.of.answer,
    }


TRACE_VERSION = 1
_TRACE = TypeAdapter(Trace)


def trace_form(trace: Trace) -> dict[str, Any]:
    """``trace show --json``, and what is kept of a trace."""
    form = _TRACE.dump_python(trace, mode="json")
    return {"version": TRACE_VERSION, **form, "steps": [step_view(step) for step in trace.steps]}


def trace_of(form: Mapping[str, Any]) -> Trace:
    """The trace that a form describes. Raises ``ValueError`` for anything else."""
    if form.get("version") != TRACE_VERSION:
        raise ValueError(f"a trace of version {TRACE_VERSION} was expected, but this one is of {form.get('version')!r}")
    try:
        return _TRACE.validate_python(form)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"a trace lacks a part or has one of the wrong kind ({place}: {fault_of(first)})") from None


_PASSAGE = ("document_id", "title", "head", "text", "start", "end")


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


def search_method_view(trust: SearchWeights | None) -> dict[str, str] | None:
    """What searched, ``{"by": "words" | "meaning" | "both", "why"}``; None where that is not known."""
    return {"by": trust.by, "why": trust.why} if trust else None


def profile_view(user: str, profile: Profile, summary: str) -> dict[str, Any]:
    """``profile show --json``."""
    slots, disputed = (list(map(_slot, given)) for given in (profile.slots, profile.disputed))
    return {"user": user, "summary": summary, "slots": slots, "disputed": disputed}


def history_view(user: str, facts: Iterable[Fact]) -> dict[str, Any]:
    """``profile export``: every fact with what has become of it, and when it was said (Unix seconds)."""
    return {"user": user, "facts": [{**_slot(fact.slot), "state": fact.state, "at": fact.at} for fact in facts]}


def _slot(slot: Slot) -> dict[str, Any]:
    return {**asdict(slot), "details": dict(slot.details), "by_hand": slot.start < 0}


def info_view(info: StoreInfo) -> dict[str, Any]:
    """``index info --json``."""
    return {**asdict(info), "collections": dict(info.collections), "languages": dict(info.languages)}
