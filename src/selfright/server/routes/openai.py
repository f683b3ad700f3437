"""/v1/chat/completions and /v1/models: requests of OpenAI's clients as turns, and answers as they read them."""

import json
import re
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from sse_starlette import ServerSentEvent

from selfright.domain.answers import Answer, Cost, Message
from selfright.domain.events import (
    AnswerCorrected,
    AnswerToken,
    DraftWithdrawn,
    NodeFinished,
    TurnEvent,
    TurnFinished,
    VerdictReached,
)
from selfright.domain.text import has_hangul
from selfright.domain.turns import TurnOptions
from selfright.flow.presets import PRESETS
from selfright.roles.words import mask_stop_words
from selfright.schemas import answer_view
from selfright.server.errors import Refused
from selfright.server.middleware import refusal_for
from selfright.server.routes.ask import event_stream
from selfright.server.service import Service, service_of
from selfright.server.turns import PreparedTurn, answer_turn, events, frame, prepare_turn
from selfright.wire.answers import ErrorReply
from selfright.wire.openai import ChatMessage, ChatRequest, Extras

SESSION_HEADER = "x-selfright-session"
INSTRUCTIONS = ("system", "developer")
NOT_FOLLOWED = (
    "instructions of the caller's system message were not followed: this service answers from its documents, by its "
    "own instructions"
)
_CONVERSATION = re.compile(r"<chat_history>(.*?)</chat_history>", re.DOTALL)
_FORM = re.compile(r"\{\s*\"(title|tags|follow_ups|queries)\"\s*:")
_ASKED = re.compile(r"^\s*USER:[ \t]*(\S.*)$", re.MULTILINE)
_WORD = re.compile(r"[^\W_][\w-]+")
_PARTICLE = re.compile(r"(?<=..)(?:은|는|이|가|을|를|의|에|로|으로|에서|와|과|도|만)(?:요)?$")
_LONGEST_TITLE = 60
_MOST_TAGS = 3
_PIECE = re.compile(r"\s*\S+\s*")
_WORDS_A_PIECE = 6
_MOST_QUESTION = 10_000


@dataclass(frozen=True, slots=True)
class ParsedChat:
    """The conversation as it came: the last message is the question; ``instructed``: there was a system message."""

    question: str
    history: tuple[Message, ...]
    instructed: bool


def check(body: ChatRequest) -> None:
    """Raises ``Refused`` for an unknown model, and for what would change the form of the reply."""
    if body.model not in PRESETS:
        known = f"there is no model '{body.model}'; choose one of: {', '.join(PRESETS)}"
        raise Refused(404, "model_not_found", known, param="model")
    form = (body.response_format or {}).get("type", "text")
    unsupported = {
        "n": body.n not in (None, 1) and "one answer is given to a question; leave out 'n'",
        "tools": body.tools and "tools are not called; leave out 'tools'",
        "functions": body.functions and "functions are not called; leave out 'functions'",
        "response_format": form != "text" and "answers are text; leave out 'response_format'",
        "logprobs": body.logprobs and "there are no log probabilities; leave out 'logprobs'",
        "modalities": body.modalities not in (None, [], ["text"]) and "answers are text; leave out 'modalities'",
    }
    for param, message in unsupported.items():
        if message:
            raise Refused(400, "unsupported_parameter", str(message), param=param)


def read(messages: list[ChatMessage]) -> ParsedChat:
    """The question and what was said before it. Raises ``Refused`` for roles and contents that have no meaning here."""
    heard = [(message.role, _text(message, n)) for n, message in enumerate(messages)]
    talk = tuple(Message(role, text) for role, text in heard if role not in INSTRUCTIONS)
    for n, (role, _) in enumerate(heard):
        if role not in (*INSTRUCTIONS, "user", "assistant"):
            raise _unusable(n, f"role '{role[:50]}' has no meaning here: 'system', 'user' or 'assistant' was expected")
    if not talk or talk[-1].role != "user" or not talk[-1].content.strip():
        raise _unusable(len(messages) - 1, "the last message must be the user's question, and not empty")
    if len(talk[-1].content) > _MOST_QUESTION:
        raise _unusable(len(messages) - 1, f"a question has at most {_MOST_QUESTION:,} characters; shorten it")
    return ParsedChat(talk[-1].content, talk[:-1], len(talk) < len(heard))


def session_of(body: ChatRequest, header: str | None) -> str | None:
    """The session that the header or the metadata names."""
    named = header if header is not None else (body.metadata or {}).get("session")
    if named is None or (isinstance(named, str) and 0 < len(named) <= 200):
        return named
    raise Refused(400, "bad_request", "a session is named by a text of 1 to 200 characters", param="metadata.session")


def completion(
    made_by: str, model: str, text: str, cost: Cost, notes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A whole chat completion; ``selfright`` has citations, verdict, evaluation and stop reason.

    It is null where a front end asked for a title or tags of the conversation: that takes no turn.
    """
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": f"chatcmpl-{made_by}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": usage(cost),
        "selfright": notes,
    }


def usage(cost: Cost) -> dict[str, int]:
    """The tokens of all calls of the turn, judges included; none without a model."""
    prompt, written = cost.prompt_tokens, cost.completion_tokens
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def answer_notes(answer: Answer, instructed: bool) -> dict[str, Any]:
    """The answer's own form; with a note when a system message came."""
    form = answer_view(answer)
    return {**form, "notes": [*form["notes"], NOT_FOLLOWED]} if instructed else form


@dataclass(frozen=True, slots=True)
class Chunks:
    """Makes the chunks of one streamed completion.

    What was streamed cannot be taken back, and a draft may fail its checks. So the answer is sent once it is final, and
    what happens until then goes along as ``selfright`` events with an empty delta. With ``live``, drafts are sent as
    they are written, and what replaces them follows.
    """

    turn: PreparedTurn
    model: str
    instructed: bool
    include_usage: bool
    live: bool

    async def frames(self) -> AsyncGenerator[ServerSentEvent, None]:
        """The stream, up to ``[DONE]``; an error ends it in the way that OpenAI's clients know."""
        head: dict[str, Any] = {
            "id": f"chatcmpl-{self.turn.request_id}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": self.model,
        }
        yield _chunk(head, {"role": "assistant", "content": ""})
        try:
            async with aclosing(events(self.turn)) as running:
                async for event in running:
                    for made in self._of(head, event):
                        yield made
        except Exception as error:
            yield frame(ErrorReply(error=refusal_for(error, self.turn.request_id).body()).model_dump())
            return
        yield frame("[DONE]")

    def _of(self, head: dict[str, Any], event: TurnEvent) -> Iterator[ServerSentEvent]:
        match event:
            case NodeFinished(node=node, said=said):
                yield _chunk(head, {}, selfright={"event": "node", "node": node, "said": said})
            case VerdictReached(verdict=verdict):
                yield _chunk(head, {}, selfright={"event": "verdict", "verdict": verdict.value})
            case AnswerToken(text=text) if self.live:
                yield _chunk(head, {"content": text})
            case AnswerCorrected(text=text) if self.live:
                yield _chunk(head, {"content": f"\n\n[corrected]\n\n{text}"})
            case DraftWithdrawn() if self.live:
                yield _chunk(head, {"content": "\n\n[not well supported; looking further]\n\n"})
            case TurnFinished(answer=answer):
                yield from self._end(head, answer)
            case _:
                pass

    def _end(self, head: dict[str, Any], answer: Answer) -> Iterator[ServerSentEvent]:
        if not self.live:
            for piece in pieces(answer.answer):
                yield _chunk(head, {"content": piece})
        yield _chunk(head, {}, finish="stop", selfright=answer_notes(answer, self.instructed))
        if self.include_usage:
            yield frame({**head, "choices": [], "usage": usage(answer.cost)})


def pieces(text: str) -> Iterator[str]:
    """The text in pieces of a few words, as it stands."""
    words = _PIECE.findall(text) or [text]
    for start in range(0, len(words), _WORDS_A_PIECE):
        yield "".join(words[start : start + _WORDS_A_PIECE])


def _chunk(head: dict[str, Any], delta: dict[str, str], finish: str | None = None, **extra: Any) -> ServerSentEvent:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return frame({**head, "choices": [choice], **extra})


def _text(message: ChatMessage, n: int) -> str:
    if not isinstance(message.content, list):
        return message.content or ""
    for part in message.content:
        if part.type != "text" or part.text is None:
            raise _unusable(n, f"parts of type '{part.type[:50]}' cannot be read: 'text' was expected")
    return "\n".join(part.text or "" for part in message.content)


def _unusable(n: int, message: str) -> Refused:
    return Refused(400, "unsupported_content", message, param=f"messages.{n}")


router = APIRouter(tags=["openai"])

_STREAM = {"description": "The answer; with `stream`, chunks of it.", "content": {"text/event-stream": {}}}


def chore_of(message: str) -> str | None:
    """The key of the JSON object that a front end's task wants; None for a message of a user.

    Open WebUI sends a task with the conversation in ``<chat_history>`` and the form of the reply, such as
    ``{"title": …}``.
    """
    conversation, form = _CONVERSATION.search(message), _FORM.search(message)
    return form[1] if conversation and form and message.lstrip().startswith("### Task") else None


def answer_chore(chore: str, message: str) -> str:
    """The object in JSON, without a model: a title is the first question, tags are its words; else an empty list."""
    conversation = _CONVERSATION.search(message)
    asked = _ASKED.search(conversation[1]) if conversation else None
    question = asked[1].strip() if asked else "Chat"
    made: str | list[str] = []
    if chore == "title" and len(question) <= _LONGEST_TITLE:
        made = question.rstrip("?？.! ") or "Chat"
    elif chore == "title":
        made = f"{question[:_LONGEST_TITLE].rsplit(None, 1)[0]}…"
    elif chore == "tags":
        words = _WORD.findall(mask_stop_words(question[:1_000]))
        plain = (_PARTICLE.sub("", word) if has_hangul(word) else word.capitalize() for word in words)
        made = list(dict.fromkeys(plain))[:_MOST_TAGS] or ["General"]
    return json.dumps({chore: made}, ensure_ascii=False)


@router.post("/v1/chat/completions", response_model=dict[str, Any], responses={200: _STREAM})
async def complete(
    body: ChatRequest, request: Request, session_header: Annotated[str | None, Header(alias=SESSION_HEADER)] = None
) -> Any:
    """Answers the last message of a conversation. With a session, what was said before is known here already."""
    check(body)
    said, session, extras = read(body.messages), session_of(body, session_header), body.selfright or Extras()
    more: TurnOptions = {"session": session} if session else {"history": said.history}
    preset = body.model
    if not body.stream and (chore := chore_of(said.question)):
        if not service_of(request).selfright.has_model:
            made = answer_chore(chore, said.question)
            return completion(request.scope["state"]["request_id"], preset, made, Cost())
        preset, more = "llm", {}
    turn = await prepare_turn(request, said.question, extras.model_copy(update={"preset": preset}), more)
    if body.stream:
        wants_usage = bool(body.stream_options and body.stream_options.include_usage)
        return await event_stream(turn, Chunks(turn, body.model, said.instructed, wants_usage, extras.live).frames())
    answer = await answer_turn(turn, request)
    notes = answer_notes(answer, said.instructed)
    return completion(answer.trace_id, answer.preset, answer.answer, answer.cost, notes)


@router.get("/v1/models")
async def models(request: Request) -> dict[str, Any]:
    """Lists the presets as models."""
    return {"object": "list", "data": [_model(name, service_of(request)) for name in PRESETS]}


@router.get("/v1/models/{model}")
async def model(model: str, request: Request) -> dict[str, Any]:
    """Shows one preset as a model."""
    if model not in PRESETS:
        raise Refused(404, "model_not_found", f"there is no model '{model}'", param="model")
    return _model(model, service_of(request))


def _model(name: str, service: Service) -> dict[str, Any]:
    made = {"object": "model", "created": int(service.started), "owned_by": "selfright"}
    return {"id": name, **made, "description": PRESETS[name].summary}
