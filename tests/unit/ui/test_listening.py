"""Events are passed on as they come, with pauses, and an end that reaches the stream."""

import threading
from collections.abc import Generator

import pytest

from selfright.domain.errors import ServiceError
from selfright.ui.state import listen
from selfright.wire.answers import AnswerToken, TurnEvent


def token(text: str) -> AnswerToken:
    return AnswerToken(text=text, iteration=0)


def test_all_events_come_in_order_and_silence_is_told() -> None:
    go = threading.Event()

    def stream() -> Generator[TurnEvent, None, None]:
        yield token("a")
        go.wait(30)
        for n in range(200):
            yield token(str(n))

    events = listen(stream())
    assert next(events) == token("a")
    assert next(events) is None
    go.set()
    assert [event for event in events if event is not None] == [token(str(n)) for n in range(200)]


def test_an_error_comes_after_what_was_heard_before_it() -> None:
    def stream() -> Generator[TurnEvent, None, None]:
        yield token("a")
        raise ServiceError("no")

    events = listen(stream())
    assert next(events) == token("a")
    with pytest.raises(ServiceError, match="no"):
        next(events)


def test_the_stream_is_closed_when_nobody_listens_any_more() -> None:
    closed = threading.Event()

    def stream() -> Generator[TurnEvent, None, None]:
        try:
            while True:
                yield token("a")
        finally:
            closed.set()

    events = listen(stream())
    next(events)
    events.close()
    assert closed.wait(30)
