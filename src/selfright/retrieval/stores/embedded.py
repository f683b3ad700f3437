"""The embedded store: a catalogue in SQLite, BM25 by tantivy, vectors by FAISS, in one folder and one process."""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from selfright.domain.errors import StoreError
from selfright.domain.passages import Document, DocumentInfo, Passage, Retrieval, StoreInfo
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.catalogue import LOCK_NAME, Catalogue
from selfright.retrieval.dense import DenseIndex
from selfright.retrieval.files import folder_bytes
from selfright.retrieval.fusion import Fusion, LanguageAwareFusion
from selfright.retrieval.hybrid import HybridSearch, Indexes
from selfright.retrieval.ledger import Ledger
from selfright.retrieval.lexical import LexicalIndex
from selfright.retrieval.locking import WriterLock
from selfright.retrieval.preparing import Preparer, check_input, embedder_languages
from selfright.retrieval.projection import Projection, catch_up, is_current

NO_EMBEDDER = "none"


class EmbeddedStore:
    """Retriever, library, writer and term statistics over one index folder.

    Reading is safe from any thread and goes on while something is written; one thread at a time may write, and one
    process (else ``IndexBusy``). Close it when done; it is its own context manager.
    """

    def __init__(
        self, catalogue: Catalogue, tokenizer: Tokenizer, embedder: Embedder | None, fusion: Fusion | None = None
    ) -> None:
        folder, identity = catalogue.folder, catalogue.meta.identity
        self._catalogue = catalogue
        self._ledger = Ledger(catalogue)
        self._preparer = Preparer(tokenizer, embedder)
        self._lock = WriterLock(folder / LOCK_NAME)
        self._writing = threading.RLock()
        dense = DenseIndex(folder / "dense", identity, embedder.dimension) if embedder else None
        self._indexes = Indexes(catalogue, tokenizer, LexicalIndex(folder / "lexical", identity), embedder, dense)
        self._search = self.with_fusion(fusion or LanguageAwareFusion(dense_languages=embedder_languages(embedder)))
        self._recover()

    @classmethod
    def open(
        cls, path: Path | str, tokenizer: Tokenizer, embedder: Embedder | None, fusion: Fusion | None = None
    ) -> "EmbeddedStore":
        """The index at ``path``; ``embedder`` None means that it was made for words only.

        Raises ``IndexNotFound``, ``NotAnIndex``, ``IncompatibleIndex`` or ``IndexDamaged``. A search index that is
        missing, damaged or behind is mended from the catalogue.
        """
        catalogue = Catalogue(Path(path))
        with _closed_on_error(catalogue):
            catalogue.meta.check(catalogue.folder, tokenizer.name, *_embedder_name(embedder))
            return cls(catalogue, tokenizer, embedder, fusion)

    @classmethod
    def create(
        cls, path: Path | str, tokenizer: Tokenizer, embedder: Embedder | None, fusion: Fusion | None = None
    ) -> "EmbeddedStore":
        """A new, empty index; the folder must be empty or not exist, else ``NotAnIndex``."""
        catalogue = Catalogue.create(Path(path), tokenizer.name, *_embedder_name(embedder))
        with _closed_on_error(catalogue):
            return cls(catalogue, tokenizer, embedder, fusion)

    def close(self) -> None:
        """Closes all files; what was not committed is dropped."""
        with self._writing:
            self._catalogue.close()
            self._lock.release()

    def __enter__(self) -> "EmbeddedStore":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # Retriever

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """The ``k`` best passages, best first; from all collections when none is named."""
        return await self._search.search(query, k, collections)

    def with_fusion(self, fusion: Fusion) -> HybridSearch:
        """A retriever over this index that fuses in another way."""
        return HybridSearch(self._indexes, fusion)

    # Library

    def document(self, document_id: str) -> Document | None:
        """The document with its text, or None."""
        return self._catalogue.document(document_id)

    def documents(self) -> Iterator[DocumentInfo]:
        """All documents, ordered by id."""
        return self._catalogue.documents()

    def passages_of(self, document_id: str) -> list[Passage]:
        """A document's passages in reading order."""
        return self._catalogue.passages_of(document_id)

    def info(self) -> StoreInfo:
        """The index in figures; ``collections`` and ``languages`` count documents."""
        meta, languages = self._catalogue.meta, self._catalogue.languages()
        folder = self._catalogue.folder
        return StoreInfo(
            location=str(folder),
            format_version=meta.format_version,
            documents=sum(languages.values()),
            passages=self._catalogue.passage_count(),
            collections=self._catalogue.collections(),
            languages=languages,
            tokenizer=meta.tokenizer,
            embedder=meta.embedder,
            dimension=meta.dimension,
            dense_kind=self._indexes.dense.kind if self._indexes.dense else "none",
            bytes=folder_bytes(folder),
        )

    # Writer

    def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]]) -> None:
        """Adds documents with their passages; a document with the same id is replaced whole.

        Raises ``InputError`` for a passage that is not part of its document, ``IndexBusy`` when another process writes;
        nothing of the batch is kept then.
        """
        for document, passages in batch:
            check_input(document, passages)
        with self._changing():
            every = [passage for _, passages in batch for passage in passages]
            prepared = iter(self._preparer.prepare(every, self._ledger.embeddings))
            for document, passages in batch:
                self._ledger.put(document, [next(prepared) for _ in passages])

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents; gives back the ids that were there."""
        with self._changing():
            return [document_id for document_id in dict.fromkeys(document_ids) if self._ledger.remove(document_id)]

    def commit(self) -> None:
        """Makes what was put and removed lasting and visible."""
        with self._writing:
            if not self._lock.held:
                return
            try:
                self._ledger.commit()
                self._follow()
            finally:
                self._lock.release()

    # TermStatistics

    def idf(self, terms: Sequence[str]) -> list[float]:
        """``ln(1 + (N - df + 0.5) / (df + 0.5))`` of each term; the highest value for a term never seen."""
        frequencies, total = self._indexes.lexical.frequencies(terms)
        return [math.log(1 + (total - found + 0.5) / (found + 0.5)) for found in frequencies]

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Holds the writer's lock from the first change on, until the commit."""
        with self._writing:
            self._lock.acquire()
            try:
                with self._ledger.step():
                    yield
            finally:
                if not self._ledger.pending:
                    self._lock.release()

    def _recover(self) -> None:
        """Mends and updates the search indexes, unless a writer is at it already."""
        if all(is_current(projection, self._catalogue) for projection in self._projections()):
            return
        try:
            self._lock.acquire()
        except StoreError:
            if any(projection.state is None for projection in self._projections()):
                raise
            return
        try:
            self._follow()
        finally:
            self._lock.release()

    def _follow(self) -> None:
        for projection in self._projections():
            projection.refresh()
            catch_up(projection, self._catalogue)
        self._ledger.forget(self._catalogue.sequence())

    def _projections(self) -> list[Projection]:
        return [projection for projection in (self._indexes.lexical, self._indexes.dense) if projection is not None]


@contextmanager
def _closed_on_error(catalogue: Catalogue) -> Iterator[None]:
    try:
        yield
    except BaseException:
        catalogue.close()
        raise


def _embedder_name(embedder: Embedder | None) -> tuple[str, int]:
    return (embedder.name, embedder.dimension) if embedder else (NO_EMBEDDER, 0)
