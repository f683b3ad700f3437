"""A turn whose web is gone."""

import asyncio

from selfright.wiring.replays import AbsentWeb


def test_a_web_that_a_replay_no_longer_has_finds_nothing() -> None:
    assert asyncio.run(AbsentWeb().search("q", 5)).passages == ()
