"""What every ``ProfileStore`` does: in a SQLite file, in memory, in PostgreSQL."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfright.domain.errors import UsageError
from selfright.domain.ports import ProfileStore
from selfright.domain.slots import Profile, Slot, SlotKind
from selfright.memory.profiles import RowProfiles
from selfright.storage.postgres import PostgresDatabase
from selfright.storage.rows import DatabaseRows
from tests.support.loops import run

KINDS = {
    kind.name: kind
    for kind in (
        SlotKind("age"),
        SlotKind("sex", lasting=True),
        SlotKind("tools", many=True),
        SlotKind("allergies", many=True, lasting=True),
    )
}
Make = Callable[[], ProfileStore]
BACK_ENDS = ("file", "memory", "postgres")


@pytest.fixture(scope="module")
def server_database(request: pytest.FixtureRequest) -> Iterator[Callable[[], PostgresDatabase]]:
    """Gives one database on a server, which is made when it is first asked for."""
    opened: list[PostgresDatabase] = []

    def given() -> PostgresDatabase:
        from selfright.memory.postgres import open_database

        if not opened:
            opened.append(open_database(request.getfixturevalue("postgres").fresh_database()))
        return opened[0]

    yield given
    for database in opened:
        database.close()


def made(back_end: str, folder: Path, server_database: Callable[[], PostgresDatabase]) -> ProfileStore:
    if back_end == "postgres":
        return RowProfiles(DatabaseRows(server_database()), KINDS)
    if back_end == "file":
        return RowProfiles.in_file(folder / "profiles.sqlite", KINDS)
    return RowProfiles.in_file(None, KINDS)


@pytest.fixture(params=BACK_ENDS)
def store(
    request: pytest.FixtureRequest, tmp_path: Path, server_database: Callable[[], PostgresDatabase]
) -> ProfileStore:
    if request.param == "postgres":
        server_database().within(lambda connection: connection.execute("TRUNCATE profile_facts, profile_users"))
    return made(request.param, tmp_path, server_database)


def remember(store: ProfileStore, *slots: Slot, user: str = "ana") -> Profile:
    return run(store.remember(user, slots))


def profile(store: ProfileStore, user: str = "ana") -> Profile:
    return run(store.profile(user))


def test_nothing_is_known_of_a_stranger(store: ProfileStore) -> None:
    assert profile(store) == Profile()
    assert run(store.history("ana")) == ()
    assert run(store.users()) == ()


def test_a_slot_comes_back_as_it_went_in_with_where_it_was_said(store: ProfileStore) -> None:
    slot = Slot("tools", "렌치 10mm", "개", turn=3, start=7, end=12, details=(("dose", "2"), ("key", "tool:wrench")))
    kin = Slot("allergies", "nuts", negated=True, subject="family", time="past", turn=4, start=1, end=5)
    assert remember(store, slot, kin).slots == (slot, kin)
    assert profile(store).slots == (slot, kin)


def test_a_value_is_bounded(store: ProfileStore) -> None:
    assert [len(value) for value in remember(store, Slot("tools", "x" * 600)).values("tools")] == [500]


def test_a_newer_value_supersedes_without_erasing(store: ProfileStore) -> None:
    remember(store, Slot("age", "59", turn=1))
    assert remember(store, Slot("age", "60", turn=2)).values("age") == ("60",)
    facts = run(store.history("ana"))
    assert [(fact.slot.value, fact.state) for fact in facts] == [("59", "superseded"), ("60", "stands")]
    assert facts[0].at <= facts[1].at
    assert profile(store).disputed == ()


def test_several_values_stand_side_by_side_and_a_repeat_adds_nothing(store: ProfileStore) -> None:
    for _ in range(3):
        remember(store, Slot("tools", "saw"), Slot("tools", "drill"))
    assert profile(store).values("tools") == ("saw", "drill")
    assert len(run(store.history("ana"))) == 2


def test_what_is_no_longer_so_is_a_change(store: ProfileStore) -> None:
    remember(store, Slot("tools", "saw"))
    changed = remember(store, Slot("tools", "saw", negated=True))
    assert (changed.values("tools"), changed.disputed) == ((), ())


@pytest.mark.parametrize("first_denied", [True, False])
def test_a_lasting_fact_said_both_ways_is_flagged_and_the_newer_stands(store: ProfileStore, first_denied: bool) -> None:
    first, second = (Slot("allergies", "nuts", negated=denied) for denied in (first_denied, not first_denied))
    remember(store, first)
    after = remember(store, second)
    assert (after.slots, after.disputed) == ((second,), (first,))
    assert profile(store) == after


def test_a_denial_of_everything_meets_everything_of_its_kind(store: ProfileStore) -> None:
    remember(store, Slot("allergies", "nuts"), Slot("allergies", "milk"))
    none = Slot("allergies", "", negated=True)
    after = remember(store, none)
    assert (after.slots, {slot.value for slot in after.disputed}) == ((none,), {"nuts", "milk"})


def test_a_single_lasting_fact_that_changes_is_flagged(store: ProfileStore) -> None:
    remember(store, Slot("sex", "male"))
    after = remember(store, Slot("sex", "female"))
    assert after.values("sex") == ("female",)
    assert [slot.value for slot in after.disputed] == ["male"]


def test_relatives_do_not_touch_what_is_true_of_the_user(store: ProfileStore) -> None:
    remember(store, Slot("age", "60"))
    after = remember(store, Slot("age", "85", subject="family"), Slot("allergies", "nuts", subject="family"))
    assert (after.values("age"), after.values("allergies")) == (("60",), ())


def test_users_are_apart_whatever_they_are_called(store: ProfileStore) -> None:
    names = ["ana", "ana.b", "ana/b", "아나", "' OR 1=1 --", "%", "a" * 200]
    for name in names:
        remember(store, Slot("age", str(len(name))), user=name)
    assert {name: profile(store, name).values("age") for name in names} == {name: (str(len(name)),) for name in names}
    assert run(store.users()) == tuple(sorted(names))


@pytest.mark.parametrize("name", ["", "a" * 201], ids=["empty", "too long"])
def test_a_user_needs_a_name(store: ProfileStore, name: str) -> None:
    with pytest.raises(UsageError, match="name of a user"):
        profile(store, name)


def test_what_is_set_by_hand_takes_the_place_of_its_kind_and_settles_disputes(store: ProfileStore) -> None:
    remember(store, Slot("allergies", "nuts"), Slot("allergies", "nuts", negated=True), Slot("age", "60"))
    assert profile(store).disputed
    after = run(store.correct("ana", "allergies", [Slot("allergies", "milk")]))
    assert (after.values("allergies"), after.values("age"), after.disputed) == (("milk",), ("60",), ())
    assert run(store.correct("ana", "age", [])).values("age") == ()
    states = {(fact.slot.value, fact.state) for fact in run(store.history("ana"))}
    assert ("60", "superseded") in states


def test_forgetting_a_value_a_kind_and_a_user(store: ProfileStore) -> None:
    everything = [Slot("tools", "saw"), Slot("tools", "drill"), Slot("age", "59"), Slot("age", "60")]
    remember(store, *everything)
    remember(store, *everything, user="ben")
    assert run(store.forget("ana", "tools", "saw")) == 1
    assert profile(store).values("tools") == ("drill",)
    assert run(store.forget("ana", "tools")) == 1
    before = len(run(store.history("ana")))
    assert run(store.forget("ana")) == before
    assert run(store.history("ana")) == ()
    assert run(store.users()) == ("ben",)
    assert profile(store, "ben").values("tools") == ("saw", "drill")
    assert run(store.forget("nobody")) == 0


def test_turns_of_many_users_at_once(store: ProfileStore) -> None:
    async def all_at_once() -> None:
        await asyncio.gather(*(store.remember(f"u{n}", [Slot("age", str(n))]) for n in range(12)))

    run(all_at_once())
    assert [profile(store, f"u{n}").values("age") for n in range(12)] == [(str(n),) for n in range(12)]


slots = st.builds(
    Slot,
    name=st.sampled_from(["age", "sex", "tools", "allergies", "unheard"]),
    value=st.sampled_from(["a", "b", "", "any"]),
    negated=st.booleans(),
    subject=st.sampled_from(["user", "family"]),
    time=st.sampled_from(["current", "past"]),
)
_numbers = itertools.count()


@settings(max_examples=15)
@given(said=st.lists(slots, max_size=8), parts=st.integers(1, 4))
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_store_keeps_what_a_profile_in_hand_would_be(
    back_end: str,
    said: list[Slot],
    parts: int,
    tmp_path_factory: pytest.TempPathFactory,
    server_database: Callable[[], PostgresDatabase],
) -> None:
    """Said at once or turn by turn, in whatever store: the same stands, and nothing that was said is lost."""
    store = made(back_end, tmp_path_factory.getbasetemp(), server_database)
    user = f"user {next(_numbers)}"
    expected = Profile()
    for begin in range(0, len(said), parts):
        expected = expected.with_slots(said[begin : begin + parts], KINDS)
        remember(store, *said[begin : begin + parts], user=user)
    kept = profile(store, user)
    assert kept.slots == expected.slots
    assert set(kept.disputed) == set(expected.disputed)
    assert {fact.slot for fact in run(store.history(user))} >= {*expected.slots, *expected.disputed}
