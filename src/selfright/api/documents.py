"""What ``Selfright`` does with the documents of its index."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from selfright.background import Deadline
from selfright.domain.errors import IndexNotFound, UsageError
from selfright.domain.passages import Document, DocumentInfo, Origin, StoreInfo
from selfright.domain.routing import Collection, collection_name
from selfright.domain.text import compose_name, readable, several

if TYPE_CHECKING:
    from selfright.domain.stores import Finding
    from selfright.ingest.pipeline import Progress, Report
    from selfright.ingest.syncing import SyncKeywords
    from selfright.ingest.transfer import ExportReport, ImportReport
    from selfright.retrieval.reembedding import ReembedReport
    from selfright.wiring.engine import Engine
    from selfright.wiring.uploads import ReadUpload, UploadReport


class DocumentMethods:
    """Adding, listing, moving and checking documents."""

    _engine: "Engine"

    def add(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        collection: str | None = None,
        origin: Origin = "index",
        progress: "Progress | None" = None,
        ray: str | None = None,
        embed: bool = True,
    ) -> "Report":
        """Adds files, folders or JSONL to the index, and creates it if needed. Unchanged ones stay as they are.

        Documents are searched by words first; then ``embed`` makes their vectors, which with ``embed=False`` is left to
        a call of it. Without ``collection`` a document that is there stays in its own.

        ``origin`` sets the trust: documents by ``upload`` or from the ``web`` rank behind your own (``index``). ``ray``
        does the work on a cluster: ``local`` (this machine's cores), ``auto``, or ``host:port``.
        """
        from selfright.ingest.pipeline import ingest
        from selfright.ingest.reading import discover
        from selfright.retrieval.stores.opening import words_first

        index, files = self._engine.index, list(map(Path, several(paths)))
        where = "" if collection is None else collection_name(readable(collection))
        index.check_own()
        found = discover(files)
        if ray:
            from selfright.wiring.bulk import add_on

            report = add_on(ray, index, files, where, progress, origin)
        else:
            store = index.open(create=True)
            writer = words_first(store)
            report = ingest(found, writer=writer, library=store, collection=where, progress=progress, origin=origin)
        if embed:
            self.embed()
        return report

    def embed(self, progress: "Progress | None" = None, *, stop: Callable[[], bool] = lambda: False) -> int:
        """Makes the vectors that passages wait for, and commits each batch; ``progress`` counts passages.

        Returns how many still wait, when ``stop`` has ended it before all were made. Work that another process has
        begun is waited for. Questions are answered meanwhile.
        """
        index = self._engine.index
        if index.is_foreign or not index.as_made().info().without_vectors:
            return 0
        return index.open().fill(progress, stop)

    def sync(
        self,
        paths: str | Path | Iterable[str | Path],
        *,
        progress: "Progress | None" = None,
        embed: bool = True,
        **options: Unpack["SyncKeywords"],
    ) -> "Report":
        """Syncs the index with folders: adds and replaces like ``add``, and removes documents whose files are gone.

        ``options`` are those of ``SyncOptions``; ``dry_run=True`` only reports. Raises ``InputError`` for a missing
        folder, or an empty one that the index has documents from.
        """
        from selfright.ingest.syncing import SyncOptions, sync
        from selfright.retrieval.stores.opening import words_first

        said, index, folders = SyncOptions(**options), self._engine.index, list(map(Path, several(paths)))
        index.check_own()
        if said.dry_run:
            with suppress(IndexNotFound):
                return sync(folders, None, index.as_made(), said, progress)
            return sync(folders, None, None, said, progress)
        store = index.open(create=True)
        report = sync(folders, words_first(store), store, said, progress)
        if embed:
            self.embed()
        return report

    def read_upload(self, path: str | Path, name: str, deadline: Deadline | None = None) -> "ReadUpload":
        """Reads a file that somebody sent as ``name``, which may take minutes; ``store_upload`` adds it to the index.

        Close what it gives. Raises ``UnreadableFile``, as storing it does, also when the ``deadline`` is over.
        """
        from selfright.wiring.uploads import read_upload

        self._engine.index.check_own()
        return read_upload(Path(path), readable(name), deadline or Deadline())

    def store_upload(self, upload: "ReadUpload", *, collection: str = "default", apart: bool = False) -> "UploadReport":
        """Adds what was read; other changes of the index wait meanwhile. Documents of other collections stay.

        With ``apart`` a document is named ``collection/name``, so names reveal nothing about other collections.
        """
        from selfright.wiring.uploads import store_upload

        index, where = self._engine.index, collection_name(readable(collection))
        return store_upload(upload, where, lambda: index.open(create=True), apart=apart)

    def collections(self) -> list[Collection]:
        """The collections of the index with their descriptions, ordered by name."""
        return self._engine.index.collections()

    def describe_collection(
        self, name: str, description: str, *, classes: str | Sequence[str] = (), slots: str | Sequence[str] = ()
    ) -> Collection:
        """Describes a collection for routing questions to it; replaces the previous description.

        Raises ``UnknownName`` for an unknown query class, and ``InputError`` for a text that is too long.
        """
        said = Collection.describe_as(readable(name), readable(description), several(classes), several(slots))
        store = self._engine.index.as_made()
        store.describe(said)
        return next((stored for stored in store.collections() if stored.name == said.name), said)

    def import_corpus(
        self,
        corpus: str | Path,
        faiss: str | Path | None = None,
        meta: str | Path | None = None,
        *,
        collection: str | None = None,
        progress: "Progress | None" = None,
    ) -> "ImportReport":
        """Imports an index made elsewhere, JSON Lines and FAISS vectors, atomically. The vectors are used unchanged.

        ``meta`` names the row of each vector, line by line; without ``faiss`` the texts are embedded here.
        """
        from selfright.ingest.corpus_layout import FaissVectors
        from selfright.ingest.transfer import import_corpus

        index, lines = self._engine.index, Path(meta) if meta else None
        index.check_own()
        where = None if collection is None else collection_name(readable(collection))
        vectors, create = FaissVectors(Path(faiss)) if faiss else None, partial(index.open, create=True)
        return import_corpus(Path(corpus), lines, vectors, index.embedder, create, where, progress)

    def export(
        self,
        folder: str | Path,
        *,
        vectors: bool = False,
        force: bool = False,
        progress: "Progress | None" = None,
    ) -> "ExportReport":
        """Writes the documents as BEIR's ``corpus.jsonl`` into a new or empty folder."""
        from selfright.ingest.transfer import export

        store = self._engine.index.as_made()
        info = store.info()
        if vectors and not info.dimension:
            raise UsageError("this index is searched by words alone and has no vectors to write; leave out --vectors")
        dimension, total = info.dimension if vectors else 0, info.documents
        return export(store, Path(folder), dimension=dimension, force=force, progress=progress, total=total)

    def reembed(self, *, progress: "Progress | None" = None) -> "ReembedReport":
        """Embeds every passage again with the configured embedder; everything else stays.

        The new vectors replace the old ones in one step. Raises ``UsageError`` for an index on a server, and
        ``StoreError`` when a disk is full.
        """
        return self._engine.reembed(progress)

    def remove(self, document_ids: str | Sequence[str]) -> list[str]:
        """Removes documents, by their ids as given or composed (NFC); returns the ids that existed."""
        given = several(document_ids)
        store = self._engine.index.as_made()
        removed = store.remove(list(dict.fromkeys([*given, *map(compose_name, given)])))
        store.commit()
        return removed

    def document(self, document_id: str) -> Document | None:
        """A stored document with its text, or None."""
        library = self._engine.index.library()
        return library.document(document_id) or library.document(compose_name(document_id))

    def documents(self) -> list[DocumentInfo]:
        """All documents, ordered by id."""
        return list(self._engine.index.library().documents())

    def document_page(
        self, after: str = "", limit: int = 100, collections: Sequence[str] = (), named: str = ""
    ) -> list[DocumentInfo]:
        """At most ``limit`` documents with an id greater than ``after``, ordered by id, from the named collections.

        With ``named``, only those whose title or id contains it, ignoring case.
        """
        part = named.strip().casefold()
        listed = self._engine.index.library().documents(after, collections)
        wanted = (one for one in listed if part in one.title.casefold() or part in one.id.casefold())
        return list(islice(wanted if part else listed, limit))

    def info(self) -> StoreInfo:
        """Sizes, tokenizer and embedder of the index."""
        return self._engine.index.library().info()

    def verify(self, *, repair: bool = False) -> "list[Finding]":
        """Checks every record, vector and file of the index; ``repair`` fixes what can be fixed."""
        from selfright.retrieval.schema import ExistingEmbedder
        from selfright.retrieval.stores.embedded import EmbeddedStore
        from selfright.retrieval.stores.opening import folder_of

        index = self._engine.index  # which may be one that cannot be opened
        index.check_own()
        folder = folder_of(self._engine.settings.index, "verify")
        return EmbeddedStore.check(
            folder, index.tokenizer, ExistingEmbedder(lambda: index.cached_embedder), repair=repair
        )

    def compact(self) -> None:
        """Frees the space of replaced and removed documents, and rebuilds the search indexes."""
        from selfright.retrieval.stores.opening import compact

        compact(self._engine.index.as_made(), self._engine.settings.index)
