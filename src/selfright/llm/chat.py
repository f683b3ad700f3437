"""Any LangChain chat model as a ``Backend``: one request in, one raw reply out."""

import contextlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from selfright.domain.chat import ChatRequest, OnText
from selfright.llm.backend import MessageReading, Mode, model_name
from selfright.llm.clients import PerLoop, translate_error
from selfright.llm.dialects import LearningBackend, Style, call_for, first_style, kind_of, stream_options

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig

_MODEL_ATTRIBUTES = ("model_name", "model", "model_id", "deployment_name", "azure_deployment")
_ADDRESS_ATTRIBUTES = ("azure_endpoint", "openai_api_base", "base_url", "endpoint")
_SILENT: "RunnableConfig" = {"callbacks": []}  # an outer graph that streams its messages must not hear the judges


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
