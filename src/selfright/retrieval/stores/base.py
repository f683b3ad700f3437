"""What every store does alike, and those on a server."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Document, DocumentInfo, Passage, Retrieval, StoreInfo
from selfright.domain.ports import BatchRetriever, Embedder, TermLexicon, Tokenizer
from selfright.domain.routing import Collection
from selfright.domain.stores import Abilities, Contents
from selfright.retrieval.fusion import Fusion, fusion_named
from selfright.retrieval.preparing import Preparer
from selfright.retrieval.records import IndexCounts, sort_counts
from selfright.retrieval.schema import IndexMeta
from selfright.retrieval.server_search import ServerSearch, Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Description = tuple[str, str, str, str]
"""What an operator says of a collection: name, description, and as JSON its query classes and slots."""


class StoreBase(ABC):
    """Retriever and library over the searcher and the reader that the store sets; closed by ``with``."""

    abilities: Abilities
    _meta: IndexMeta
    _search: BatchRetriever
    _reader: Contents

    @abstractmethod
    def close(self) -> None:
        """Closes the store; what was not committed is dropped."""

    @abstractmethod
    def commit(self) -> None:
        """Makes what was put and removed lasting and visible."""

    @abstractmethod
    def _counts(self) -> IndexCounts: ...

    @abstractmethod
    def _described(self) -> Iterable[Sequence[str]]: ...

    @abstractmethod
    def _describe(self, said: Description) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """The ``k`` best passages, best first; from all collections when none is named."""
        return await self._search.search(query, k, collections)

    async def search_many(self, queries: Sequence[str], k: int, collections: Sequence[str] = ()) -> list[Retrieval]:
        """The same for each query, in order; several are worked on at the same time."""
        return await self._search.search_many(queries, k, collections)

    def document(self, document_id: str) -> Document | None:
        """The document with its text, or None."""
        return self._reader.document(document_id)

    def documents(self, after: str = "", collections: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """The documents with an id behind ``after``, ordered by id; see ``Library``."""
        return self._reader.documents(after, collections)

    def passages_of(self, document_id: str) -> list[Passage]:
        """A document's passages in reading order."""
        return self._reader.passages_of(document_id)

    def vectors_of(self, document_id: str) -> "Mapping[str, NDArray[np.float32]]":
        """The vectors of a document's passages by passage id, of those that have one."""
        return self._reader.vectors_of(document_id)

    def collections(self) -> list[Collection]:
        """The named parts of the index, those that have documents and those that were described."""
        counts = self._counts().collections
        found = {name: Collection(name, documents=count) for name, count in (+counts).items()}
        for name, description, classes, slots in self._described():
            kinds = tuple(map(QueryClass, json.loads(classes)))
            found[name] = Collection(name, description, kinds, tuple(json.loads(slots)), counts[name])
        return [collection for _, collection in sorted(found.items())]

    def describe(self, collection: Collection) -> None:
        """Keeps what the operator says of a collection; joins what is uncommitted, and commits."""
        classes, slots = json.dumps(list(collection.classes)), json.dumps(list(collection.slots))
        self._describe((collection.name, collection.description, classes, slots))
        self.commit()

    def _info(self, location: str, counts: IndexCounts, dense: str, size: int, waiting: int = 0) -> StoreInfo:
        """``dense``: how vectors are searched; ``size``: bytes; ``waiting``: passages that are to get a vector."""
        return StoreInfo(
            location=location,
            format_version=self._meta.format_version,
            documents=counts.documents,
            passages=counts.passages,
            collections=sort_counts(counts.collections),
            languages=sort_counts(counts.languages),
            tokenizer=self._meta.tokenizer,
            embedder=self._meta.embedder,
            dimension=self._meta.dimension,
            dense_kind=dense if self._meta.dimension else "none",
            bytes=size,
            cannot=self.abilities.missing,
            without_vectors=waiting,
        )


class ServerReader(Contents, Protocol):
    """Reads an index on a server."""

    def read(self, task: Task, /) -> Retrieval:
        """What ``task`` finds; it may be run more than once."""

    def idf(self, terms: Sequence[str]) -> list[float]:
        """How rare terms are; see ``TermStatistics``."""


class ServerStore(StoreBase, ABC):
    """A store whose engine makes both rankings."""

    _reader: ServerReader

    def __init__(self, meta: IndexMeta, reader: ServerReader, tokenizer: Tokenizer, embedder: Embedder | None) -> None:
        self._meta, self._reader = meta, reader
        self._tokenizer, self._embedder = tokenizer, embedder
        self._preparer = Preparer(tokenizer, embedder)
        self._search = self.with_fusion(fusion_named("adaptive", embedder=embedder))

    def with_fusion(self, fusion: Fusion, lexicon: TermLexicon | None = None) -> ServerSearch:
        """A retriever over this index that fuses in another way, or knows names in the other language."""
        return ServerSearch(self._reader.read, self._tokenizer, self._embedder, fusion, lexicon)

    def idf(self, terms: Sequence[str]) -> list[float]:
        """``ln(1 + (N - df + 0.5) / (df + 0.5))`` of each term; the highest value for a term never seen."""
        return self._reader.idf(terms) if terms else []
