"""Questions, answers, and the events of a turn."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from selfright.entrypoints.wire.base import ErrorBody, Reply, Request

MOST_MESSAGES = 1_000

Flag = bool | int | float | str
Name = Annotated[str, Field(min_length=1, max_length=200)]


class Message(Request):
    """One message of a conversation that the caller keeps."""

    role: Literal["user", "assistant"]
    content: str


class TurnRequest(Request):
    """What may be said with a question. ``session`` names a conversation kept here, ``history`` is one kept elsewhere.

    ``flags`` go over the service's; limits can be lowered but not raised. ``profile`` says who asks.
    """

    preset: str | None = None
    mode: Literal["ai_agent", "llm"] | None = None
    flags: dict[str, Flag] = Field(default_factory=dict)
    profile: dict[str, Any] | None = None
    collections: list[Name] = Field(default_factory=list, max_length=100)


class AskRequest(TurnRequest):
    """The body of ``POST /v1/ask``; with ``stream`` the reply is a stream of events."""

    question: str = Field(min_length=1, max_length=10_000)
    session: Name | None = None
    history: list[Message] = Field(default_factory=list, max_length=MOST_MESSAGES)
    stream: bool = False


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


class UrgentEvent(Reply):
    """What the message calls for at once, before any answer; the answer begins with it, too."""

    event: Literal["urgent"] = "urgent"
    text: str


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
    pass, ``ended`` why the turn is over. ``words`` is all that a trace of an earlier version says.
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
    words: str | None = None


class NodeEvent(Reply):
    """A node ran; ``said`` is what it decided in a few words, ``outcome`` the same as facts."""

    event: Literal["node"] = "node"
    node: str
    seconds: float
    said: str
    outcome: NodeOutcome | None = None


class VerdictEvent(Reply):
    """A retrieval was judged; ``sufficiency`` is null when the judge failed."""

    event: Literal["verdict"] = "verdict"
    verdict: str
    sufficiency: float | None


class TokenEvent(Reply):
    """The next piece of the draft that is being written."""

    event: Literal["token"] = "token"
    text: str
    iteration: int


class WithdrawnEvent(Reply):
    """The draft heard so far failed its checks: forget it, another one is coming."""

    event: Literal["withdrawn"] = "withdrawn"
    iteration: int
    reason: str


class CorrectedEvent(Reply):
    """The whole answer, which takes the place of what was heard."""

    event: Literal["corrected"] = "corrected"
    text: str


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


class DoneEvent(Reply):
    """The turn is over: the last event. ``evidence`` is what the answer was written from."""

    event: Literal["done"] = "done"
    answer: AnswerReply
    evidence: list[Evidence] = Field(default_factory=list)


class ErrorEvent(Reply):
    """The turn failed: the last event."""

    event: Literal["error"] = "error"
    error: ErrorBody


TurnEvent = Annotated[
    UrgentEvent | NodeEvent | VerdictEvent | TokenEvent | WithdrawnEvent | CorrectedEvent | DoneEvent | ErrorEvent,
    Field(discriminator="event"),
]
TURN_EVENT: TypeAdapter[TurnEvent] = TypeAdapter(TurnEvent)
