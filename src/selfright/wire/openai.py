"""Requests for chat completions as OpenAI's API has them, as far as they mean something here.

Form: OpenAI API reference, "Chat". What a front end sends along and a self-correcting answer has no use for
(temperature, seed, penalties …) is taken without effect; what would change the reply's form is refused by name.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from selfright.wire.answers import MOST_MESSAGES, TurnRequest


class Tolerant(BaseModel):
    """A body that may have more in it than we know."""

    model_config = ConfigDict(extra="allow", frozen=True)


class ContentPart(Tolerant):
    """A part of a message: ``text`` is understood, images, audio and files are refused."""

    type: str
    text: str | None = None


class ChatMessage(Tolerant):
    """One message of the conversation."""

    role: str
    content: str | Annotated[list[ContentPart], Field(max_length=1_000)] | None = None


class StreamOptions(Tolerant):
    """``include_usage`` asks for a last chunk with the count of tokens."""

    include_usage: bool | None = None


class Extras(TurnRequest):
    """What the body's own ``selfright`` object may say; ``live`` streams drafts while they are written."""

    live: bool = False


class ChatRequest(Tolerant):
    """The body of ``POST /v1/chat/completions``; ``model`` is the name of a preset."""

    model: str = Field(min_length=1, max_length=200)
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    response_format: dict[str, Any] | None = None
    logprobs: bool | None = None
    modalities: list[str] | None = None
    metadata: dict[str, Any] | None = None
    selfright: Extras | None = None
