"""A call within a turn: what is counted, limited, retried, read and said, with a scripted backend and its own clock."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.budget import Meter
from selfright.domain.chat import ChatReply, ChatRequest, Finish, Job, OnText
from selfright.domain.errors import BudgetSpent, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.llm.backend import Mode, RawReply
from selfright.llm.calling import CallPolicy, TurnModel, estimate_tokens
from selfright.llm.structured import Capabilities
from selfright.resilience import Breaker
from tests.support.waiting import Clock

SCHEMA: dict[str, Any] = {
    "title": "Judgement",
    "type": "object",
    "properties": {"score": {"type": "number"}, "reason": {"type": "string"}},
    "required": ["score", "reason"],
}
PLAIN = ChatRequest(Job.ANSWER, "Answer.", "Why?")
OBJECT = ChatRequest(Job.EVALUATE, "Judge.", "This.", schema=SCHEMA)
GOOD = '{"score": 0.8, "reason": "fits"}'

Step = str | RawReply | Exception | Callable[[OnText | None], Awaitable[RawReply]]


@dataclass
class Script:
    """A backend that does one step after the other, the last one again and again."""

    steps: Sequence[Step]
    name: str = "test:model"
    provider: str = "test"
    seen: list[tuple[ChatRequest, Mode]] = field(default_factory=list)

    async def attempt(self, request: ChatRequest, mode: Mode, on_text: OnText | None = None) -> RawReply:
        step = self.steps[min(len(self.seen), len(self.steps) - 1)]
        self.seen.append((request, mode))
        if isinstance(step, Exception):
            raise step
        if isinstance(step, str):
            if on_text:
                on_text(step)
            return RawReply(step)
        return step if isinstance(step, RawReply) else await step(on_text)

    @property
    def modes(self) -> list[Mode]:
        return [mode for _, mode in self.seen]


@dataclass
class Turn:
    """A model over a script, with all that it shares."""

    backend: Script
    clock: Clock = field(default_factory=Clock)
    capabilities: Capabilities = field(default_factory=Capabilities)
    policy: CallPolicy = field(default_factory=CallPolicy)
    calls: int = 12
    tokens: int = 60_000
    deadline: float = 120.0

    def __post_init__(self) -> None:
        self.meter = Meter(self.calls, self.tokens, self.deadline, self.clock)
        self.breaker = Breaker(clock=self.clock)
        self.said: list[str] = []
        self.model = TurnModel(
            self.backend, self.meter, self.policy, self.breaker, self.capabilities, self.clock.sleep, lambda: 0.5
        )

    def ask(self, request: ChatRequest = PLAIN, *, aloud: bool = False) -> ChatReply:
        return asyncio.run(self.model.complete(request, self.said.append if aloud else None))


def turn(*steps: Step, **others: Any) -> Turn:
    return Turn(Script(steps), **others)


def final(request: ChatRequest = PLAIN) -> ChatRequest:
    return ChatRequest(request.job, request.system, request.user, schema=request.schema, final=True)


def down(status: int | None = 503, retry_after: float | None = None) -> ModelUnavailable:
    return ModelUnavailable("down", status=status, retry_after=retry_after)


# --- what comes back


def test_text_comes_without_thinking_and_is_counted() -> None:
    one = turn(RawReply("<think>hm</think>\nBecause.", prompt_tokens=30, completion_tokens=7))
    assert one.ask() == ChatReply("Because.", Finish.STOP, None, 30, 7, "test:model")
    assert (one.meter.prompt_tokens, one.meter.completion_tokens) == (30, 7)
    assert (one.meter.llm_calls, one.meter.degraded, one.meter.troubles) == (1, False, {})


def test_tokens_are_estimated_where_none_are_given() -> None:
    assert [estimate_tokens(text) for text in ("", "abcd", "abcde", "가나다", "가나 abc")] == [0, 1, 2, 3, 3]
    one = turn("Because it is so")
    assert (one.ask().prompt_tokens, one.ask().completion_tokens) == (3, 4)
    assert turn(GOOD).ask(OBJECT).completion_tokens == 8


def test_an_object_is_read_from_text() -> None:
    expected = {"score": 0.8, "reason": "fits"}
    assert turn(f"```json\n{GOOD}\n```").ask(OBJECT).data == expected
    assert turn(f"Here: {GOOD}").ask(OBJECT).data == expected


def test_text_that_was_cut_off_is_given_as_such() -> None:
    assert turn(RawReply("Because", Finish.LENGTH)).ask().finish is Finish.LENGTH


@pytest.mark.parametrize("text", ['{"reason": "fits", "score": 0.', '{"score": 0.8, "reason": "fits", "more": "an'])
def test_an_object_that_was_cut_off_is_asked_for_again_with_more_room(text: str) -> None:
    cut = RawReply(text, Finish.LENGTH)
    one = turn(cut, GOOD)
    assert one.ask(OBJECT).data == {"score": 0.8, "reason": "fits"}
    assert [request.max_tokens for request, _ in one.backend.seen] == [1024, 2048]
    with pytest.raises(ReplyUnusable):
        turn(cut).ask(OBJECT)


# --- what cannot be used


def test_an_empty_reply_is_asked_for_once_more() -> None:
    assert turn("<think>only</think>", "Because.").ask().text == "Because."
    one = turn(" \n")
    with pytest.raises(ReplyUnusable, match="expected text"):
        one.ask()
    assert (one.meter.llm_calls, one.meter.degraded, one.meter.troubles) == (2, False, {"unusable answer": 1})


def test_a_refusal_is_final() -> None:
    one = turn(RawReply("I cannot help.", Finish.REFUSED))
    with pytest.raises(ReplyUnusable, match="refused"):
        one.ask()
    assert (one.meter.llm_calls, one.meter.troubles) == (1, {"refused answer": 1})


def test_an_unreadable_object_is_asked_for_once_more_in_words() -> None:
    one = turn("I would say 0.8.", GOOD)
    assert one.ask(OBJECT).data == {"score": 0.8, "reason": "fits"}
    assert one.backend.modes == [Mode.SCHEMA, Mode.TEXT]
    assert '"score"' not in one.backend.seen[0][0].user
    assert one.backend.seen[1][0].user.startswith("This.\n\nAnswer with one JSON object only")
    assert '"required": ["score", "reason"]' in one.backend.seen[1][0].user
    one = turn("never")
    with pytest.raises(ReplyUnusable, match="score, reason"):
        one.ask(OBJECT)
    assert (one.meter.llm_calls, one.meter.troubles) == (2, {"unusable evaluate": 1})


def test_a_mode_that_is_known_to_work_is_kept_for_the_second_chance() -> None:
    known = Capabilities()
    known.learn("test:model", Mode.SCHEMA)
    one = turn("garbage", GOOD, capabilities=known)
    one.ask(OBJECT)
    assert one.backend.modes == [Mode.SCHEMA, Mode.SCHEMA]
    assert '"score": {"type": "number"' in one.backend.seen[1][0].user


def test_one_unreadable_reply_does_not_change_what_others_learned() -> None:
    known = Capabilities()

    async def meanwhile(on_text: OnText | None) -> RawReply:
        known.learn("test:model", Mode.SCHEMA)
        return RawReply("garbage")

    turn(meanwhile, GOOD, capabilities=known).ask(OBJECT)
    assert known.mode("test:model") is Mode.SCHEMA


# --- the ladder


@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_rejected_mode_goes_one_rung_down_and_is_remembered(status: int) -> None:
    known = Capabilities()
    one = turn(ModelRejected("no schema", status=status), GOOD)
    one = Turn(one.backend, capabilities=known)
    one.ask(OBJECT)
    assert one.backend.modes == [Mode.SCHEMA, Mode.TEXT]
    assert (one.meter.llm_calls, one.meter.troubles, one.clock.slept) == (2, {}, [])
    assert known.mode("test:model") is Mode.TEXT
    again = turn(GOOD, capabilities=known)
    again.ask(OBJECT)
    assert again.backend.modes == [Mode.TEXT]


def test_a_mode_the_library_lacks_costs_no_call() -> None:
    one = turn(NotImplementedError(), GOOD)
    one.ask(OBJECT)
    assert (one.backend.modes[-1], one.meter.llm_calls) == (Mode.TEXT, 1)


def test_a_call_that_no_mode_helps_is_rejected() -> None:
    one = turn(ModelRejected("too long", status=400))
    with pytest.raises(ModelRejected, match="too long"):
        one.ask(OBJECT)
    assert (one.meter.llm_calls, one.meter.degraded, one.meter.troubles) == (2, True, {"rejected 400": 1})
    assert one.capabilities.mode("test:model") is None
    plain = turn(ModelRejected("too long", status=400))
    with pytest.raises(ModelRejected):
        plain.ask()
    assert plain.meter.llm_calls == 1


def test_words_are_in_the_language_of_the_system_prompt() -> None:
    known = Capabilities()
    known.learn("test:model", Mode.TEXT)
    one = turn(GOOD, capabilities=known)
    one.ask(ChatRequest(Job.EVALUATE, "답을 평가하세요.", "This.", schema=SCHEMA))
    assert "JSON 객체 하나로만 답하세요" in one.backend.seen[0][0].user


# --- the budget


BUDGETS = [(2, False, True), (3, False, False), (3, True, True), (4, True, False)]


@pytest.mark.parametrize(("spent", "is_final", "allowed"), BUDGETS)
def test_one_call_is_held_back_for_the_final_answer(spent: int, is_final: bool, allowed: bool) -> None:
    one = turn("Because.", calls=4)
    one.meter.llm_calls = spent
    if allowed:
        one.ask(final() if is_final else PLAIN)
    else:
        with pytest.raises(BudgetSpent):
            one.ask(final() if is_final else PLAIN)
    assert one.meter.llm_calls == spent + allowed
    assert (one.meter.degraded, one.meter.troubles) == (False, {})


def test_spent_tokens_leave_the_final_answer() -> None:
    one = turn("Because.", tokens=100)
    one.meter.prompt_tokens, one.meter.completion_tokens = 60, 40
    with pytest.raises(BudgetSpent, match="tokens"):
        one.ask()
    assert one.ask(final()).text == "Because."


def test_nothing_is_asked_after_the_deadline() -> None:
    one = turn("Because.")
    one.clock.now += 120.0
    with pytest.raises(BudgetSpent, match="120 s are over"):
        one.ask(final())
    assert one.backend.seen == []


def test_retries_and_rungs_do_not_take_the_call_held_back() -> None:
    one = turn(down(), calls=2)
    with pytest.raises(ModelUnavailable, match="down"):
        one.ask()
    assert (one.meter.llm_calls, one.clock.slept) == (1, [])
    one = turn(ModelRejected("no", status=400), calls=3)
    with pytest.raises(ModelRejected):
        one.ask(OBJECT)
    assert one.meter.llm_calls == 2
    one = turn("garbage", calls=2)
    with pytest.raises(ReplyUnusable):
        one.ask(OBJECT)
    assert one.meter.llm_calls == 1


@pytest.mark.parametrize("step", [GOOD, "", down(), ModelRejected("no", status=400)])
async def test_fifty_calls_side_by_side_keep_to_the_budget(step: Step) -> None:
    async def slow(on_text: OnText | None) -> RawReply:
        await asyncio.sleep(0)
        if isinstance(step, Exception):
            raise step
        return RawReply(str(step))

    one = turn(slow, calls=10)
    one.breaker = one.model.breaker = Breaker(failures=1000)
    calls = [one.model.complete(OBJECT) for _ in range(50)]
    replies = await asyncio.gather(*calls, return_exceptions=True)
    assert len(one.backend.seen) == one.meter.llm_calls == 9
    assert sum(isinstance(reply, BudgetSpent) for reply in replies) >= 41
    assert {type(reply) for reply in replies} <= {
        ChatReply, BudgetSpent, ReplyUnusable, ModelUnavailable, ModelRejected,
    }  # fmt: skip


# --- retries


def test_what_is_down_is_tried_again_with_jitter() -> None:
    one = turn(down(), down(429), "Because.")
    assert one.ask().text == "Because."
    assert one.clock.slept == [0.25, 0.5]
    assert (one.meter.llm_calls, one.meter.degraded, one.meter.troubles) == (3, False, {})


def test_attempts_and_pauses_are_bounded() -> None:
    one = turn(down(None), policy=CallPolicy(attempts=8, first_wait_s=1.0, longest_wait_s=3.0))
    one.breaker = one.model.breaker = Breaker(failures=1000)
    with pytest.raises(ModelUnavailable):
        one.ask()
    assert one.clock.slept == [0.5, 1.0, 1.5, 1.5, 1.5, 1.5, 1.5]
    assert (one.meter.llm_calls, one.meter.degraded, one.meter.troubles) == (8, True, {"unreachable": 1})


def test_retry_after_is_kept_when_it_fits_into_the_time_left() -> None:
    one = turn(down(429, retry_after=30.0), "Because.")
    one.ask()
    assert one.clock.slept == [30.25]


def test_what_others_spend_during_the_pause_is_not_there_any_more() -> None:
    one = turn(down(429, retry_after=1.0))

    async def sleep(seconds: float) -> None:
        one.meter.llm_calls = 12

    one.model.sleep = sleep
    with pytest.raises(ModelUnavailable, match="down"):  # what went wrong, not that there is no second attempt
        one.ask()
    assert len(one.backend.seen) == 1


@pytest.mark.parametrize("seconds", [119.9, 3600.0, float("inf"), float("nan")])
def test_retry_after_that_does_not_fit_ends_the_call_at_once(seconds: float) -> None:
    one = turn(down(429, retry_after=seconds))
    with pytest.raises(ModelUnavailable):
        one.ask()
    assert (one.clock.slept, one.meter.llm_calls, one.meter.troubles) == ([], 1, {"status 429": 1})


def test_a_model_out_of_reach_is_told_once_a_turn_with_what_to_check(caplog: pytest.LogCaptureFixture) -> None:
    one = turn(ModelUnavailable("test:model@http://nonsense/v1 cannot be reached (ConnectError); check its address"))
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            one.ask()
    assert [record.message for record in caplog.records] == [
        "test:model@http://nonsense/v1 cannot be reached (ConnectError); check its address"
    ]


def test_an_error_nobody_foresaw_is_unavailable_and_tells_nothing_of_the_prompt(
    caplog: pytest.LogCaptureFixture,
) -> None:
    one = turn(ZeroDivisionError("prompt: secret"))
    with caplog.at_level(logging.WARNING), pytest.raises(ModelUnavailable, match="ZeroDivisionError") as caught:
        one.ask()
    assert "secret" not in str(caught.value) + caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert (one.meter.llm_calls, one.meter.troubles) == (3, {"failed": 1})


# --- the breaker


def test_an_open_breaker_is_not_called() -> None:
    one = turn(down())
    for _ in range(2):
        with pytest.raises(ModelUnavailable) as caught:
            one.ask()
    assert (caught.value.called, one.meter.llm_calls) == (False, 3)
    assert (one.meter.degraded, one.meter.troubles) == (True, {"status 503": 1, "circuit open": 1})


def test_after_the_pause_it_is_back() -> None:
    one = turn(down(), down(), down(), "Because.")
    with pytest.raises(ModelUnavailable):
        one.ask()
    one.clock.now += 20.0
    assert one.ask().text == "Because."
    assert one.ask().text == "Because."


def test_retries_stop_when_the_breaker_opens() -> None:
    one = turn(down(), policy=CallPolicy(attempts=10))
    with pytest.raises(ModelUnavailable, match="down"):
        one.ask()
    assert (one.meter.llm_calls, len(one.clock.slept)) == (3, 2)


@pytest.mark.parametrize(("status", "called"), [(401, False), (403, False), (400, True), (None, True)])
def test_a_wrong_key_is_not_tried_again(status: int | None, called: bool) -> None:
    one = turn(ModelRejected("no", status=status))
    with pytest.raises(ModelRejected):
        one.ask()
    assert one.meter.troubles == {f"rejected {status}" if status else "rejected": 1}
    with pytest.raises(ModelRejected if called else ModelUnavailable):
        one.ask()
    assert one.meter.llm_calls == 1 + called


def test_answers_of_no_use_do_not_open_the_breaker() -> None:
    one = turn("")
    for _ in range(4):
        with pytest.raises(ReplyUnusable):
            one.ask()
    assert one.breaker.blocked_for == 0.0


# --- time


async def stuck(on_text: OnText | None) -> RawReply:
    await asyncio.sleep(60)
    raise AssertionError


def test_an_attempt_that_takes_too_long_is_a_time_out() -> None:
    one = turn(stuck, "Because.", policy=CallPolicy(timeout_s=0.01))
    assert one.ask().text == "Because."
    one = turn(stuck, policy=CallPolicy(timeout_s=0.01))
    with pytest.raises(ModelUnavailable, match=r"timed out after 0\.0 s"):
        one.ask()
    assert one.meter.troubles == {"timeout": 1}
    assert one.breaker.blocked_for > 0


def test_the_deadline_ends_an_attempt_and_does_not_blame_the_provider() -> None:
    async def late(on_text: OnText | None) -> RawReply:
        one.clock.now += 1.0
        return await stuck(on_text)

    one = turn(late, deadline=0.02)
    for _ in range(5):
        one.meter.started = one.clock.now
        with pytest.raises(ModelUnavailable, match="timed out"):
            one.ask(final())
    assert (one.meter.llm_calls, one.breaker.blocked_for) == (5, 0.0)


def test_calls_beside_the_answer_take_a_third_of_the_time() -> None:
    async def slow(on_text: OnText | None) -> RawReply:
        one.clock.now += 25.0
        return RawReply("Because.")

    one = turn(slow)
    one.ask()
    one.ask()
    assert one.meter.aside_s == 50.0
    with pytest.raises(BudgetSpent, match="50 s, a third of the turn's 120 s"):
        one.ask()
    assert one.ask(final()).text == "Because."
    assert one.meter.aside_s == 50.0
    assert (one.meter.troubles, one.breaker.blocked_for) == ({}, 0.0)


async def test_calls_side_by_side_take_their_time_once() -> None:
    async def slow(on_text: OnText | None) -> RawReply:
        await asyncio.sleep(0)
        one.clock.now += 5.0
        return RawReply("Because.")

    one = turn(slow)
    await asyncio.gather(*(one.model.complete(PLAIN) for _ in range(3)))
    assert one.meter.aside_s == 15.0  # the clock's own seconds, none of them counted three times


def test_an_attempt_beside_the_answer_is_cut_off_at_the_third() -> None:
    one = turn(stuck, "Because.", deadline=0.06)
    with pytest.raises(ModelUnavailable, match=r"timed out after 0\.0 s"):
        one.ask()
    assert one.breaker.blocked_for == 0.0


def test_the_librarys_own_time_out_is_not_ours() -> None:
    one = turn(TimeoutError("socket"), "Because.")
    assert one.ask().text == "Because."
    one = turn(TimeoutError("socket"))
    with pytest.raises(ModelUnavailable, match="failed with TimeoutError"):
        one.ask()
    assert one.meter.troubles == {"failed": 1}


async def test_cancelling_goes_through_and_ends_the_call_under_way() -> None:
    ended: list[str] = []

    async def watched(on_text: OnText | None) -> RawReply:
        try:
            return await stuck(on_text)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    one = turn(watched)
    for _ in range(3):
        one.breaker.note_failure(one.breaker.admit() or 0)
    one.clock.now += 20.0  # the call under way is the breaker's trial
    task = asyncio.create_task(one.model.complete(PLAIN))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (ended, one.meter.llm_calls, one.meter.degraded, one.meter.troubles) == (["cancelled"], 1, False, {})
    assert one.breaker.admit() is not None


# --- saying it


def test_what_is_said_is_without_thinking() -> None:
    async def pieces(on_text: OnText | None) -> RawReply:
        assert on_text is not None
        for piece in ("<thi", "nk>hm</th", "ink>\n\nBe", "cause <", "it."):
            on_text(piece)
        return RawReply("<think>hm</think>\n\nBecause <it.")

    one = turn(pieces)
    assert one.ask(aloud=True).text == "Because <it."
    assert one.said == ["Be", "cause ", "<it."]


def test_an_object_is_not_said() -> None:
    one = turn(GOOD)
    one.ask(OBJECT, aloud=True)
    assert one.said == []


def broken_after(text: str) -> Step:
    async def step(on_text: OnText | None) -> RawReply:
        assert on_text is not None
        on_text(text)
        raise down(None)

    return step


def test_what_was_heard_cannot_be_taken_back() -> None:
    one = turn(broken_after("Because "), "Because.")
    with pytest.raises(ModelUnavailable):
        one.ask(aloud=True)
    assert (one.said, one.meter.llm_calls, one.meter.degraded) == (["Because "], 1, True)


def test_thinking_aloud_was_not_heard() -> None:
    one = turn(broken_after("<think>Beca"), "Because.")
    assert one.ask(aloud=True).text == "Because."
    assert one.said == ["Because."]


# --- whatever happens

REPLIES: list[Step] = ["", "Because.", GOOD, "<think>", stuck]
CUT_OFF = [RawReply("", Finish.REFUSED), RawReply('{"score": 0.', Finish.LENGTH)]
DOWN = [down(), down(429, 5.0), down(None), TimeoutError(), KeyError("x")]
REJECTED = [ModelRejected("no", status=400), ModelRejected("no", status=401), NotImplementedError()]
STEPS = st.sampled_from([*REPLIES, *CUT_OFF, *DOWN, *REJECTED])


@given(
    st.lists(STEPS, min_size=1, max_size=8),
    st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=4),
    st.integers(1, 6),
)
def test_whatever_happens_calls_are_bounded_and_errors_have_a_name(
    steps: list[Step], asked: list[tuple[bool, bool, bool]], calls: int
) -> None:
    one = turn(*steps, calls=calls, policy=CallPolicy(timeout_s=0.002))
    for schema, is_final, aloud in asked:
        request = OBJECT if schema else PLAIN
        before = sum(one.meter.troubles.values())
        try:
            reply = one.ask(final(request) if is_final else request, aloud=aloud)
        except BudgetSpent:
            continue
        except (ModelUnavailable, ModelRejected) as error:
            assert one.meter.degraded, error  # noqa: PT017 - any outcome with a name is right
        except ReplyUnusable:
            pass
        else:
            assert reply.text.strip() if reply.data is None else {"score", "reason"} <= reply.data.keys()
            continue
        assert sum(one.meter.troubles.values()) == before + 1
    held_back = not any(is_final for _, is_final, _ in asked)
    assert one.meter.llm_calls <= max(0, calls - held_back)
    unsent = sum(isinstance(step, NotImplementedError) for step in steps) * (len(one.backend.seen) + 1)
    assert one.meter.llm_calls <= len(one.backend.seen) <= one.meter.llm_calls + unsent
