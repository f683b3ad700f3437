"""A turn's meter: one call is held back for the final answer, and time is asked of the clock that was given."""

import pytest

from selfright.domain.answers import Cost
from selfright.domain.budget import Meter
from tests.support.waiting import Clock


def meter(max_llm_calls: int = 3) -> Meter:
    return Meter(max_llm_calls, max_tokens=1000, deadline_s=10.0, clock=Clock())


@pytest.mark.parametrize(
    ("most", "calls", "spent"), [(3, 0, False), (3, 1, False), (3, 2, True), (3, 3, True), (1, 0, True)]
)
def test_the_last_call_is_held_back(most: int, calls: int, spent: bool) -> None:
    turn = meter(most)
    turn.llm_calls = calls
    assert turn.calls_spent is spent


@pytest.mark.parametrize(("prompt", "completion", "spent"), [(600, 399, False), (600, 400, True), (1200, 0, True)])
def test_tokens_of_both_kinds_count(prompt: int, completion: int, spent: bool) -> None:
    turn = meter()
    turn.prompt_tokens, turn.completion_tokens = prompt, completion
    assert turn.calls_spent is spent


def test_the_deadline_passes_with_the_clock() -> None:
    clock = Clock()
    turn = Meter(max_llm_calls=3, max_tokens=1000, deadline_s=10.0, clock=clock)
    clock.now += 9.5
    assert turn.seconds == 9.5
    assert not turn.deadline_passed
    clock.now += 0.5
    assert turn.deadline_passed


def test_the_bill_lists_what_was_used() -> None:
    clock = Clock()
    turn = Meter(max_llm_calls=3, max_tokens=1000, deadline_s=10.0, clock=clock)
    turn.llm_calls, turn.prompt_tokens, turn.completion_tokens, turn.web_requests = 2, 300, 40, 1
    clock.now += 1.5
    assert turn.cost() == Cost(llm_calls=2, prompt_tokens=300, completion_tokens=40, web_requests=1, seconds=1.5)
