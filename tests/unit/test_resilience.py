"""A circuit breaker opens after failures in a row, lets one call try after the pause, and is safe between threads."""

import threading

import pytest

from selfright.resilience import Breaker
from tests.support.waiting import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(failures=3, cooldown_s=20.0, longest_s=50.0, clock=clock)


def ticket(breaker: Breaker) -> int:
    given = breaker.admit()
    assert given is not None
    return given


def open_it(breaker: Breaker) -> None:
    for _ in range(3):
        breaker.note_failure(ticket(breaker))
    assert breaker.admit() is None


def test_it_opens_after_failures_in_a_row(breaker: Breaker) -> None:
    for _ in range(5):
        breaker.note_failure(ticket(breaker))
        breaker.note_failure(ticket(breaker))
        breaker.note_success(ticket(breaker))
    assert breaker.blocked_for == 0.0
    open_it(breaker)
    assert breaker.blocked_for == 20.0


def test_after_the_pause_one_call_may_try(breaker: Breaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += 19.9
    assert breaker.admit() is None
    clock.now += 0.1
    trial = ticket(breaker)
    assert breaker.admit() is None
    breaker.note_success(trial)
    breaker.note_failure(ticket(breaker))  # closed: one failure does not open it
    assert breaker.admit() is not None


def test_failed_trials_double_the_pause_up_to_a_limit(breaker: Breaker, clock: Clock) -> None:
    open_it(breaker)
    pauses = []
    for _ in range(4):
        pauses.append(breaker.blocked_for)
        clock.now += breaker.blocked_for
        breaker.note_failure(ticket(breaker))
    assert pauses == [20.0, 40.0, 50.0, 50.0]
    clock.now += 50.0
    breaker.note_success(ticket(breaker))
    open_it(breaker)
    assert breaker.blocked_for == 20.0  # it begins anew


def test_a_wrong_key_opens_it_at_once(breaker: Breaker, clock: Clock) -> None:
    breaker.note_rejection(ticket(breaker))
    assert breaker.blocked_for == 20.0
    clock.now += 20.0
    breaker.note_rejection(ticket(breaker))
    assert breaker.blocked_for == 40.0


def test_a_cancelled_trial_lets_the_next_call_try(breaker: Breaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += 20.0
    breaker.release(ticket(breaker))
    assert breaker.admit() is not None


def test_a_lost_trial_does_not_block_for_good(breaker: Breaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += 20.0
    lost = ticket(breaker)
    clock.now += 50.0
    trial = ticket(breaker)
    breaker.note_success(lost)  # too late to tell anything
    assert breaker.admit() is None
    breaker.note_success(trial)
    assert breaker.admit() is not None


def test_calls_that_fail_together_open_it_once(breaker: Breaker, clock: Clock) -> None:
    late, *early = [ticket(breaker) for _ in range(50)]
    for given in early:
        breaker.note_failure(given)
    assert breaker.blocked_for == 20.0
    breaker.note_success(late)  # began before it opened
    assert breaker.blocked_for == 20.0
    clock.now += 20.0
    trial = ticket(breaker)
    breaker.note_failure(late)
    breaker.note_success(trial)
    assert breaker.blocked_for == 0.0


def test_of_many_threads_one_gets_the_trial(breaker: Breaker, clock: Clock) -> None:
    open_it(breaker)
    clock.now += 20.0
    gate, given = threading.Barrier(16), []

    def ask() -> None:
        gate.wait()
        given.append(breaker.admit())

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(trial is not None for trial in given) == 1
