import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from selfright.domain.chat import ChatRequest, Finish, Job
from selfright.domain.errors import (
    JudgeFailed,
    ModelRejected,
    ModelUnavailable,
    SelfrightError,
    UnknownName,
    UsageError,
    WebUnavailable,
)
from selfright.domain.passages import WebFinding
from selfright.telemetry.recording import MOST_CALLS, NotRecordedError, Player, Recorder, Recording
from selfright.telemetry.taps import ModelReply, PortCall, RecordedError, error_form, error_of, through, through_now

SEARCH = PortCall("web", "search", ("question", 5))
FOUND = WebFinding((), "static", 1)
ASK = PortCall("model", "attempt", ("openai:m", ChatRequest(Job.REWRITE, "system", "user"), "text"))
SUFFICES = PortCall("router", "suffices", ("q", ()))


def said(text: str) -> ModelReply:
    return text, Finish.STOP, 3, None, 0


def reply(value: Any) -> Callable[[], Awaitable[Any]]:
    async def ask() -> Any:
        if isinstance(value, BaseException):
            raise value
        return value

    return ask


def nobody() -> Callable[[], Awaitable[Any]]:
    return reply(AssertionError("the port was asked"))


def recorded(*calls: tuple[PortCall, Any]) -> Recording:
    """What is read back after these calls were recorded with these outcomes."""

    async def run(recorder: Recorder) -> None:
        for call, value in calls:
            if not isinstance(value, BaseException):
                assert await through(recorder, call, reply(value)) is value
                continue
            with pytest.raises(type(value)) as caught:
                await through(recorder, call, reply(value))
            assert caught.value is value

    recorder = Recorder(1_000_000)
    asyncio.run(run(recorder))
    recording = Recording(json.loads(line) for line in recorder.lines)
    assert not recording.cut
    return recording


def play(recording: Recording, call: PortCall, ask: Callable[[], Awaitable[Any]], *, may: bool = True) -> Any:
    return asyncio.run(through(Player(recording, lambda _port: may), call, ask))


def test_what_was_recorded_is_played() -> None:
    assert play(recorded((SEARCH, FOUND)), SEARCH, nobody()) == FOUND


def test_other_arguments_are_another_call() -> None:
    other = PortCall("web", "search", ("another question", 5))
    player = Player(recorded((SEARCH, FOUND)), lambda _port: True)
    assert asyncio.run(through(player, other, reply("live"))) == "live"
    assert (dict(player.asked), dict(player.reused)) == ({"web": 1}, {})


def test_repeated_calls_are_answered_in_turn_and_then_as_the_last() -> None:
    player = Player(recorded((ASK, said("first")), (ASK, said("second"))), lambda _port: False)
    replies = [asyncio.run(through(player, ASK, nobody())) for _ in range(4)]
    assert replies == [said(text) for text in ("first", "second", "second", "second")]
    assert player.reused["model"] == 4


def test_a_call_that_failed_fails_again() -> None:
    failure = ModelUnavailable("gone", status=503, retry_after=2.0)
    recording = recorded((ASK, failure), (ASK, said("at last")))
    player = Player(recording, lambda _port: False)
    with pytest.raises(ModelUnavailable, match="gone") as caught:
        asyncio.run(through(player, ASK, nobody()))
    assert (caught.value.status, caught.value.retry_after, caught.value.called) == (503, 2.0, True)
    assert asyncio.run(through(player, ASK, nobody())) == said("at last")


def test_a_call_that_was_given_up_fails_as_out_of_reach() -> None:
    with pytest.raises(ModelUnavailable, match="given up"):
        play(recorded((ASK, asyncio.CancelledError())), ASK, nobody())


def test_a_player_can_go_back_to_where_it_was() -> None:
    player = Player(recorded((ASK, said("first")), (ASK, said("second"))), lambda _port: False)
    assert asyncio.run(through(player, ASK, nobody())) == said("first")
    back = player.mark()
    for _ in range(2):
        assert asyncio.run(through(player, ASK, nobody())) == said("second")
        back()
    assert player.reused["model"] == 1


def test_what_may_not_be_asked_is_missing_by_name() -> None:
    player = Player(recorded(), lambda port: port != "model")
    with pytest.raises(NotRecordedError, match="no reply for 'rewrite'; replay with --live"):
        asyncio.run(through(player, ASK, nobody()))
    assert player.missing == ["rewrite"]
    assert asyncio.run(through(player, SUFFICES, reply(True))) is True


def test_each_port_says_in_its_own_way_that_it_may_not_be_asked() -> None:
    # Roles hand the job to their offline twin when a model turns them down, and a turn goes on without the web.
    errors = {"model": ModelRejected, "web": WebUnavailable}
    for port in ("model", "web", "retriever", "router", "grader", "classifier", "profiles", "slots"):
        with pytest.raises(SelfrightError, match=r"no reply for .*--live") as caught:
            play(recorded(), PortCall(port, "job", ("q", "what")), reply("must not be asked"), may=False)
        assert isinstance(caught.value, errors.get(port, UsageError)), port


def test_ports_that_do_not_wait_are_recorded_too() -> None:
    recorder = Recorder(10_000)
    assert through_now(recorder, SUFFICES, lambda: True) is True
    with pytest.raises(ZeroDivisionError):
        through_now(recorder, SUFFICES, lambda: bool(1 // 0))
    player = Player(Recording(map(json.loads, recorder.lines)), lambda _port: False)
    assert through_now(player, SUFFICES, lambda: False) is True
    with pytest.raises(RecordedError, match=r"^ZeroDivisionError$"):
        through_now(player, SUFFICES, lambda: False)


def test_a_recording_is_bounded_in_bytes_and_calls() -> None:
    recorder = Recorder(10_000)
    for number in range(100):
        through_now(recorder, PortCall("model", "attempt", (number,)), lambda: said("x" * 500))
    assert Recording(map(json.loads, recorder.lines)).cut
    assert 5_000 < sum(len(line) + 1 for line in recorder.lines) <= 10_100
    many = Recorder(1_000_000_000)
    for number in range(MOST_CALLS + 10):
        through_now(many, PortCall("router", "suffices", (number,)), lambda: True)
    assert len(many.lines) == MOST_CALLS + 1  # and one that says so


def test_what_cannot_be_written_is_left_out_and_the_reply_still_comes(caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder(10_000)
    thing = object()
    assert through_now(recorder, SEARCH, lambda: thing) is thing
    assert recorder.lines == ()
    assert "was not recorded" in caplog.text


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"call": "a"},
        {"call": "a", "digest": "b"},
        {"call": "a.b", "digest": "b", "result": 1},
        {"call": "web.search", "digest": "b", "result": {"record": ["Popen", {}]}},
        {"call": "web.search", "digest": "b", "result": 3},
        {"call": "web.os", "digest": "b", "result": 3},
        {"call": "web.search", "digest": "b", "error": "oh"},
        {"call": "web.search", "digest": "b", "error": {"name": "__import__('os')"}},
        {"start": 3},
        {"start": {"messages": 3}},
    ],
    ids=str,
)
def test_damaged_lines_are_counted_and_harmless(line: dict[str, Any]) -> None:
    recording = Recording([line])
    assert recording.damaged == 1
    assert recording.start is None


def test_a_recording_knows_its_start() -> None:
    recorder = Recorder(10_000)
    recorder.begin({"user_text": "왜?", "messages": (), "iteration_count": 0})
    recording = Recording(map(json.loads, recorder.lines))
    assert recording.start == {"user_text": "왜?", "messages": (), "iteration_count": 0}


class OwnError(ModelRejected):
    """An error that somebody derived from ours."""


@pytest.mark.parametrize(
    "error",
    [
        JudgeFailed("no number"),
        ModelRejected("no", status=404),
        ModelUnavailable("later", called=False),
        WebUnavailable("gone", status=500, requests=3),
        UnknownName("flag", "topk", ["top_k"]),
        OwnError("mine", status=400),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_the_domain_come_back_as_themselves(error: SelfrightError) -> None:
    again = error_of(json.loads(json.dumps(error_form(error))))
    base = ModelRejected if isinstance(error, OwnError) else type(error)
    assert (type(again), str(again)) == (base, str(error))
    for detail in ("status", "retry_after", "called", "requests"):
        assert getattr(again, detail, None) == getattr(error, detail, None)


def test_of_other_errors_only_the_name_is_kept() -> None:
    again = error_of(error_form(KeyError("a secret")))
    assert isinstance(again, RecordedError)
    assert str(again) == "KeyError"
    assert "secret" not in json.dumps(error_form(KeyError("a secret")))
    assert isinstance(error_of(error_form(NotImplementedError())), NotImplementedError)
