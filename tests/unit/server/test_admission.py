"""What is let in: the bucket never gives more than it holds, the limiter never runs or queues more than it may."""

import asyncio
from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.server.admission import LOCAL_KEY, Limits, RateLimit, TurnLimiter, UploadLimiter
from selfright.server.errors import Refused
from tests.support.waiting import Clock


def is_let_in(limit: RateLimit) -> bool:
    try:
        limit.take("k")
    except Refused as refused:
        return refused.status_code != 429
    return True


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


async def test_a_gate_runs_so_many_queues_so_many_and_refuses_the_rest() -> None:
    limiter = TurnLimiter(Limits(turns=2, queue=1, turns_each=10))
    first, _ = await limiter.acquire("a"), await limiter.acquire("b")
    third = asyncio.create_task(limiter.acquire("c"))
    await asyncio.sleep(0)
    assert (limiter.running, limiter.waiting) == (2, 1)
    with pytest.raises(Refused) as caught:
        await limiter.acquire("d")
    assert caught.value.status_code == 503
    first.close()
    first.close()  # nothing happens
    permit = await third
    assert (limiter.running, limiter.waiting) == (2, 0)
    permit.close()
    assert limiter.running == 1


async def test_one_key_cannot_take_all_places() -> None:
    limiter = TurnLimiter(Limits(turns=10, turns_each=2))
    places = [await limiter.acquire("a"), await limiter.acquire("a")]
    with pytest.raises(Refused) as caught:
        await limiter.acquire("a")
    assert caught.value.status_code == 429
    await limiter.acquire("b")
    places[0].close()
    await limiter.acquire("a")


async def test_one_key_leaves_half_of_the_places_and_of_the_queue() -> None:
    limiter = TurnLimiter(Limits(turns=4, queue=2, turns_each=10))
    held = [await limiter.acquire("a"), await limiter.acquire("a")]
    waiting = asyncio.create_task(limiter.acquire("a"))
    await asyncio.sleep(0)
    assert (limiter.running, limiter.waiting) == (2, 1)
    with pytest.raises(Refused) as caught:
        await limiter.acquire("a")
    assert caught.value.status_code == 503
    held += [await limiter.acquire("b"), await limiter.acquire("c")]  # at once
    other = asyncio.create_task(limiter.acquire("b"))
    await asyncio.sleep(0)
    assert (limiter.running, limiter.waiting) == (4, 2)
    held[2].close()
    held.append(await other)  # another key's place does not help the first one, which has its half
    assert not waiting.done()
    held[0].close()
    held.append(await waiting)
    for permit in held:
        permit.close()
    assert (limiter.running, limiter.waiting) == (0, 0)


async def test_who_waits_too_long_is_told() -> None:
    limiter = TurnLimiter(replace(Limits(), turns=1, queue=1, wait_s=0.01))
    permit = await limiter.acquire("a")
    with pytest.raises(Refused) as caught:
        await limiter.acquire("b")
    assert caught.value.code == "overloaded"
    assert limiter.waiting == 0
    permit.close()
    (await limiter.acquire("b")).close()
    assert limiter.running == 0


@given(st.lists(st.tuples(st.sampled_from(["enter", "leave", "cancel", "tick"]), st.integers(0, 7)), max_size=60))
def test_whatever_comes_and_goes_places_are_neither_lost_nor_made(moves: list[tuple[str, int]]) -> None:
    limits = Limits(turns=3, queue=2, turns_each=4)

    async def story() -> None:
        limiter = TurnLimiter(limits)
        tasks: list[asyncio.Task[ExitStack]] = []
        for move, n in moves:
            if move == "enter":
                tasks.append(asyncio.create_task(limiter.acquire("abcdefgh"[n])))
            elif move == "leave":
                for task in tasks[n : n + 1]:
                    if task.done() and not task.cancelled() and task.exception() is None:
                        task.result().close()
            elif move == "cancel":
                for task in tasks[n : n + 1]:
                    task.cancel()
            else:
                await asyncio.sleep(0)
            assert 0 <= limiter.running <= limits.turns
            assert limiter.waiting <= limits.queue
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, ExitStack):
                ended.close()
        assert (limiter.running, limiter.waiting) == (0, 0)

    asyncio.run(story())


async def test_one_keys_uploads_are_let_in_up_to_a_part_and_read_one_at_a_time() -> None:
    limiter = UploadLimiter()
    read: list[str] = []

    async def read_one(key: str) -> None:
        async with limiter.working[key], limiter.readers:
            read.append(key)
            await asyncio.sleep(60)

    for _ in range(2):  # nothing is left of the first time
        with ExitStack() as uploads:
            for _ in range(4):
                uploads.enter_context(limiter.admit("a"))
            with pytest.raises(Refused, match="wait for one of them"):
                uploads.enter_context(limiter.admit("a"))
            for key in ("b", LOCAL_KEY, LOCAL_KEY, LOCAL_KEY):
                uploads.enter_context(limiter.admit(key))
            with pytest.raises(Refused, match="too many"):
                uploads.enter_context(limiter.admit("c"))
            tasks = [asyncio.create_task(read_one(key)) for key in "aab"]
            await asyncio.sleep(0.01)
            assert read == ["a", "b"]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        read.clear()
