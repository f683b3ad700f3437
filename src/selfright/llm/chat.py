"""Any LangChain chat model as a ``Backend``: one request in, one raw reply out.

How each client library is told the temperature, the token limit and the form of the reply: a request becomes a
``ProviderCall``, a LangChain runnable and the options beside its messages.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from selfright.domain.chat import ChatRequest, OnText
from selfright.llm.backend import MessageReading, Mode, model_name
from selfright.llm.clients import PerLoop, translate_error
from selfright.llm.openai_chat import LearningBackend, Style, openai_limits, response_format

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable, RunnableConfig

_MODEL_ATTRIBUTES = ("model_name", "model", "model_id", "deployment_name", "azure_deployment")
_ADDRESS_ATTRIBUTES = ("azure_endpoint", "openai_api_base", "base_url", "endpoint")
_SILENT: "RunnableConfig" = {"callbacks": []}  # an outer graph that streams its messages must not hear the judges
_OPENAI, _OLLAMA, _GOOGLE = "BaseChatOpenAI", "ChatOllama", "ChatGoogleGenerativeAI"
_LIMIT_FIELDS = ("max_tokens", "max_output_tokens", "num_predict", "max_completion_tokens")


class LangChainBackend(LearningBackend["BaseChatModel"]):
    """A LangChain model, asked once for each ``attempt``.

    ``name`` and ``provider`` are as in ``Backend``, by default made of the model's class, name and host. A model serves
    one event loop, as its HTTP client does; a ``PerLoop`` of models serves any.
    """

    def __init__(
        self,
        model: "BaseChatModel | PerLoop[BaseChatModel]",
        name: str | None = None,
        provider: str | None = None,
        *,
        key: str = "the provider's key",
    ) -> None:
        kind, host = type(model).__name__, _host_of(model)
        where = f"@{host}" if host else ""
        parts = ("langchain", kind, model_name(model, _MODEL_ATTRIBUTES))
        models = model if isinstance(model, PerLoop) else PerLoop(lambda: model, _leave_open)
        super().__init__(models, name or ":".join(filter(None, parts)) + where, provider or kind + where, key)

    def _first_style(self, client: "BaseChatModel") -> Style:
        return first_style(client)

    async def _ask(
        self, client: "BaseChatModel", style: Style, request: ChatRequest, mode: Mode, on_text: OnText | None
    ) -> MessageReading:
        call, reading = call_for(client, style, request, mode), MessageReading()
        try:
            if on_text is None or call.wrapped:
                reply = await call.runnable.ainvoke(_messages(request), _SILENT, **call.options)
                text = reading.add(reply["raw"] if call.wrapped else reply)
                if on_text is not None and text:
                    on_text(text)
            else:
                options = {**call.options, **stream_options(client, style)}
                pieces: Any = call.runnable.astream(_messages(request), _SILENT, **options)  # a generator, typed less
                async with contextlib.aclosing(pieces) as stream:
                    async for piece in stream:
                        if text := reading.add(piece):
                            on_text(text)
                if reading.finish is None and kind_of(client):  # of other libraries, some never say that it is the end
                    raise self._broken_off()
        except NotImplementedError as error:  # not of the mode: the call could be made
            raise translate_error(error, self.name, self._key) from error
        return reading


async def _leave_open(_model: object) -> None:
    """It is its maker's to close."""


def _messages(request: ChatRequest) -> "list[BaseMessage]":
    from langchain_core.messages import HumanMessage, SystemMessage

    user = HumanMessage(request.user)
    return [SystemMessage(request.system), user] if request.system else [user]


def _host_of(model: object) -> str:
    """Where the model runs, when that was set: host and port alone, for addresses can hold passwords."""
    for attribute in _ADDRESS_ATTRIBUTES:
        value = getattr(model, attribute, None)
        if isinstance(value, str) and "://" in value:
            return urlsplit(value).netloc.rpartition("@")[2]
    return ""


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """Where a request goes, and what is said beside its messages.

    ``wrapped``: the message comes back as ``raw`` of a mapping, and not as a stream.
    """

    runnable: "Runnable[Any, Any]"
    options: Mapping[str, Any]
    wrapped: bool = False


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
