"""Faults of the way between a client and a model: statuses, stalls, resets, answers cut off, wrapped or mislabelled.

A fault is used as the reply of a rule. It plays for whole and for streamed answers; where it spoils an answer that
was begun, that answer is what the server's fake model says.
"""

import json
from dataclasses import dataclass
from typing import ClassVar

from tests.support.scripted import http, replies
from tests.support.scripted.http import EVENTS, Wire
from tests.support.scripted.replies import Said

DONE = http.event("[DONE]")
_PAGE = b"<!doctype html><html><body><h1>502 Bad Gateway</h1><p>The proxy could not reach it.</p></body></html>"


async def answer(said: Said, wire: Wire) -> None:
    """The answer without any fault."""
    if wire.request.stream:
        await wire.stream(streamed(said, wire))
    else:
        await wire.respond(200, replies.completion(wire.request, said))


@dataclass(frozen=True)
class Fault:
    """Plays something that goes wrong. ``harmless``: the whole reply is there, so a client may still accept it."""

    harmless: ClassVar[bool] = False

    async def play(self, wire: Wire) -> None:
        """Answers over ``wire`` in its own way instead of with ``wire.said``."""
        raise NotImplementedError


@dataclass(frozen=True)
class Status(Fault):
    """An HTTP error with OpenAI's error body; ``retry_after`` goes into that header as it is."""

    status: int
    message: str = "the scripted server was told to answer so"
    code: str | None = None
    retry_after: str | float | None = None

    async def play(self, wire: Wire) -> None:
        headers = {} if self.retry_after is None else {"Retry-After": f"{self.retry_after}"}
        await wire.respond(self.status, replies.error(self.status, self.message, code=self.code), headers=headers)


@dataclass(frozen=True)
class Stall(Fault):
    """Accepts the request and never answers; with ``after``, sends so many pieces first."""

    after: int = 0

    async def play(self, wire: Wire) -> None:
        await _begin(wire, self.after)
        await wire.hang()


@dataclass(frozen=True)
class Slow(Fault):
    """The right answer, a few bytes at a time."""

    harmless: ClassVar[bool] = True

    async def play(self, wire: Wire) -> None:
        body = as_sent(wire.said, wire)
        kind = EVENTS if wire.request.stream else "application/json"
        wire.pace_s = 0.02
        await wire.stream((body[start : start + 64] for start in range(0, len(body), 64)), content_type=kind)


@dataclass(frozen=True)
class Reset(Fault):
    """Resets the connection: at once, or after so many pieces of the answer."""

    after: int = 0

    async def play(self, wire: Wire) -> None:
        await _begin(wire, self.after)
        await wire.reset()


@dataclass(frozen=True)
class Truncated(Fault):
    """Closes the connection in an orderly way, but before the answer is complete."""

    async def play(self, wire: Wire) -> None:
        await _begin(wire, 2)
        wire.close()


@dataclass(frozen=True)
class EmptyBody(Fault):
    """200, and nothing in it."""

    async def play(self, wire: Wire) -> None:
        await wire.respond(200, b"", content_type=EVENTS if wire.request.stream else "application/json")


@dataclass(frozen=True)
class NotJson(Fault):
    """200 with the HTML page of a proxy."""

    async def play(self, wire: Wire) -> None:
        await wire.respond(200, _PAGE, content_type="text/html")


@dataclass(frozen=True)
class WrongType(Fault):
    """The right body, called plain text."""

    harmless: ClassVar[bool] = True

    async def play(self, wire: Wire) -> None:
        if wire.request.stream:
            await wire.stream(streamed(wire.said, wire), content_type="text/plain")
        else:
            await wire.respond(200, as_sent(wire.said, wire), content_type="text/plain")


@dataclass(frozen=True)
class GzipGarbage(Fault):
    """Declared as gzip, which it is not."""

    async def play(self, wire: Wire) -> None:
        await wire.respond(200, b"\x00\x01 this is no gzip", headers={"Content-Encoding": "gzip"})


@dataclass(frozen=True)
class ErrorInside(Fault):
    """200, then an error object: in the stream after two pieces, or as the whole body."""

    async def play(self, wire: Wire) -> None:
        body = replies.error(500, "the model ran out of memory while it answered")
        if wire.request.stream:
            await wire.stream([*streamed(wire.said, wire)[:2], http.event(body)])
        else:
            await wire.respond(200, body)


def streamed(said: Said, wire: Wire) -> list[bytes]:
    """The events of the right answer, ``[DONE]`` last."""
    return [*map(http.event, replies.stream(wire.request, said)), DONE]


def as_sent(said: Said, wire: Wire) -> bytes:
    """The right answer's body, streamed or not."""
    if wire.request.stream:
        return b"".join(streamed(said, wire))
    return json.dumps(replies.completion(wire.request, said), ensure_ascii=False).encode("utf-8", "replace")


async def _begin(wire: Wire, pieces: int) -> None:
    """The first pieces of an answer: events of a stream, or as many tenths of a whole body."""
    if not pieces:
        return
    if wire.request.stream:
        await wire.stream(streamed(wire.said, wire)[:pieces], finished=False)
    else:
        body = as_sent(wire.said, wire)
        await wire.respond(200, body[: len(body) * min(pieces, 9) // 10], length=len(body))
