"""Chat completions as OpenAI's API has them, as far as they mean something here.

Form: OpenAI API reference, "Chat". What a front end sends along and a self-correcting answer has no use for
(temperature, seed, penalties …) is taken without effect; what would change the reply's form is refused by name.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from selfright.schemas import AnswerReply, Reply
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


class AssistantMessage(Reply):
    """The answer, with its markers ``[1]``."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: str | None = None


class Choice(Reply):
    """The only choice there is."""

    index: int = 0
    message: AssistantMessage
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class Usage(Reply):
    """Tokens of all calls of the turn, judges included; none without a model."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatReply(Reply):
    """A chat completion; ``selfright`` has citations, verdict, evaluation and stop reason.

    It is null where a front end asked for a title or tags of the conversation: that takes no turn.
    """

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    selfright: AnswerReply | None = None


class Model(Reply):
    """A preset as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: Literal["selfright"] = "selfright"
    description: str


class ModelsReply(Reply):
    """The presets."""

    object: Literal["list"] = "list"
    data: list[Model]
