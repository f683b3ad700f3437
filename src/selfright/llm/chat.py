"""Any LangChain chat model as a ``Backend``: one request in, one raw reply out."""

import contextlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from selfright.domain.chat import ChatRequest, OnText
from selfright.domain.errors import ModelRejected, ModelUnavailable
from selfright.llm.backend import MessageReading, Mode, RawReply, model_name
from selfright.llm.clients import PerLoop, translate_error
from selfright.llm.dialects import (
    MOST_REFUSED,
    Learned,
    ProviderCall,
    Style,
    call_for,
    first_style,
    stream_options,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig

_MODEL_ATTRIBUTES = ("model_name", "model", "model_id", "deployment_name", "azure_deployment")
_ADDRESS_ATTRIBUTES = ("azure_endpoint", "openai_api_base", "base_url", "endpoint")
_SILENT: "RunnableConfig" = {"callbacks": []}  # an outer graph that streams its messages must not hear the judges


class LangChainBackend:
    """A LangChain model, asked once for each ``attempt``.

    ``name`` and ``provider`` are as in ``Backend``, by default made of the model's class, name and host; ``key`` names
    the variable of its key for messages. A model serves one event loop, as its HTTP client does; a ``PerLoop`` of
    models serves any.

    What a model takes is found out by use: a temperature or a limit of tokens that it refuses is left out from then
    on, at the price of one request more. A model that is seen to think gets room for that beside its reply.
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
        self.name = (
            name or ":".join(part for part in ("langchain", kind, model_name(model, _MODEL_ATTRIBUTES)) if part) + where
        )
        self.provider = provider or kind + where
        self._key = key
        self._model = model
        self._learned: Learned | None = None

    async def attempt(self, request: ChatRequest, mode: Mode, on_text: OnText | None = None) -> RawReply:
        """See ``Backend.attempt``."""
        model = await self._make_model()
        learned = self._learned = self._learned or Learned(first_style(model))
        for _ in range(MOST_REFUSED):
            style = learned.style
            call = self._call(model, style, request, mode)
            try:
                reading = await self._invoke(model, call, style, request, on_text)
            except Exception as error:
                if not learned.note_refusal(style, error):
                    raise translate_error(error, self.name, self._key) from error
            else:
                learned.note_reply(reading.text, reading.thought)
                return reading.reply()
        raise ModelRejected(f"{self.name} refuses one parameter after the other; use another model")

    async def open(self) -> None:
        """Makes the running event loop's client ready, so that the first attempt need not wait for its library.

        Raises ``ModelUnavailable`` when it cannot be made. Nothing is sent.
        """
        await self._make_model()

    async def aclose(self) -> None:
        """Closes the connections of the running event loop; a loop that ends in order does so by itself."""
        if isinstance(self._model, PerLoop):
            await self._model.aclose()

    async def _make_model(self) -> "BaseChatModel":
        if not isinstance(self._model, PerLoop):
            return self._model
        try:
            return await self._model.get()
        except Exception as error:
            raise translate_error(error, self.name, self._key) from error

    def _call(self, model: "BaseChatModel", style: Style, request: ChatRequest, mode: Mode) -> ProviderCall:
        try:
            return call_for(model, style, request, mode)
        except NotImplementedError:
            raise
        except Exception as error:
            if isinstance(error, ValueError) and request.schema is not None and mode is not Mode.TEXT:
                # Some clients know of a model that it calls no tools, and say so in this way.
                raise NotImplementedError from error
            raise translate_error(error, self.name, self._key) from error

    async def _invoke(
        self, model: "BaseChatModel", call: ProviderCall, style: Style, request: ChatRequest, on_text: OnText | None
    ) -> MessageReading:
        reading = MessageReading()
        if on_text is None or call.wrapped:
            reply = await call.runnable.ainvoke(_messages(request), _SILENT, **call.options)
            text = reading.add(reply["raw"] if call.wrapped else reply)
            if on_text is not None and text:
                on_text(text)
        else:
            await self._stream(call, stream_options(model, style), request, on_text, reading)
        return reading

    async def _stream(
        self,
        call: ProviderCall,
        options: dict[str, Any],
        request: ChatRequest,
        on_text: OnText,
        reading: MessageReading,
    ) -> None:
        pieces = call.runnable.astream(_messages(request), _SILENT, **call.options, **options)
        async with contextlib.aclosing(pieces) as stream:  # type: ignore[type-var]  # a generator, though typed less
            async for piece in stream:
                if text := reading.add(piece):
                    on_text(text)
        if reading.finish is None and call.says_when_done:
            raise ModelUnavailable(f"{self.name} should have finished its reply, but the stream broke off; try again")


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
