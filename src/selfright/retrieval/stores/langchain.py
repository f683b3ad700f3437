"""LangChain in and out: a ``BaseRetriever`` in place of an index, and Selfright's search as a ``BaseRetriever``."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document as LangChainDocument
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from pydantic import Field

from selfright.domain.errors import StoreError, UsageError
from selfright.domain.passages import Document, DocumentInfo, Hit, Passage, Retrieval, StoreInfo
from selfright.domain.text import language_of, several

RRF_K = 60
MAX_DOCUMENTS = 10_000
MAX_CHARACTERS = 50_000_000

_ID_KEYS = ("id", "_id", "chunk_id", "document_id", "doc_id")
_SOURCE_KEYS = ("source", "file_path", "path")
_URL_KEYS = ("url", "link", "source")
_LONGEST_VALUE = 1_000
_EQUAL_WEIGHT = 1.0


class ForeignRetriever:
    """Retriever, library and term statistics over any LangChain retriever, for asking without an index of our own.

    A chain that takes a question and ends with documents will do too.
    Hits come in the retriever's order and carry no BM25 rank, no vector rank and no cosine, for a LangChain retriever
    tells none of them; ``rrf_score`` is ``1 / (60 + rank)``. How many are found is the retriever's decision, ``k`` only
    cuts. The library knows the documents found so far, the last ``max_documents`` of them, which is what citations
    need. All terms weigh the same, so that an answer does not depend on what was asked before. Thread-safe.
    """

    def __init__(
        self, retriever: RetrieverLike, max_documents: int = MAX_DOCUMENTS, max_characters: int = MAX_CHARACTERS
    ) -> None:
        self._retriever = retriever
        self._seen = _SeenDocuments(max_documents, max_characters)

    # Retriever

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """At most ``k`` hits in the retriever's order.

        Raises ``UsageError`` when collections are named, and ``StoreError`` when the retriever fails.
        """
        if k < 1:
            raise UsageError(f"k must be at least 1, but is {k}")
        if collections:
            raise UsageError(
                f"a LangChain retriever has no collections, but '{', '.join(collections)}' was asked for; "
                "leave the collections out, or give a retriever that searches only there"
            )
        if not query.strip():
            return Retrieval(hits=())
        kept = self._seen.keep(_documents(await self._retrieve(query), k))
        return Retrieval(tuple(Hit(_passage(document), 1 / (RRF_K + n)) for n, document in enumerate(kept, start=1)))

    async def _retrieve(self, query: str) -> Sequence[LangChainDocument]:
        name = type(self._retriever).__name__
        try:
            found: Any = await self._retriever.ainvoke(query)
        except Exception as error:
            # The retriever's own words stay in the cause: they can hold an address with a password in it.
            raise StoreError(
                f"the LangChain retriever {name} should have given documents, but failed with {type(error).__name__}; "
                "check that it works on its own: retriever.invoke('...')"
            ) from error
        if not isinstance(found, list) or not all(isinstance(item, LangChainDocument) for item in found):
            raise StoreError(
                f"the LangChain retriever {name} should give a list of Documents, but gave {_kind(found)}; "
                "let it end with what returns Documents"
            )
        return found

    # Library

    def document(self, document_id: str) -> Document | None:
        """The document with its text when it was found lately, or None."""
        return self._seen.document(document_id)

    def documents(self, after: str = "", collections: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """The documents found lately, ordered by id; see ``Library``."""
        for one in self._seen.documents():
            if one.id > after and (not collections or one.collection in collections):
                where = one.collection, one.language, one.source
                yield DocumentInfo(one.id, one.title, *where, one.content_hash, len(one.text), passages=1)

    def info(self) -> StoreInfo:
        """Not known of a retriever: raises ``UsageError``."""
        raise UsageError(
            f"the LangChain retriever {type(self._retriever).__name__} has no figures to show; "
            "ask where its documents are kept, or open an index: Selfright.open('folder')"
        )

    # TermStatistics

    def idf(self, terms: Sequence[str]) -> list[float]:
        """The same weight for every term: a retriever does not tell how rare a term is.

        Counts over what was found would grade no better at first, for every passage found has the question's terms,
        and the same question would get another answer later.
        """
        return [_EQUAL_WEIGHT] * len(terms)


class SelfrightRetriever(BaseRetriever):
    """Selfright's hybrid search for LangChain: chains, ensembles, agents.

    Documents come best first, with the passage's id and text; ``metadata`` says where the passage stands
    (``document_id, title, section, head, start, end, url, source, language, collection``) and why it came (``rrf_score,
    bm25, bm25_rank, dense, dense_rank, cosine``), without the keys that have no value. ``k`` and ``collections`` can
    be given again with each call: ``retriever.invoke(query, k=3)``.
    """

    searcher: Any = Field(repr=False, exclude=True)  # a ``Selfright``, or what searches as it does
    k: int = Field(default=10, ge=1)
    collections: tuple[str, ...] = ()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        collections: str | Sequence[str] | None = None,
    ) -> list[LangChainDocument]:
        del run_manager
        return [as_langchain(hit) for hit in self.searcher.search(query, *self._search_arguments(k, collections))]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        collections: str | Sequence[str] | None = None,
    ) -> list[LangChainDocument]:
        del run_manager
        return [
            as_langchain(hit) for hit in await self.searcher.asearch(query, *self._search_arguments(k, collections))
        ]

    def _search_arguments(self, k: int | None, collections: str | Sequence[str] | None) -> tuple[int, tuple[str, ...]]:
        return self.k if k is None else k, self.collections if collections is None else several(collections)


def as_langchain(hit: Hit) -> LangChainDocument:
    """A hit as a LangChain ``Document``, whose ``source`` is the URL where there is one, else the document's id."""
    passage = hit.passage
    metadata = {
        "document_id": passage.document_id,
        "title": passage.title or None,
        "section": passage.section or None,
        "head": passage.head or None,
        "start": passage.start,
        "end": passage.end,
        "url": passage.url,
        "source": passage.url or passage.document_id,
        "language": passage.language,
        "collection": passage.collection,
        "rrf_score": hit.rrf_score,
        "bm25": hit.bm25.score if hit.bm25 else None,
        "bm25_rank": hit.bm25.rank if hit.bm25 else None,
        "dense": hit.dense.score if hit.dense else None,
        "dense_rank": hit.dense.rank if hit.dense else None,
        "cosine": hit.cosine,
    }
    known = {key: value for key, value in metadata.items() if value is not None}
    return LangChainDocument(page_content=passage.text, id=passage.id, metadata=known)


def _documents(found: Iterable[LangChainDocument], k: int) -> list[Document]:
    """The first ``k`` different documents that say anything."""
    different: dict[tuple[str, str], Document] = {}
    for item in found:
        if len(different) == k:
            break
        if item.page_content.strip():
            document = _document(item)
            different.setdefault((document.id, document.text), document)
    return list(different.values())


def _document(found: LangChainDocument) -> Document:
    metadata = found.metadata
    source, url = _first(metadata, _SOURCE_KEYS), _url(metadata)
    named = _first(metadata, ("title",)) or (PurePath(source).name if source and not url else "")
    return Document(
        id=_id(found, source, url),
        title=named,
        text=found.page_content,
        language=language_of(found.page_content),
        source=source or url,
        url=url,
        metadata={
            key: str(value)[:_LONGEST_VALUE]
            for key, value in metadata.items()
            if isinstance(key, str) and isinstance(value, str | int | float)
        },
    )


def _passage(document: Document) -> Passage:
    """The whole document as one passage: a retriever gives pieces, and what it gives is all there is to cite."""
    section, head = (document.metadata.get(name, "") for name in ("section", "head"))
    return document.passage(0, 0, len(document.text), section, head)


def _id(found: LangChainDocument, source: str, url: str | None) -> str:
    """The document's own id; else one made of its text, after an id or source in the metadata, which pieces share."""
    if found.id:
        return found.id
    shared = _first(found.metadata, _ID_KEYS) or url or PurePath(source).name or "text"
    return f"{shared}:{_digest(found.page_content)}"


def _first(metadata: Mapping[Any, Any], keys: Iterable[str]) -> str:
    """The first value among ``keys`` that is a name or a number, as text; empty when there is none."""
    values = (metadata.get(key) for key in keys)
    found = (value for value in values if isinstance(value, str | int) and not isinstance(value, bool))
    return next((text for value in found if (text := str(value).strip()[:_LONGEST_VALUE])), "")


def _url(metadata: Mapping[Any, Any]) -> str | None:
    """The first address among the metadata that a browser may be sent to."""
    values = (str(metadata.get(key, "")).strip() for key in _URL_KEYS)
    return next((value for value in values if value.lower().startswith(("http://", "https://"))), None)


def _kind(found: object) -> str:
    if isinstance(found, list):
        return f"a list with {next(type(item).__name__ for item in found if not isinstance(item, LangChainDocument))}"
    return type(found).__name__


class _SeenDocuments:
    """Keeps the documents found last, for citations to be checked against. Thread-safe."""

    def __init__(self, most: int, characters: int) -> None:
        self._most = most
        self._room = characters
        self._by_id: OrderedDict[str, Document] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, documents: Sequence[Document]) -> list[Document]:
        """Remembers documents; gives them back with the ids under which they are known from now on."""
        with self._lock:
            kept = [self._keep(document) for document in documents]
            while len(self._by_id) > len(kept) and (len(self._by_id) > self._most or self._room < 0):
                self._room += len(self._by_id.popitem(last=False)[1].text)
            return kept

    def _keep(self, document: Document) -> Document:
        known = self._by_id.get(document.id)
        if known is not None and known.text != document.text:
            # Another text under the same id: both must stay what they were for the answers that cite them.
            document = replace(document, id=f"{document.id}:{_digest(document.text)}")
            known = self._by_id.get(document.id)
        self._room -= len(document.text) - (len(known.text) if known else 0)
        self._by_id[document.id] = document
        self._by_id.move_to_end(document.id)
        return document

    def document(self, document_id: str) -> Document | None:
        with self._lock:
            return self._by_id.get(document_id)

    def documents(self) -> list[Document]:
        with self._lock:
            return sorted(self._by_id.values(), key=lambda document: document.id)


def _digest(text: str) -> str:
    """What tells one text from another: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
