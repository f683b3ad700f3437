"""The calls that the service knows, each said once: for the clients with an event loop and without one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypedDict, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from selfright.domain.errors import ServiceError
from selfright.domain.several import several
from selfright.entrypoints.wire.answers import (
    TURN_EVENT,
    AnswerReply,
    AskRequest,
    DoneEvent,
    ErrorEvent,
    Flag,
    Message,
    TurnEvent,
)
from selfright.entrypoints.wire.base import ErrorBody, ErrorReply
from selfright.entrypoints.wire.content import (
    CollectionsReply,
    DocumentReply,
    DocumentsReply,
    SearchReply,
    SearchRequest,
    UploadReply,
)
from selfright.entrypoints.wire.people import (
    DeletedReply,
    ErasedReply,
    Facts,
    HealthReply,
    ProfileReply,
    SessionReply,
    SessionsReply,
    WhoReply,
)
from selfright.entrypoints.wire.ratings import (
    ExamplesReply,
    LabelledReply,
    RatedPassage,
    RatedReply,
    RatingRequest,
)
from selfright.entrypoints.wire.traces import ReplayReply, ReplayRequest, TraceReply, TracesReply

R = TypeVar("R", bound=BaseModel)


class AskOptions(TypedDict, total=False):
    """What may be said with a question; see ``AskRequest``."""

    preset: str | None
    mode: Literal["ai_agent", "llm"] | None
    flags: dict[str, Flag]
    profile: dict[str, Any] | None
    collections: str | list[str]
    session: str | None
    history: list[Message]


@dataclass(frozen=True, slots=True)
class Call(Generic[R]):
    """One request: method, path with everything in it quoted, and what the reply is read as."""

    method: str
    path: str
    reply: type[R]
    body: BaseModel | None = None
    query: Mapping[str, str | int] | None = None

    def read(self, status: int, content: bytes, headers: Mapping[str, str]) -> R:
        """The reply. Raises ``ServiceError`` for anything but a success in the form that was expected."""
        if status >= 300:
            raise refusal(status, content, headers)
        try:
            return self.reply.model_validate_json(content)
        except ValidationError as error:
            message = f"the reply of {self.path} has not the form of this version ({error.error_count()} differences)"
            raise ServiceError(message, status=status) from None


def ask(question: str, options: AskOptions, *, stream: bool = False) -> Call[AnswerReply]:
    """A question; with ``stream`` the reply is a stream of events."""
    named = {"collections": list(several(options.get("collections", ())))}
    body = AskRequest.model_validate({"question": question, "stream": stream, **options, **named})
    return Call("POST", "/v1/ask", AnswerReply, body)


def search(query: str, k: int, collections: str | Iterable[str]) -> Call[SearchReply]:
    """A search."""
    body = SearchRequest(query=query, k=k, collections=list(several(collections)))
    return Call("POST", "/v1/search", SearchReply, body)


def documents(collection: str | None, after: str, limit: int, named: str = "") -> Call[DocumentsReply]:
    """A page of the documents."""
    query: dict[str, str | int] = {"limit": limit}
    query |= {"named": named} if named else {}
    query |= {"after": after} if after else {}
    query |= {"collection": collection} if collection is not None else {}
    return Call("GET", "/v1/documents", DocumentsReply, query=query)


def document(document_id: str) -> Call[DocumentReply]:
    """One document."""
    return Call("GET", f"/v1/documents/{_quoted(document_id)}", DocumentReply)


def delete_document(document_id: str) -> Call[DeletedReply]:
    """A document removed."""
    return Call("DELETE", f"/v1/documents/{_quoted(document_id)}", DeletedReply)


def upload() -> Call[UploadReply]:
    """Files sent; they go along as a form."""
    return Call("POST", "/v1/documents", UploadReply)


def collections() -> Call[CollectionsReply]:
    """The collections."""
    return Call("GET", "/v1/collections", CollectionsReply)


def sessions() -> Call[SessionsReply]:
    """The conversations."""
    return Call("GET", "/v1/sessions", SessionsReply)


def session(name: str) -> Call[SessionReply]:
    """One conversation."""
    return Call("GET", f"/v1/sessions/{_quoted(name)}", SessionReply)


def forget(name: str | None) -> Call[DeletedReply]:
    """A conversation deleted, or all of them."""
    return Call("DELETE", "/v1/sessions" if name is None else f"/v1/sessions/{_quoted(name)}", DeletedReply)


def erase_user(user: str) -> Call[ErasedReply]:
    """A user erased."""
    return Call("DELETE", f"/v1/users/{_quoted(user)}", ErasedReply)


def profile(user: str, language: str) -> Call[ProfileReply]:
    """A profile."""
    return Call("GET", f"/v1/profiles/{_quoted(user)}", ProfileReply, query={"language": language})


def correct(user: str, facts: Mapping[str, Any], language: str) -> Call[ProfileReply]:
    """A profile corrected."""
    query = {"language": language}
    return Call("PATCH", f"/v1/profiles/{_quoted(user)}", ProfileReply, Facts(facts=dict(facts)), query)


def erase(user: str, name: str | None, value: str | None) -> Call[DeletedReply]:
    """A profile erased, or part of it."""
    query = {key: part for key, part in (("name", name), ("value", value)) if part is not None}
    return Call("DELETE", f"/v1/profiles/{_quoted(user)}", DeletedReply, query=query)


def examples(language: str) -> Call[ExamplesReply]:
    """Example questions."""
    return Call("GET", "/v1/examples", ExamplesReply, query={"language": language})


def rate(trace_id: str, question: str, helpful: bool, passages: Iterable[tuple[str, int, int]]) -> Call[RatedReply]:
    """An answer rated."""
    named = [RatedPassage(document_id=one, start=start, end=end) for one, start, end in passages]
    body = RatingRequest(question=question, helpful=helpful, passages=named)
    return Call("PUT", f"/v1/ratings/{_quoted(trace_id)}", RatedReply, body)


def unrate(trace_id: str) -> Call[DeletedReply]:
    """A rating taken back."""
    return Call("DELETE", f"/v1/ratings/{_quoted(trace_id)}", DeletedReply)


def labelled() -> Call[LabelledReply]:
    """The ratings as labelled rows."""
    return Call("GET", "/v1/ratings", LabelledReply)


def traces(limit: int) -> Call[TracesReply]:
    """The traces."""
    return Call("GET", "/v1/traces", TracesReply, query={"limit": limit})


def trace(trace_id: str) -> Call[TraceReply]:
    """One trace."""
    return Call("GET", f"/v1/traces/{_quoted(trace_id)}", TraceReply)


def replay(
    trace_id: str, preset: str | None, flags: Mapping[str, Flag] | None, start_at: str | None
) -> Call[ReplayReply]:
    """A turn run again."""
    body = ReplayRequest(preset=preset, flags=dict(flags or {}), start_at=start_at)
    return Call("POST", f"/v1/traces/{_quoted(trace_id)}/replay", ReplayReply, body)


def delete_traces(trace_id: str | None) -> Call[DeletedReply]:
    """A trace deleted, or all of them."""
    return Call("DELETE", "/v1/traces" if trace_id is None else f"/v1/traces/{_quoted(trace_id)}", DeletedReply)


def me() -> Call[WhoReply]:
    """Who one is to the service."""
    return Call("GET", "/v1/me", WhoReply)


def ready() -> Call[HealthReply]:
    """Whether the service can be used."""
    return Call("GET", "/readyz", HealthReply)


class Events:
    """Reads a stream of server-sent events line by line."""

    def __init__(self) -> None:
        self._data: list[str] = []

    def read(self, line: str) -> TurnEvent | None:
        """The event that this line completes. Raises ``ServiceError`` for one that tells of an error."""
        if line.startswith("data:"):
            self._data.append(line[5:].removeprefix(" "))
        if line or not self._data:
            return None
        data, self._data = "\n".join(self._data), []
        try:
            event = TURN_EVENT.validate_json(data)
        except ValidationError:
            raise ServiceError("the stream has an event that this version does not know; update the client") from None
        if isinstance(event, ErrorEvent):
            raise _error(event.error, None, None)
        return event


def is_last(event: TurnEvent) -> bool:
    """Whether the stream is over with this event."""
    return isinstance(event, DoneEvent)


def refusal(status: int, content: bytes, headers: Mapping[str, str]) -> ServiceError:
    """The error that a reply without success tells of, whoever sent it."""
    wait = headers.get("retry-after", "")
    retry_after = float(wait) if wait.isdigit() else None
    try:
        body = ErrorReply.model_validate_json(content).error
    except ValidationError:
        message = f"status {status} came instead of an answer; is this the address of a Selfright service?"
        return ServiceError(message, status=status, retry_after=retry_after)
    return _error(body, status, retry_after)


def _error(body: ErrorBody, status: int | None, retry_after: float | None) -> ServiceError:
    return ServiceError(body.message, status=status, code=body.code, retry_after=retry_after)


def _quoted(name: str) -> str:
    """The name as one part of a path; dots alone would lead out of it."""
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")
