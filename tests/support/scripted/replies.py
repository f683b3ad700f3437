"""What the server says, in OpenAI's JSON: completions and their streamed pieces, errors."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.scripted.requests import Request

_PIECE = re.compile(r"\S+\s*|\s+")
_PIECE_CHARACTERS = 200  # text without blanks still comes in pieces
_ERROR_TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit"}


@dataclass(frozen=True, slots=True)
class Said:
    """One reply as the model gives it: text or a refusal.

    ``finish`` is OpenAI's finish reason: ``stop``, ``length`` or ``content_filter``.
    """

    text: str | None = None
    refusal: str | None = None
    finish: str = "stop"

    @property
    def written(self) -> str:
        """Whatever was written, in whichever place."""
        return self.text or self.refusal or ""


def said(request: Request, reply: "str | Mapping[str, Any]") -> Said:
    """Puts a text or an object where ``request`` wants it, cut off at its token limit."""
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    finish = "stop"
    if request.max_tokens is not None and tokens(text) > request.max_tokens:
        text, finish = _cut(text, request.max_tokens), "length"
    return Said(text, finish=finish)


def tokens(text: str) -> int:
    """About as many tokens as a model would count: four letters of English, a little more than a Hangul syllable."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


def completion(request: Request, reply: Said) -> dict[str, Any]:
    """The body of a completion that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}
    return {**_envelope(request, "chat.completion"), "choices": [choice], "usage": usage(request, reply)}


def stream(request: Request, reply: Said) -> list[dict[str, Any]]:
    """The pieces of a streamed completion in order: the role, the text, the finish reason, the usage if asked for."""
    envelope = _envelope(request, "chat.completion.chunk")
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [(delta, None) for delta in _deltas(reply)]
    deltas.append(({}, reply.finish))
    pieces = [
        {**envelope, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]} for delta, finish in deltas
    ]
    if request.include_usage:
        pieces.append({**envelope, "choices": [], "usage": usage(request, reply)})
    return pieces


def usage(request: Request, reply: Said) -> dict[str, int]:
    """Token counts, estimated."""
    asked, answered = tokens(request.system) + tokens(request.user), tokens(reply.written)
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}


def error(status: int, message: str, *, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """OpenAI's form of an error."""
    kind = _ERROR_TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def _deltas(reply: Said) -> Iterator[dict[str, Any]]:
    if reply.text is not None:
        yield from ({"content": piece} for piece in _pieces(reply.text))
    if reply.refusal is not None:
        yield from ({"refusal": piece} for piece in _pieces(reply.refusal))


def _pieces(text: str) -> Iterator[str]:
    for match in _PIECE.finditer(text):
        word = match.group()
        yield from (word[start : start + _PIECE_CHARACTERS] for start in range(0, len(word), _PIECE_CHARACTERS))


def _cut(text: str, limit: int) -> str:
    return text.encode("utf-8", "surrogatepass")[: limit * 4].decode("utf-8", "ignore")


def _envelope(request: Request, kind: str) -> dict[str, Any]:
    name = request.model or "scripted"
    return {"id": f"chatcmpl-{request.number}", "object": kind, "created": int(time.time()), "model": name}
