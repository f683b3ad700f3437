"""Admission by what turns before took: nothing is refused before there are some, or while they keep the bound."""

import asyncio
from collections import deque

import pytest

from selfright.entrypoints.server.admission import Limits, TurnLimiter
from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.pace import Pace


class Machine:
    """Clocks that a story moves."""

    def __init__(self, stretch: float = 2.0, places: int = 64) -> None:
        self.now = self.cpu = 0.0
        self.pace = Pace(stretch, places, lambda: self.now, lambda: self.cpu, cores=1)

    def turns(self, count: int, seconds: float, cpu: float) -> None:
        """Turns one after the other."""
        for _ in range(count):
            mark = self.pace.begin(1)
            self.now += seconds
            self.cpu += cpu
            self.pace.end(mark, 1)

    def crowd(self, count: int, apart: float, cpu: float) -> None:
        """``count`` turns at any time, for two rounds: one ends every ``apart`` seconds, and another begins."""
        marks = deque(self.pace.begin(count) for _ in range(count))
        for _ in range(2 * count):
            self.now += apart
            self.cpu += cpu
            self.pace.end(marks.popleft(), count)
            marks.append(self.pace.begin(count))


def room(pace: Pace) -> int:
    """How many turns are let in."""
    return next((n for n in range(1_000) if pace.wait(n) is not None), 1_000)


def test_nothing_is_refused_before_some_turns_have_ended() -> None:
    machine = Machine()
    machine.turns(7, 5.0, 5.0)
    assert room(machine.pace) == 1_000


def test_the_bound_follows_from_a_turn_alone_and_its_cpu_time() -> None:
    machine = Machine(places=1_000)
    machine.turns(20, seconds=2.0, cpu=0.02)
    assert room(machine.pace) == pytest.approx(120, abs=1)  # 120 x 0.02 s = 1.2 x 2 s
    machine.turns(40, seconds=2.0, cpu=0.04)  # another preset, or a slower machine
    assert room(machine.pace) == pytest.approx(60, abs=1)


def test_places_bound_what_ends_in_time() -> None:
    machine = Machine(places=4)
    machine.turns(20, seconds=2.0, cpu=0.001)
    assert room(machine.pace) == pytest.approx(5, abs=1)  # 5 turns of 2 s in 4 places: 2.5 s


def test_what_others_take_from_the_process_counts_once_turns_wait() -> None:
    machine = Machine(places=1_000)
    machine.turns(10, seconds=2.0, cpu=0.02)
    machine.crowd(100, apart=0.05, cpu=0.02)  # the machine gives it two fifths of a core
    assert room(machine.pace) == pytest.approx(48, abs=1)  # 48 x 0.05 s
    machine.turns(40, seconds=2.0, cpu=0.02)
    assert room(machine.pace) == pytest.approx(120, abs=1)


def test_greetings_between_slow_answers_keep_nobody_out() -> None:
    machine = Machine()
    for _ in range(16):
        machine.turns(1, seconds=0.02, cpu=0.01)
        machine.turns(1, seconds=20.0, cpu=0.05)
    assert room(machine.pace) > 64


def test_below_a_second_nothing_is_refused() -> None:
    machine = Machine(places=1_000)
    machine.turns(10, seconds=0.1, cpu=0.1)
    assert room(machine.pace) == pytest.approx(10, abs=1)


def test_two_turns_a_core_are_always_let_in() -> None:
    machine = Machine(places=1)
    machine.turns(40, seconds=30.0, cpu=29.0)
    assert machine.pace.wait(0) is None
    assert machine.pace.wait(1) is None
    assert machine.pace.wait(2) == pytest.approx(3 * 30 - 36, abs=2)


def test_indexing_in_the_background_refuses_no_turn() -> None:
    machine = Machine(places=1_000)
    machine.turns(20, seconds=2.0, cpu=0.02)
    before = room(machine.pace)
    with machine.pace.other_work():
        machine.turns(40, seconds=3.0, cpu=3.0)
        mark = machine.pace.begin(1)
    machine.now, machine.cpu = machine.now + 3.0, machine.cpu + 3.0
    machine.pace.end(mark, 1)  # it began beside the indexing
    mark = machine.pace.begin(1)
    with machine.pace.other_work():
        machine.now, machine.cpu = machine.now + 3.0, machine.cpu + 3.0
    machine.pace.end(mark, 1)  # the indexing began and ended beside it
    assert room(machine.pace) == before
    machine.turns(40, seconds=2.0, cpu=0.04)
    assert room(machine.pace) < before


def test_without_a_bound_nothing_is_refused() -> None:
    machine = Machine(stretch=0.0)
    machine.turns(40, seconds=1.0, cpu=1.0)
    assert room(machine.pace) == 1_000


def test_a_refused_turn_is_told_when_to_come_again_and_counts_for_nothing() -> None:
    async def story() -> None:
        machine = Machine(places=1)
        machine.turns(40, seconds=30.0, cpu=30.0)
        limiter = TurnLimiter(Limits(turns=2), machine.pace)
        permits = [await limiter.acquire("a"), await limiter.acquire("a")]
        with pytest.raises(Refused) as caught:
            await limiter.acquire("b")
        assert (caught.value.status_code, caught.value.code) == (503, "overloaded")
        assert caught.value.headers == {"Retry-After": "54", "Connection": "close"}
        for permit in permits:
            permit.release()
        (await limiter.acquire("b")).release()
        assert (limiter.running, limiter.waiting) == (0, 0)

    asyncio.run(story())
