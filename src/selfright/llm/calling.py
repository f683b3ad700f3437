"""A language model within one turn: calls are counted, limited, retried and read, and what goes wrong gets a name.

Every request that goes out counts as one call, retries and rungs of the ladder included, and is counted before it is
awaited, for roles run side by side.
"""

import asyncio
import contextlib
import logging
import math
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from selfright.domain.budget import Meter
from selfright.domain.chat import ChatReply, ChatRequest, Finish, OnText
from selfright.domain.errors import BudgetSpent, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.llm.backend import Backend, Mode, RawReply
from selfright.llm.structured import AttemptPlan, Capabilities, CutOffError, RefusedError, UnfitError
from selfright.llm.tolerant import ThinkingFilter, read_object, strip_reasoning
from selfright.resilience import Breaker, pause

_WRONG_KEY = (401, 403)
_WRONG_SETTING = (*_WRONG_KEY, 404)  # only the operator can help, and the message says how
_UNREACHABLE = "unreachable"  # likewise, but not every time: it may be over soon
_WIDE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """How patient a call is: seconds for one attempt, attempts in all, and the longest pauses between them.

    The n-th pause is drawn from 0 to ``first_wait_s · 2^(n-1)``, at most ``longest_wait_s`` (full jitter).
    """

    timeout_s: float = 60.0
    attempts: int = 3
    first_wait_s: float = 0.5
    longest_wait_s: float = 8.0


@dataclass(slots=True)
class TurnModel:
    """The port ``ChatModel`` over one backend, for one turn.

    ``breaker`` is shared by all that talk to the same provider, ``capabilities`` by all models, both over all turns.
    """

    backend: Backend
    meter: Meter
    policy: CallPolicy = CallPolicy()
    breaker: Breaker = field(default_factory=Breaker)
    capabilities: Capabilities = field(default_factory=Capabilities)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random

    async def complete(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        """The model's reply. ``on_text`` hears plain text without thinking; an object is never said.

        Raises ``ModelUnavailable``, ``ModelRejected``, ``ReplyUnusable`` or ``BudgetSpent``; the meter counts the first
        three as trouble, and with the first two the turn is degraded.
        """
        name = self.backend.name
        proven = self.capabilities.mode(name) is not None
        plan = AttemptPlan(request, self.capabilities.rungs(name), proven, self.policy.attempts)
        try:
            while (reply := await self._step(plan, on_text)) is None:
                pass
            return reply
        except (ModelUnavailable, ModelRejected, ReplyUnusable) as error:
            kind, first = _kind(error, request), not self.meter.degraded
            self.meter.degraded = self.meter.degraded or not isinstance(error, ReplyUnusable)
            self.meter.trouble(kind)
            is_setting = isinstance(error, ModelRejected) and error.status in _WRONG_SETTING
            if is_setting or (first and kind == _UNREACHABLE):
                log.error("%s", error)
            raise

    async def _step(self, plan: AttemptPlan, on_text: OnText | None) -> ChatReply | None:
        """One attempt; None when it failed and another one is to be made, which is then due."""
        if obstacle := self._obstacle(plan.request):
            raise obstacle
        heard = _Heard(on_text) if on_text and plan.request.schema is None else None
        try:
            return await self._attempt(plan, heard)
        except (ModelUnavailable, ModelRejected, ReplyUnusable) as error:
            if (heard and heard.anything) or not plan.goes_on(error):
                raise
            wait = self._wait(plan, error)
            if not wait < self._time_left(plan.request) or self._obstacle(plan.request):
                raise
            if wait:
                with self._count_call(plan.request):
                    await self.sleep(wait)
            if self._obstacle(plan.request):
                raise
            return None

    def _obstacle(self, request: ChatRequest) -> BudgetSpent | ModelUnavailable | None:
        """What stands against another call now."""
        meter = self.meter
        if meter.deadline_passed:
            return BudgetSpent(f"the turn's {meter.deadline_s:g} s are over; raise deadline_s for longer turns")
        if meter.llm_calls >= meter.max_llm_calls or (meter.calls_spent and not request.final):
            return BudgetSpent(
                f"after {meter.llm_calls} calls only what is held back for the answer is left of {meter.max_llm_calls} "
                f"calls and {meter.max_tokens} tokens; raise max_llm_calls or max_tokens"
            )
        if not request.final and meter.aside_left_s <= 0:
            return BudgetSpent(
                f"calls beside the answer have taken {meter.aside_s:.0f} s, a third of the turn's {meter.deadline_s:g} "
                "s; raise deadline_s, or let a quicker model judge"
            )
        if blocked := self.breaker.blocked_for:
            return self._without_reply(blocked)
        return None

    def _without_reply(self, seconds: float) -> ModelUnavailable:
        return ModelUnavailable(
            f"{self.backend.name} was not called: {self.backend.provider} failed just before and is left alone for "
            f"another {seconds:.0f} s",
            called=False,
        )

    def _time_left(self, request: ChatRequest) -> float:
        """Seconds that are left for the request."""
        left = self.meter.deadline_s - self.meter.seconds
        return left if request.final else min(left, self.meter.aside_left_s)

    def _count_call(self, request: ChatRequest) -> AbstractContextManager[None]:
        """Counts the time as spent beside the answer, unless the request is the answer."""
        return contextlib.nullcontext() if request.final else self.meter.aside()

    def _wait(self, plan: AttemptPlan, error: Exception) -> float:
        """Seconds before the next attempt: none after an answer, else what the provider asked for or a random pause."""
        if not isinstance(error, ModelUnavailable):
            return 0.0
        drawn = pause(plan.failures, self.policy.first_wait_s, self.policy.longest_wait_s, self.random)
        asked = error.retry_after
        return drawn if asked is None else max(0.0, asked) + drawn if math.isfinite(asked) else math.inf

    async def _attempt(self, plan: AttemptPlan, heard: "_Heard | None") -> ChatReply:
        ticket = self.breaker.admit()
        if ticket is None:  # another thread took the trial
            raise self._without_reply(self.breaker.blocked_for)
        report: Callable[[int], None] = self.breaker.release  # of a call that was cancelled
        self.meter.llm_calls += 1
        request = plan.to_send
        try:
            with self._count_call(request):
                raw = await self._with_timeout(request, plan.mode, heard)
            report = self.breaker.note_success
        except UnfitError:
            self.meter.llm_calls -= 1  # nothing was sent
            raise
        except _ShortOfTimeError:
            raise
        except ModelUnavailable:
            report = self.breaker.note_failure
            raise
        except ModelRejected as error:
            report = self.breaker.note_rejection if error.status in _WRONG_KEY else self.breaker.note_success
            raise
        finally:
            report(ticket)
        return self._read(request, plan, raw, heard)

    async def _with_timeout(self, request: ChatRequest, mode: Mode, heard: "_Heard | None") -> RawReply:
        limit = min(self.policy.timeout_s, self._time_left(request))
        name = self.backend.name
        try:
            async with asyncio.timeout(limit) as timer:
                return await self.backend.attempt(request, mode, heard)
        except (ModelUnavailable, ModelRejected):
            raise
        except NotImplementedError:
            raise UnfitError(f"{name} cannot be asked in the mode '{mode}'; use another model") from None
        except Exception as error:  # a client library may raise anything; its text may quote the prompt
            if timer.expired() and isinstance(error, TimeoutError):
                kind = _TimedOutError if limit >= self.policy.timeout_s else _ShortOfTimeError
                raise kind(f"{name} timed out after {limit:.1f} s; raise timeout_s or deadline_s") from None
            log.warning("%s failed with %s", name, type(error).__name__)
            raise _FailedError(f"{name} failed with {type(error).__name__}; look into its client library") from None

    def _read(self, request: ChatRequest, plan: AttemptPlan, raw: RawReply, heard: "_Heard | None") -> ChatReply:
        sent, received = self._count(request, raw)
        if raw.left_out:
            left_out = self.meter.left_out
            left_out[request.job] = left_out.get(request.job, 0) + raw.left_out
        if raw.finish is Finish.REFUSED:
            raise RefusedError(f"{self.backend.name} refused to answer; ask in other words or use another model")
        text, data = strip_reasoning(raw.text), None
        if request.schema is not None:
            data = _object(request.schema, raw)
            if not plan.guessed or self.capabilities.mode(self.backend.name) is None:
                self.capabilities.learn(self.backend.name, plan.mode)
        elif not text.strip():
            raise _unusable(raw, f"expected text from {self.backend.name}, got none; ask again")
        if heard:
            heard.end()
        return ChatReply(text, raw.finish, data, sent, received, self.backend.name)

    def _count(self, request: ChatRequest, raw: RawReply) -> tuple[int, int]:
        """Adds the tokens to the meter: the provider's count, or an estimate where there is none."""
        sent, received = raw.prompt_tokens, raw.completion_tokens
        sent = max(0, sent) if sent is not None else estimate_tokens(request.system + request.user)
        received = max(0, received) if received is not None else estimate_tokens(raw.text)
        self.meter.prompt_tokens += sent
        self.meter.completion_tokens += received
        return sent, received


def estimate_tokens(text: str) -> int:
    """About how many tokens: one per Hangul syllable, kana or ideograph, one per four of the other characters."""
    wide = len(_WIDE.findall(text))
    return wide + math.ceil((len(text) - wide) / 4)


class _FailedError(ModelUnavailable):
    """The client library raised what nobody foresaw."""


class _TimedOutError(ModelUnavailable):
    """The attempt took longer than the policy allows."""


class _ShortOfTimeError(ModelUnavailable):
    """The turn's time was over before the attempt's, which says nothing about the provider."""


class _Heard:
    """Passes on what is said, without thinking; ``anything``: something was heard, which cannot be taken back."""

    def __init__(self, on_text: OnText) -> None:
        self._say = on_text
        self._thinking = ThinkingFilter()
        self.anything = False

    def __call__(self, piece: str) -> None:
        self._tell(self._thinking.feed(piece))

    def end(self) -> None:
        self._tell(self._thinking.end())

    def _tell(self, text: str) -> None:
        if text:
            self.anything = True
            self._say(text)


def _object(schema: Mapping[str, Any], raw: RawReply) -> dict[str, Any]:
    try:
        return read_object(raw.text, list(schema.get("required", ())))
    except ReplyUnusable as error:
        if raw.finish is not Finish.LENGTH:
            with contextlib.suppress(ReplyUnusable):
                return read_object(raw.text)  # under other names: the role reads it strictly
        raise _unusable(raw, str(error)) from None


def _unusable(raw: RawReply, why: str) -> ReplyUnusable:
    return CutOffError(f"{why}, with a higher max_tokens") if raw.finish is Finish.LENGTH else ReplyUnusable(why)


def _kind(error: ModelUnavailable | ModelRejected | ReplyUnusable, request: ChatRequest) -> str:
    """The name under which the meter counts it."""
    if isinstance(error, ReplyUnusable):
        return f"{'refused' if isinstance(error, RefusedError) else 'unusable'} {request.job}"
    if isinstance(error, ModelRejected):
        return f"rejected {error.status}" if error.status else "rejected"
    if isinstance(error, _TimedOutError | _ShortOfTimeError):
        return "timeout"
    if isinstance(error, _FailedError):
        return "failed"
    if error.status:
        return f"status {error.status}"
    return _UNREACHABLE if error.called else "circuit open"
