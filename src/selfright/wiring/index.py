"""What is done with an index beside searching it: documents put in and taken out, moved, checked."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.background import Deadline
from selfright.domain.errors import IndexNotFound, UsageError
from selfright.domain.passages import Origin
from selfright.domain.routing import Collection
from selfright.retrieval.locations import locate
from selfright.wiring.open_index import OpenIndex

if TYPE_CHECKING:
    from selfright.domain.stores import Finding
    from selfright.ingest.exporting import ExportReport
    from selfright.ingest.importing import ImportReport
    from selfright.ingest.pipeline import Progress, Report
    from selfright.ingest.syncing import SyncOptions
    from selfright.retrieval.reembedding import ReembedReport
    from selfright.wiring.uploads import ReadUpload, UploadReport


class IndexService(OpenIndex):
    """Changes the index, makes it when there is something to put in, and looks after it."""

    def add(
        self,
        paths: Sequence[Path],
        collection: str,
        progress: "Progress | None",
        ray: str | None,
        origin: Origin = "index",
    ) -> "Report":
        """Reads, splits and indexes files; the index is made when there is none and something to read.

        ``fill`` makes the vectors. ``ray`` is the address of a cluster that does the work, ``origin`` says who brought
        the files.
        """
        from selfright.ingest.pipeline import ingest
        from selfright.ingest.reading import discover
        from selfright.retrieval.stores.opening import words_first

        self._check_own()
        found = discover(paths)
        if ray:
            return self._add_on(ray, paths, collection, progress, origin)
        store = self._open(create=True)
        writer = words_first(store)
        return ingest(found, writer=writer, library=store, collection=collection, progress=progress, origin=origin)

    def sync(self, paths: Sequence[Path], options: "SyncOptions", progress: "Progress | None") -> "Report":
        """Makes the index what the folders are; a dry run needs no index and changes none."""
        from selfright.ingest.syncing import sync
        from selfright.retrieval.stores.opening import words_first

        self._check_own()
        if not options.dry_run:
            store = self._open(create=True)
            return sync(paths, words_first(store), store, options, progress)
        try:
            made = self._as_made()
        except IndexNotFound:
            return sync(paths, None, None, options, progress)
        return sync(paths, None, made, options, progress)

    def fill(self, progress: "Progress | None", stop: "Callable[[], bool]") -> int:
        """Makes the vectors that passages wait for; how many wait when ``stop`` said that it is enough."""
        from selfright.retrieval.stores.opening import fill

        if self.is_foreign or not self._as_made().info().without_vectors:
            return 0
        return fill(self._open(), progress, stop)

    @property
    def is_words_first(self) -> bool:
        """Whether new documents are searched by words before they have vectors; an index on a server embeds first."""
        return locate(self._settings.index).engine == "embedded"

    def _add_on(
        self, ray: str, paths: Sequence[Path], collection: str, progress: "Progress | None", origin: Origin
    ) -> "Report":
        from selfright.ingest.ray_cluster import RayCluster
        from selfright.wiring.bulk import BulkTarget, add_to

        encoder = None if self._overrides.embeddings is not None else self._settings.embedder
        place = BulkTarget(self._settings.index, self.tokenizer, self.embedder, encoder)
        with RayCluster(ray) as cluster:
            return add_to(cluster, place, paths, collection, progress, origin)

    def read_upload(self, path: Path, name: str, deadline: Deadline) -> "ReadUpload":
        """Reads one file that somebody sent; to be stored, then closed."""
        from selfright.wiring.uploads import read_upload

        self._check_own()
        return read_upload(path, name, deadline)

    def embed_upload(self, upload: "ReadUpload", collection: str, apart: bool) -> None:
        """Embeds what was read and is not stored; the index, which is made when there is none, stays as it is.

        Raises what opening it raises.
        """
        from selfright.wiring.uploads import embed_upload

        if upload.count:
            store = self._open(create=True)  # no work is done for one that could not take it
            if self.cached_embedder is not None:
                embed_upload(upload, self.cached_embedder, collection, store, apart=apart)

    def store_upload(self, upload: "ReadUpload", collection: str, apart: bool) -> "UploadReport":
        """Indexes what was read; the index is made when there is none."""
        from selfright.wiring.uploads import store_upload

        return store_upload(upload, collection, lambda: self._open(create=True), apart=apart)

    def import_corpus(
        self, corpus: Path, faiss: Path | None, meta: Path | None, collection: str | None, progress: "Progress | None"
    ) -> "ImportReport":
        """Takes in an index made elsewhere, wholly or not at all; without ``faiss`` its texts alone."""
        from selfright.ingest.faiss_files import FaissVectors
        from selfright.ingest.importing import import_corpus

        self._check_own()
        vectors = FaissVectors(faiss) if faiss else None
        create = partial(self._open, create=True)
        return import_corpus(corpus, meta, vectors, self.embedder, create, collection, progress)

    def export(
        self, folder: Path, *, passages: bool, vectors: bool, force: bool, progress: "Progress | None"
    ) -> "ExportReport":
        """Writes the documents, or passages, in BEIR's layout; with their vectors where wanted."""
        from selfright.ingest.exporting import export

        store = self._as_made()
        info = store.info()
        if vectors and not info.dimension:
            raise UsageError("this index is searched by words alone and has no vectors to write; leave out --vectors")
        dimension = info.dimension if vectors else 0
        return export(
            store, folder, passages=passages, dimension=dimension, force=force, progress=progress, total=info.documents
        )

    def reembed(self, to: str | None, progress: "Progress | None") -> "ReembedReport":
        """Gives the index the vectors of the embedder that is set, where it lies or in another place."""
        from selfright.wiring.transfers import reembed

        self._check_own()
        if self.embedder is None and self._settings.embedder != "none":
            raise UsageError(
                "no embedder is installed that could make vectors; name one with embedder=…, or with embedder=none "
                "have the index searched by words alone"
            )
        self._close_store()
        return reembed(self._settings.index, to, self.tokenizer, self.cached_embedder, progress)

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents and commits."""
        store = self._as_made()
        removed = store.remove(document_ids)
        store.commit()
        return removed

    def describe(self, collection: Collection) -> Collection:
        """Stores what is said of a collection; gives it back with the number of its documents."""
        store = self._as_made()
        store.describe(collection)
        return next((stored for stored in store.collections() if stored.name == collection.name), collection)

    def verify(self, *, repair: bool) -> "list[Finding]":
        """Checks the index, also one that cannot be opened."""
        from selfright.retrieval.schema import ExistingEmbedder
        from selfright.retrieval.stores.embedded import EmbeddedStore
        from selfright.retrieval.stores.opening import folder_of

        self._check_own()
        folder = folder_of(self._settings.index, "verify")
        return EmbeddedStore.check(
            folder, self.tokenizer, ExistingEmbedder(lambda: self.cached_embedder), repair=repair
        )

    def compact(self) -> None:
        """Frees space."""
        from selfright.retrieval.stores.opening import compact

        compact(self._as_made(), self._settings.index)
