"""What every store must do, whatever engine is behind it: one suite, run against each."""

import asyncio
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from selfright.domain.errors import InputError, UsageError
from selfright.domain.ports import Library, Retriever, TermStatistics, Writer
from selfright.retrieval.korean import HangulBigrams
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer
from tests.support.embedders import WordHashes
from tests.support.passages import by_lines, document, ids, search


class Store(Retriever, Library, Writer, TermStatistics, AbstractContextManager["Store"], Protocol):
    """All ports of a store at once."""


Opener = Callable[[Path], Store]
"""Opens the store that belongs to a folder, and makes it first where there is none."""


def embedded(path: Path) -> EmbeddedStore:
    start = EmbeddedStore.open if path.exists() else EmbeddedStore.create
    return start(path, BilingualTokenizer(HangulBigrams()), WordHashes())


def embedded_words_only(path: Path) -> EmbeddedStore:
    start = EmbeddedStore.open if path.exists() else EmbeddedStore.create
    return start(path, BilingualTokenizer(HangulBigrams()), None)


@pytest.fixture(params=[embedded, embedded_words_only], ids=lambda opener: opener.__name__)
def opener(request: pytest.FixtureRequest) -> Opener:
    chosen: Opener = request.param
    return chosen


@pytest.fixture
def store(opener: Opener, tmp_path: Path) -> Iterator[Store]:
    with opener(tmp_path / "index") as opened:
        yield opened


SAILING = document("sailing", "A keel keeps a boat upright.\nA sail needs wind.", "Sailing", "sport")
ROWING = document("rowing", "Oars move a boat without wind.\nRowers sit backwards.", "Rowing", "sport")
KITES = document("kites", "A kite flies when wind lifts it.", "Kites", "toys")
KOREAN = document("yeon", "연은 바람이 있어야 난다.\n돛단배도 바람이 필요하다.", "연", "toys")
ALL = [by_lines(source) for source in (SAILING, ROWING, KITES, KOREAN)]


def test_what_was_put_is_found_after_commit_and_not_before(store: Store) -> None:
    store.put(ALL)
    assert search(store, "keel") == ()
    assert store.document("sailing") is None
    store.commit()
    assert ids(search(store, "keel"))[0] == "sailing#0"
    assert ids(search(store, "바람이 필요하다"))[0] == "yeon#1"


def test_a_hit_carries_its_passage_and_its_places(store: Store) -> None:
    store.put(ALL)
    store.commit()
    hit = next(hit for hit in search(store, "keel upright boat") if hit.passage.id == "sailing#0")
    assert hit.passage == by_lines(SAILING)[1][0]
    assert SAILING.text[hit.passage.start : hit.passage.end] == hit.passage.text
    assert hit.bm25 is not None
    assert hit.bm25.rank == 1
    assert hit.bm25.score > 0
    assert hit.rrf_score > 0
    assert hit.trust is not None
    assert hit.trust.why


def test_documents_come_back_exactly(store: Store) -> None:
    odd = replace(
        document("a/b c#1", "Tabs\tand  blanks,\r\nemoji 🚤 and 한글, e\u0301, \x00.\n\n", "Odd “title”"),
        source="/somewhere/a b.txt",
        url="https://example.org/?q=1",
        media_type="text/markdown",
        metadata={"author": "나", "year": "2024"},
    )
    store.put([by_lines(odd), (document("empty", ""), [])])
    store.commit()
    assert store.document("a/b c#1") == odd
    assert store.document("empty") == document("empty", "")
    assert store.document("missing") is None


def test_documents_are_listed_by_id_with_their_figures(store: Store) -> None:
    store.put(ALL)
    store.commit()
    listed = list(store.documents())
    assert [entry.id for entry in listed] == ["kites", "rowing", "sailing", "yeon"]
    assert listed[2].content_hash == SAILING.content_hash
    assert (listed[2].passages, listed[2].characters) == (2, len(SAILING.text))
    info = store.info()
    assert (info.documents, info.passages) == (4, 7)
    assert dict(info.collections) == {"sport": 2, "toys": 2}
    assert dict(info.languages) == {"en": 3, "ko": 1}
    assert info.bytes > 0


def test_only_the_named_collections_are_searched(store: Store) -> None:
    store.put(ALL)
    store.commit()
    assert {hit.passage.collection for hit in search(store, "wind", collections=["toys"])} == {"toys"}
    assert {hit.passage.collection for hit in search(store, "wind", collections=["toys", "sport"])} == {"toys", "sport"}
    assert search(store, "wind", collections=["nowhere"]) == ()


def test_a_document_is_replaced_whole(store: Store) -> None:
    store.put(ALL)
    store.commit()
    store.put([by_lines(document("sailing", "Anchors hold a boat.", "Anchors", "harbour"))])
    store.commit()
    assert "keel" not in " ".join(hit.passage.text for hit in search(store, "keel sail wind", 50))
    assert ids(search(store, "anchors"))[0] == "sailing#0"
    assert store.info().passages == 6
    assert store.info().collections["harbour"] == 1


def test_removed_documents_are_gone_from_every_result(store: Store) -> None:
    store.put(ALL)
    store.commit()
    assert store.remove(["sailing", "missing", "sailing"]) == ["sailing"]
    store.commit()
    for query in ("keel", "sail", "wind boat", SAILING.text):
        assert all(hit.passage.document_id != "sailing" for hit in search(store, query, 50))
    assert store.document("sailing") is None
    assert store.info().documents == 3


def test_a_document_can_come_back(store: Store) -> None:
    store.put(ALL)
    store.remove(["kites"])
    store.put([by_lines(KITES)])
    store.commit()
    assert ids(search(store, "kite flies"))[0] == "kites#0"
    assert store.info().documents == 4


def test_a_passage_that_is_not_of_its_document_is_refused_and_nothing_is_kept(store: Store) -> None:
    source, passages = by_lines(SAILING)
    with pytest.raises(InputError, match="sailing#0"):
        store.put([by_lines(KITES), (source, [replace(passages[0], end=5)])])
    store.commit()
    assert store.info().documents == 0


def test_text_that_is_no_unicode_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="broken"):
        store.put([by_lines(document("broken", "half a \ud83d character"))])
    store.put([by_lines(KITES)])
    store.commit()
    assert [entry.id for entry in store.documents()] == ["kites"]


def test_two_documents_cannot_share_a_passage_id(store: Store) -> None:
    source, passages = by_lines(KITES)
    with pytest.raises(InputError, match="ids of their own"):
        store.put([by_lines(KITES), (replace(source, id="other"), [replace(passages[0], document_id="other")])])
    store.commit()
    assert store.info().documents == 0


def test_k_bounds_the_hits_and_must_be_positive(store: Store) -> None:
    store.put(ALL)
    store.commit()
    assert len(search(store, "wind", 2)) == 2
    with pytest.raises(UsageError, match="at least 1"):
        search(store, "wind", 0)


@pytest.mark.parametrize("query", ["", "  \n", "?!", "\x00", "zzzz 없는말"])
def test_queries_that_say_nothing_do_no_harm(store: Store, query: str) -> None:
    assert search(store, query) == ()
    store.put(ALL)
    store.commit()
    assert len(search(store, query)) <= 7


def test_everything_is_there_after_opening_again(opener: Opener, tmp_path: Path) -> None:
    with opener(tmp_path / "index") as store:
        store.put(ALL)
        store.commit()
        store.put([by_lines(document("late", "Never committed."))])
        before = [search(store, query) for query in ("wind boat", "바람")]
    with opener(tmp_path / "index") as store:
        assert [search(store, query) for query in ("wind boat", "바람")] == before
        assert store.document("late") is None


def test_an_index_grown_in_steps_ranks_like_one_built_at_once(opener: Opener, tmp_path: Path) -> None:
    with opener(tmp_path / "grown") as grown, opener(tmp_path / "built") as built:
        grown.put(
            [by_lines(document("kites", "wind wind wind keel", "Old")), by_lines(document("x", "wind boat boat"))]
        )
        grown.commit()
        for source in (KOREAN, KITES, ROWING, SAILING):
            grown.put([by_lines(source)])
            grown.commit()
        grown.remove(["x"])
        grown.commit()
        built.put(ALL)
        built.commit()
        for query in ("wind", "boat wind", "keel upright", "바람", "A boat without wind"):
            assert search(grown, query) == search(built, query)


def test_equal_passages_come_in_the_order_of_their_ids(store: Store) -> None:
    same = [by_lines(document(name, "The very same words.")) for name in ("d", "b", "c", "a")]
    store.put(same)
    store.commit()
    assert ids(search(store, "same words")) == ["a#0", "b#0", "c#0", "d#0"]


def test_rarer_terms_weigh_more(store: Store) -> None:
    store.put(ALL)
    store.commit()
    wind, keel, unseen = store.idf(["wind", "keel", "unseen"])
    assert wind < keel < unseen
    assert wind == pytest.approx(math.log(1 + (7 - 3 + 0.5) / (3 + 0.5)))
    assert unseen == pytest.approx(math.log(1 + 7.5 / 0.5))
    assert store.idf([]) == []


def test_a_batch_of_queries_finds_what_each_of_them_finds(tmp_path: Path) -> None:
    queries = ["keel wind", "바람이 난다", "", "oars", "keel wind"]
    with embedded(tmp_path / "index") as store:
        store.put(ALL)
        store.commit()
        batch = asyncio.run(store.search_many(queries, 3))
        assert [found.hits for found in batch] == [search(store, query, 3) for query in queries]
        assert [len(found.hits) > 0 for found in batch] == [True, True, False, True, True]
