"""The store in Milvus: its BM25 over our terms, its vector search, documents beside them; on a server or in a file."""

import json
import threading
from collections.abc import Sequence
from dataclasses import replace

from selfright.domain.errors import IndexNotFound, NotAnIndex
from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Document, Passage, StoreInfo
from selfright.domain.ports import Embedder, TermLexicon, Tokenizer
from selfright.domain.routing import Collection
from selfright.domain.stores import Abilities
from selfright.retrieval.files import folder_bytes
from selfright.retrieval.fusion import Fusion, fusion_named
from selfright.retrieval.locations import Location
from selfright.retrieval.milvus.layout import KIND, VERSION, Vectors, make, read_about
from selfright.retrieval.milvus.reading import IndexReader
from selfright.retrieval.milvus.server import Server
from selfright.retrieval.milvus.writing import Writing
from selfright.retrieval.preparing import GivenVectors, Preparer, check_input, embedder_name
from selfright.retrieval.schema import ExistingEmbedder, IndexMeta, check_format, local_embedder, resolve_embedder
from selfright.retrieval.server_search import ServerSearch
from selfright.retrieval.stores.reading import ReadableStore

_LITE = Abilities(atomic=False, history_free=False, upkeep=False)


class MilvusStore(ReadableStore):
    """Retriever, library, writer and term statistics over four collections of a Milvus.

    What is put waits in memory until the commit (20,000 passages at most; more are written at once). A commit brings
    document after document, each wholly or not at all; one that was cut off is tidied up by the next writer. The
    candidates by words are the server's, whose statistics still count what was deleted; their scores are made exact.
    One store of a process writes at a time (else ``IndexBusy``); on a server nobody keeps processes apart.
    """

    _reader: IndexReader

    def __init__(self, server: Server, meta: IndexMeta, tokenizer: Tokenizer, embedder: Embedder | None) -> None:
        self.abilities = _LITE if server.is_lite else replace(_LITE, single_writer=False)
        self._server = server
        self._meta = meta
        self._reader = IndexReader(server, meta.dimension)
        self._writing = Writing(server, self._reader, meta.dimension)
        self._changing = threading.RLock()
        self._preparer = Preparer(tokenizer, embedder)
        self._tokenizer, self._embedder = tokenizer, embedder
        self._search = self.with_fusion(fusion_named("adaptive", embedder=embedder))

    @classmethod
    def open(
        cls,
        place: Location,
        tokenizer: Tokenizer,
        embedder: Embedder | ExistingEmbedder | None,
        *,
        create: bool = False,
    ) -> "MilvusStore":
        """The index at ``place``; with ``create`` it is made where there is none.

        Raises ``IndexNotFound``, ``NotAnIndex``, ``IncompatibleIndex``, ``IndexBusy`` or ``StoreUnavailable``.
        """
        if place.path is not None:
            _check_file(place, create=create)
            place.path.parent.mkdir(parents=True, exist_ok=True)
        name, dimension = embedder_name(local_embedder(embedder) if create else None)
        server = Server(place)
        try:
            meta = _open_or_create(server, IndexMeta("", tokenizer.name, name, dimension, VERSION), create=create)
            store = cls(server, meta, tokenizer, resolve_embedder(meta, place.shown, tokenizer, embedder))
        except BaseException:
            server.close()
            raise
        return store

    @classmethod
    def read_meta(cls, place: Location) -> IndexMeta:
        """How the index at ``place`` was made. Raises as ``open`` does."""
        _check_file(place, create=False)
        server = Server(place)
        try:
            return _open_or_create(server, IndexMeta("", "", "", 0, VERSION), create=False)
        finally:
            server.close()

    def close(self) -> None:
        """Lets go of the server; what was not committed is dropped."""
        with self._changing:
            self._writing.discard()
            self._reader.close()
            self._server.close()

    # Retriever

    def with_fusion(self, fusion: Fusion, lexicon: TermLexicon | None = None) -> ServerSearch:
        """A retriever over this index that fuses in another way, or knows names in the other language."""
        return ServerSearch(self._reader, self._tokenizer, self._embedder, fusion, lexicon)

    # Library

    def info(self) -> StoreInfo:
        """The index in figures; on a server ``bytes`` are those of what was written, for it does not tell its own."""
        self._reader.refresh()
        counts, place = self._reader.counts, self._server.place
        written = counts.size + 4 * self._meta.dimension * counts.passages
        return StoreInfo(
            location=place.shown,
            format_version=self._meta.format_version,
            documents=counts.languages.total(),
            passages=counts.passages,
            collections={name: count for name, count in sorted(counts.collections.items()) if count},
            languages={name: count for name, count in sorted(counts.languages.items()) if count},
            tokenizer=self._meta.tokenizer,
            embedder=self._meta.embedder,
            dimension=self._meta.dimension,
            dense_kind="hnsw (milvus)" if self._meta.dimension else "none",
            bytes=folder_bytes(place.path) if place.path else written,
            cannot=self.abilities.missing,
        )

    def collections(self) -> list[Collection]:
        """The named parts of the index, those that have documents and those that were described."""
        self._reader.refresh()
        counts = self._reader.counts.collections
        all_ = {name: Collection(name, documents=count) for name, count in counts.items() if count}
        for key, value in self._reader.about.items():
            if key.startswith("collection:"):
                name, description, classes, slots = json.loads(value)
                kinds = tuple(QueryClass(kind) for kind in classes)
                all_[name] = Collection(name, description, kinds, tuple(slots), counts[name])
        return [collection for _, collection in sorted(all_.items())]

    # Writer

    def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]], vectors: GivenVectors | None = None) -> None:
        """Adds documents with their passages; a document with the same id is replaced whole.

        ``vectors`` are unit vectors by passage id that the index's embedder has made elsewhere; what is not among them
        is embedded. Raises ``InputError`` for a passage that is not part of its document or too large for Milvus,
        ``IndexBusy`` when another writes; nothing of the batch is kept then.
        """
        for document, passages in batch:
            check_input(document, passages)
        latest = list({document.id: (document, passages) for document, passages in batch}.values())
        with self._changing, self._writing.step():
            made = Vectors()
            every = [passage for _, passages in latest for passage in passages]
            prepared = iter(self._preparer.prepare(every, made, vectors))
            ready = [(document, [next(prepared) for _ in passages]) for document, passages in latest]
            self._writing.put(ready, made.by_row)

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents; gives back the ids that were there."""
        with self._changing, self._writing.step():
            return self._writing.remove(list(dict.fromkeys(document_ids)))

    def describe(self, collection: Collection) -> None:
        """Keeps what the operator says of a collection; joins what is uncommitted, and commits."""
        with self._changing, self._writing.step():
            classes = [kind.value for kind in collection.classes]
            self._writing.describe(collection.name, [collection.description, classes, list(collection.slots)])
        self.commit()

    def discard(self) -> None:
        """Forgets what was put and removed since the last commit."""
        with self._changing:
            self._writing.discard()

    def commit(self) -> None:
        """Makes what was put and removed lasting and visible, document after document."""
        with self._changing:
            self._writing.commit()

    # TermStatistics

    def idf(self, terms: Sequence[str]) -> list[float]:
        """``ln(1 + (N - df + 0.5) / (df + 0.5))`` of each term; the highest value for a term never seen."""
        return self._reader.idf(terms) if terms else []


def _open_or_create(server: Server, spec: IndexMeta, *, create: bool) -> IndexMeta:
    """The index as it was made; makes it where there is none."""
    place = server.place
    if not server.exists("about"):
        if not create:
            raise _missing(place)
        about = {
            "kind": KIND,
            "version": str(VERSION),
            "tokenizer": spec.tokenizer,
            "embedder": spec.embedder,
            "dimension": str(spec.dimension),
        }
        make(server, about, spec.dimension)
        return spec
    for name in ("about", "passages", "documents", "terms"):
        server.load(name)
    about = read_about(server)
    if about.get("kind") != KIND:
        raise NotAnIndex(f"{place.shown}: collections named {place.name}_… hold something else; use another name")
    check_format(place.shown, int(about["version"]), VERSION)
    return IndexMeta("", about["tokenizer"], about["embedder"], int(about["dimension"]), VERSION)


def _check_file(place: Location, *, create: bool) -> None:
    if place.path is not None and not create and not place.path.exists():
        raise _missing(place)


def _missing(place: Location) -> IndexNotFound:
    return IndexNotFound(f"there is no index at {place.shown}; make one with: selfright index add FILES")
