"""What is let in: the bucket never gives more than it holds, the gate never runs or queues more than it may."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.entrypoints.server.admission import Place, RateLimit, TurnGate
from selfright.entrypoints.server.limits import Limits
from selfright.entrypoints.server.refusals import Refused


def is_let_in(limit: RateLimit) -> bool:
    try:
        limit.take("k")
    except Refused as refused:
        return refused.status_code != 429
    return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.floats(0, 5), max_size=60), st.integers(1, 10), st.floats(1, 600))
def test_a_bucket_gives_its_burst_and_its_rate_and_no_more(pauses: list[float], burst: int, rate: float) -> None:
    clock = Clock()
    limit = RateLimit(rate, burst, clock)
    let_in = 0
    for pause in pauses:
        clock.now += pause
        let_in += is_let_in(limit)
        assert let_in <= burst + clock.now * rate / 60 + 1e-6


def test_who_waits_as_long_as_told_is_let_in() -> None:
    clock = Clock()
    limit = RateLimit(6, 1, clock)
    limit.take("k")
    with pytest.raises(Refused) as caught:
        limit.take("k")
    limit.take("other")
    assert caught.value.headers
    clock.now += int(caught.value.headers["Retry-After"])
    limit.take("k")


def test_a_gate_runs_so_many_queues_so_many_and_refuses_the_rest() -> None:
    async def story() -> None:
        gate = TurnGate(Limits(turns=2, queue=1, turns_each=10))
        first, _ = await gate.enter("a"), await gate.enter("b")
        third = asyncio.create_task(gate.enter("c"))
        await asyncio.sleep(0)
        assert (gate.running, gate.waiting) == (2, 1)
        with pytest.raises(Refused) as caught:
            await gate.enter("d")
        assert caught.value.status_code == 503
        first.leave()
        first.leave()  # nothing happens
        place = await third
        assert (gate.running, gate.waiting) == (2, 0)
        place.leave()
        assert gate.running == 1

    asyncio.run(story())


def test_one_key_cannot_take_all_places() -> None:
    async def story() -> None:
        gate = TurnGate(Limits(turns=10, turns_each=2))
        places = [await gate.enter("a"), await gate.enter("a")]
        with pytest.raises(Refused) as caught:
            await gate.enter("a")
        assert caught.value.status_code == 429
        await gate.enter("b")
        places[0].leave()
        await gate.enter("a")

    asyncio.run(story())


def test_who_waits_too_long_is_told() -> None:
    async def story() -> None:
        gate = TurnGate(replace(Limits(), turns=1, queue=1, wait_s=0.01))
        place = await gate.enter("a")
        with pytest.raises(Refused) as caught:
            await gate.enter("b")
        assert caught.value.code == "overloaded"
        assert gate.waiting == 0
        place.leave()
        (await gate.enter("b")).leave()
        assert gate.running == 0

    asyncio.run(story())


@given(st.lists(st.tuples(st.sampled_from(["enter", "leave", "cancel", "tick"]), st.integers(0, 7)), max_size=60))
def test_whatever_comes_and_goes_places_are_neither_lost_nor_made(moves: list[tuple[str, int]]) -> None:
    limits = Limits(turns=3, queue=2, turns_each=4)

    async def story() -> None:
        gate = TurnGate(limits)
        tasks: list[asyncio.Task[Place]] = []
        for move, n in moves:
            if move == "enter":
                tasks.append(asyncio.create_task(gate.enter("abcdefgh"[n])))
            elif move == "leave":
                for task in tasks[n : n + 1]:
                    if task.done() and not task.cancelled() and task.exception() is None:
                        task.result().leave()
            elif move == "cancel":
                for task in tasks[n : n + 1]:
                    task.cancel()
            else:
                await asyncio.sleep(0)
            assert 0 <= gate.running <= limits.turns
            assert gate.waiting <= limits.queue
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, Place):
                ended.leave()
        assert (gate.running, gate.waiting) == (0, 0)

    asyncio.run(story())
