"""Every store of ratings: one for each user and turn, the newest first, bounded, erased for good."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from selfright.domain.errors import InputError, StoreError
from selfright.domain.ratings import MAX_PLACES, Place, Rating, RatingStore
from selfright.memory.ratings import SqliteRatings

MOST = 5
PLACE = Place("a.md", 3, 9, "0" * 32)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RatingStore]:
    if request.param == "sqlite":
        found: RatingStore = SqliteRatings(tmp_path / "ratings.sqlite", MOST)
        yield found
        found.close()
        return
    address = request.getfixturevalue("database")
    from selfright.memory.postgres import open_database
    from selfright.memory.ratings import PostgresRatings

    database = open_database(address)
    yield PostgresRatings(database, MOST)
    database.close()


def rating(user: str, turn: str, at: float, *, helpful: bool = True, question: str = "Why\x00?") -> Rating:
    return Rating(user, turn, at, question, helpful, (PLACE,))


def test_what_was_said_last_of_a_turn_counts(store: RatingStore) -> None:
    store.put(rating("ana", "t1", 1.0))
    store.put(rating("ben", "t1", 2.0))
    store.put(rating("ana", "t1", 3.0, helpful=False))
    assert store.listed("ana") == (rating("ana", "t1", 3.0, helpful=False),)
    assert [one.user for one in store.listed()] == ["ana", "ben"]


def test_the_oldest_go_when_there_are_too_many(store: RatingStore) -> None:
    for n in range(MOST + 3):
        store.put(rating("ana", f"t{n}", float(n)))
    assert [one.trace_id for one in store.listed()] == ["t7", "t6", "t5", "t4", "t3"]


def test_one_users_many_ratings_drive_out_none_of_anothers(store: RatingStore) -> None:
    store.put(rating("ben", "first", 0.0))
    for n in range(2 * MOST):
        store.put(rating("ana", f"t{n}", float(n + 1)))
    assert [one.trace_id for one in store.listed("ben")] == ["first"]
    assert [one.trace_id for one in store.listed("ana")] == ["t9", "t8", "t7", "t6"]


def test_forgetting_is_of_a_turn_a_user_or_all(store: RatingStore) -> None:
    for user in ("ana", "ben"):
        for turn in ("t1", "t2"):
            store.put(rating(user, turn, 1.0))
    assert store.forget("ana", "t1") == 1
    assert store.forget("ana") == 1
    assert store.forget("ana") == 0
    assert {one.user for one in store.listed()} == {"ben"}
    assert store.forget(None) == 2


def test_what_is_too_large_is_refused(store: RatingStore) -> None:
    for wrong in (
        rating("", "t", 1.0),
        rating("ana", "t" * 201, 1.0),
        rating("ana", "t", 1.0, question=" "),
        Rating("ana", "t", 1.0, "Why?", True, (PLACE,) * (MAX_PLACES + 1)),
    ):
        with pytest.raises(InputError, match="rating"):
            store.put(wrong)
    assert store.listed() == ()


def test_the_file_is_its_owners_alone_and_holds_nothing_that_was_erased(tmp_path: Path) -> None:
    store = SqliteRatings(tmp_path / "ratings.sqlite")
    assert store.forget("ana") == 0
    assert not store.path.exists()  # nobody has rated anything
    store.put(rating("ana", "t1", 1.0, question="xylophonic"))
    assert os.stat(store.path).st_mode & 0o077 == 0
    store.forget("ana")
    store.close()
    assert all(b"xylophonic" not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ratings.sqlite"
    path.write_bytes(b"no database " * 200)
    with pytest.raises(StoreError, match=r"ratings\.sqlite"):
        SqliteRatings(path).listed()
