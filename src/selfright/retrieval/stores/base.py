"""What every store does alike."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Document, DocumentInfo, Passage, Retrieval, StoreInfo
from selfright.domain.ports import Embedder, TermLexicon, TermStatistics, Tokenizer
from selfright.domain.routing import Collection
from selfright.domain.stores import Abilities, Contents, Store
from selfright.retrieval.fusion import Fusion, fusion_named
from selfright.retrieval.preparing import Preparer
from selfright.retrieval.records import IndexCounts, sort_counts
from selfright.retrieval.schema import IndexMeta
from selfright.retrieval.search_request import FusedSearch, SearchRequest, Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from selfright.retrieval.waiting import Progress

Description = tuple[str, str, str, str]
"""What an operator says of a collection: name, description, and as JSON its query classes and slots."""


class IndexReader(TermStatistics, Protocol):
    """What searches read."""

    def read(self, request: SearchRequest, task: Task, /) -> Retrieval:
        """What ``task`` finds for ``request``; it may be run more than once."""


class StoreBase(FusedSearch, Store, ABC):
    """Retriever, library and term statistics over what an engine reads; closed by ``with``."""

    abilities: Abilities = Abilities()

    def __init__(
        self,
        meta: IndexMeta,
        contents: Contents,
        reader: IndexReader,
        tokenizer: Tokenizer,
        embedder: Embedder | None,
    ) -> None:
        super().__init__(reader.read, tokenizer, embedder, fusion_named("adaptive", embedder=embedder))
        self.embedder = embedder
        self._meta, self._contents, self._index = meta, contents, reader
        self._preparer = Preparer(tokenizer, embedder)

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

    def with_fusion(self, fusion: Fusion, lexicon: TermLexicon | None = None) -> FusedSearch:
        """A retriever over this index that fuses in another way, or knows names in the other language."""
        return FusedSearch(self._read, self._tokenizer, self.embedder, fusion, lexicon)

    def idf(self, terms: Sequence[str]) -> list[float]:
        """How rare terms are; see ``TermStatistics``."""
        return self._index.idf(terms) if terms else []

    def fill(self, progress: "Progress | None" = None, stop: Callable[[], bool] = lambda: False) -> int:
        """Makes the vectors that passages wait for, and commits batch by batch until ``stop`` says so; how many wait
        then. None ever wait on a server, which gets them with their passages."""
        del progress, stop
        return 0

    def document(self, document_id: str) -> Document | None:
        """The document with its text, or None."""
        return self._contents.document(document_id)

    def documents(self, after: str = "", collections: Sequence[str] = ()) -> Iterator[DocumentInfo]:
        """The documents with an id behind ``after``, ordered by id; see ``Library``."""
        return self._contents.documents(after, collections)

    def passages_of(self, document_id: str) -> list[Passage]:
        """A document's passages in reading order."""
        return self._contents.passages_of(document_id)

    def vectors_of(self, document_id: str) -> "Mapping[str, NDArray[np.float32]]":
        """The vectors of a document's passages by passage id, of those that have one."""
        return self._contents.vectors_of(document_id)

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
