import asyncio
import gc
from collections.abc import Coroutine

import pytest

from selfright.llm.clients import PerLoop


class Made:
    """Counts what was made and which of it was closed, on which loop."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.closed: list[tuple[int, asyncio.AbstractEventLoop]] = []

    def make(self) -> int:
        self.numbers.append(len(self.numbers))
        return self.numbers[-1]

    async def close(self, number: int) -> None:
        await asyncio.sleep(0)
        self.closed.append((number, asyncio.get_running_loop()))


def test_each_loop_has_its_own_which_is_closed_with_it_and_on_it() -> None:
    made = Made()
    kept = PerLoop(made.make, made.close)
    loops = []

    async def twice() -> list[int]:
        loops.append(asyncio.get_running_loop())
        return [await kept.get(), await kept.get()]

    assert [asyncio.run(twice()) for _ in range(3)] == [[0, 0], [1, 1], [2, 2]]
    assert made.closed == list(enumerate(loops))


async def test_many_at_once_share_one() -> None:
    made = Made()
    kept = PerLoop(made.make, made.close)
    assert await asyncio.gather(*(kept.get() for _ in range(20))) == [0] * 20


async def test_closing_makes_room_for_another() -> None:
    made = Made()
    kept = PerLoop(made.make, made.close)
    await kept.aclose()
    assert await kept.get() == 0
    await kept.aclose()
    assert await kept.get() == 1
    assert [number for number, _ in made.closed] == [0]


def test_a_loop_that_ends_without_order_is_forgotten() -> None:
    made = Made()
    kept = PerLoop(made.make, made.close)
    for _ in range(3):
        loop = asyncio.new_event_loop()
        loop.run_until_complete(kept.get())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        del loop
    asyncio.run(kept.get())
    gc.collect()
    assert len(kept._kept) == 0
    assert [number for number, _ in made.closed] == [3]


async def test_what_cannot_be_made_is_tried_again() -> None:
    made = Made()

    def failing_once() -> int:
        if made.make() == 0:
            raise OSError("not now")
        return 7

    kept = PerLoop(failing_once, made.close)
    with pytest.raises(OSError, match="not now"):
        await kept.get()
    assert await kept.get() == 7


def test_a_failing_close_disturbs_nobody() -> None:
    async def failing(_: int) -> None:
        raise OSError("gone already")

    work: Coroutine[None, None, int] = PerLoop(lambda: 7, failing).get()
    assert asyncio.run(work) == 7
