"""The client of the service: all that a page, a script or another program needs to talk to a Selfright over HTTP.

>>> with Client("http://127.0.0.1:8000") as client:      # doctest: +SKIP
...     print(client.ask("How do I install it?").answer)

``AsyncClient`` does the same on an event loop. Both raise ``ServiceError`` for a request that was turned down, and
``ServiceUnreachable`` when there is no answer.
"""

from collections.abc import Generator, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from selfright.domain.errors import ServiceError, ServiceUnreachable
from selfright.entrypoints.async_client import AsyncClient
from selfright.entrypoints.wire import calls
from selfright.entrypoints.wire.answers import (
    AnswerReply,
    Citation,
    Claim,
    CorrectedEvent,
    DoneEvent,
    Evaluation,
    Evidence,
    Flag,
    Iteration,
    KeptStrip,
    Message,
    NodeEvent,
    TokenEvent,
    TurnEvent,
    UrgentEvent,
    VerdictEvent,
    WithdrawnEvent,
)
from selfright.entrypoints.wire.calls import AskOptions, Call, Events, R
from selfright.entrypoints.wire.connecting import (
    BROKE_OFF,
    DEFAULT_URL,
    ME,
    TIMEOUT_S,
    Files,
    content,
    library,
    parts,
    reachable,
    set_up,
)
from selfright.entrypoints.wire.content import (
    CollectionLine,
    DocumentLine,
    DocumentReply,
    DocumentsReply,
    Hit,
    UploadReply,
)
from selfright.entrypoints.wire.forwarding import forwarding_header
from selfright.entrypoints.wire.people import (
    ErasedReply,
    FactLine,
    KindLine,
    ProfileReply,
    SessionLine,
    SessionReply,
    SlotLine,
    TurnLine,
    WhoReply,
)
from selfright.entrypoints.wire.ratings import LabelledReply, RatedReply
from selfright.entrypoints.wire.traces import ReplayReply, TraceReply

if TYPE_CHECKING:
    import httpx

__all__ = [
    "AnswerReply", "AskOptions", "AsyncClient", "Citation", "Claim", "Client", "CollectionLine", "CorrectedEvent",
    "DocumentLine", "DocumentReply", "DocumentsReply", "DoneEvent", "Evaluation", "Evidence", "FactLine", "Hit",
    "Iteration", "KeptStrip", "KindLine", "LabelledReply", "Message", "NodeEvent", "ProfileReply", "RatedReply",
    "ReplayReply", "ServiceError", "ServiceUnreachable", "SessionLine", "SessionReply", "SlotLine", "TokenEvent",
    "TraceReply", "TurnEvent", "TurnLine", "UploadReply", "UrgentEvent", "VerdictEvent", "WhoReply",
    "WithdrawnEvent", "forwarding_header",
]  # fmt: skip


class Client:
    """Talks to the service at ``url`` with an API ``key``, where it asks for one. Close it when done.

    ``transport`` is one of httpx's, for tests and proxies.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        key: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        self._http = library().Client(transport=transport, **set_up(url, key, timeout_s))

    def ask(self, question: str, **options: Unpack[AskOptions]) -> AnswerReply:
        """The answer to a question."""
        return self.send(calls.ask(question, options))

    def stream(self, question: str, **options: Unpack[AskOptions]) -> Generator[TurnEvent, None, None]:
        """The turn as it happens, up to ``DoneEvent``; the turn is broken off when this is closed before."""
        call, events = calls.ask(question, options, stream=True), Events()
        with reachable(), self._http.stream(call.method, call.path, **content(call)) as response:
            if response.status_code != 200:
                raise calls.refusal(response.status_code, response.read(), response.headers)
            for line in response.iter_lines():
                if (event := events.read(line)) is not None:
                    yield event
                    if calls.is_last(event):
                        return
        raise ServiceUnreachable(BROKE_OFF)

    def search(self, query: str, k: int = 10, collections: str | Iterable[str] = ()) -> list[Hit]:
        """The passages nearest to a query, best first."""
        return self.send(calls.search(query, k, collections)).hits

    def documents(
        self, collection: str | None = None, after: str = "", limit: int = 100, named: str = ""
    ) -> DocumentsReply:
        """A page of the documents; with ``named`` of those that have it in their title or id."""
        return self.send(calls.documents(collection, after, limit, named))

    def document(self, document_id: str) -> DocumentReply:
        """A document with its text."""
        return self.send(calls.document(document_id))

    def upload(self, files: Files, collection: str | None = None) -> UploadReply:
        """Adds files to the index, into ``collection`` or the one that the key is for."""
        call = calls.upload()
        return self._read(call, files=parts(files), data={"collection": collection} if collection else {})

    def delete_document(self, document_id: str) -> None:
        """Removes a document."""
        self.send(calls.delete_document(document_id))

    def collections(self) -> list[CollectionLine]:
        """The collections that may be searched."""
        return self.send(calls.collections()).collections

    def sessions(self) -> list[SessionLine]:
        """The conversations that are kept, the one used last first."""
        return self.send(calls.sessions()).sessions

    def session(self, name: str) -> SessionReply:
        """What was said in a conversation."""
        return self.send(calls.session(name))

    def forget(self, name: str | None = None) -> int:
        """Deletes a conversation, or all of them; gives back how many there were."""
        return self.send(calls.forget(name)).deleted

    def profile(self, user: str = ME, language: str = "en") -> ProfileReply:
        """What is remembered of one, or of another user for an admin's key."""
        return self.send(calls.profile(user, language))

    def correct_profile(self, facts: Mapping[str, Any], user: str = ME, language: str = "en") -> ProfileReply:
        """Corrects a profile: what is given for a kind takes the place of what stood; an empty value ends it."""
        return self.send(calls.correct(user, facts, language))

    def erase_user(self, user: str = ME) -> ErasedReply:
        """Erases all that is kept of a user: conversations, profile, traces."""
        return self.send(calls.erase_user(user))

    def erase_profile(self, user: str = ME, name: str | None = None, value: str | None = None) -> int:
        """Erases a profile for good, or one kind or value of it; gives back how many facts went."""
        return self.send(calls.erase(user, name, value)).deleted

    def examples(self, language: str = "en") -> list[str]:
        """Questions that the documents have something on."""
        return (self.send(calls.examples(language))).questions

    def rate(
        self, trace_id: str, question: str, helpful: bool, passages: Iterable[tuple[str, int, int]] = ()
    ) -> RatedReply:
        """Says whether an answer helped; ``passages`` (document id, start, end) are what it was written from."""
        return self.send(calls.rate(trace_id, question, helpful, passages))

    def unrate(self, trace_id: str) -> bool:
        """Takes a rating back; false where there was none."""
        return (self.send(calls.unrate(trace_id))).deleted > 0

    def labelled(self) -> LabelledReply:
        """One's ratings as labelled rows for calibration; everybody's for an admin's key."""
        return self.send(calls.labelled())

    def traces(self, limit: int = 50) -> list[TraceReply]:
        """The kept traces, the newest first."""
        return self.send(calls.traces(limit)).traces

    def trace(self, trace_id: str) -> TraceReply:
        """The path of one turn."""
        return self.send(calls.trace(trace_id))

    def replay(
        self,
        trace_id: str,
        preset: str | None = None,
        flags: Mapping[str, Flag] | None = None,
        start_at: str | None = None,
    ) -> ReplayReply:
        """A recorded turn run again with other flags, or another preset, from a node on."""
        return self.send(calls.replay(trace_id, preset, flags, start_at))

    def delete_traces(self, trace_id: str | None = None) -> int:
        """Deletes a trace, or all of one's own; gives back how many there were."""
        return self.send(calls.delete_traces(trace_id)).deleted

    def me(self) -> WhoReply:
        """Who one is to the service, and what it offers."""
        return self.send(calls.me())

    def ready(self) -> bool:
        """Whether the service can be used; false also when it cannot be reached."""
        try:
            return self.send(calls.ready()).status == "ok"
        except ServiceError:
            return False

    def send(self, call: Call[R]) -> R:
        """The reply to any call."""
        return self._read(call, **content(call))

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, call: Call[R], **content: Any) -> R:
        with reachable():
            response = self._http.request(call.method, call.path, **content)
        return call.read(response.status_code, response.content, response.headers)
