"""The client of the service for an event loop."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from selfright.domain.errors import ServiceError, ServiceUnreachable
from selfright.entrypoints.wire import calls
from selfright.entrypoints.wire.answers import AnswerReply, Flag, TurnEvent
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
from selfright.entrypoints.wire.content import CollectionLine, DocumentReply, DocumentsReply, Hit, UploadReply
from selfright.entrypoints.wire.people import ErasedReply, ProfileReply, SessionLine, SessionReply, WhoReply
from selfright.entrypoints.wire.ratings import LabelledReply, RatedReply
from selfright.entrypoints.wire.traces import ReplayReply, TraceReply

if TYPE_CHECKING:
    import httpx


class AsyncClient:
    """``Client`` for an event loop."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        key: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        transport: "httpx.AsyncBaseTransport | None" = None,
    ) -> None:
        self._http = library().AsyncClient(transport=transport, **set_up(url, key, timeout_s))

    async def ask(self, question: str, **options: Unpack[AskOptions]) -> AnswerReply:
        """The answer to a question."""
        return await self.send(calls.ask(question, options))

    async def stream(self, question: str, **options: Unpack[AskOptions]) -> AsyncGenerator[TurnEvent, None]:
        """The turn as it happens, up to ``DoneEvent``; the turn is broken off when this is closed before."""
        call, events = calls.ask(question, options, stream=True), Events()
        with reachable():
            async with self._http.stream(call.method, call.path, **content(call)) as response:
                if response.status_code != 200:
                    raise calls.refusal(response.status_code, await response.aread(), response.headers)
                async with aclosing(response.aiter_lines()) as lines:
                    async for line in lines:
                        if (event := events.read(line)) is not None:
                            yield event
                            if calls.is_last(event):
                                return
        raise ServiceUnreachable(BROKE_OFF)

    async def search(self, query: str, k: int = 10, collections: str | Iterable[str] = ()) -> list[Hit]:
        """The passages nearest to a query, best first."""
        return (await self.send(calls.search(query, k, collections))).hits

    async def documents(
        self, collection: str | None = None, after: str = "", limit: int = 100, named: str = ""
    ) -> DocumentsReply:
        """A page of the documents; with ``named`` of those that have it in their title or id."""
        return await self.send(calls.documents(collection, after, limit, named))

    async def document(self, document_id: str) -> DocumentReply:
        """A document with its text."""
        return await self.send(calls.document(document_id))

    async def upload(self, files: Files, collection: str | None = None) -> UploadReply:
        """Adds files to the index, into ``collection`` or the one that the key is for."""
        call = calls.upload()
        return await self._read(call, files=parts(files), data={"collection": collection} if collection else {})

    async def delete_document(self, document_id: str) -> None:
        """Removes a document."""
        await self.send(calls.delete_document(document_id))

    async def collections(self) -> list[CollectionLine]:
        """The collections that may be searched."""
        return (await self.send(calls.collections())).collections

    async def sessions(self) -> list[SessionLine]:
        """The conversations that are kept, the one used last first."""
        return (await self.send(calls.sessions())).sessions

    async def session(self, name: str) -> SessionReply:
        """What was said in a conversation."""
        return await self.send(calls.session(name))

    async def forget(self, name: str | None = None) -> int:
        """Deletes a conversation, or all of them; gives back how many there were."""
        return (await self.send(calls.forget(name))).deleted

    async def profile(self, user: str = ME, language: str = "en") -> ProfileReply:
        """What is remembered of one, or of another user for an admin's key."""
        return await self.send(calls.profile(user, language))

    async def correct_profile(self, facts: Mapping[str, Any], user: str = ME, language: str = "en") -> ProfileReply:
        """Corrects a profile: what is given for a kind takes the place of what stood; an empty value ends it."""
        return await self.send(calls.correct(user, facts, language))

    async def erase_user(self, user: str = ME) -> ErasedReply:
        """Erases all that is kept of a user: conversations, profile, traces."""
        return await self.send(calls.erase_user(user))

    async def erase_profile(self, user: str = ME, name: str | None = None, value: str | None = None) -> int:
        """Erases a profile for good, or one kind or value of it; gives back how many facts went."""
        return (await self.send(calls.erase(user, name, value))).deleted

    async def examples(self, language: str = "en") -> list[str]:
        """Questions that the documents have something on."""
        return (await self.send(calls.examples(language))).questions

    async def rate(
        self, trace_id: str, question: str, helpful: bool, passages: Iterable[tuple[str, int, int]] = ()
    ) -> RatedReply:
        """Says whether an answer helped; ``passages`` (document id, start, end) are what it was written from."""
        return await self.send(calls.rate(trace_id, question, helpful, passages))

    async def unrate(self, trace_id: str) -> bool:
        """Takes a rating back; false where there was none."""
        return (await self.send(calls.unrate(trace_id))).deleted > 0

    async def labelled(self) -> LabelledReply:
        """One's ratings as labelled rows for calibration; everybody's for an admin's key."""
        return await self.send(calls.labelled())

    async def traces(self, limit: int = 50) -> list[TraceReply]:
        """The kept traces, the newest first."""
        return (await self.send(calls.traces(limit))).traces

    async def trace(self, trace_id: str) -> TraceReply:
        """The path of one turn."""
        return await self.send(calls.trace(trace_id))

    async def replay(
        self,
        trace_id: str,
        preset: str | None = None,
        flags: Mapping[str, Flag] | None = None,
        start_at: str | None = None,
    ) -> ReplayReply:
        """A recorded turn run again with other flags, or another preset, from a node on."""
        return await self.send(calls.replay(trace_id, preset, flags, start_at))

    async def delete_traces(self, trace_id: str | None = None) -> int:
        """Deletes a trace, or all of one's own; gives back how many there were."""
        return (await self.send(calls.delete_traces(trace_id))).deleted

    async def me(self) -> WhoReply:
        """Who one is to the service, and what it offers."""
        return await self.send(calls.me())

    async def ready(self) -> bool:
        """Whether the service can be used; false also when it cannot be reached."""
        try:
            return (await self.send(calls.ready())).status == "ok"
        except ServiceError:
            return False

    async def send(self, call: Call[R]) -> R:
        """The reply to any call."""
        return await self._read(call, **content(call))

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _read(self, call: Call[R], **content: Any) -> R:
        with reachable():
            response = await self._http.request(call.method, call.path, **content)
        return call.read(response.status_code, response.content, response.headers)
