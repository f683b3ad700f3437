"""One call of a language model as the modules below the port see it: one request, nothing retried or parsed."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from selfright.domain.chat import ChatRequest, Finish, Say


class Mode(StrEnum):
    """How an object is asked for, the strictest first."""

    SCHEMA = "json_schema"
    TOOL = "tool"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class RawReply:
    """What came: ``text`` as it is (thinking included), ``arguments`` of the tool call where there was one.

    ``arguments`` is the JSON text that the model wrote, or the object where the library has read it already. Tokens
    are None where the provider gave none. ``left_out``: characters of the prompt that the model was not shown, for it
    reads no more.
    """

    text: str
    finish: Finish = Finish.STOP
    arguments: str | Mapping[str, Any] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    left_out: int = 0


class Backend(Protocol):
    """A model at a provider."""

    @property
    def name(self) -> str:
        """``provider:model``, for traces and what is remembered of it; never a key or a password."""
        ...

    @property
    def provider(self) -> str:
        """What fails together: the provider, with its address where that was set."""
        ...

    async def attempt(self, request: ChatRequest, mode: Mode, say: Say | None = None) -> RawReply:
        """One request; streamed when ``say`` is given, which hears the text as it comes, thinking included.

        ``mode`` matters only when ``request.schema`` is set. Raises ``ModelUnavailable`` or ``ModelRejected``, and
        lets ``CancelledError`` through; ``NotImplementedError`` where the model cannot do ``mode`` at all.
        """
        ...
