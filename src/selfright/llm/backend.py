"""One call of a language model as the modules below the port see it: one request, one raw reply, and how it is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from selfright.domain.chat import ChatRequest, Finish, OnText

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


class Mode(StrEnum):
    """How an object is asked for, the strictest first."""

    SCHEMA = "json_schema"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class RawReply:
    """What came: ``text`` as it is, thinking included. Tokens are None where the provider gave none.

    ``left_out``: characters of the prompt that the model was not shown, for it reads no more.
    """

    text: str
    finish: Finish = Finish.STOP
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    left_out: int = 0


def model_name(model: object, attributes: Sequence[str]) -> str:
    """How a client's model calls itself in one of these attributes; empty when it does not say.

    Nothing secret or local is in it: of an address host and path, of a file's path the last part.
    """
    values = (getattr(model, attribute, None) for attribute in attributes)
    name = next((value.strip() for value in values if isinstance(value, str) and value.strip()), "")
    if "://" in name:
        address = urlsplit(name.replace("[", "").replace("]", ""))  # brackets without an IPv6 address are an error
        name = f"{address.hostname or ''}{address.path}"
    path = PurePath(name)
    return (path.name if path.is_absolute() else name)[:_LONGEST_NAME]


class Backend(Protocol):
    """A model at a provider."""

    @property
    def name(self) -> str:
        """``provider:model``, for traces and what is remembered of it; never a key or a password."""

    @property
    def provider(self) -> str:
        """What fails together: the provider, with its address where that was set."""

    async def attempt(self, request: ChatRequest, mode: Mode, on_text: OnText | None = None) -> RawReply:
        """One request; streamed when ``on_text`` is given, which hears the text as it comes, thinking included.

        ``mode`` matters only when ``request.schema`` is set. Raises ``ModelUnavailable`` or ``ModelRejected``, and
        lets ``CancelledError`` through; ``NotImplementedError`` where the model cannot do ``mode`` at all.
        """


_LONGEST_NAME = 100
_FINISHES = ("finish_reason", "done_reason", "stop_reason", "stopReason")
_CUT = ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded")
_REFUSED = (
    "content_filter",
    "content_filtered",
    "refusal",
    "safety",
    "prohibited_content",
    "blocklist",
    "recitation",
    "spii",
    "language",
    "guardrail_intervened",
)
_FAILED = "error"  # OpenRouter's word for a reply that broke off


@dataclass(slots=True)
class ReplyAssembler:
    """Puts a reply together, from one message or from the pieces of a stream.

    Anything odd is passed over: what the model wrote is judged elsewhere.
    """

    texts: list[str] = field(default_factory=list)
    finish: Finish | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    thought: bool = False

    @property
    def text(self) -> str:
        """What was heard so far."""
        return "".join(self.texts)

    def reply(self) -> RawReply:
        """The reply as far as it was heard."""
        return RawReply(
            text=self.text,
            finish=self.finish or Finish.STOP,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
        )

    def count(self, usage: object, names: tuple[str, str, str, str], *, adds: bool) -> None:
        """Takes in a piece's tokens: sent, received, and of these, among details, those of thinking; by their names.

        With ``adds`` each token is counted once, in one of several pieces; else every piece counts from the start.
        """
        if not isinstance(usage, Mapping):
            return
        (sent, received, details), thought = (usage.get(name) for name in names[:3]), names[3]
        if type(sent) is int:
            self.prompt_tokens = sent + ((self.prompt_tokens or 0) if adds else 0)
        if type(received) is int:
            self.completion_tokens = received + ((self.completion_tokens or 0) if adds else 0)
        self.thought |= isinstance(details, Mapping) and bool(details.get(thought))


class MessageReading(ReplyAssembler):
    """Of LangChain's messages."""

    def add(self, message: "BaseMessage") -> str:
        """Takes the next piece in and gives its text."""
        text = text_of(message.content)
        self.texts.append(text)
        self.finish = _finish_of(message) or self.finish
        names = "input_tokens", "output_tokens", "output_token_details", "reasoning"
        self.count(getattr(message, "usage_metadata", None), names, adds=True)
        return text


class CompletionReading(ReplyAssembler):
    """Of OpenAI's chat completions: whole, or the chunks of a stream."""

    def whole(self, reply: object) -> None:
        """Takes in a whole reply. Raises ``NoReplyError`` when it is none."""
        if not isinstance(reply, Mapping) or reply.get("error") or not _message(_first(reply.get("choices"))):
            raise NoReplyError(reply)
        self.add(reply)

    def add(self, reply: object) -> str:
        """Takes in a whole reply or the next chunk of one, and gives its text. Raises ``NoReplyError``."""
        if not isinstance(reply, Mapping):
            raise NoReplyError(reply)
        names = "prompt_tokens", "completion_tokens", "completion_tokens_details", "reasoning_tokens"
        self.count(reply.get("usage"), names, adds=False)
        choice = _first(reply.get("choices"))
        said = _message(choice)
        self.texts.append(text := text_of(said.get("content")))
        self.thought |= bool(said.get("reasoning_content") or said.get("reasoning"))
        if said.get("refusal"):
            self.finish = Finish.REFUSED
        elif isinstance(reason := choice.get("finish_reason"), str) and reason:
            if reason == _FAILED:
                raise NoReplyError(choice)
            self.finish = self.finish if self.finish is Finish.REFUSED else meaning(reason)
        return text


class NoReplyError(Exception):
    """What came is no chat completion, or says itself that it failed; ``body`` is then the error, ``code`` its code."""

    def __init__(self, reply: object) -> None:
        super().__init__("expected a chat completion")
        error = reply.get("error") if isinstance(reply, Mapping) else None
        self.body = error if isinstance(error, Mapping) else None
        self.code = self.body.get("code") if self.body else None


def text_of(content: object) -> str:
    """The answer in a message's content: a string, or the text blocks of a list; reasoning is no answer."""
    if isinstance(content, str):
        return content
    return "".join(_texts(content)) if isinstance(content, list) else ""


def _texts(blocks: list[Any]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, str):
            yield block
        elif isinstance(block, Mapping) and block.get("type", "text") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def _finish_of(message: "BaseMessage") -> Finish | None:
    """Why the model stopped; None while it has not said so."""
    if message.additional_kwargs.get("refusal"):
        return Finish.REFUSED
    metadata = message.response_metadata
    for name in _FINISHES:
        if isinstance(reason := metadata.get(name), str) and reason:
            return meaning(reason)
    feedback = metadata.get("prompt_feedback")
    if isinstance(feedback, Mapping) and feedback.get("block_reason"):
        return Finish.REFUSED
    return Finish.STOP if metadata.get("done") is True else None


def meaning(reason: str) -> Finish:
    """What a provider's word for why the model stopped comes to; an unknown one is an ordinary end."""
    word = reason.lower()
    if word in _CUT:
        return Finish.LENGTH
    return Finish.REFUSED if word in _REFUSED else Finish.STOP


def _first(items: object) -> Mapping[str, Any]:
    """The first of a list, if it is an object; else an empty one."""
    first = items[0] if isinstance(items, list) and items else None
    return first if isinstance(first, Mapping) else {}


def _message(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a choice says: its message, or the piece of it in a stream."""
    said = choice.get("message") or choice.get("delta")
    return said if isinstance(said, Mapping) else {}
