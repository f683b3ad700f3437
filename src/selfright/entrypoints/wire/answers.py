"""Questions, answers, and the events of a turn."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from selfright.answer_form import AnswerReply, Evidence, NodeOutcome, Reply
from selfright.entrypoints.wire.base import ErrorBody, Request

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


class UrgentEvent(Reply):
    """What the message calls for at once, before any answer; the answer begins with it, too."""

    event: Literal["urgent"] = "urgent"
    text: str


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
