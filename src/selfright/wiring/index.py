"""What a turn searches: an index folder of ours, or a retriever that the user hands over.

Long because: whatever opens, reads, changes or closes the one store goes through here.
"""

import threading
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.background import Deadline
from selfright.domain.errors import IndexNotFound, UnknownName, UsageError
from selfright.domain.flags import Flags
from selfright.domain.passages import Origin
from selfright.domain.ports import (
    Embedder,
    Library,
    Retriever,
    Router,
    TermLexicon,
    TermStatistics,
    Tokenizer,
)
from selfright.domain.routing import Collection
from selfright.domain.text import several
from selfright.domain.turns import Scope, ScopedRetriever
from selfright.settings import Settings
from selfright.wiring.overrides import Overrides
from selfright.wiring.packs import load_pack, tokenizer_for

if TYPE_CHECKING:
    from selfright.domain.stores import Finding
    from selfright.ingest.exporting import ExportReport
    from selfright.ingest.importing import ImportReport
    from selfright.ingest.pipeline import Progress, Report
    from selfright.ingest.syncing import SyncOptions
    from selfright.llm.embedding_cache import CachedEmbedder
    from selfright.retrieval.reembedding import ReembedReport
    from selfright.retrieval.stores.langchain import ForeignRetriever
    from selfright.retrieval.stores.opening import OpenedStore
    from selfright.wiring.ingestion import ReadUpload, UploadReport

_CACHED_BYTES = 1_000_000_000  # of vectors, beside those of the index
_MOST_SEARCHERS = 8  # each keeps the vectors of recent queries


class IndexService:
    """Opens the index when it is first needed, makes it when there is something to put in, and looks after it."""

    def __init__(self, settings: Settings, overrides: Overrides) -> None:
        self._settings = settings
        self._overrides = overrides
        self._lock = threading.RLock()
        self._store: OpenedStore | None = None
        self._looked_after: OpenedStore | None = None
        self._searchers: dict[tuple[str, int], Retriever] = {}
        self._embeddings: CachedEmbedder | None = None

    # Searching

    def retriever(self, scope: Scope, flags: Flags | None = None) -> ScopedRetriever:
        """What searches within ``scope``, as the flags say; without them as the settings do."""
        return ScopedRetriever(self.searcher(flags), scope)

    def searcher(self, flags: Flags | None = None) -> Retriever:
        """What searches for those who say themselves where."""
        return self._foreign or self._searcher(flags or self._settings.flags)

    def library(self) -> Library:
        """What reads stored documents."""
        return self._foreign or self._as_made()

    def statistics(self) -> TermStatistics:
        """How rare terms are, in the index as it is open when that is asked."""
        if self._foreign is None:
            self._open()
        return self

    def idf(self, terms: Sequence[str]) -> list[float]:
        """See ``TermStatistics``."""
        return (self._foreign or self._open()).idf(terms)

    @cached_property
    def router(self) -> Router | None:
        """Chooses collections by question; None over a retriever that knows none."""
        if self._foreign:
            return None
        from selfright.retrieval.router import SHIPPED_SCALE, DescriptionRouter
        from selfright.wiring.encoders import is_fitted

        # Its thresholds are cosines of one encoder; another one's would send questions anywhere.
        embedder = self.embedder if self.embedder is not None and is_fitted(self.embedder) else None
        pack = load_pack(self._settings.pack)
        described = lambda: pack.point_collections(self.collections())  # noqa: E731 - a name would say no more
        return DescriptionRouter(described, self.tokenizer, self.statistics(), embedder, scale=SHIPPED_SCALE)

    def collections(self) -> list[Collection]:
        """The named parts of the index, ordered by name; a retriever has none."""
        return [] if self.is_foreign else list(self._as_made().collections())

    def check_collections(self, collections: str | Sequence[str]) -> tuple[str, ...]:
        """The names, when there are such collections; raises ``UnknownName`` for one that there is not."""
        collections = several(collections)
        if self._foreign:
            return collections  # it says itself that it has none
        valid = [collection.name for collection in self.collections()] if collections else []
        for name in collections:
            if name not in valid:
                raise UnknownName("collection", name, valid)
        return tuple(dict.fromkeys(collections))

    # Changing

    def add(
        self,
        paths: Sequence[Path],
        collection: str,
        progress: "Progress | None",
        ray: str | None,
        origin: Origin = "index",
    ) -> "Report":
        """Reads, splits and indexes files; the index is made when there is none and something to read.

        ``ray`` is the address of a cluster that does the work, ``origin`` says who brought the files.
        """
        from selfright.ingest.pipeline import ingest
        from selfright.ingest.reading import discover

        self._check_own()
        found = discover(paths)
        if ray:
            return self._add_on(ray, paths, collection, progress, origin)
        store = self._open(create=True)
        return ingest(found, writer=store, library=store, collection=collection, progress=progress, origin=origin)

    def sync(self, paths: Sequence[Path], options: "SyncOptions", progress: "Progress | None") -> "Report":
        """Makes the index what the folders are; a dry run needs no index and changes none."""
        from selfright.ingest.syncing import NoIndex, sync

        self._check_own()
        if not options.dry_run:
            store = self._open(create=True)
            return sync(paths, store, store, options, progress)
        try:
            made = self._as_made()
        except IndexNotFound:
            return sync(paths, None, NoIndex(), options, progress)
        return sync(paths, made, made, options, progress)

    def _add_on(
        self, ray: str, paths: Sequence[Path], collection: str, progress: "Progress | None", origin: Origin
    ) -> "Report":
        from selfright.ingest.ray_cluster import RayCluster
        from selfright.wiring.ingestion import BulkTarget, add_to

        encoder = None if self._overrides.embeddings is not None else self._settings.embedder
        place = BulkTarget(self._settings.index, self.tokenizer, self.embedder, encoder)
        with RayCluster(ray) as cluster:
            return add_to(cluster, place, paths, collection, progress, origin)

    def read_upload(self, path: Path, name: str, deadline: Deadline) -> "ReadUpload":
        """Reads one file that somebody sent; to be stored, then closed."""
        from selfright.wiring.ingestion import read_upload

        self._check_own()
        return read_upload(path, name, deadline)

    def embed_upload(self, upload: "ReadUpload", collection: str, apart: bool) -> None:
        """Embeds what was read and is not stored; the index, which is made when there is none, stays as it is.

        Raises what opening it raises.
        """
        from selfright.wiring.ingestion import embed_upload

        if upload.count:
            store = self._open(create=True)  # no work is done for one that could not take it
            if self.cached_embedder is not None:
                embed_upload(upload, self.cached_embedder, collection, store, apart=apart)

    def store_upload(self, upload: "ReadUpload", collection: str, apart: bool) -> "UploadReport":
        """Indexes what was read; the index is made when there is none."""
        from selfright.wiring.ingestion import store_upload

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

    def close(self) -> None:
        """Closes the index."""
        self._close_store()
        if self._embeddings is not None:
            self._embeddings.close()

    # Parts

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Korean and English, with the words that the index was made with, or those of the pack for a new one."""
        from selfright.retrieval.stores.opening import tokenizer_of

        made = None if self._foreign else tokenizer_of(self._settings.index)
        return tokenizer_for(load_pack(self._settings.pack), made)

    @cached_property
    def embedder(self) -> Embedder | None:
        """What the user gave, or the encoder that ships; None when its weights are not installed and nobody insists."""
        from selfright.wiring.encoders import resolve_embedder

        return resolve_embedder(self._settings.embedder, self._overrides.embeddings)

    @cached_property
    def _lexicon(self) -> TermLexicon | None:
        """Names in both languages, from the domain pack."""
        known = load_pack(self._settings.pack).lexicon
        return known() if known else None

    @cached_property
    def cached_embedder(self) -> Embedder | None:
        """What the index embeds with, and judges sentences of passages: vectors are kept, for other processes and
        indexes too, where a name tells whose they are."""
        embedder = self.embedder
        if embedder is None or not getattr(embedder, "identified", True):
            return embedder
        from selfright.llm.embedding_cache import CachedEmbedder

        path = self._settings.home / "cache" / "embeddings.sqlite"
        self._embeddings = CachedEmbedder(embedder, path, _CACHED_BYTES)
        return self._embeddings

    @property
    def is_foreign(self) -> bool:
        """Whether a retriever of the user's stands in for an index folder."""
        return self._overrides.retriever is not None

    @cached_property
    def _foreign(self) -> "ForeignRetriever | None":
        """What stands in for an index, when the user gave a LangChain retriever."""
        if self._overrides.retriever is None:
            return None
        from selfright.retrieval.stores.langchain import ForeignRetriever

        return ForeignRetriever(self._overrides.retriever)

    def _check_own(self) -> None:
        """Raises ``UsageError`` for a retriever that the user handed over: there is no index of ours to work on."""
        if self.is_foreign:
            raise UsageError(
                "this works on an index of Selfright's own only, but a LangChain retriever is searched; do it where "
                "the retriever's documents are kept, or open an index: Selfright.open('folder')"
            )

    def _open(self, *, create: bool = False) -> "OpenedStore":
        from selfright.retrieval.stores.opening import open_store

        self._check_own()
        with self._lock:
            if self._store is None:
                place = self._settings.index
                self._store = open_store(place, self.tokenizer, self.cached_embedder, create=create)
            return self._store

    def _as_made(self) -> "OpenedStore":
        """The store for what embeds nothing: the open one, else one that asks for no embedder."""
        from selfright.retrieval.schema import ExistingEmbedder
        from selfright.retrieval.stores.opening import open_store

        self._check_own()
        with self._lock:
            if self._store is not None:
                return self._store
            if self._looked_after is None:
                made = ExistingEmbedder(lambda: self.cached_embedder)
                self._looked_after = open_store(self._settings.index, self.tokenizer, made)
            return self._looked_after

    def _close_store(self) -> None:
        with self._lock:
            stores = self._store, self._looked_after
            self._store = self._looked_after = None
            self._searchers = {}
        for store in stores:
            if store is not None:
                store.close()

    def _searcher(self, flags: Flags) -> Retriever:
        from selfright.retrieval.fusion import fusion_named

        key = (flags.fusion, flags.rrf_k)
        if key not in self._searchers:
            fusion = fusion_named(flags.fusion, flags.rrf_k, self.embedder)
            self._searchers = {
                **dict(list(self._searchers.items())[-_MOST_SEARCHERS:]),
                key: self._open().with_fusion(fusion, self._lexicon),
            }
        return self._searchers[key]
