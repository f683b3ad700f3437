"""What all stores share: search, adding and collections; and what stores on a server share besides."""

import json
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol, Self

from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Document, DocumentInfo, Language, Passage, Retrieval, StoreInfo
from selfright.domain.ports import Embedder, TermLexicon, TermStatistics, Tokenizer
from selfright.domain.routing import Collection
from selfright.domain.stores import Abilities, Contents, Store
from selfright.retrieval.fusion import Fusion, fusion_named
from selfright.retrieval.locations import Location
from selfright.retrieval.preparing import Batch, GivenVectors, Preparer, embedder_name
from selfright.retrieval.records import IndexCounts, sort_counts
from selfright.retrieval.schema import ExistingEmbedder, IndexMeta, local_embedder, resolve_embedder
from selfright.retrieval.search_request import FusedSearch, SearchRequest, Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from selfright.retrieval.vector_filler import Progress

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

    def main_language(self) -> Language:
        """What most documents are in; English where there are none."""
        return "ko" if self._counts().languages["ko"] > self._counts().languages["en"] else "en"

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


class ServerStore(StoreBase):
    """A store that a server keeps, where one thread at a time writes."""

    def __init__(self, server: Any, meta: IndexMeta, tokenizer: Tokenizer, embedder: Embedder | None) -> None:
        self._server, self._changing = server, threading.RLock()
        self._reader, self._writing = self._sides(meta.dimension)
        super().__init__(meta, self._reader, self._reader, tokenizer, embedder)

    @classmethod
    def open(
        cls,
        place: Location,
        tokenizer: Tokenizer,
        embedder: Embedder | ExistingEmbedder | None,
        *,
        create: bool = False,
    ) -> Self:
        """The index at ``place``; with ``create`` it is made where there is none.

        Raises ``IndexNotFound``, ``NotAnIndex``, ``IncompatibleIndex``, ``IndexBusy`` or ``StoreUnavailable``.
        """
        new = None
        if create:
            made_with = embedder_name(local_embedder(embedder))
            new = IndexMeta(secrets.token_hex(16), tokenizer.name, *made_with)
        server = cls._connect(place, create=create)
        try:
            meta = cls._open_or_create(server, new)
            return cls(server, meta, tokenizer, resolve_embedder(meta, place.shown, tokenizer, embedder))
        except BaseException:
            server.close()
            raise

    @classmethod
    def read_meta(cls, place: Location) -> IndexMeta:
        """How the index at ``place`` was made. Raises as ``open`` does."""
        with closing(cls._connect(place, create=False)) as server:
            return cls._open_or_create(server, None)

    @classmethod
    @abstractmethod
    def _connect(cls, place: Location, *, create: bool) -> Any: ...

    @classmethod
    @abstractmethod
    def _open_or_create(cls, server: Any, new: IndexMeta | None) -> IndexMeta: ...

    @abstractmethod
    def _sides(self, dimension: int) -> tuple[Any, Any]:
        """What reads, and what writes."""

    def close(self) -> None:
        """Lets go of the server; what was not committed is dropped."""
        with self._changing:
            self._writing.close()
            self._server.close()

    def put(self, batch: Batch, vectors: GivenVectors | None = None) -> None:
        """Adds documents with their passages; a document with the same id is replaced whole.

        ``vectors`` are unit vectors by passage id that the index's embedder has made elsewhere; what is not among them
        is embedded. Raises ``InputError`` for a passage that is not part of its document or that the server cannot
        keep, ``IndexBusy`` when another writes, ``StoreUnavailable`` when the server goes away; nothing of the batch
        is kept then.
        """
        with self._changing:
            self._writing.put(lambda store: self._preparer.prepare(batch, store, vectors))

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents; gives back the ids that were there."""
        with self._changing:
            removed: list[str] = self._writing.remove(list(dict.fromkeys(document_ids)))
            return removed

    def discard(self) -> None:
        """Forgets what was put and removed since the last commit."""
        with self._changing:
            self._writing.discard()

    def commit(self) -> None:
        """Makes what was put and removed lasting and visible."""
        with self._changing:
            self._writing.commit()
        self._reader.refresh()

    def _describe(self, said: Description) -> None:
        with self._changing:
            self._writing.describe(said)
