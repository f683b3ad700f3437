"""Chat completions of OpenAI, and of all servers that speak as it does, through OpenAI's own client; and how a backend
learns what a model takes.

Requests and replies stay plain JSON: to fill the client's models of them costs more than the rest of a call.
"""

import dataclasses
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from selfright.domain.chat import ChatRequest, Finish, OnText
from selfright.domain.errors import ModelRejected, ModelUnavailable
from selfright.llm.backend import CompletionReading, Mode, RawReply, ReplyAssembler
from selfright.llm.clients import PerLoop, find_refused_parameter, translate_error

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

MOST_REFUSED = 5
"""Requests that may be spent on what a model takes: temperature, two names of the limit, usage."""

_NEW_LIMIT, _OLD_LIMIT = "max_completion_tokens", "max_tokens"
_HOSTED = ("openai.com", "azure.com")
_THINKING_ROOM = 4_096  # tokens that a model may think with, beside the reply that was asked for
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_THINKING = re.compile(r"<think(ing)?>")
TIMEOUT_S = 600.0  # the last resort: time-outs that count are set for each call, outside
CONNECT_S = 5.0  # for connection and TLS, the library's own: a port that waits for anything but TLS shows early
_PATH = "/chat/completions"
_THINKS = re.compile(r"(?:^|/)(?:o\d|gpt-(?:[5-9]|\d\d))(?!.*chat)")  # the families of OpenAI's that think
_TAKES_TEMPERATURE = re.compile(r"gpt-5\.[1-4]")  # those of them that think only when asked to


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


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """How OpenAI is asked for an object of this schema."""
    name = _NOT_A_NAME.sub("_", str(schema.get("title") or "reply"))[:64]
    inner = {"name": name, "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": inner}


class OpenAIBackend(LearningBackend["AsyncOpenAI"]):
    """A model that is asked for chat completions, one request for each ``attempt``.

    ``connect`` makes a client for ``address`` (None is OpenAI's own), with its retries off; it is called on a thread at
    first, for it may import the library. A plain reply is broken off, as if it had run into the limit, once ``enough``
    says so of what has come of it.
    """

    def __init__(
        self,
        model: str,
        connect: "Callable[[], AsyncOpenAI]",
        *,
        name: str,
        provider: str,
        address: str | None = None,
        key: str = "the provider's key",
        enough: Callable[[str], bool] | None = None,
    ) -> None:
        super().__init__(PerLoop(connect, lambda client: client.close()), name, provider, key)
        self._model, self._address, self._enough = model, address, enough

    def _first_style(self, client: "AsyncOpenAI") -> Style:
        del client
        return first_style(self._model, self._address)

    async def _ask(
        self, client: "AsyncOpenAI", style: Style, request: ChatRequest, mode: Mode, on_text: OnText | None
    ) -> CompletionReading:
        body, enough = _body(self._model, style, request, mode), self._enough if request.schema is None else None
        if on_text is None and enough is None:
            return await _whole(client, body)
        streaming = {"stream": True, "stream_options": {"include_usage": True}} if style.usage else {"stream": True}
        reading = await _stream(client, body | streaming, on_text, enough)
        if reading.finish is None:
            raise self._broken_off()
        return reading


def connect(key: str, address: str | None, *, home: bool = False, **transport: Any) -> "AsyncOpenAI":
    """A client without retries; ``home`` for OpenAI's own address, ``transport`` is for the HTTP client."""
    import openai

    timeout = openai.Timeout(TIMEOUT_S, connect=CONNECT_S)
    client = openai.AsyncOpenAI(
        api_key=key,
        base_url=address,
        default_headers={"Authorization": f"Bearer {key}"},  # else a variable of the library's could replace it
        max_retries=0,
        timeout=timeout,
        http_client=openai.DefaultAsyncHttpxClient(timeout=timeout, **transport),
    )
    if not home:  # an account at OpenAI, of variables that the library reads, is no business of others
        client.organization = client.project = None
    return client


def first_style(model: str, address: str | None) -> Style:
    """What a model is told at first, by its name and by where it runs."""
    thinks = bool(_THINKS.search(model))
    style = Style(not thinks or bool(_TAKES_TEMPERATURE.search(model)), openai_limits(address))
    return style.thinking() if thinks else style


async def _whole(client: "AsyncOpenAI", body: dict[str, Any]) -> CompletionReading:
    # As bytes: the client would leave a body that has another content type unread.
    raw = await client.post(_PATH, cast_to=bytes, body=body)
    reading = CompletionReading()
    reading.whole(json.loads(raw))
    return reading


async def _stream(
    client: "AsyncOpenAI", body: dict[str, Any], on_text: OnText | None, enough: Callable[[str], bool] | None
) -> CompletionReading:
    from openai import AsyncStream

    reading = CompletionReading()
    async with await client.post(
        _PATH, cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object]
    ) as pieces:
        async for piece in pieces:
            text = reading.add(piece)
            if text and on_text is not None:
                on_text(text)
            if text and enough is not None and enough(reading.text):
                reading.finish = Finish.LENGTH
                break
    return reading


def _body(model: str, style: Style, request: ChatRequest, mode: Mode) -> dict[str, Any]:
    messages = [{"role": "user", "content": request.user}]
    if request.system:
        messages.insert(0, {"role": "system", "content": request.system})
    body: dict[str, Any] = {"model": model, "messages": messages}
    if style.temperature:
        body["temperature"] = request.temperature
    if style.limits:
        body[style.limits[0]] = request.max_tokens + style.room
    if request.schema is None or mode is Mode.TEXT:
        return body
    return body | {"response_format": response_format(request.schema)}
