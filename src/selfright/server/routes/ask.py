"""``/v1/ask``: a question answered, at once or event by event; and ``/v1/search``: passages found, nothing answered."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sse_starlette import ServerSentEvent

from selfright.domain.answers import Message
from selfright.domain.events import NodeFinished, TurnEvent, TurnFinished
from selfright.domain.turns import TurnOptions
from selfright.schemas import AnswerReply, answer_view, evidence_view, search_method_view, search_view, step_view
from selfright.server.middleware import refusal_for
from selfright.server.service import caller_of, in_thread, service_of
from selfright.server.turns import EventStream, PreparedTurn, answer_turn, events, frame, prepare_turn
from selfright.wire.answers import EVENTS, AskRequest, SearchReply, SearchRequest

router = APIRouter()

_STREAM = {
    "description": "The answer; with `stream`, the events `urgent`, `node`, `verdict`, `token`, `withdrawn`, "
    "`corrected` and, last of all, `done` with the answer or `error`.",
    "content": {"text/event-stream": {}},
}


@router.post("/v1/ask", response_model=AnswerReply, responses={200: _STREAM}, tags=["turns"])
async def ask(body: AskRequest, request: Request) -> Any:
    """Answers a question from the index, with citations and an account of how the answer came about."""
    history = [Message(message.role, message.content) for message in body.history]
    more: TurnOptions = {"session": body.session, **({"history": history} if history else {})}
    turn = await prepare_turn(request, body.question, body, more)
    if body.stream:
        return await event_stream(turn, server_events(turn))
    return answer_view(await answer_turn(turn, request))


async def event_stream(turn: PreparedTurn, frames: AsyncGenerator[ServerSentEvent, None]) -> Response:
    """The reply that sends the frames of a turn, once there is a permit for it. Raises ``Refused``."""
    permit = await turn.service.limiter.acquire(turn.caller.key)
    return EventStream(frames, permit, turn.service.limits.heartbeat_s)


async def server_events(turn: PreparedTurn) -> AsyncGenerator[ServerSentEvent, None]:
    """The frames of a turn; an error ends them with an event of its own."""
    try:
        if urgent := await in_thread(turn.service.selfright.urgent, turn.question):
            yield frame({"event": "urgent", "text": urgent}, "urgent")
        async with aclosing(events(turn)) as running:
            async for event in running:
                told_event = wire_event(event)
                yield frame(told_event, str(told_event["event"]))
    except Exception as error:
        refused = refusal_for(error, turn.request_id).body()
        yield frame({"event": "error", "error": refused.model_dump()}, "error")


_NAMES = {kind: name for name, kind in EVENTS.items()}


def wire_event(event: TurnEvent) -> dict[str, Any]:
    """An event of a turn as it is sent."""
    match event:
        case TurnFinished(answer=answer):
            return {"event": "done", "answer": answer_view(answer), "evidence": evidence_view(answer.strips)}
        case NodeFinished():
            return {"event": "node", **step_view(event)}
        case _:
            return {"event": _NAMES[type(event)], **asdict(event)}


@router.post("/v1/search", response_model=SearchReply, tags=["documents"])
async def search(body: SearchRequest, request: Request) -> Any:
    """Finds the passages nearest to a query, with their places in both rankings."""
    service, caller = service_of(request), caller_of(request)
    with service.limiter.searching(caller.key):
        collections = await service.within(caller, body.collections)
        found = await service.selfright.aretrieve(body.query, body.k, collections)
    return {"hits": search_view(found.hits), "searched": search_method_view(found.trust)}
