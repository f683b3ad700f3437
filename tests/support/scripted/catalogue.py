"""The faults by name, for ``--fault`` and tests.

The faults of what a model says, and of the form it says it in, over a connection that works, are defined here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from selfright.domain.errors import UnknownName
from tests.support.scripted import faults, http, replies
from tests.support.scripted.faults import DONE, Fault, Status, answer, as_sent, streamed
from tests.support.scripted.http import Wire
from tests.support.scripted.replies import Said


@dataclass(frozen=True)
class Says(Fault):
    """Well-formed, but ``text`` (null, empty, blanks) is said instead of an answer."""

    text: str | None = None
    finish: str = "stop"

    async def play(self, wire: Wire) -> None:
        await answer(Said(self.text, finish=self.finish), wire)


@dataclass(frozen=True)
class Refuses(Fault):
    """The refusal field is set, the content is null."""

    async def play(self, wire: Wire) -> None:
        await answer(Said(refusal="I am sorry, but I cannot help with that."), wire)


@dataclass(frozen=True)
class Cut(Fault):
    """The token limit ends the answer after half of it."""

    async def play(self, wire: Wire) -> None:
        half = wire.said.written[: len(wire.said.written) // 2]
        await answer(replace(wire.said, text=half, finish="length"), wire)


@dataclass(frozen=True)
class Thinks(Fault):
    """Thinks aloud before the answer; with ``closed=False`` it never stops thinking."""

    closed: bool = True

    async def play(self, wire: Wire) -> None:
        thought = '<think>Let me see. The answer could be {"grounding": 1.0}, but I am not sure.'
        end = "</think>\n" if self.closed else "\n"
        await answer(Said(thought + end + wire.said.written, finish="stop"), wire)


@dataclass(frozen=True)
class BrokenPiece(Fault):
    """A piece of the stream, or the body, is cut-off JSON inside sound framing."""

    async def play(self, wire: Wire) -> None:
        if not wire.request.stream:
            body = as_sent(wire.said, wire)
            return await wire.respond(200, body[: len(body) // 2])
        first, second, third, *rest = streamed(wire.said, wire)
        return await wire.stream([first, second, third[: len(third) // 2] + b"\n\n", *rest])


@dataclass(frozen=True)
class BrokenText(Fault):
    """The answer's bytes are no UTF-8."""

    async def play(self, wire: Wire) -> None:
        spoilt = replace(wire.said, text="\ue000")
        body = as_sent(spoilt, wire).replace("\ue000".encode(), b"\xff\xfe\x80")
        if wire.request.stream:
            await wire.stream([body])
        else:
            await wire.respond(200, body)


@dataclass(frozen=True)
class NoDone(Fault):
    """The stream ends without ``[DONE]``; a whole answer lacks its usage."""

    harmless: ClassVar[bool] = True

    async def play(self, wire: Wire) -> None:
        if wire.request.stream:
            return await wire.stream(streamed(wire.said, wire)[:-1])
        body = replies.completion(wire.request, wire.said)
        return await wire.respond(200, {name: value for name, value in body.items() if name != "usage"})


@dataclass(frozen=True)
class NoFinish(Fault):
    """The stream stops after two pieces, with its framing whole: no finish reason, no ``[DONE]``."""

    async def play(self, wire: Wire) -> None:
        if wire.request.stream:
            return await wire.stream(streamed(wire.said, wire)[:2])
        body = replies.completion(wire.request, wire.said)
        body["choices"][0]["finish_reason"] = None
        return await wire.respond(200, body)


@dataclass(frozen=True)
class NoChoices(Fault):
    """``choices`` is an empty list."""

    async def play(self, wire: Wire) -> None:
        if wire.request.stream:
            pieces = [{**piece, "choices": []} for piece in replies.stream(wire.request, wire.said)]
            return await wire.stream([*map(http.event, pieces), DONE])
        return await wire.respond(200, {**replies.completion(wire.request, wire.said), "choices": []})


@dataclass(frozen=True)
class Padded(Fault):
    """Empty and role-only pieces, comments and blank lines around the right answer."""

    harmless: ClassVar[bool] = True

    async def play(self, wire: Wire) -> None:
        events = streamed(wire.said, wire)
        if not wire.request.stream:
            return await wire.respond(200, b"\n\n  " + as_sent(wire.said, wire) + b"\n\n")
        role = events[0]
        padded = [part for event in events[:-1] for part in (b": ping\n\n", role, event)]
        return await wire.stream([*padded, DONE])


@dataclass(frozen=True)
class Repeated(Fault):
    """Every piece of the text comes twice; a whole answer has two different choices."""

    async def play(self, wire: Wire) -> None:
        if wire.request.stream:
            events = streamed(wire.said, wire)
            return await wire.stream([events[0], *(event for event in events[1:-1] for _ in range(2)), DONE])
        body = replies.completion(wire.request, wire.said)
        other = {**body["choices"][0], "index": 1, "message": {"role": "assistant", "content": "No."}}
        return await wire.respond(200, {**body, "choices": [other, *body["choices"]]})


FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "400": Status(400, "the request was malformed", "invalid_request"),
        "401": Status(401, "the key is not known here", "invalid_api_key"),
        "403": Status(403, "the key may not use this model", "permission_denied"),
        "404": Status(404, "there is no such model", "model_not_found"),
        "408": Status(408, "the request took too long"),
        "429": Status(429, "too many requests", "rate_limit_exceeded", retry_after=1),
        "quota": Status(429, "the account has nothing left to spend", "insufficient_quota"),
        "500": Status(500, "something broke"),
        "502": Status(502, "the model behind could not be reached"),
        "503": Status(503, "overloaded, try again", retry_after=1),
        "stall": faults.Stall(),
        "stall-midway": faults.Stall(after=2),
        "slow": faults.Slow(),
        "reset": faults.Reset(),
        "reset-midway": faults.Reset(after=3),
        "truncated": faults.Truncated(),
        "empty-body": faults.EmptyBody(),
        "html": faults.NotJson(),
        "wrong-type": faults.WrongType(),
        "gzip": faults.GzipGarbage(),
        "error-inside": faults.ErrorInside(),
        "null": Says(None),
        "empty-text": Says(""),
        "blank": Says(" \n\t"),
        "refusal": Refuses(),
        "length": Cut(),
        "length-at-once": Says("", finish="length"),
        "content-filter": Says("", finish="content_filter"),
        "thinking": Thinks(),
        "only-thinking": Thinks(closed=False),
        "broken-piece": BrokenPiece(),
        "broken-text": BrokenText(),
        "no-done": NoDone(),
        "no-finish": NoFinish(),
        "no-choices": NoChoices(),
        "padded": Padded(),
        "repeated": Repeated(),
    }
)
"""Every fault with its usual parameters."""


def fault_named(name: str) -> Fault:
    """The fault of that name; raises ``UnknownName`` with the nearest one."""
    if name not in FAULTS:
        raise UnknownName("fault", name, FAULTS)
    return FAULTS[name]
