"""``selfright index copy``: the same index in another place, also when the copy was killed on the way."""

import dataclasses
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from selfright.domain.errors import IncompatibleIndex, NotAnIndex, StoreError, UsageError
from selfright.domain.passages import Retrieval
from selfright.domain.routing import Collection
from selfright.retrieval.stores.embedded import EmbeddedStore
from tests.functional.conftest import Cli
from tests.support import points
from tests.support.copying import contents, copied, killed_copy
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER, batch, create_store, misranked, open_store, random_text

needs_points = pytest.mark.skipif(
    not points.SUPPORTED or sys.platform == "win32", reason="no way here to stop a process inside a commit"
)


def model(start: int, count: int) -> dict[str, str]:
    chance = random.Random(start)
    return {f"d{number:03}": random_text(chance, number) for number in range(start, start + count)}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    with create_store(folder) as store:
        store.put(batch(model(0, 24)))
        store.describe(Collection.described("odd", "Knots and ropes.", ["question"], ["age"]))
    return folder


def equal(one: Path, other: Path) -> None:
    with open_store(one) as first, open_store(other) as second:
        assert contents(second) == contents(first)
        assert second.collections() == first.collections()
        assert misranked(second, first) is None
        assert second.verify() == []


def test_a_copy_holds_the_same_and_nothing_is_embedded(source: Path, tmp_path: Path) -> None:
    embedder = WordHashes()
    report = copied(source, tmp_path / "target", embedder=embedder)
    assert (report.copied, report.unchanged, report.removed, report.mended) == (24, 0, 0, 0)
    assert (report.documents, report.overlap) == (24, 1.0)
    assert report.vectors > 0
    with open_store(source) as store:
        texts = {passage.text for name in model(0, 24) for passage in store.passages_of(name)}
    # Sample queries are embedded one by one; no passage is, whole and under its title.
    assert len(embedder.embedded) <= 2 * report.queries + 2
    assert texts.isdisjoint(embedder.embedded[report.queries * 2 :])
    equal(source, tmp_path / "target")


def test_a_second_copy_brings_what_changed_and_takes_what_went(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    copied(source, target)
    with open_store(source) as store:
        store.remove(["d003", "d004"])
        store.put(batch(model(100, 3) | {"d005": "harbour rope harbour"}))
        # No content hash tells of these.
        document, passages = batch({"d006": model(0, 24)["d006"]})[0]
        store.put([(dataclasses.replace(document, url="https://example.org/6"), passages)])
        store.describe(Collection.described("odd", ""))
        store.commit()
    report = copied(source, target)
    assert (report.copied, report.removed, report.mended, report.unchanged) == (4, 2, 1, 21)
    equal(source, target)
    assert copied(source, target).unchanged == 25


def test_what_is_no_copy_is_left_alone_unless_told(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    with create_store(target) as store:
        store.put(batch({"mine": "my own words", "d000": "another text"}))
        store.commit()
        before = contents(store)
    with pytest.raises(NotAnIndex, match="--into"):
        copied(source, target)
    with open_store(target) as store:
        assert contents(store) == before
    report = copied(source, target, into=True)
    assert (report.copied, report.removed, report.overlap) == (24, 0, None)
    with open_store(target) as store, open_store(source) as original:
        kept = contents(store)
        assert kept.pop("mine") == before["mine"]
        assert kept == contents(original)


def test_a_copy_of_another_index_is_no_copy_of_this_one(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    copied(source, target)
    with create_store(tmp_path / "other") as store:
        store.put(batch(model(0, 5)))
        store.commit()
    with pytest.raises(NotAnIndex):
        copied(tmp_path / "other", target)


def test_what_cannot_be_copied_is_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="same index"):
        copied(source, source.parent / "." / "source")
    EmbeddedStore.create(tmp_path / "words", TOKENIZER, None).close()
    with pytest.raises(IncompatibleIndex):
        copied(source, tmp_path / "words")


def test_a_target_that_does_not_keep_what_it_is_given_is_named(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = EmbeddedStore.vectors_of

    def rounded(store: EmbeddedStore, name: str) -> object:
        found = whole(store, name)
        there = store.info().location.endswith("target")
        return {key: vector * (1.001 if there else 1) for key, vector in found.items()}

    monkeypatch.setattr(EmbeddedStore, "vectors_of", rounded)
    with pytest.raises(StoreError, match=r"vector of passage 'd\d+#\d' is off by"):
        copied(source, tmp_path / "target")


def test_a_target_that_ranks_otherwise_is_named(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def reversed_hits(store: EmbeddedStore, queries: Sequence[str], k: int) -> list[Retrieval]:
        found = [await store.search(query, k) for query in queries]
        there = store.info().location.endswith("target")
        return [Retrieval(one.hits[::-1] if there else one.hits) for one in found]

    monkeypatch.setattr(EmbeddedStore, "search_many", reversed_hits)
    with pytest.raises(StoreError, match=r"the ten best passages for '.*' differ"):
        copied(source, tmp_path / "target")


@needs_points
def test_killed_anywhere_a_copy_is_finished_by_the_next_one(source: Path, tmp_path: Path) -> None:
    for number in (1, 20, 45, 110, 160):
        target = tmp_path / f"target-{number}"
        assert killed_copy(source, target, number, torn=number % 2 == 0) is not None
        copied(source, target)
        equal(source, target)


@needs_points
def test_killed_again_and_again_while_the_source_changes_between(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    for number in (45, 30, 60):
        killed_copy(source, target, number)
        with open_store(source) as store:
            store.put(batch(model(1_000 * number, 2)))
            store.remove([f"d{number:03}", f"d{number // 3:03}"])
            store.commit()
    copied(source, target)
    equal(source, target)


def test_from_the_command_line(cli: Cli, indexed: Path, tmp_path: Path) -> None:
    told = cli("index", "copy", "--index", indexed, "--to", tmp_path / "target", "--json")
    assert told.code == 0, told.err
    report = json.loads(told.out)
    assert (report["copied"], report["documents"], report["overlap"]) == (3, 3, 1.0)
    listed = [cli("index", "list", "--index", place, "--json").out for place in (indexed, tmp_path / "target")]
    assert listed[0] == listed[1]
    (tmp_path / "empty").mkdir()
    assert cli("index", "copy", "--index", tmp_path / "empty", "--to", tmp_path / "other").code == 1
    assert not (tmp_path / "other").exists()
