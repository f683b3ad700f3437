"""Readiness: one look for all who ask within a second, its trouble told to each, and the next look finds it mended."""

import asyncio

import pytest

from selfright.domain.errors import StoreUnavailable
from selfright.server import service
from selfright.server.errors import Refused
from selfright.server.service import Readiness


async def test_trouble_is_told_to_all_and_looked_at_again_later() -> None:
    now, looks, down = [0.0], [0], [True]

    async def look() -> None:
        looks[0] += 1
        await asyncio.sleep(0)
        if down[0]:
            raise StoreUnavailable("it is gone")

    ready = Readiness(look, lambda: 100.0 + now[0])
    asked = await asyncio.gather(*(ready.check() for _ in range(50)), return_exceptions=True)
    assert {type(each) for each in asked} == {StoreUnavailable}
    assert looks[0] == 1
    down[0], now[0] = False, 5.0
    await ready.check()
    assert looks[0] == 2


def test_stores_that_do_not_answer_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_LOOK_S", 0.01)

    async def look() -> None:
        await asyncio.sleep(60)

    with pytest.raises(Refused) as caught:
        asyncio.run(Readiness(look).check())
    assert (caught.value.status_code, caught.value.code) == (503, "not_ready")
