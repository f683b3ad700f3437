"""Turns run for callers: admitted, bounded, watched, counted, and told as server-sent events."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import ExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from anyio import CancelScope
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import AppStatus
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from selfright.domain.answers import Answer
from selfright.domain.errors import UnknownName, UsageError
from selfright.domain.events import TurnEvent, TurnFinished
from selfright.domain.flags import Flags, by_their_names
from selfright.domain.turns import TurnOptions, preset_for
from selfright.flow.presets import PRESETS
from selfright.server import logging
from selfright.server.errors import Refused
from selfright.server.middleware import ClientGone
from selfright.server.service import Caller, Service, caller_of, service_of
from selfright.wire.answers import Flag, TurnRequest

T = TypeVar("T")
_END = "\n"
_WAITING_FRAMES = 64


# A turn that runs is finished when the service ends, and bounded by itself.
AppStatus.enable_automatic_graceful_drain = False


def frame(data: dict[str, Any] | str, event: str | None = None) -> ServerSentEvent:
    """One event of the stream; ``data`` is sent as one line of JSON."""
    line = data if isinstance(data, str) else json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return ServerSentEvent(line, event=event, sep=_END)


class EventStream(EventSourceResponse):
    """Sends the frames of a turn; its permit is given back however it ends. Raises ``ClientGone``."""

    def __init__(self, frames: AsyncGenerator[ServerSentEvent, None], permit: ExitStack, heartbeat_s: float) -> None:
        whole = False

        async def made() -> AsyncGenerator[ServerSentEvent, None]:
            nonlocal whole
            async with aclosing(_in_own_task(frames)) as framed:
                async for each in framed:
                    yield each
            whole = True

        async def end(_: Message) -> None:
            if not whole:  # that a reply is over is told as if its caller had left
                raise ClientGone

        beat = ServerSentEvent(comment="still at work", sep=_END)
        super().__init__(
            made(), sep=_END, ping=heartbeat_s, ping_message_factory=lambda: beat, client_close_handler_callable=end
        )
        self._permit = permit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the stream."""
        with self._permit:
            await super().__call__(scope, receive, send)


async def _in_own_task(frames: AsyncGenerator[ServerSentEvent, None]) -> AsyncGenerator[ServerSentEvent, None]:
    """The frames, made in one task of their own, which is cancelled once: a turn that is left has to clean up."""
    queue: asyncio.Queue[ServerSentEvent | None] = asyncio.Queue(_WAITING_FRAMES)

    async def make() -> None:
        async with aclosing(frames):
            async for each in frames:
                await queue.put(each)
        await queue.put(None)

    maker = asyncio.create_task(make())
    try:
        while (each := await queue.get()) is not None:
            yield each
    finally:
        maker.cancel()
        with CancelScope(shield=True):
            await asyncio.wait([maker])


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` gives; when the caller hangs up it is cancelled, and ``ClientGone`` raised."""

    async def wait_for_disconnect() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    task = asyncio.create_task(work)
    gone = asyncio.create_task(wait_for_disconnect())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


# What costs more when it is higher: callers may lower these, an admin may raise them.
_COSTLY = (
    "max_refine_iterations", "max_llm_calls", "max_tokens", "deadline_s", "top_k", "history_limit",
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
        "flags": check_flags(said.flags, service.selfright.settings.flags, caller),
        "profile": said.profile,
        "collections": await service.within(caller, said.collections),
        "user": caller.user,
        **more,
    }
    return PreparedTurn(service, caller, question, options, request.scope["state"]["request_id"])


async def answer_turn(turn: PreparedTurn, request: Request) -> Answer:
    """The answer. Raises ``Refused``, ``ClientGone``, and what a turn raises."""
    with await unless_gone(request.receive, turn.service.limiter.acquire(turn.caller.key)):
        return await unless_gone(request.receive, finish_turn(turn))


async def finish_turn(turn: PreparedTurn) -> Answer:
    """The answer, for a caller that has a permit already. Raises ``Refused`` and what a turn raises."""
    async with _accounted(turn) as done:
        answer = await turn.service.selfright.aask(turn.question, **turn.options)
        done(answer)
        return answer


async def events(turn: PreparedTurn) -> AsyncGenerator[TurnEvent, None]:
    """The events of the turn; the caller has a permit already. Raises ``Refused`` and what a turn raises."""
    running = turn.service.selfright.astream(turn.question, **turn.options)
    async with _accounted(turn) as done, aclosing(running):
        async for event in running:
            if isinstance(event, TurnFinished):
                done(event.answer)
            yield event


@asynccontextmanager
async def _accounted(turn: PreparedTurn) -> AsyncGenerator[Callable[[Answer], None], None]:
    """Around a turn, which is counted and logged at its end; gives what is to be called with the answer.

    Raises ``Refused`` (504) when it takes longer than a turn may, whatever its own deadline says.
    """
    why: str | None = "caller gone"

    def done(answer: Answer) -> None:
        nonlocal why
        why = None
        _count(turn, answer)

    try:
        async with asyncio.timeout(turn.service.limits.turn_s):
            yield done
    except TimeoutError:
        why = "too slow"
        raise Refused(504, "turn_timeout", "the turn took too long and was broken off; ask for less") from None
    except Exception:
        why = "error"
        raise
    finally:
        if why is not None:
            turn.service.metrics.broken_off(why)


def _count(turn: PreparedTurn, answer: Answer) -> None:
    turn.service.metrics.turn(answer)
    cost = answer.cost
    logging.note(
        "turn",
        **{name: getattr(answer, name) for name in ("trace_id", "preset", "abstained", "degraded")},
        request_id=turn.request_id,
        key=turn.caller.key,
        stop_reason=answer.stop_reason.value,
        verdict=answer.verdict.value if answer.verdict else None,
        iterations=len(answer.iterations),
        llm_calls=cost.llm_calls,
        tokens=cost.prompt_tokens + cost.completion_tokens,
        ms=round(1000 * cost.seconds, 1),
    )


def check_flags(given: Mapping[str, Flag], ours: Flags, caller: Caller) -> Mapping[str, Flag]:
    """The flags, when they are flags and this caller may set them so."""
    wanted = ours.with_values(given)
    if caller.admin:
        return given
    for name in by_their_names(given):
        most = getattr(ours, name)
        if name in _COSTLY and getattr(wanted, name) > most:
            raise Refused(403, "flag_too_high", f"flag '{name}' may be at most {most} with this key", param=name)
        if name in _PERMISSIONS and getattr(wanted, name) and not most:
            raise Refused(403, "flag_not_allowed", f"flag '{name}' cannot be set with this key", param=name)
    return given
