"""Turns run for callers: admitted, bounded, watched, counted, and told as server-sent events."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from selfright.domain.answers import Answer
from selfright.domain.errors import UnknownName, UsageError
from selfright.domain.events import TurnEvent, TurnFinished
from selfright.domain.flags import Flags
from selfright.domain.turns import TurnOptions, preset_for
from selfright.entrypoints.server import logging
from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.middleware import ClientGone
from selfright.entrypoints.server.service import Caller, Service, caller_of, service_of
from selfright.entrypoints.wire.answers import Flag, TurnRequest
from selfright.flow.presets import PRESETS

T = TypeVar("T")
_HEARTBEAT = b": still at work\n\n"
_WAITING_FRAMES = 64


def frame(data: dict[str, Any] | str, event: str | None = None) -> bytes:
    """One event of the stream; ``data`` is sent as one line of JSON."""
    line = data if isinstance(data, str) else json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return (f"event: {event}\n" if event else "").encode() + f"data: {line}\n\n".encode()


class EventStream(Response):
    """Sends what ``frames`` yields; ``at_end`` is called once, however it ends.

    The frames are made in one task from beginning to end, for time-outs inside belong to the task that entered them.
    """

    media_type = "text/event-stream"

    def __init__(self, frames: AsyncGenerator[bytes, None], at_end: Callable[[], None], heartbeat_s: float) -> None:
        super().__init__()
        self._frames, self._at_end, self._heartbeat_s = frames, at_end, heartbeat_s
        del self.headers["content-length"]
        self.headers["X-Accel-Buffering"] = "no"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the stream. Raises ``ClientGone`` when the caller hangs up."""
        del scope
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING_FRAMES)
        maker = asyncio.create_task(self._make(queue))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await unless_gone(receive, self._pass_on(queue, send))
            await maker
        finally:
            maker.cancel()
            with suppress(asyncio.CancelledError):
                await maker
            self._at_end()

    async def _make(self, queue: "asyncio.Queue[bytes | None]") -> None:
        async with aclosing(self._frames):
            async for each in self._frames:
                await queue.put(each)
        await queue.put(None)

    async def _pass_on(self, queue: "asyncio.Queue[bytes | None]", send: Send) -> None:
        while True:
            try:
                async with asyncio.timeout(self._heartbeat_s):
                    each = await queue.get()
            except TimeoutError:
                each = _HEARTBEAT
            await send({"type": "http.response.body", "body": each or b"", "more_body": each is not None})
            if each is None:
                return


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` gives; when the caller hangs up it is cancelled, and ``ClientGone`` raised."""
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


# What costs more when it is higher: callers may lower these, an admin may raise them.
_COSTLY = (
    "max_refine_iterations", "max_retries", "max_llm_calls", "max_tokens", "deadline_s", "top_k", "history_limit",
)  # fmt: skip
_PERMISSIONS = ("web_search_enabled", "medcat2_enabled", "llm_slots_enabled")


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """A question ready to be answered."""

    service: Service
    caller: Caller
    question: str
    options: TurnOptions
    request_id: str


async def prepare_turn(request: Request, question: str, said: TurnRequest, more: TurnOptions) -> PreparedTurn:
    """The turn that a request asks for. Raises ``Refused`` for what this caller may not say."""
    service, caller = service_of(request), caller_of(request)
    if said.preset is not None and said.preset not in PRESETS:
        raise Refused(400, "bad_request", str(UnknownName("preset", said.preset, PRESETS)), param="preset")
    try:
        preset = preset_for({"mode": said.mode, "preset": said.preset}, service.selfright.settings.preset)
    except UsageError as error:
        raise Refused(400, "bad_request", str(error), param="mode") from error
    options: TurnOptions = {
        "preset": preset,
        "flags": allowed(said.flags, service.selfright.settings.flags, caller),
        "profile": said.profile,
        "collections": await service.within(caller, said.collections),
        "user": caller.user,
        **more,
    }
    return PreparedTurn(service, caller, question, options, request.scope["state"]["request_id"])


async def answered(turn: PreparedTurn, request: Request) -> Answer:
    """The answer. Raises ``Refused``, ``ClientGone``, and what a turn raises."""
    with await unless_gone(request.receive, turn.service.limiter.acquire(turn.caller.key)):
        return await unless_gone(request.receive, finished(turn))


async def finished(turn: PreparedTurn) -> Answer:
    """The answer, for a caller that has a permit already. Raises ``Refused`` and what a turn raises."""
    async with aclosing(events(turn, listen=False)) as told:
        async for event in told:
            if isinstance(event, TurnFinished):
                return event.answer
    raise RuntimeError("a turn ended without an answer")  # the graph always reaches finalize


async def events(turn: PreparedTurn, *, listen: bool = True) -> AsyncGenerator[TurnEvent, None]:
    """The events of the turn, counted and logged at its end; the caller has a permit already.

    Raises ``Refused`` (504) when it takes longer than a turn may, whatever its own deadline says.
    """
    running = turn.service.selfright.astream(turn.question, **turn.options) if listen else _end(turn)
    why: str | None = "caller gone"
    try:
        async with asyncio.timeout(turn.service.limits.turn_s), aclosing(running):
            async for event in running:
                if isinstance(event, TurnFinished):
                    why = None
                    _count(turn, event.answer)
                yield event
    except TimeoutError:
        why = "too slow"
        raise Refused(504, "turn_timeout", "the turn took too long and was broken off; ask for less") from None
    except Exception:
        why = "error"
        raise
    finally:
        if why is not None:
            turn.service.metrics.broken_off(why)


async def _end(turn: PreparedTurn) -> AsyncGenerator[TurnEvent, None]:
    yield TurnFinished(await turn.service.selfright.aask(turn.question, **turn.options))


def _count(turn: PreparedTurn, answer: Answer) -> None:
    turn.service.metrics.turn(answer)
    cost = answer.cost
    logging.turn_done(
        {
            "request_id": turn.request_id,
            "trace_id": answer.trace_id,
            "key": turn.caller.key,
            "preset": answer.preset,
            "stop_reason": answer.stop_reason.value,
            "verdict": answer.verdict.value if answer.verdict else None,
            "abstained": answer.abstained,
            "degraded": answer.degraded,
            "iterations": len(answer.iterations),
            "llm_calls": cost.llm_calls,
            "tokens": cost.prompt_tokens + cost.completion_tokens,
            "ms": round(1000 * cost.seconds, 1),
        }
    )


def allowed(given: Mapping[str, Flag], ours: Flags, caller: Caller) -> Mapping[str, Flag]:
    """The flags, when they are flags and this caller may set them so."""
    wanted = ours.with_values(given)
    if caller.admin:
        return given
    for name in given:
        most = getattr(ours, name)
        if name in _COSTLY and getattr(wanted, name) > most:
            raise Refused(403, "flag_too_high", f"flag '{name}' may be at most {most} with this key", param=name)
        if name in _PERMISSIONS and getattr(wanted, name) and not most:
            raise Refused(403, "flag_not_allowed", f"flag '{name}' cannot be set with this key", param=name)
    return given
