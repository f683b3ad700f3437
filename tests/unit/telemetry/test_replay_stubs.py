import asyncio

from selfright.domain.slots import Slot, SlotKind
from selfright.memory.profiles import SqliteProfiles
from selfright.wiring.replay_stubs import AbsentWeb, ReadProfiles

OLD, NEW = Slot("version", "0.2"), Slot("version", "0.3")
KINDS = {"version": SlotKind("version")}


def test_profiles_are_read_and_stay_as_they_are() -> None:
    async def run() -> None:
        store = SqliteProfiles(None, KINDS)
        await store.remember("anna", [OLD])
        read = ReadProfiles(store, KINDS)
        assert (await read.remember("anna", [NEW])).slots == (NEW,)
        assert read.ephemeral == store.ephemeral
        assert (await store.profile("anna")).slots == (OLD,)

    asyncio.run(run())


def test_a_web_that_is_gone_finds_nothing() -> None:
    assert asyncio.run(AbsentWeb().search("q", 5)).passages == ()
