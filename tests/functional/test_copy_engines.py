"""``selfright index copy`` from folders to other engines and back."""

import importlib.util
from pathlib import Path

import pytest

from selfright.domain.errors import NotAnIndex
from selfright.domain.routing import Collection
from selfright.retrieval.stores.opening import open_store
from tests.functional.test_copy import model
from tests.support.copying import contents, copied, killed_between
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER, batch, create_store

DOCUMENTS = 24


@pytest.fixture(params=["postgres", "milvus"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an index that is not there yet."""
    if request.param == "postgres":
        return f"{request.getfixturevalue('database')}?schema=copied"
    if importlib.util.find_spec("pymilvus") is None or importlib.util.find_spec("milvus_lite") is None:
        pytest.skip("pymilvus and milvus-lite are not installed")
    return f"milvus://{tmp_path}/copied.db"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    with create_store(folder) as store:
        store.put(batch(model(0, DOCUMENTS)))
        store.describe(Collection.described("odd", "Knots and ropes.", ["question"], ["age"]))
    return folder


def equal(one: Path | str, other: Path | str) -> None:
    with open_store(one, TOKENIZER, WordHashes()) as first, open_store(other, TOKENIZER, WordHashes()) as second:
        assert contents(second) == contents(first)
        assert second.collections() == first.collections()


def test_there_with_every_change_and_back_again(source: Path, place: str, tmp_path: Path) -> None:
    assert copied(source, place).copied == DOCUMENTS
    with open_store(source, TOKENIZER, WordHashes()) as store:
        store.remove(["d003", "d004"])
        store.put(batch(model(100, 3)))
        store.commit()
    there = copied(source, place)
    assert (there.copied, there.removed, there.unchanged) == (3, 2, DOCUMENTS - 2)
    back = copied(place, tmp_path / "back")
    assert there.checksum == back.checksum
    assert min(there.overlap or 0, back.overlap or 0) >= 0.9
    equal(source, tmp_path / "back")
    with pytest.raises(NotAnIndex, match="--into"):
        copied(tmp_path / "back", place)  # a copy of this, but not begun from there


def test_killed_between_any_two_steps_a_copy_is_finished_by_the_next_one(source: Path, place: str) -> None:
    # Each time the process loads and opens everything, which Milvus Lite takes seconds for.
    numbers = (1, 2, 4, 7, 9) if place.startswith("postgres") else (5,)
    assert all(killed_between(source, place, number) for number in numbers[:1])
    for number in numbers[1:]:
        killed_between(source, place, number)
    copied(source, place)
    equal(source, place)
