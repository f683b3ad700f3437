"""The one form of an answer and of the path to it: CLI, API, traces, MCP and evaluations take theirs here.

Names and order of the fields are fixed: people script against them.
"""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from selfright.domain import answers, judgements, node_outcomes
from selfright.domain.passages import Strip, is_of_the_web


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


class Iteration(Reply):
    """One pass of the loop."""

    query: str
    verdict: str | None
    overall: float | None
    documents: list[str]
    improvement: float | None
    duplicate_share: float | None
    removed_share: float | None = None


class Cost(Reply):
    """What the turn used."""

    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    web_requests: int
    seconds: float


class AnswerReply(Reply):
    """The outcome of a turn, the same as ``selfright ask --json``.

    ``uncovered`` is what was asked and left out; if there is any, the first of the ``notes`` says it.
    """

    question: str
    answer: str
    abstained: bool
    language: str
    citations: list[Citation]
    evaluation: Evaluation | None
    verdict: str | None
    stop_reason: str
    preset: str
    degraded: bool
    iterations: list[Iteration]
    removed_claims: list[str]
    notes: list[str]
    cost: Cost
    trace_id: str
    uncovered: list[str] = Field(default_factory=list)


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
    from_web: bool = False
    strips: list[KeptStrip]


class Routing(Reply):
    """The collections that were searched, none meaning all of them; ``reason`` is a code or a router's own words."""

    collections: list[str]
    reason: str
    fallback: bool
    about: str


class NodeOutcome(Reply):
    """What a node decided, as facts; only those are sent that apply.

    ``slots``, ``strips``, ``passages``, ``sentences`` and ``repaired`` are counts; ``sufficiency``, ``removed_share``
    and ``overall`` lie in 0…1. ``stop`` is why the check ended the loop, ``again`` the node where it starts another
    pass, ``ended`` why the turn is over.
    """

    slots: int | None = None
    query_class: str | None = None
    fast_path: bool | None = None
    strips: int | None = None
    verdict: str | None = None
    sufficiency: float | None = None
    removed_share: float | None = None
    passages: int | None = None
    provider: str | None = None
    routing: Routing | None = None
    sentences: int | None = None
    refused: bool | None = None
    unjudged: bool | None = None
    overall: float | None = None
    quality: str | None = None
    judge: str | None = None
    stop: str | None = None
    again: str | None = None
    ended: str | None = None
    repaired: int | None = None


def answer_form(answer: answers.Answer) -> AnswerReply:
    """The form of an answer; ``evaluation`` is None for presets that do not judge their answers."""
    judged = answer.evaluation and evaluation_form(answer.evaluation, answer.citations)
    cost = {**_fields(answer.cost, Cost), "seconds": round(answer.cost.seconds, 4)}
    return AnswerReply.model_validate({**_fields(answer, AnswerReply), "evaluation": judged, "cost": cost})


def answer_view(answer: answers.Answer) -> dict[str, Any]:
    """``ask --json``."""
    return answer_form(answer).model_dump()


def evaluation_form(judged: judgements.Evaluation, citations: Iterable[answers.Citation] = ()) -> Evaluation:
    """The form of an evaluation; its claims name the numbers of ``citations``."""
    numbers = [sorted({one.n for one in citations if one.passage_id in claim.passage_ids}) for claim in judged.claims]
    claims = [
        Claim(text=claim.text, status=claim.status, citations=cited)
        for claim, cited in zip(judged.claims, numbers, strict=True)
    ]
    return Evaluation.model_validate({**_fields(judged, Evaluation), "claims": claims})


def _fields(record: object, form: type[BaseModel]) -> dict[str, Any]:
    """What a record has of the form's fields."""
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


def step_view(step: answers.Step) -> dict[str, Any]:
    """A step of a trace: what it decided in words, and as the facts that apply."""
    outcome = outcome_view(step.outcome)
    return {"node": step.node, "seconds": round(step.seconds, 6), "said": step.said, "outcome": outcome}


def outcome_view(outcome: node_outcomes.NodeOutcome) -> dict[str, Any]:
    """The facts of a node's outcome that apply."""
    facts = NodeOutcome.model_validate(outcome).model_dump()
    return {name: value for name, value in facts.items() if value is not None and value is not False and value != ""}
