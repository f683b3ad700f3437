"""LangChain in and out: what every retriever must do, held against ours and LangChain's; and our search as one."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import pytest
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnableParallel, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import ValidationError

from selfright.domain.errors import InputError, StoreError, UsageError
from selfright.domain.passages import Hit, Passage, Ranked
from selfright.domain.ports import Library, Retriever, TermStatistics
from selfright.retrieval.korean import HangulBigrams
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.stores.langchain import ForeignRetriever, SelfrightRetriever, as_langchain
from selfright.retrieval.tokenizer import BilingualTokenizer
from tests.support.embedders import WordHashes
from tests.support.passages import by_lines, document, ids, search

HARBOUR = "The harbour master of Port Ellin is Orla Keane. She took the post in 2019."
LIGHT = "The lighthouse of Port Ellin was built in 1871. It is 34 metres high."
FERRY = "Ferries leave the north pier every hour. The crossing takes 25 minutes."
KOREAN = "등대지기는 매일 저녁 등대에 불을 켠다. 등대는 1871년에 세워졌다."
TEXTS = (HARBOUR, LIGHT, FERRY, KOREAN)


class SharedWords(BaseRetriever):
    """Finds the documents that share a word with the question, most words first."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        asked = set(query.lower().replace("?", "").split())
        shares = [len(asked & set(found.page_content.lower().split())) for found in self.documents]
        order = sorted(range(len(shares)), key=lambda n: -shares[n])
        return [self.documents[n] for n in order if shares[n]]


class Gives(BaseRetriever):
    """Gives the same, whatever is asked; an exception is raised."""

    answer: Any

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class GivesLater(BaseRetriever):
    """Knows coroutines only."""

    answer: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        raise NotImplementedError

    async def _aget_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        await asyncio.sleep(0)
        return self.answer


def own() -> list[Document]:
    return [Document(page_content=text, id=f"d{n}") for n, text in enumerate(TEXTS)]


class Doors:
    """A store's search from threads and from coroutines, as the API has it."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store

    def search(self, query: str, k: int = 10, collections: Sequence[str] = ()) -> tuple[Hit, ...]:
        found: list[tuple[Hit, ...]] = []
        thread = threading.Thread(target=lambda: found.append(asyncio.run(self.asearch(query, k, collections))))
        thread.start()
        thread.join()
        return found[0]

    async def asearch(self, query: str, k: int = 10, collections: Sequence[str] = ()) -> tuple[Hit, ...]:
        return (await self._store.search(query, k, collections)).hits


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    folder = tmp_path_factory.mktemp("langchain") / "index"
    with EmbeddedStore.create(folder, BilingualTokenizer(HangulBigrams()), WordHashes()) as store:
        sides = [document(f"d{n}", text, f"Title {n}", "odd" if n % 2 else "even") for n, text in enumerate(TEXTS)]
        store.put([by_lines(source) for source in sides])
        store.commit()
        yield store


def words(_index: EmbeddedStore) -> ForeignRetriever:
    return ForeignRetriever(SharedWords(documents=own()))


def vectors(_index: EmbeddedStore) -> ForeignRetriever:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    store.add_documents(own())
    return ForeignRetriever(store.as_retriever(search_kwargs={"k": 4}))


def coroutines(_index: EmbeddedStore) -> ForeignRetriever:
    return ForeignRetriever(GivesLater(answer=own()))


def chain(_index: EmbeddedStore) -> ForeignRetriever:
    """Not a retriever, but as good as one: it ends with documents."""
    return ForeignRetriever(SharedWords(documents=own()) | RunnableLambda(lambda found: found[:3]))


def embedded(index: EmbeddedStore) -> EmbeddedStore:
    return index


def round_trip(index: EmbeddedStore) -> ForeignRetriever:
    """Our own search, out as a LangChain retriever and in again."""
    return ForeignRetriever(SelfrightRetriever(searcher=Doors(index)))


class Found(Retriever, Library, TermStatistics, Protocol):
    """What can be searched, read and measured with."""


@pytest.fixture(params=[words, vectors, coroutines, chain, embedded, round_trip], ids=lambda make: str(make.__name__))
def store(request: pytest.FixtureRequest, index: EmbeddedStore) -> Found:
    made: Found = request.param(index)
    return made


# Every retriever


def test_hits_come_best_first_each_once_and_at_most_k(store: Found) -> None:
    hits = search(store, "the lighthouse of Port Ellin", 3)
    assert 1 <= len(hits) <= 3
    assert len(set(ids(hits))) == len(hits)
    scores = [hit.rrf_score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert ids(search(store, "the lighthouse of Port Ellin", 1)) == ids(hits[:1])
    assert search(store, "the lighthouse of Port Ellin", 3) == hits


def test_what_is_found_can_be_read_and_cited(store: Found) -> None:
    hits = search(store, "the lighthouse of Port Ellin 등대")
    listed = {info.id for info in store.documents()}
    for hit in hits:
        source = store.document(hit.passage.document_id)
        assert source is not None
        assert source.text[hit.passage.start : hit.passage.end] == hit.passage.text
        assert hit.passage.language == ("ko" if hit.passage.text == KOREAN else "en")
        assert source.id in listed
    assert store.document("never found") is None


def test_questions_that_say_nothing_find_nothing_and_k_must_be_positive(store: Found) -> None:
    assert search(store, " \n") == ()
    with pytest.raises(UsageError, match="at least 1"):
        search(store, "wind", 0)


def test_terms_have_weights(store: Found) -> None:
    weights = store.idf(["port", "lighthouse", "never-seen"])
    assert len(weights) == 3
    assert 0 < weights[0] <= weights[1] <= weights[2]
    assert store.idf([]) == []


async def test_searches_side_by_side(store: Found) -> None:
    found = await asyncio.gather(*(store.search("Port Ellin", 4) for _ in range(20)))
    assert len({one.hits for one in found}) == 1


# LangChain in


def test_the_retriever_s_order_is_kept_and_scores_it_does_not_give_are_not_made_up() -> None:
    store = ForeignRetriever(Gives(answer=own()))
    hits = search(store, "anything")
    assert ids(hits) == ["d0#0", "d1#0", "d2#0", "d3#0"]
    assert [hit.rrf_score for hit in hits] == [1 / 61, 1 / 62, 1 / 63, 1 / 64]
    assert {(hit.bm25, hit.dense, hit.cosine) for hit in hits} == {(None, None, None)}


def test_metadata_becomes_title_source_section_and_address() -> None:
    told = {"title": "Harbour", "source": "https://e.org/a", "section": "Staff", "page": 3, "tags": ["x"], 5: "odd"}
    (hit,) = search(found := ForeignRetriever(Gives(answer=[Document(page_content=HARBOUR, metadata=told)])), "who")
    source = found.document(hit.passage.document_id)
    assert source is not None
    assert (hit.passage.title, hit.passage.section, hit.passage.url) == ("Harbour", "Staff", "https://e.org/a")
    assert (source.source, source.url) == ("https://e.org/a", "https://e.org/a")
    assert dict(source.metadata) == {"title": "Harbour", "source": "https://e.org/a", "section": "Staff", "page": "3"}


def test_a_file_gives_its_name_and_only_web_addresses_are_links() -> None:
    told = {"source": "/srv/private/harbour.md", "url": "javascript:alert(1)"}
    (hit,) = search(ForeignRetriever(Gives(answer=[Document(page_content=HARBOUR, metadata=told)])), "who")
    assert (hit.passage.title, hit.passage.url) == ("harbour.md", None)
    assert "private" not in hit.passage.id


def test_pieces_without_ids_of_their_own_stay_apart_and_keep_their_ids() -> None:
    pieces = [Document(page_content=text, metadata={"document_id": "book"}) for text in TEXTS]
    first = ids(search(ForeignRetriever(Gives(answer=pieces)), "q"))
    assert len(set(first)) == 4
    assert all(name.startswith("book:") for name in first)
    assert ids(search(ForeignRetriever(Gives(answer=pieces[::-1])), "q")) == first[::-1]


def test_repeats_count_once_and_blank_documents_not_at_all() -> None:
    blank, lamp, kite = (Document(page_content=text) for text in (" \n", "a lamp", "a kite"))
    hits = search(ForeignRetriever(Gives(answer=[blank, lamp, lamp, blank, kite, lamp])), "q", 2)
    assert [(hit.passage.text, hit.rrf_score) for hit in hits] == [("a lamp", 1 / 61), ("a kite", 1 / 62)]


def test_a_document_that_changes_does_not_change_what_was_cited() -> None:
    retriever = Gives(answer=[Document(page_content="the old text", id="a")])
    store = ForeignRetriever(retriever)
    (old,) = search(store, "q")
    retriever.answer = [Document(page_content="the new text", id="a"), Document(page_content="third text", id="a")]
    new, third = search(store, "q")
    texts = {hit.passage.document_id: hit.passage.text for hit in (old, new, third)}
    assert len(texts) == 3
    for document_id, text in texts.items():
        source = store.document(document_id)
        assert source is not None
        assert source.text == text


def test_the_library_is_bounded_and_never_forgets_what_it_has_just_found() -> None:
    retriever = Gives(answer=[])
    by_number, by_size = ForeignRetriever(retriever, max_documents=5), ForeignRetriever(retriever, max_characters=100)
    for turn in range(10):
        retriever.answer = [Document(page_content=f"{turn}-{n}" + "x" * 20, id=f"{turn}-{n}") for n in range(3)]
        for store in (by_number, by_size):
            for hit in search(store, "q"):
                assert store.document(hit.passage.document_id) is not None
    assert [info.id for info in by_number.documents()] == ["8-1", "8-2", "9-0", "9-1", "9-2"]
    assert [info.id for info in by_size.documents()] == ["8-2", "9-0", "9-1", "9-2"]


def test_collections_are_refused_not_ignored() -> None:
    with pytest.raises(UsageError, match=r"no collections, but 'law, tax'"):
        search(ForeignRetriever(Gives(answer=own())), "q", collections=["law", "tax"])


def test_a_failing_retriever_is_named_without_its_secrets() -> None:
    store = ForeignRetriever(Gives(answer=ConnectionError("https://user:hunter2@host refused")))
    with pytest.raises(StoreError, match=r"Gives .* failed with ConnectionError") as caught:
        search(store, "q")
    assert "hunter2" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ConnectionError)


@pytest.mark.parametrize(("answer", "came"), [("text", "str"), (None, "NoneType"), ([HARBOUR], "a list with str")])
def test_what_are_no_documents_is_refused(answer: object, came: str) -> None:
    with pytest.raises(StoreError, match=f"list of Documents, but gave {came}"):
        search(ForeignRetriever(Gives(answer=answer)), "q")


# Selfright out


@pytest.fixture
def retriever(index: EmbeddedStore) -> SelfrightRetriever:
    return SelfrightRetriever(searcher=Doors(index), k=3)


def test_documents_say_where_they_stand_and_why_they_came(index: EmbeddedStore, retriever: SelfrightRetriever) -> None:
    hits = search(index, "harbour master", 3)
    documents = retriever.invoke("harbour master")
    assert [(found.id, found.page_content) for found in documents] == [(h.passage.id, h.passage.text) for h in hits]
    told, hit = documents[0].metadata, hits[0]
    assert hit.bm25 is not None
    assert (told["document_id"], told["title"], told["source"]) == ("d0", "Title 0", "d0")
    assert (told["start"], told["end"], told["language"], told["collection"]) == (0, len(HARBOUR), "en", "even")
    assert (told["rrf_score"], told["bm25"], told["bm25_rank"]) == (hit.rrf_score, hit.bm25.score, 1)
    assert None not in told.values()


def test_what_is_not_known_is_left_out_and_an_address_is_the_source() -> None:
    place = Passage("p#0", "p", "", "a lamp", 2, 8, section="Lamps", url="https://e.org/p")
    told = as_langchain(Hit(place, 0.5, dense=Ranked(2, 0.75), cosine=0.75)).metadata
    assert told == {
        "document_id": "p", "section": "Lamps", "start": 2, "end": 8, "url": "https://e.org/p",
        "source": "https://e.org/p", "language": "en", "collection": "default", "rrf_score": 0.5, "dense": 0.75,
        "dense_rank": 2, "cosine": 0.75,
    }  # fmt: skip


def test_it_works_in_chains_batches_and_running_loops(retriever: SelfrightRetriever) -> None:
    format_ = RunnableLambda(lambda found: [document.metadata["document_id"] for document in found])
    line = retriever | format_
    both = RunnableParallel(found=line, question=RunnablePassthrough())
    expected = line.invoke("north pier")
    assert expected[0] == "d2"
    assert line.batch(["north pier", "lighthouse"])[0] == expected
    assert both.invoke("north pier") == {"found": expected, "question": "north pier"}

    async def inside() -> tuple[list[str], list[str], list[str]]:
        return line.invoke("north pier"), await line.ainvoke("north pier"), (await line.abatch(["north pier"]))[0]

    assert asyncio.run(inside()) == (expected, expected, expected)


def test_k_and_collections_can_be_set_once_or_for_each_call(retriever: SelfrightRetriever) -> None:
    assert len(retriever.invoke("Port Ellin 등대", k=1)) == 1
    only = retriever.invoke("Port Ellin 등대", collections=["odd"])
    assert {found.metadata["collection"] for found in only} == {"odd"}
    assert len(asyncio.run(retriever.ainvoke("Port Ellin 등대", k=1))) == 1
    settable = retriever.configurable_fields(k=ConfigurableField(id="k"))
    assert len(settable.with_config(configurable={"k": 1}).invoke("Port Ellin 등대")) == 1
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        SelfrightRetriever(searcher=None, k=0)


def test_callbacks_see_the_documents_and_the_retriever_shows_no_inner_life(retriever: SelfrightRetriever) -> None:
    seen: list[Any] = []

    class Watching(BaseCallbackHandler):
        def on_retriever_end(self, documents: Sequence[Document], **_: Any) -> None:
            seen.extend(documents)

    assert retriever.invoke("lighthouse", {"callbacks": [Watching()]}) == seen
    assert "searcher" not in repr(retriever)
    assert "searcher" not in retriever.model_dump()


def test_errors_reach_the_caller_as_they_are(index: EmbeddedStore) -> None:
    class Strict(Doors):
        def search(self, query: str, k: int = 10, collections: Sequence[str] = ()) -> tuple[Hit, ...]:
            raise InputError("the question is empty")

    with pytest.raises(InputError, match="empty"):
        SelfrightRetriever(searcher=Strict(index)).invoke("")
