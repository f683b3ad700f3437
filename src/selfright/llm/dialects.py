"""How each client library is told the temperature, the token limit and the form of the reply.

A request becomes a ``ProviderCall``: a LangChain runnable and the options beside its messages.
"""

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from selfright.domain.chat import ChatRequest, OnText
from selfright.domain.errors import ModelRejected, ModelUnavailable
from selfright.llm.backend import Mode, RawReply, ReplyAssembler
from selfright.llm.clients import PerLoop, find_refused_parameter, translate_error

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable

T = TypeVar("T")

MOST_REFUSED = 5
"""Requests that may be spent on what a model takes: temperature, two names of the limit, usage."""

_OPENAI, _OLLAMA, _GOOGLE = "BaseChatOpenAI", "ChatOllama", "ChatGoogleGenerativeAI"
_LIMIT_FIELDS = ("max_tokens", "max_output_tokens", "num_predict", "max_completion_tokens")
_NEW_LIMIT, _OLD_LIMIT = "max_completion_tokens", "max_tokens"
_HOSTED = ("openai.com", "azure.com")
_THINKING_ROOM = 4_096  # tokens that a model may think with, beside the reply that was asked for
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_THINKING = re.compile(r"<think(ing)?>")


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """Where a request goes, and what is said beside its messages.

    ``wrapped``: the message comes back as ``raw`` of a mapping, and not as a stream.
    """

    runnable: "Runnable[Any, Any]"
    options: Mapping[str, Any]
    wrapped: bool = False


@dataclass(frozen=True, slots=True)
class Style:
    """Which parameters a model takes, as far as known; what it refuses once is not sent to it again.

    ``limits`` are names for the token limit, the one in use first. ``usage``: whether a stream may be asked for its
    tokens. ``room``: tokens that are added to every limit, for models whose thinking counts.
    """

    temperature: bool = True
    limits: tuple[str, ...] = ()
    usage: bool = True
    room: int = 0

    def without(self, parameter: str) -> "Style | None":
        """The style once ``parameter`` was refused; None when it was not sent in the first place."""
        if parameter == "temperature" and self.temperature:
            return dataclasses.replace(self, temperature=False)
        if parameter == "usage" and self.usage:
            return dataclasses.replace(self, usage=False)
        if parameter == "limit" and self.limits:
            return dataclasses.replace(self, limits=self.limits[1:])
        return None

    def thinking(self) -> "Style":
        """The style of a model that was seen to think."""
        return self if self.room else dataclasses.replace(self, room=_THINKING_ROOM)


class LearningBackend(ABC, Generic[T]):
    """A ``Backend`` over the clients of a library, one for each event loop; serves any loop.

    What a model takes is found out by use: a parameter that it refuses is left out from then on, at the price of one
    request more. A model that is seen to think gets room for that beside its reply. ``key`` names the variable of the
    model's key for messages.
    """

    def __init__(self, clients: PerLoop[T], name: str, provider: str, key: str) -> None:
        self.name, self.provider = name, provider
        self._clients, self._key = clients, key
        self._style: Style | None = None

    async def attempt(self, request: ChatRequest, mode: Mode, on_text: OnText | None = None) -> RawReply:
        """See ``Backend.attempt``."""
        client = await self._client()
        for _ in range(MOST_REFUSED):
            style = self._style = self._style or self._first_style(client)
            try:
                reading = await self._ask(client, style, request, mode, on_text)
            except (NotImplementedError, ModelUnavailable):
                raise
            except Exception as error:
                parameter = find_refused_parameter(error)
                if parameter and self._style == style:  # else another request has learned it meanwhile
                    self._style = style.without(parameter) or style
                if not parameter or self._style == style:
                    raise translate_error(error, self.name, self._key) from error
            else:
                if reading.thought or _THINKING.search(reading.text):
                    self._style = self._style.thinking()
                return reading.reply()
        raise ModelRejected(f"{self.name} refuses one parameter after the other; use another model")

    async def open(self) -> None:
        """Makes the running event loop's client ready, so that the first attempt need not wait for its library.

        Raises ``ModelUnavailable`` when it cannot be made. Nothing is sent.
        """
        await self._client()

    async def aclose(self) -> None:
        """Closes the connections of the running event loop; a loop that ends in order does so by itself."""
        await self._clients.aclose()

    async def _client(self) -> T:
        try:
            return await self._clients.get()
        except Exception as error:
            raise translate_error(error, self.name, self._key) from error

    def _broken_off(self) -> ModelUnavailable:
        return ModelUnavailable(f"{self.name} should have finished its reply, but the stream broke off; try again")

    @abstractmethod
    def _first_style(self, client: T) -> Style:
        """What the model is told at first."""

    @abstractmethod
    async def _ask(
        self, client: T, style: Style, request: ChatRequest, mode: Mode, on_text: OnText | None
    ) -> ReplyAssembler:
        """One request; raises what the library raises, and ``NotImplementedError`` as ``Backend.attempt``."""


def openai_limits(address: str | None) -> tuple[str, ...]:
    """The names of the token limit at a server that speaks as OpenAI does, the likelier first; None is OpenAI's own.

    ``max_tokens`` is on its way out at OpenAI and Azure. Elsewhere it is the other way round: many servers pass over
    ``max_completion_tokens`` and then write without end.
    """
    host = (urlsplit(address).hostname or "") if address else _HOSTED[0]
    hosted = any(host == name or host.endswith("." + name) for name in _HOSTED)
    return (_NEW_LIMIT, _OLD_LIMIT) if hosted else (_OLD_LIMIT, _NEW_LIMIT)


def kind_of(model: "BaseChatModel") -> str:
    """The library's class that this model speaks like; empty for one of its own kind."""
    names = [one.__name__ for one in type(model).__mro__]
    if _OPENAI in names and getattr(model, "use_responses_api", None) is True:
        return ""  # another API, which takes other parameters: LangChain knows them
    return next((name for name in (_OPENAI, _OLLAMA, _GOOGLE) if name in names), "")


def first_style(model: "BaseChatModel") -> Style:
    """What to try first: what LangChain's profile of the model says, and all of it where there is none."""
    profile = getattr(model, "profile", None) or {}
    fields = type(model).model_fields
    limits = tuple(name for name in _LIMIT_FIELDS if name in fields)[:1]
    if kind_of(model) == _OPENAI:
        address = getattr(model, "azure_endpoint", None) or getattr(model, "openai_api_base", None)
        limits = openai_limits(address if isinstance(address, str) else None)
    takes_temperature = "temperature" in fields and profile.get("temperature") is not False
    style = Style(takes_temperature, limits)
    return style.thinking() if profile.get("reasoning_output") else style


def stream_options(model: "BaseChatModel", style: Style) -> dict[str, Any]:
    """What a streamed call is told besides: not to ask for tokens where that was refused."""
    return {"stream_usage": False} if not style.usage and kind_of(model) == _OPENAI else {}


def call_for(model: "BaseChatModel", style: Style, request: ChatRequest, mode: Mode) -> ProviderCall:
    """The call of ``request``; raises ``NotImplementedError`` when the library cannot do ``mode`` with this model."""
    kind = kind_of(model)
    told: dict[str, Any] = {"temperature": request.temperature} if style.temperature else {}
    limit = {style.limits[0]: request.max_tokens + style.room} if style.limits else {}
    tuned, options = model, told
    if kind == _OPENAI:  # the limit in the body, past the client's own models of it, which cost time to fill
        told["extra_body"] = {**(getattr(model, "extra_body", None) or {}), **limit}
    elif told or limit:  # the model with its fields set: options of a call would differ from library to library
        tuned, options = model.model_copy(update={**told, **limit}), {}
    if request.schema is None or mode is Mode.TEXT:
        return ProviderCall(tuned, options)
    if kind == _OPENAI:
        options["extra_body"] = {**options["extra_body"], "response_format": response_format(request.schema)}
        return ProviderCall(tuned, options)
    if kind == _OLLAMA:
        return ProviderCall(tuned, {"format": dict(request.schema)})
    if kind == _GOOGLE:
        schema = dict(request.schema)
        return ProviderCall(tuned, {"response_mime_type": "application/json", "response_json_schema": schema})
    return _bind_schema(tuned, request.schema)


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """How OpenAI is asked for an object of this schema."""
    name = _NOT_A_NAME.sub("_", str(schema.get("title") or "reply"))[:64]
    inner = {"name": name, "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": inner}


def _bind_schema(model: "BaseChatModel", schema: Mapping[str, Any]) -> ProviderCall:
    """Whatever the library does for a JSON schema; LangChain's own default is a tool call."""
    from langchain_core.language_models import BaseChatModel

    if type(model).with_structured_output is BaseChatModel.with_structured_output:
        raise NotImplementedError(f"{type(model).__name__} has no replies by JSON schema")
    try:
        runnable = model.with_structured_output(dict(schema), method="json_schema", include_raw=True)
    except (TypeError, ValueError) as error:
        raise NotImplementedError(f"{type(model).__name__} has no replies by JSON schema") from error
    return ProviderCall(runnable, {}, wrapped=True)
