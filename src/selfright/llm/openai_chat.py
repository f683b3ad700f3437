"""Chat completions of OpenAI, and of all servers that speak as it does, through OpenAI's own client.

Requests and replies stay plain JSON: to fill the client's models of them costs more than the rest of a call.
"""

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from selfright.domain.chat import ChatRequest, Finish, OnText
from selfright.llm.backend import CompletionReading, Mode
from selfright.llm.clients import PerLoop
from selfright.llm.dialects import LearningBackend, Style, openai_limits, response_format

if TYPE_CHECKING:
    from openai import AsyncOpenAI

TIMEOUT_S = 600.0  # the last resort: time-outs that count are set for each call, outside
_PATH = "/chat/completions"
_THINKS = re.compile(r"(?:^|/)(?:o\d|gpt-(?:[5-9]|\d\d))(?!.*chat)")  # the families of OpenAI's that think
_TAKES_TEMPERATURE = re.compile(r"gpt-5\.[1-4]")  # those of them that think only when asked to


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

    client = openai.AsyncOpenAI(
        api_key=key,
        base_url=address,
        default_headers={"Authorization": f"Bearer {key}"},  # else a variable of the library's could replace it
        max_retries=0,
        timeout=TIMEOUT_S,
        http_client=openai.DefaultAsyncHttpxClient(timeout=TIMEOUT_S, **transport),
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
