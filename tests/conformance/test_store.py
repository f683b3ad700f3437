"""What every store must do, whatever engine is behind it: one suite, run against each.

A test asks for the abilities it is about (``needs``), and a store that declares one of them missing is let off. What
is the core of a store may not be declared away by an engine of ours: see the last test.
"""

import asyncio
import importlib.util
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from selfright.domain.errors import IndexBusy, InputError, UsageError
from selfright.domain.judgements import QueryClass
from selfright.domain.routing import Collection
from selfright.domain.stores import Abilities, Store
from selfright.retrieval.korean import HangulBigrams
from selfright.retrieval.stores.opening import open_store
from selfright.retrieval.tokenizer import BilingualTokenizer
from tests.support.embedders import WordHashes
from tests.support.passages import by_lines, document, ids, search

SAILING = document("sailing", "A keel keeps a boat upright.\nA sail needs wind.", "Sailing", "sport")
ROWING = document("rowing", "Oars move a boat without wind.\nRowers sit backwards.", "Rowing", "sport")
KITES = document("kites", "A kite flies when wind lifts it.", "Kites", "toys")
KOREAN = document("yeon", "연은 바람이 있어야 난다.\n돛단배도 바람이 필요하다.", "연", "toys")
ALL = [by_lines(source) for source in (SAILING, ROWING, KITES, KOREAN)]

Opener = Callable[[Path], Store]
"""Opens the store that belongs to a folder, and makes it first where there is none."""

Test = TypeVar("Test", bound=Callable[..., Any])

_numbers = count(1)


def at(location: str | Path, embedder: WordHashes | None) -> Store:
    return open_store(location, BilingualTokenizer(HangulBigrams()), embedder, create=True)


def in_folder(embedder: WordHashes | None) -> Opener:
    return lambda path: at(path, embedder)


def in_postgres(database: str, embedder: WordHashes | None) -> Opener:
    """Every folder is a schema of its own."""
    number = next(_numbers)
    return lambda path: at(f"{database}?schema={path.name}_{number}", embedder)


def in_milvus(folder: Path, embedder: WordHashes | None) -> Opener:
    """Every folder is an index of its own in one file of Milvus Lite."""
    number = next(_numbers)
    return lambda path: at(f"milvus://{folder / 'lite.db'}?name={path.name}_{number}", embedder)


@pytest.fixture(scope="module")
def milvus_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a file of Milvus Lite that stays open, for its start takes longer than a test."""
    if not importlib.util.find_spec("milvus_lite"):
        pytest.skip("needs the packages pymilvus and milvus-lite")
    folder = tmp_path_factory.mktemp("milvus")
    with in_milvus(folder, None)(Path("kept_open")):
        yield folder


ENGINES = ("embedded", "postgres", "milvus")


def needs(*abilities: str) -> Callable[[Test], Test]:
    """Names the abilities that a test is about."""

    def named(test: Test) -> Test:
        test.needs = abilities
        return test

    return named


@pytest.fixture(params=[f"{engine}{words}" for engine in ENGINES for words in ("", "_words_only")])
def opener(request: pytest.FixtureRequest) -> Opener:
    engine, _, words_only = request.param.partition("_")
    embedder = None if words_only else WordHashes()
    if engine == "postgres":
        return in_postgres(request.getfixturevalue("shared_database"), embedder)
    if engine == "milvus":
        return in_milvus(request.getfixturevalue("milvus_folder"), embedder)
    return in_folder(embedder)


@pytest.fixture
def store(opener: Opener, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = opener(tmp_path / "index")
    try:
        let_off(opened.abilities, request)
        yield opened
    finally:
        opened.close()


def let_off(abilities: Abilities, request: pytest.FixtureRequest) -> None:
    wanted = getattr(request.function, "needs", ())
    cannot = [name for name in wanted if name in abilities.missing]
    if cannot:
        pytest.skip(f"the store declares that it has no: {', '.join(cannot)}")


def test_a_row_is_found_by_its_head_and_comes_back_with_it(store: Store) -> None:
    source, (row,) = by_lines(document("prices", "| MX-1 | 147 |", "Prices"))
    store.put([(source, [replace(row, head="model | dealer_eur")]), by_lines(SAILING)])
    store.commit()
    hit, *_ = search(store, "dealer_eur")
    assert (hit.passage.id, hit.passage.head) == ("prices#0", "model | dealer_eur")
    assert store.passages_of("prices")[0].head == "model | dealer_eur"


def fill(store: Store) -> None:
    store.put(ALL)
    store.commit()


def test_what_was_put_is_found_after_commit_and_not_before(store: Store) -> None:
    store.put(ALL)
    assert search(store, "keel") == ()
    assert store.document("sailing") is None
    store.commit()
    assert ids(search(store, "keel"))[0] == "sailing#0"
    assert ids(search(store, "바람이 필요하다"))[0] == "yeon#1"


def test_a_hit_carries_its_passage_and_its_places(store: Store) -> None:
    fill(store)
    hit = next(hit for hit in search(store, "keel upright boat") if hit.passage.id == "sailing#0")
    assert hit.passage == by_lines(SAILING)[1][0]
    assert SAILING.text[hit.passage.start : hit.passage.end] == hit.passage.text
    assert hit.bm25 is not None
    assert hit.bm25.rank == 1
    assert hit.bm25.score > 0
    assert hit.rrf_score > 0
    assert hit.trust is not None
    assert hit.trust.why


def test_a_hit_knows_who_brought_its_document(store: Store) -> None:
    fill(store)
    sent = document("sent", "Wind turns a mill.", "Mills").with_origin("upload")
    store.put([(sent, [replace(passage, origin=sent.origin) for passage in by_lines(sent)[1]])])
    store.commit()
    brought = {hit.passage.document_id: hit.passage.origin for hit in search(store, "wind")}
    assert brought.pop("sent") == "upload"
    assert set(brought.values()) == {"index"}


def test_a_search_says_what_searched_and_why(store: Store) -> None:
    fill(store)
    store.put([by_lines(document("alone", "연은 난다.", "연", "korean"))])
    store.commit()

    def told(query: str, *collections: str) -> tuple[str, str]:
        found = asyncio.run(store.search(query, 3, collections))
        assert found.trust is not None
        assert all(hit.trust == found.trust for hit in found.hits)
        return found.trust.by, found.trust.why

    if store.info().embedder == "none":
        for query in ("boat wind", "바람", "zeppelin dawn"):
            assert told(query) == ("words", "the index has no embedder")
        return
    assert told("boat wind")[0] == "both"
    assert told("바람") == ("words", "the embedder word-hashes does not know the query's language")
    assert told("zeppelin dawn") == ("meaning", "no passage holds a word of the query")
    assert told("zeppelin dawn", "korean") == ("words", "no passage here has a vector")


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
    pages = {after: [entry.id for entry in store.documents(after)] for after in ("", "kites", "l", "yeon", "z")}
    assert pages == {
        "": ["kites", "rowing", "sailing", "yeon"],
        "kites": ["rowing", "sailing", "yeon"],
        "l": ["rowing", "sailing", "yeon"],
        "yeon": [],
        "z": [],
    }
    assert [entry.id for entry in store.documents(collections=["sport"])] == ["rowing", "sailing"]
    assert [entry.id for entry in store.documents("rowing", ["sport", "nothing"])] == ["sailing"]
    assert list(store.documents(collections=["nothing"])) == []
    assert dict(info.collections) == {"sport": 2, "toys": 2}
    assert dict(info.languages) == {"en": 3, "ko": 1}
    assert info.bytes > 0


def test_only_the_named_collections_are_searched(store: Store) -> None:
    fill(store)
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
    fill(store)
    assert len(search(store, "wind", 2)) == 2
    with pytest.raises(UsageError, match="at least 1"):
        search(store, "wind", 0)


@pytest.mark.parametrize("query", ["", "  \n", "?!", "\x00", "zzzz 없는말"])
def test_queries_that_say_nothing_do_no_harm(store: Store, query: str) -> None:
    assert search(store, query) == ()
    fill(store)
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


@needs("history_free")
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
    fill(store)
    wind, keel, unseen = store.idf(["wind", "keel", "unseen"])
    assert wind < keel < unseen
    assert wind == pytest.approx(math.log(1 + (7 - 3 + 0.5) / (3 + 0.5)))
    assert unseen == pytest.approx(math.log(1 + 7.5 / 0.5))
    assert store.idf([]) == []


def test_what_is_discarded_leaves_nothing(store: Store) -> None:
    fill(store)
    store.put([by_lines(document("kites", "Another text.")), by_lines(document("late", "Never committed."))])
    store.remove(["rowing"])
    store.discard()
    store.commit()
    store.put([by_lines(SAILING)])
    store.commit()  # nor is it there with what comes next
    assert [entry.id for entry in store.documents()] == ["kites", "rowing", "sailing", "yeon"]
    assert store.document("kites") == KITES
    assert "late#0" not in ids(search(store, "never committed"))


def test_passages_and_vectors_can_be_taken_from_one_store_to_another(opener: Opener, tmp_path: Path) -> None:
    with opener(tmp_path / "first") as first, opener(tmp_path / "second") as second:
        given = np.zeros(64, dtype=np.float32)
        given[0] = 1.0
        first.put(ALL, {"kites#0": given})
        first.commit()
        dense = first.info().dimension > 0
        for source, passages in ALL:
            assert first.passages_of(source.id) == passages
            vectors = first.vectors_of(source.id)
            assert list(vectors) == ([passage.id for passage in passages] if dense and source.language == "en" else [])
            second.put([(source, passages)], vectors)
        second.commit()
        if dense:
            assert second.vectors_of("kites")["kites#0"] == pytest.approx(given, abs=1e-3)
        assert first.passages_of("missing") == []
        assert dict(first.vectors_of("missing")) == {}
        for query in ("wind", "keel upright"):
            assert ids(search(second, query)) == ids(search(first, query))


def test_collections_are_described(opener: Opener, tmp_path: Path) -> None:
    with opener(tmp_path / "index") as store:
        fill(store)
        said = Collection("toys", 'Kites and "other" toys', (QueryClass.QUESTION,), ("age",))
        store.describe(said)
        store.describe(replace(said, name="empty", description=""))
    with opener(tmp_path / "index") as store:
        assert store.collections() == [
            replace(said, name="empty", description=""),
            Collection("sport", documents=2),
            replace(said, documents=2),
        ]


@needs("single_writer")
def test_a_second_writer_is_told_so_and_readers_go_on(opener: Opener, tmp_path: Path) -> None:
    with opener(tmp_path / "index") as one, opener(tmp_path / "index") as other:
        fill(one)
        one.put([by_lines(document("late", "A rope."))])
        with pytest.raises(IndexBusy, match="being written"):
            other.remove(["kites"])
        assert ids(search(other, "keel"))[0] == "sailing#0"
        one.commit()
        assert other.remove(["late"]) == ["late"]
        other.commit()
        assert one.document("late") is None


def test_a_hit_says_the_same_as_in_the_embedded_store(opener: Opener, tmp_path: Path) -> None:
    with opener(tmp_path / "index") as store, in_folder(WordHashes())(tmp_path / "folder") as embedded:
        if not store.info().dimension:
            pytest.skip("compares fused hits")
        for one in (store, embedded):
            fill(one)
        for query in ("wind", "A boat without wind", "바람", "keel upright boat"):
            for hit, same in zip(search(store, query), search(embedded, query), strict=True):
                assert hit.passage == same.passage
                assert hit.trust is not None
                assert same.trust is not None
                assert hit.trust.why == same.trust.why
                assert hit.rrf_score == pytest.approx(same.rrf_score, abs=1e-3)
                for place, expected in ((hit.bm25, same.bm25), (hit.dense, same.dense)):
                    assert (place is None) == (expected is None)
                    if place is not None and expected is not None:
                        assert place.rank == expected.rank
                        assert place.score == pytest.approx(expected.score, abs=1e-3)


def test_the_core_is_not_declared_away(opener: Opener, tmp_path: Path) -> None:
    opened = opener(tmp_path / "index")
    try:
        beyond_the_core = {"atomic", "history_free", "upkeep", "single_writer"}
        assert set(opened.abilities.missing) <= beyond_the_core
    finally:
        opened.close()
