"""``/v1/chat/completions`` and ``/v1/models``: the service as any client of OpenAI's API sees it."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request

from selfright.domain.turns import TurnOptions
from selfright.entrypoints.server.completions import SESSION_HEADER, Chunks, check, read, reply, session_of
from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.routes.ask import event_stream
from selfright.entrypoints.server.service import Service, service_of
from selfright.entrypoints.server.turns import answered, prepare_turn
from selfright.entrypoints.wire.openai import ChatReply, ChatRequest, Extras, Model, ModelsReply
from selfright.flow.presets import PRESETS

router = APIRouter(tags=["openai"])

_STREAM = {
    "description": "The answer; with `stream`, chunks of it.",
    "content": {"text/event-stream": {}},
}


@router.post("/v1/chat/completions", response_model=ChatReply, responses={200: _STREAM})
async def complete(
    body: ChatRequest, request: Request, session_header: Annotated[str | None, Header(alias=SESSION_HEADER)] = None
) -> Any:
    """Answers the last message of a conversation. With a session, what was said before is known here already."""
    check(body)
    said, session, extras = read(body.messages), session_of(body, session_header), body.selfright or Extras()
    more: TurnOptions = {"session": session} if session else {"history": said.history}
    turn = await prepare_turn(request, said.question, extras.model_copy(update={"preset": body.model}), more)
    if body.stream:
        wants_usage = bool(body.stream_options and body.stream_options.include_usage)
        return await event_stream(turn, Chunks(turn, body.model, said.instructed, wants_usage, extras.live).frames())
    return reply(await answered(turn, request), said.instructed)


@router.get("/v1/models", response_model=ModelsReply)
async def models(request: Request) -> Any:
    """Lists the presets as models."""
    return ModelsReply(data=[_model(name, service_of(request)) for name in PRESETS])


@router.get("/v1/models/{model}", response_model=Model)
async def model(model: str, request: Request) -> Any:
    """Shows one preset as a model."""
    if model not in PRESETS:
        raise Refused(404, "model_not_found", f"there is no model '{model}'", param="model")
    return _model(model, service_of(request))


def _model(name: str, service: Service) -> Model:
    return Model(id=name, created=int(service.started), description=PRESETS[name].summary)
