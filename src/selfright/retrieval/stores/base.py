"""What every store does alike: a search goes to its searcher, a look-up to its documents."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from selfright.domain.passages import Document, DocumentInfo, Passage, Retrieval
from selfright.domain.ports import BatchRetriever
from selfright.domain.stores import Contents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class ReadableStore(ABC):
    """Retriever and library over the searcher and the reader that the store sets; closed by ``with``."""

    _search: BatchRetriever
    _reader: Contents

    @abstractmethod
    def close(self) -> None:
        """Closes the store; what was not committed is dropped."""

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
