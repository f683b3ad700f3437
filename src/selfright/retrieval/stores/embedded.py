"""The embedded store: a catalogue in SQLite, BM25 by tantivy, vectors by FAISS, in one folder and one process."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.errors import IndexBusy, IndexDamaged, IndexNotFound, NotAnIndex, StoreError
from selfright.domain.passages import StoreInfo
from selfright.domain.ports import Embedder, Tokenizer
from selfright.domain.stores import Finding
from selfright.retrieval import maintenance
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import FILE_NAME, LOCK_NAME, IndexStats
from selfright.retrieval.catalogue_writer import CatalogueWriter
from selfright.retrieval.dense import DenseIndex
from selfright.retrieval.hybrid import IndexReader
from selfright.retrieval.lexical import LexicalIndex
from selfright.retrieval.maintenance import ProjectionSync
from selfright.retrieval.preparing import Batch, GivenVectors, embedder_name
from selfright.retrieval.records import SearchRow
from selfright.retrieval.schema import ExistingEmbedder, local_embedder, resolve_embedder
from selfright.retrieval.stores.base import Description, StoreBase
from selfright.retrieval.vector_filler import Progress, VectorFiller
from selfright.storage.files import WriterLock, folder_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HELPERS = 4


class EmbeddedStore(StoreBase):
    """Retriever, library, writer and term statistics over one index folder.

    Reading is safe from any thread and goes on while something is written; one thread and process at a time may write
    (else ``IndexBusy``).
    """

    def __init__(self, catalogue: Catalogue, tokenizer: Tokenizer, embedder: Embedder | None) -> None:
        folder = catalogue.folder
        self._catalogue = catalogue
        self._writer = CatalogueWriter(catalogue)
        self._lock = WriterLock(folder / LOCK_NAME)
        self._writing = threading.RLock()
        self._helpers = ThreadPoolExecutor(_HELPERS, thread_name_prefix="selfright-search")
        self._lexical = LexicalIndex(folder / "lexical", catalogue.meta.identity)
        self._dense = DenseIndex(folder / "dense", catalogue) if embedder else None
        self._projections = ProjectionSync(catalogue, self._writer, [self._lexical, *filter(None, [self._dense])])
        reader = IndexReader(catalogue, self._lexical, self._dense, self._helpers)
        super().__init__(catalogue.meta, catalogue, reader, tokenizer, embedder)

    @classmethod
    def open(
        cls,
        path: Path | str,
        tokenizer: Tokenizer,
        embedder: Embedder | ExistingEmbedder | None,
        *,
        create: bool = False,
    ) -> "EmbeddedStore":
        """The index at ``path``, made with ``create`` where there is none; ``embedder`` None is for words only.

        Raises ``IndexNotFound``, ``NotAnIndex``, ``IncompatibleIndex`` or ``IndexDamaged``. A search index that is
        missing, damaged or behind is mended from the catalogue.
        """
        try:
            store = cls.open_unchecked(path, tokenizer, embedder)
        except IndexNotFound:
            if not create:
                raise
            return cls.create(path, tokenizer, local_embedder(embedder))
        with _close_on_error(store):
            store.recover()
        return store

    @classmethod
    def open_unchecked(
        cls, path: Path | str, tokenizer: Tokenizer, embedder: Embedder | ExistingEmbedder | None
    ) -> "EmbeddedStore":
        """The same, with its search indexes as they are found: to be looked at and mended."""
        with _close_on_error(catalogue := Catalogue(Path(path))):
            return cls(catalogue, tokenizer, resolve_embedder(catalogue.meta, catalogue.folder, tokenizer, embedder))

    @classmethod
    def check(
        cls, path: Path, tokenizer: Tokenizer, embedder: Embedder | ExistingEmbedder | None, *, repair: bool = False
    ) -> list[Finding]:
        """``verify`` for the index at ``path``, also where it cannot be opened.

        Raises ``IndexNotFound``, ``NotAnIndex`` and ``IncompatibleIndex``.
        """
        try:
            with cls.open_unchecked(path, tokenizer, embedder) as store:
                return store.verify(repair=repair)
        except (IndexDamaged, NotAnIndex) as error:
            if isinstance(error, NotAnIndex) and not (path / "lexical").exists():
                raise
            return [Finding(FILE_NAME, str(error))]

    @classmethod
    def create(cls, path: Path | str, tokenizer: Tokenizer, embedder: Embedder | None) -> "EmbeddedStore":
        """A new, empty index; the folder must be empty or not exist, else ``NotAnIndex``."""
        Catalogue.create(Path(path), tokenizer.name, *embedder_name(embedder)).close()
        return cls.open(path, tokenizer, embedder)

    def close(self) -> None:
        """Closes all files; what was not committed is dropped."""
        with self._writing:
            self._helpers.shutdown()
            self._catalogue.close()
            self._lock.release()

    # Library

    def info(self) -> StoreInfo:
        """The index in figures; ``collections`` and ``languages`` count documents."""
        stats, size = self._catalogue.stats(), folder_bytes(self._catalogue.folder)
        kind = self._dense.kind if self._dense else "none"
        return self._info(str(self._catalogue.folder), stats, kind, size, stats.waiting)

    # Writer

    def put(self, batch: Batch, vectors: GivenVectors | None = None, *, embed: bool = True) -> None:
        """Adds documents with their passages; a document with the same id is replaced whole.

        ``vectors`` are unit vectors by passage id that the index's embedder has made elsewhere; what is not among them
        is embedded, or, without ``embed``, searched by words only until ``fill`` has made the rest. Raises
        ``InputError`` for a passage that is not part of its document, ``IndexBusy`` when another process writes;
        nothing of the batch is kept then.
        """
        with self._changing():
            self._writer.put(self._preparer.prepare(batch, self._writer, vectors, embed=embed))

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents; gives back the ids that were there."""
        with self._changing():
            return [document_id for document_id in dict.fromkeys(document_ids) if self._writer.remove(document_id)]

    def discard(self) -> None:
        """Forgets what was put and removed since the last commit."""
        with self._writing:
            self._writer.rollback()
            self._lock.release()

    def commit(self) -> None:
        """Makes what was put and removed lasting and visible."""
        with self._writing:
            if not self._lock.held:
                return
            try:
                self._writer.commit()
                self._projections.sync()
            finally:
                self._lock.release()

    def fill(self, progress: Progress | None = None, stop: Callable[[], bool] = lambda: False) -> int:
        """As every store; others may write meanwhile."""
        waiting = self._catalogue.stats().waiting
        if self.embedder and waiting:
            return VectorFiller(self._catalogue, self.embedder, self._keep).run(progress, stop)
        return waiting

    def _keep(self, some: Sequence[SearchRow], vectors: "Mapping[bytes, NDArray[np.float32]]") -> None:
        """Stores vectors, by the hash of the text, of passages that still wait for theirs, and commits."""
        with self._writing:
            if self._writer.pending:
                raise IndexBusy("another thread of this process is writing to the index; wait until it has committed")
            with self._changing():
                self._writer.embed(some, vectors)
            self.commit()

    def verify(self, *, repair: bool = False) -> list[Finding]:
        """Reads and checks everything. With ``repair`` search indexes are made anew and damaged vectors embedded anew.

        Records of the catalogue that are damaged are only named, and nothing is made of them.
        """
        findings = list(self._findings())
        if not repair or not findings or any(finding.file == FILE_NAME for finding in findings):
            return findings
        with self._maintaining():
            return self._repair(findings)

    def compact(self) -> None:
        """Frees what replaced and removed documents have left behind, and makes the search indexes anew."""
        with self._maintaining():
            with self._writer.step():
                maintenance.compact_vectors(self._catalogue, self._writer)
            self._writer.commit()
            self._projections.sync(anew=True)
            maintenance.vacuum(self._catalogue.path)

    def recover(self) -> None:
        """Mends and updates the search indexes unless a writer is at it; raises ``IndexDamaged``."""
        self._projections.check_order()
        if self._projections.current:
            return
        try:
            self._lock.acquire()
        except StoreError:
            if not self._projections.usable:
                raise
            return
        try:
            self._projections.sync_where_possible()
        finally:
            self._lock.release()

    def _counts(self) -> IndexStats:
        return self._catalogue.stats()

    def _described(self) -> Iterable[Sequence[str]]:
        return self._catalogue.described_collections()

    def _describe(self, said: Description) -> None:
        with self._changing():
            self._writer.describe(said)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Holds the writer's lock from the first change on, until the commit."""
        with self._writing:
            self._lock.acquire()
            try:
                with self._writer.step():
                    yield
            finally:
                if not self._writer.pending:
                    self._lock.release()

    @contextmanager
    def _maintaining(self) -> Iterator[None]:
        """Holds the writer's lock; what was uncommitted is committed first."""
        with self._writing:
            self.commit()
            with self._lock:
                yield

    def _findings(self) -> Iterator[Finding]:
        yield from maintenance.check_catalogue(self._catalogue)
        yield from maintenance.check_vectors(self._catalogue)
        yield from self._projections.findings()

    def _repair(self, before: list[Finding]) -> list[Finding]:
        if self.embedder is not None and any(finding.file.startswith("vectors/") for finding in before):
            with self._writer.step():
                maintenance.mend_vectors(self._catalogue, self._writer, self.embedder.embed)
            self._writer.commit()
        self._projections.sync(anew=True)
        after = {(finding.file, finding.problem) for finding in self._findings()}
        return [replace(found, mended=(found.file, found.problem) not in after) for found in before]


@contextmanager
def _close_on_error(opened: "Catalogue | EmbeddedStore") -> Iterator[None]:
    try:
        yield
    except BaseException:
        opened.close()
        raise
