"""The client of the service: all that a page, a script or another program needs to talk to a Selfright over HTTP.

>>> with Client("http://127.0.0.1:8000") as client:      # doctest: +SKIP
...     print(client.ask("How do I install it?").answer)

``AsyncClient`` does the same on an event loop. Both raise ``ServiceError`` for a request that was turned down, and
``ServiceUnreachable`` when there is no answer.
"""

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self, Unpack

from selfright.answer_form import (
    AnswerReply,
    Citation,
    Claim,
    Evaluation,
    Evidence,
    Iteration,
    KeptStrip,
    NodeOutcome,
    Routing,
)
from selfright.domain.errors import ServiceError, ServiceUnreachable
from selfright.domain.traces import Rating
from selfright.entrypoints.wire.answers import (
    CollectionLine,
    CorrectedEvent,
    DocumentLine,
    DocumentReply,
    DocumentsReply,
    DoneEvent,
    Hit,
    Message,
    NodeEvent,
    TokenEvent,
    TurnEvent,
    UploadReply,
    UrgentEvent,
    VerdictEvent,
    WithdrawnEvent,
)
from selfright.entrypoints.wire.calls import ASK, AskOptions, Calls, Events, asked, at_once, refusal, sent
from selfright.entrypoints.wire.connecting import (
    BROKE_OFF,
    DEFAULT_URL,
    TIMEOUT_S,
    forwarding_header,
    library,
    reachable,
    set_up,
)
from selfright.entrypoints.wire.user_data import (
    FactLine,
    KindLine,
    ProfileReply,
    ReplayReply,
    SessionLine,
    SessionReply,
    SlotLine,
    TraceReply,
    TurnLine,
    WhoReply,
)

if TYPE_CHECKING:
    import httpx

__all__ = [
    "AnswerReply", "AskOptions", "AsyncClient", "Citation", "Claim", "Client", "CollectionLine", "CorrectedEvent",
    "DocumentLine", "DocumentReply", "DocumentsReply", "DoneEvent", "Evaluation", "Evidence", "FactLine", "Hit",
    "Iteration", "KeptStrip", "KindLine", "Message", "NodeEvent", "NodeOutcome", "ProfileReply",
    "Rating", "ReplayReply", "Routing", "ServiceError", "ServiceUnreachable", "SessionLine", "SessionReply",
    "SlotLine", "TokenEvent", "TraceReply", "TurnEvent", "TurnLine", "UploadReply", "UrgentEvent", "VerdictEvent",
    "WhoReply", "WithdrawnEvent", "forwarding_header",
]  # fmt: skip


class AsyncClient(Calls):
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

    async def stream(self, question: str, **options: Unpack[AskOptions]) -> AsyncGenerator[TurnEvent, None]:
        """The turn as it happens, up to ``DoneEvent``; the turn is broken off when this is closed before."""
        body, events = sent(asked(question, options, stream=True)), Events()
        with reachable():
            async with self._http.stream("POST", ASK, json=body) as response:
                if response.status_code != 200:
                    raise refusal(response.status_code, await response.aread(), response.headers)
                async with aclosing(response.aiter_lines()) as lines:
                    async for line in lines:
                        if (event := events.read(line)) is not None:
                            yield event
                            if isinstance(event, DoneEvent):
                                return
        raise ServiceUnreachable(BROKE_OFF)

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _response(self, method: str, path: str, **content: Any) -> Any:
        with reachable():
            return await self._http.request(method, path, **content)


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

    # As the calls of `AsyncClient`; none of them waits for an event loop here, for `_response` does not.
    ask = at_once(Calls.ask)
    search = at_once(Calls.search)
    documents = at_once(Calls.documents)
    document = at_once(Calls.document)
    upload = at_once(Calls.upload)
    delete_document = at_once(Calls.delete_document)
    collections = at_once(Calls.collections)
    sessions = at_once(Calls.sessions)
    session = at_once(Calls.session)
    forget = at_once(Calls.forget)
    profile = at_once(Calls.profile)
    correct_profile = at_once(Calls.correct_profile)
    erase_user = at_once(Calls.erase_user)
    erase_profile = at_once(Calls.erase_profile)
    rate = at_once(Calls.rate)
    traces = at_once(Calls.traces)
    trace = at_once(Calls.trace)
    replay = at_once(Calls.replay)
    delete_traces = at_once(Calls.delete_traces)
    me = at_once(Calls.me)
    ready = at_once(Calls.ready)

    def stream(self, question: str, **options: Unpack[AskOptions]) -> Generator[TurnEvent, None, None]:
        """The turn as it happens, up to ``DoneEvent``; the turn is broken off when this is closed before."""
        body, events = sent(asked(question, options, stream=True)), Events()
        with reachable(), self._http.stream("POST", ASK, json=body) as response:
            if response.status_code != 200:
                raise refusal(response.status_code, response.read(), response.headers)
            for line in response.iter_lines():
                if (event := events.read(line)) is not None:
                    yield event
                    if isinstance(event, DoneEvent):
                        return
        raise ServiceUnreachable(BROKE_OFF)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    _sent = Calls._sent  # what the calls above go through

    async def _response(self, method: str, path: str, **content: Any) -> Any:
        with reachable():
            return self._http.request(method, path, **content)
