"""Questions, answers, the events of a turn, searches, documents and collections; and what all bodies share."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic_core import from_json

from selfright.domain.events import AnswerCorrected, AnswerToken, DraftWithdrawn, NodeFinished, VerdictReached
from selfright.schemas import AnswerReply, Evidence, Reply

__all__ = ["AnswerCorrected", "AnswerToken", "DraftWithdrawn", "NodeFinished", "VerdictReached"]


class Request(BaseModel):
    """A body that is sent to the service. A name that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ErrorBody(Reply):
    """What went wrong: ``message`` says what was expected, what came, and what to do; ``param`` names the culprit."""

    message: str
    type: str
    code: str
    param: str | None = None


class ErrorReply(Reply):
    """The body of every reply that is no success, in the form of OpenAI's API."""

    error: ErrorBody


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

    text: str


class DoneEvent(Reply):
    """The turn is over: the last event. ``evidence`` is what the answer was written from."""

    answer: AnswerReply
    evidence: list[Evidence] = Field(default_factory=list)


TurnEvent = UrgentEvent | NodeFinished | VerdictReached | AnswerToken | DraftWithdrawn | AnswerCorrected | DoneEvent
EVENTS: Mapping[str, type] = MappingProxyType(
    {
        "urgent": UrgentEvent,
        "node": NodeFinished,
        "verdict": VerdictReached,
        "token": AnswerToken,
        "withdrawn": DraftWithdrawn,
        "corrected": AnswerCorrected,
        "done": DoneEvent,
        "error": ErrorReply,
    }
)
"""The events of a stream by their name, which is sent with each under ``event``."""
_FORMS: Mapping[str, TypeAdapter[Any]] = {name: TypeAdapter(kind) for name, kind in EVENTS.items()}


def read_event(data: str) -> TurnEvent | ErrorReply:
    """An event as it is sent. Raises ``ValueError`` for one that is not known."""
    sent = from_json(data)
    if not isinstance(sent, dict) or sent.get("event") not in _FORMS:
        raise ValueError("the event has no name that is known")
    event: TurnEvent | ErrorReply = _FORMS[sent["event"]].validate_python(sent)
    return event


class SearchRequest(Request):
    """The body of ``POST /v1/search``."""

    query: str = Field(min_length=1, max_length=10_000)
    k: Annotated[int, Field(ge=1, le=1_000)] = 10
    collections: list[Name] = Field(default_factory=list, max_length=100)


class Ranked(Reply):
    """A place in one ranking, ``rank`` from 1."""

    rank: int
    score: float


class Hit(Reply):
    """A passage that was found."""

    rank: int
    passage_id: str
    document_id: str
    title: str
    text: str
    start: int
    end: int
    rrf_score: float
    bm25: Ranked | None
    dense: Ranked | None


class Searched(Reply):
    """What searched, and why it was weighed so: ``words``, ``meaning`` or ``both``."""

    by: str
    why: str


class SearchReply(Reply):
    """The passages found, best first; ``searched`` is null where only the user's own retriever knows."""

    hits: list[Hit]
    searched: Searched | None = None


class DocumentLine(Reply):
    """A document in a list; ``characters`` is its text's length, ``removable`` whether the caller may delete it."""

    id: str
    title: str
    collection: str
    language: str
    characters: int
    passages: int
    removable: bool = False


class DocumentsReply(Reply):
    """One page of the documents, ordered by id; ``next`` is what to give as ``after`` for the page behind it."""

    documents: list[DocumentLine]
    next: str | None


class UploadedFile(Reply):
    """What became of one file: counts of documents, the ids of the first 100, and a line for each thing that failed."""

    name: str
    added: int
    replaced: int
    unchanged: int
    passages: int
    documents: list[str]
    errors: list[str]


class UploadReply(Reply):
    """What became of the files that were sent."""

    collection: str
    files: list[UploadedFile]


class CollectionLine(Reply):
    """A named part of the index, and what is said of it."""

    name: str
    description: str
    documents: int
    writable: bool


class CollectionsReply(Reply):
    """The collections that the caller may search, ordered by name."""

    collections: list[CollectionLine]
