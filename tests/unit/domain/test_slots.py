"""A profile says what is true of the user now."""

import pytest

from selfright.domain.errors import InputError
from selfright.domain.slots import MAX_GIVEN, Profile, Slot


def test_only_current_affirmed_facts_about_the_user_count() -> None:
    profile = Profile(
        (
            Slot("language", "Kotlin"),
            Slot("language", "Java", time="past"),
            Slot("language", "Scala", negated=True),
            Slot("language", "Python", subject="other"),
            Slot("version", "0.3"),
        )
    )
    assert profile.values("language") == ("Kotlin",)


def test_repeats_are_said_once_in_order() -> None:
    profile = Profile(tuple(Slot("topic", value) for value in ("backup", "locks", "backup")))
    assert profile.values("topic") == ("backup", "locks")


def test_plain_facts_become_slots_without_a_place_in_a_message() -> None:
    profile = Profile.of({"age": 60, "topics": ["backup", "", "locks"], "team": "", "lead": None, "retries": 0})
    assert profile.values("age") == ("60",)
    assert profile.values("topics") == ("backup", "locks")
    assert profile.values("retries") == ("0",)
    assert {slot.name for slot in profile.slots} == {"age", "topics", "retries"}
    assert {(slot.start, slot.end) for slot in profile.slots} == {(-1, -1)}


def test_more_facts_than_can_be_held_against_one_another_are_refused() -> None:
    values = [str(n) for n in range(MAX_GIVEN)]
    assert len(Profile.of({"topics": values}).slots) == MAX_GIVEN
    with pytest.raises(InputError, match="501 came"):
        Profile.of({"topics": values, "team": "x"})
