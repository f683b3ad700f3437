"""Passages that are searched by words until their vectors are made."""

import asyncio
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from selfright.domain.errors import IndexBusy
from selfright.domain.passages import Hit, WaitingVectors
from selfright.retrieval import vector_filler
from selfright.retrieval.fusion import AdaptiveFusion, ReciprocalRankFusion
from selfright.retrieval.fusion_weights import SearchedQuery
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.storage.files import WriterLock
from tests.support.embedders import WordHashes
from tests.support.histories import TOKENIZER, batch, built_at_once, find, misranked, random_text
from tests.support.passages import BOATS, KITES, KOREAN, by_lines, document, search


class Watched(WordHashes):
    """Calls ``before`` with each block of texts, before it embeds them."""

    def __init__(self, before: Callable[[Sequence[str]], object] = lambda _: None) -> None:
        super().__init__()
        self.before = before

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.before(texts)
        return super().embed(texts)


@pytest.fixture
def embedder() -> Watched:
    return Watched()


@pytest.fixture
def store(tmp_path: Path, embedder: Watched) -> EmbeddedStore:
    store = EmbeddedStore.create(tmp_path / "index", TOKENIZER, embedder)
    store.put([by_lines(BOATS), by_lines(KITES), by_lines(KOREAN)], embed=False)
    store.commit()
    return store


def hit(store: EmbeddedStore, query: str, passage: str) -> Hit:
    return next(one for one in search(store, query, 5) if one.passage.id == passage)


def told(store: EmbeddedStore, *collections: str) -> WaitingVectors | None:
    return asyncio.run(store.search("kite", 5, collections)).waiting


def test_words_are_found_before_vectors_are_made_and_meaning_afterwards(
    store: EmbeddedStore, embedder: Watched
) -> None:
    assert not embedder.embedded
    assert store.info().without_vectors == 3  # the embedder knows no Korean
    before = hit(store, "kite", "kites#0")
    assert (before.bm25 is not None, before.dense, before.cosine) == (True, None, None)
    steps: list[tuple[int, int, str]] = []
    assert store.fill(lambda *step: steps.append(step)) == 0
    assert steps[0] == (0, 3, "")
    assert steps[-1] == (3, 3, "")
    assert store.info().without_vectors == 0
    after = hit(store, "kite", "kites#0")
    assert after.dense is not None
    assert after.cosine == after.dense.score
    assert store.verify() == []
    assert store.fill() == 0


def test_a_search_tells_how_much_waits_and_of_other_collections_nothing(store: EmbeddedStore) -> None:
    assert told(store) == WaitingVectors(3, 4)
    store.put([by_lines(document("wells", "A well gives water.", collection="wells"))], embed=False)
    store.commit()
    assert told(store, "wells") == WaitingVectors(1)
    store.fill()
    assert told(store) is None
    assert told(store, "wells") is None


def test_who_stops_keeps_what_was_made(
    store: EmbeddedStore, embedder: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_filler, "_SLICE", 1)
    assert store.fill(stop=lambda: len(embedder.embedded) == 2) == 1
    assert store.info().without_vectors == 1
    assert store.fill() == 0
    assert len(embedder.embedded) == 3


def test_a_failure_costs_the_batch_it_happens_in(
    store: EmbeddedStore, embedder: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(texts: Sequence[str]) -> None:
        if "wind lifts" in texts[0]:
            raise KeyboardInterrupt

    monkeypatch.setattr(vector_filler, "_BATCH", 1)
    embedder.before = fail
    with pytest.raises(KeyboardInterrupt):
        store.fill()
    assert store.info().without_vectors == 1
    embedder.before = lambda _: None
    assert store.fill() == 0


def test_what_is_replaced_or_removed_while_it_is_embedded_gets_no_old_vector(
    store: EmbeddedStore, embedder: Watched
) -> None:
    def change(_: Sequence[str]) -> None:
        embedder.before = lambda _: None
        store.put([by_lines(document("kites", "A kite needs a line.", "Kites"))], embed=False)
        store.remove(["boats"])
        store.commit()

    embedder.before = change
    assert store.fill() == 0
    assert store.info().without_vectors == 0
    assert [hit.passage.text for hit in search(store, "keel kite", 5) if hit.dense] == ["A kite needs a line."]
    assert store.verify() == []


def test_a_text_that_has_a_vector_already_waits_for_none(store: EmbeddedStore, embedder: Watched) -> None:
    store.fill()
    store.put([by_lines(document("copy", BOATS.text, BOATS.title))], embed=False)
    store.commit()
    assert store.info().without_vectors == 0
    assert len(embedder.embedded) == 3


def test_one_process_embeds_and_another_waits_for_it(
    store: EmbeddedStore, embedder: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests = iter(range(3))
    monkeypatch.setattr(vector_filler.time, "sleep", lambda _: next(rests))
    lock = WriterLock(Path(store.info().location) / vector_filler.LOCK_NAME)
    lock.acquire()
    assert store.fill(stop=lambda: next(rests) > 0) == 3
    assert not embedder.embedded
    lock.release()
    assert store.fill() == 0


def test_a_change_that_its_own_writer_never_commits_is_not_waited_for_without_end(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_filler, "_PATIENCE_S", 0.1)
    store.put([by_lines(document("wells", "A well gives water."))], embed=False)
    with pytest.raises(IndexBusy):
        store.fill()
    store.commit()
    assert store.fill() == 0


def test_an_index_filled_later_ranks_like_one_built_at_once(tmp_path: Path) -> None:
    chance = random.Random(5)
    model = {f"d{number}": random_text(chance, number) for number in range(60)}
    names = list(model)
    with EmbeddedStore.create(tmp_path / "grown", TOKENIZER, WordHashes()) as store:
        for start in range(0, 60, 20):
            store.put(batch({name: model[name] for name in names[start : start + 20]}), embed=False)
            store.commit()
            if start:
                store.fill()
        with built_at_once(tmp_path / "once", model) as reference:
            assert misranked(store, reference) is None
        assert find(store, "keel wind")


def test_what_has_no_vector_stands_where_its_words_put_it() -> None:
    searched = SearchedQuery("keel", "en", [2.0])
    bm25, dense = [(1, 3.0), (2, 1.0)], [(3, 0.9), (2, 0.8), (4, 0.7)]
    for fusion in (ReciprocalRankFusion(), AdaptiveFusion()):
        without = dict(fusion.fuse(searched, bm25, dense).items)
        given = dict(fusion.fuse(searched, bm25, dense, (), (1,)).items)
        assert given[1] > without[1]
        assert {item: score for item, score in given.items() if item != 1} == {
            item: score for item, score in without.items() if item != 1
        }
        assert fusion.fuse(searched, bm25, dense, (), (1,)).items[0][0] == 1
