"""The calls that the service knows, each said once: for the clients with an event loop and without one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypedDict, TypeVar, Unpack
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from selfright.answer_form import AnswerReply
from selfright.domain.errors import ServiceError
from selfright.domain.text import several
from selfright.domain.traces import Rating
from selfright.entrypoints.wire.answers import (
    TURN_EVENT,
    AskRequest,
    CollectionLine,
    CollectionsReply,
    DocumentReply,
    DocumentsReply,
    ErrorBody,
    ErrorEvent,
    ErrorReply,
    Flag,
    Hit,
    Message,
    SearchReply,
    SearchRequest,
    TurnEvent,
    UploadReply,
)
from selfright.entrypoints.wire.connecting import Files, parts
from selfright.entrypoints.wire.user_data import (
    DeletedReply,
    ErasedReply,
    Facts,
    HealthReply,
    ProfileReply,
    RatingReply,
    RatingRequest,
    ReplayReply,
    ReplayRequest,
    SessionLine,
    SessionReply,
    SessionsReply,
    TraceReply,
    TracesReply,
    WhoReply,
)

ME = "me"
ASK = "/v1/ask"
P = ParamSpec("P")
T = TypeVar("T")
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


class Calls(ABC):
    """Every call as a coroutine. A client adds how a request is sent; where that never waits, ``at_once`` serves it."""

    @abstractmethod
    async def _response(self, method: str, path: str, **content: Any) -> Any:
        """httpx's response to a request. Raises ``ServiceUnreachable``."""

    async def ask(self, question: str, **options: Unpack[AskOptions]) -> AnswerReply:
        """The answer to a question."""
        return await self._sent(AnswerReply, "POST", ASK, asked(question, options))

    async def search(self, query: str, k: int = 10, collections: str | Iterable[str] = ()) -> list[Hit]:
        """The passages nearest to a query, best first."""
        body = SearchRequest(query=query, k=k, collections=list(several(collections)))
        return (await self._sent(SearchReply, "POST", "/v1/search", body)).hits

    async def documents(
        self, collection: str | None = None, after: str = "", limit: int = 100, named: str = ""
    ) -> DocumentsReply:
        """A page of the documents; with ``named`` of those that have it in their title or id."""
        page = {"limit": limit, "named": named or None, "after": after or None, "collection": collection}
        return await self._sent(DocumentsReply, "GET", "/v1/documents", None, **page)

    async def document(self, document_id: str) -> DocumentReply:
        """A document with its text."""
        return await self._sent(DocumentReply, "GET", f"/v1/documents/{_quoted(document_id)}")

    async def upload(self, files: Files, collection: str | None = None) -> UploadReply:
        """Adds files to the index, into ``collection`` or the one that the key is for."""
        form = {"collection": collection} if collection else {}
        return _read(UploadReply, await self._response("POST", "/v1/documents", files=parts(files), data=form))

    async def delete_document(self, document_id: str) -> None:
        """Removes a document."""
        await self._sent(DeletedReply, "DELETE", f"/v1/documents/{_quoted(document_id)}")

    async def collections(self) -> list[CollectionLine]:
        """The collections that may be searched."""
        return (await self._sent(CollectionsReply, "GET", "/v1/collections")).collections

    async def sessions(self) -> list[SessionLine]:
        """The conversations that are kept, the one used last first."""
        return (await self._sent(SessionsReply, "GET", "/v1/sessions")).sessions

    async def session(self, name: str) -> SessionReply:
        """What was said in a conversation."""
        return await self._sent(SessionReply, "GET", f"/v1/sessions/{_quoted(name)}")

    async def forget(self, name: str | None = None) -> int:
        """Deletes a conversation, or all of them; gives back how many there were."""
        path = "/v1/sessions" if name is None else f"/v1/sessions/{_quoted(name)}"
        return (await self._sent(DeletedReply, "DELETE", path)).deleted

    async def profile(self, user: str = ME, language: str = "en") -> ProfileReply:
        """What is remembered of one, or of another user for an admin's key."""
        return await self._sent(ProfileReply, "GET", f"/v1/profiles/{_quoted(user)}", language=language)

    async def correct_profile(self, facts: Mapping[str, Any], user: str = ME, language: str = "en") -> ProfileReply:
        """Corrects a profile: what is given for a kind takes the place of what stood; an empty value ends it."""
        path, body = f"/v1/profiles/{_quoted(user)}", Facts(facts=dict(facts))
        return await self._sent(ProfileReply, "PATCH", path, body, language=language)

    async def erase_user(self, user: str = ME) -> ErasedReply:
        """Erases all that is kept of a user: conversations, profile, traces."""
        return await self._sent(ErasedReply, "DELETE", f"/v1/users/{_quoted(user)}")

    async def erase_profile(self, user: str = ME, name: str | None = None, value: str | None = None) -> int:
        """Erases a profile for good, or one kind or value of it; gives back how many facts went."""
        path = f"/v1/profiles/{_quoted(user)}"
        return (await self._sent(DeletedReply, "DELETE", path, name=name, value=value)).deleted

    async def rate(self, trace_id: str, rating: Rating | None) -> RatingReply:
        """Says whether an answer helped; None takes it back."""
        path = f"/v1/traces/{_quoted(trace_id)}/rating"
        return await self._sent(RatingReply, "POST", path, RatingRequest(rating=rating))

    async def traces(self, limit: int = 50) -> list[TraceReply]:
        """The kept traces, the newest first."""
        return (await self._sent(TracesReply, "GET", "/v1/traces", limit=limit)).traces

    async def trace(self, trace_id: str) -> TraceReply:
        """The path of one turn."""
        return await self._sent(TraceReply, "GET", f"/v1/traces/{_quoted(trace_id)}")

    async def replay(
        self,
        trace_id: str,
        preset: str | None = None,
        flags: Mapping[str, Flag] | None = None,
        start_at: str | None = None,
    ) -> ReplayReply:
        """A recorded turn run again with other flags, or another preset, from a node on."""
        body = ReplayRequest(preset=preset, flags=dict(flags or {}), start_at=start_at)
        return await self._sent(ReplayReply, "POST", f"/v1/traces/{_quoted(trace_id)}/replay", body)

    async def delete_traces(self, trace_id: str | None = None) -> int:
        """Deletes a trace, or all of the user's; returns how many there were."""
        path = "/v1/traces" if trace_id is None else f"/v1/traces/{_quoted(trace_id)}"
        return (await self._sent(DeletedReply, "DELETE", path)).deleted

    async def me(self) -> WhoReply:
        """Who one is to the service, and what it offers."""
        return await self._sent(WhoReply, "GET", "/v1/me")

    async def ready(self) -> bool:
        """Whether the service can be used; false also when it cannot be reached."""
        try:
            return (await self._sent(HealthReply, "GET", "/readyz")).status == "ok"
        except ServiceError:
            return False

    async def _sent(
        self, reply: type[R], method: str, path: str, body: BaseModel | None = None, **query: str | int | None
    ) -> R:
        """The reply to a request; what is None in ``query`` is left out."""
        content = {} if body is None else {"json": sent(body)}
        given = {name: value for name, value in query.items() if value is not None}
        return _read(reply, await self._response(method, path, params=given, **content))


def at_once(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Any, P], T]:
    """A call for a client whose ``_response`` never waits: the coroutine runs to its end without an event loop."""

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            method(self, *args, **kwargs).send(None)
        except StopIteration as ended:
            reply: T = ended.value
            return reply
        raise RuntimeError("a request of this client waited for an event loop")

    return call


def asked(question: str, options: AskOptions, *, stream: bool = False) -> AskRequest:
    """The body that asks a question; with ``stream`` the reply is a stream of events."""
    named = {"collections": list(several(options.get("collections", ())))}
    return AskRequest.model_validate({"question": question, "stream": stream, **options, **named})


def sent(body: BaseModel) -> dict[str, Any]:
    """A body as JSON has it."""
    return body.model_dump(mode="json", exclude_defaults=True)


def _read(reply: type[R], response: Any) -> R:
    """The reply. Raises ``ServiceError`` for anything but a success in the form that was expected."""
    if response.status_code >= 300:
        raise refusal(response.status_code, response.content, response.headers)
    try:
        return reply.model_validate_json(response.content)
    except ValidationError as error:
        path = response.request.url.path
        message = f"the reply of {path} has not the form of this version ({error.error_count()} differences)"
        raise ServiceError(message, status=response.status_code) from None


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
