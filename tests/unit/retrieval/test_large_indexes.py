"""What changes when an index grows large, with the sizes at which it changes made small."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from selfright.domain.errors import MissingExtra
from selfright.domain.passages import Document, Hit, Passage
from selfright.retrieval import dense, lexical
from selfright.retrieval.approximate import Source, approximate
from selfright.retrieval.korean import HangulBigrams
from selfright.retrieval.records import vector_sums
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer
from selfright.retrieval.vectors import VectorFile
from tests.support.embedders import WordHashes
from tests.support.passages import by_lines, document, search

WORDS = [f"{a}{b}{c}" for a in "bdkmrt" for b in "aeiou" for c in ("l", "n", "s")]


@pytest.fixture(autouse=True)
def _small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "SMALL", 0)
    monkeypatch.setattr(dense, "EXACT_UNTIL", 40)
    monkeypatch.setattr(dense, "TAIL", 10)


def some(first: int, last: int) -> Iterator[tuple[Document, list[Passage]]]:
    for number in range(first, last):
        chance = random.Random(number)
        text = " ".join(chance.choices(WORDS, k=chance.randint(5, 12)))
        yield by_lines(document(f"d{number}", text, collection="even" if number % 2 == 0 else "odd"))


def made(path: Path) -> EmbeddedStore:
    return EmbeddedStore.create(path, BilingualTokenizer(HangulBigrams()), WordHashes())


def places(hits: tuple[Hit, ...]) -> list[tuple[str, float | None]]:
    return [(hit.passage.id, hit.bm25 and round(hit.bm25.score, 3)) for hit in hits if hit.bm25]


def test_removed_passages_do_not_count_in_frequencies(tmp_path: Path) -> None:
    with made(tmp_path / "grown") as grown, made(tmp_path / "built") as built:
        grown.put(list(some(0, 55)))
        grown.commit()
        grown.remove([f"d{number}" for number in range(50, 55)])
        grown.commit()
        built.put(list(some(0, 50)))
        built.commit()
        assert grown._lexical.state is not None
        assert grown._lexical.state.deleted == 5
        for query in WORDS:
            assert grown.idf([query]) == built.idf([query])
            ours, theirs = dict(places(search(grown, query, 50))), dict(places(search(built, query, 50)))
            assert ours.keys() == theirs.keys()
            for passage_id, score in ours.items():
                assert score == pytest.approx(theirs[passage_id], rel=0.03)


def test_the_approximate_index_grows_by_its_tail_and_forgets_what_is_removed(tmp_path: Path) -> None:
    with made(tmp_path / "index") as store:
        store.put(list(some(0, 45)))
        store.commit()
        assert store.info().dense_kind.startswith("ivf")
        for step in range(45, 65, 4):
            store.put(list(some(step, step + 4)))
            store.commit()
        gone = {"d3", "d50"}
        store.remove(list(gone))
        store.commit()
        found = {hit.passage.document_id for word in WORDS for hit in search(store, word, 65) if hit.dense}
    assert not found & gone
    assert found == {f"d{number}" for number in range(65)} - gone


def test_without_faiss_all_vectors_are_compared_until_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(tmp_path / "index") as store:
        with monkeypatch.context() as bare:
            bare.setitem(sys.modules, "faiss", None)
            for first, last in ((0, 45), (45, 90)):
                store.put(list(some(first, last)))
                store.commit()
                assert store.info().dense_kind == "exact"
            found = {hit.passage.document_id for word in WORDS for hit in search(store, word, 90) if hit.dense}
            assert found == {f"d{number}" for number in range(90)}
        store.put(list(some(90, 91)))
        store.commit()
        assert store.info().dense_kind.startswith("ivf")
    monkeypatch.setitem(sys.modules, "faiss", None)
    with (
        pytest.raises(MissingExtra, match=r"selfright\[faiss\]"),
        EmbeddedStore.open(tmp_path / "index", BilingualTokenizer(HangulBigrams()), WordHashes()) as store,
    ):
        search(store, "bal den", 5)


def test_an_approximate_search_stays_within_collections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "_FEW", 5)
    with made(tmp_path / "index") as store:
        store.put(list(some(0, 60)))
        store.commit()
        hits = search(store, "bal den", 60, ["odd"])
        assert {hit.passage.collection for hit in hits} == {"odd"}
        assert any(hit.dense for hit in hits)


def test_it_opens_as_it_was_closed_and_compacts_to_the_same(tmp_path: Path) -> None:
    with made(tmp_path / "index") as store:
        store.put(list(some(0, 70)))
        store.commit()
        store.remove(["d1", "d2"])
        store.commit()
        kind, before = store.info().dense_kind, [search(store, word, 5) for word in WORDS]
    with EmbeddedStore.open(tmp_path / "index", BilingualTokenizer(HangulBigrams()), WordHashes()) as store:
        assert store.info().dense_kind == kind
        assert [search(store, word, 5) for word in WORDS] == before
        store.compact()
        for word, hits in zip(WORDS, before, strict=True):
            after = {hit.passage.id: hit for hit in search(store, word, 70)}
            for hit in hits:  # scores are exact in both; what an approximate search misses is another matter
                again = after.get(hit.passage.id)
                assert again or not hit.bm25
                if again and hit.dense and again.dense:
                    assert hit.dense.score == pytest.approx(again.dense.score, abs=1e-6)
                if again and hit.bm25 and again.bm25:
                    assert hit.bm25.score == pytest.approx(again.bm25.score, rel=0.03)


def source(folder: Path, vectors: np.ndarray) -> Source:
    file = VectorFile(folder / "vectors" / "rows.f32", vectors.shape[1])
    file.write(0, vectors)
    return Source(file, np.arange(len(vectors)), vector_sums(vectors))


def test_recall_is_measured_and_true(tmp_path: Path) -> None:
    random_numbers = np.random.default_rng(3)
    centres = random_numbers.standard_normal((40, 32), dtype=np.float32)
    vectors = centres[random_numbers.integers(0, 40, 3_000)] + 0.5 * random_numbers.standard_normal((3_000, 32))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    found = approximate(source(tmp_path, vectors))
    assert found is not None
    assert 0.98 <= found.recall <= 1
    assert found.probes < found.lists


def test_what_cannot_be_approximated_is_not(tmp_path: Path) -> None:
    # More vectors at the same distance than there are candidates: codes cannot tell them apart.
    vectors = np.eye(512, dtype=np.float32)[np.arange(2_048) % 512]
    assert approximate(source(tmp_path, vectors)) is None
