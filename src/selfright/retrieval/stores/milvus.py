"""The store in Milvus: its BM25 over our terms, its vector search, documents beside them; on a server or in a file."""

import json
import threading
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace

from selfright.domain.errors import IndexNotFound, NotAnIndex
from selfright.domain.passages import StoreInfo
from selfright.domain.ports import Embedder, Tokenizer
from selfright.domain.stores import Abilities
from selfright.retrieval.locations import Location
from selfright.retrieval.milvus.layout import KIND, VERSION, make, read_about
from selfright.retrieval.milvus.reading import IndexReader
from selfright.retrieval.milvus.server import Server
from selfright.retrieval.milvus.writing import Writing
from selfright.retrieval.preparing import Batch, BatchVectors, GivenVectors, embedder_name
from selfright.retrieval.records import IndexCounts
from selfright.retrieval.schema import ExistingEmbedder, IndexMeta, check_format, local_embedder, resolve_embedder
from selfright.retrieval.stores.base import Description, StoreBase
from selfright.storage.files import folder_bytes

_LITE = Abilities(atomic=False, history_free=False, upkeep=False)


class MilvusStore(StoreBase):
    """Retriever, library, writer and term statistics over four collections of a Milvus.

    What is put waits in memory until the commit (20,000 passages at most; more are written at once). A commit brings
    document after document, each wholly or not at all; one that was cut off is tidied up by the next writer. The
    candidates by words are the server's, whose statistics still count what was deleted; their scores are made exact.
    One store of a process writes at a time (else ``IndexBusy``); on a server nobody keeps processes apart.
    """

    def __init__(self, server: Server, meta: IndexMeta, tokenizer: Tokenizer, embedder: Embedder | None) -> None:
        self._reader = IndexReader(server, meta.dimension)
        super().__init__(meta, self._reader, self._reader, tokenizer, embedder)
        self.abilities = _LITE if server.is_lite else replace(_LITE, single_writer=False)
        self._server = server
        self._writing = Writing(server, self._reader, meta.dimension)
        self._changing = threading.RLock()

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
        new = None
        if create:
            new = IndexMeta("", tokenizer.name, *embedder_name(local_embedder(embedder)), VERSION)
        server = _connect(place, create=create)
        try:
            meta = _open_or_create(server, new)
            return cls(server, meta, tokenizer, resolve_embedder(meta, place.shown, tokenizer, embedder))
        except BaseException:
            server.close()
            raise

    @classmethod
    def read_meta(cls, place: Location) -> IndexMeta:
        """How the index at ``place`` was made. Raises as ``open`` does."""
        with closing(_connect(place, create=False)) as server:
            return _open_or_create(server, None)

    def close(self) -> None:
        """Lets go of the server; what was not committed is dropped."""
        with self._changing:
            self._writing.discard()
            self._reader.close()
            self._server.close()

    def info(self) -> StoreInfo:
        """The index in figures; on a server ``bytes`` are those of what was written, for it does not tell its own."""
        self._reader.refresh()
        counts, place = self._reader.counts, self._server.place
        written = counts.size + 4 * self._meta.dimension * counts.passages
        return self._info(place.shown, counts, "hnsw (milvus)", folder_bytes(place.path) if place.path else written)

    def put(self, batch: Batch, vectors: GivenVectors | None = None) -> None:
        """Adds documents with their passages; a document with the same id is replaced whole.

        ``vectors`` are unit vectors by passage id that the index's embedder has made elsewhere; what is not among them
        is embedded. Raises ``InputError`` for a passage that is not part of its document or too large for Milvus,
        ``IndexBusy`` when another writes; nothing of the batch is kept then.
        """
        with self._changing, self._writing.step():
            made = BatchVectors()
            self._writing.put(self._preparer.prepare(batch, made, vectors), made)

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents; gives back the ids that were there."""
        with self._changing, self._writing.step():
            return self._writing.remove(list(dict.fromkeys(document_ids)))

    def discard(self) -> None:
        """Forgets what was put and removed since the last commit."""
        with self._changing:
            self._writing.discard()

    def commit(self) -> None:
        """Makes what was put and removed lasting and visible, document after document."""
        with self._changing:
            self._writing.commit()

    def _counts(self) -> IndexCounts:
        self._reader.refresh()
        return self._reader.counts

    def _described(self) -> Iterable[Sequence[str]]:
        return [json.loads(value) for name, value in self._reader.about.items() if name.startswith("collection:")]

    def _describe(self, said: Description) -> None:
        with self._changing, self._writing.step():
            self._writing.describe(said)


def _connect(place: Location, *, create: bool) -> Server:
    if place.path is not None:
        if not create and not place.path.exists():
            raise _missing(place)
        place.path.parent.mkdir(parents=True, exist_ok=True)
    return Server(place)


def _open_or_create(server: Server, new: IndexMeta | None) -> IndexMeta:
    """The index as it was made; where there is none it is made as ``new`` says."""
    place = server.place
    if not server.call("has_collection", "about"):
        if new is None:
            raise _missing(place)
        make(server, {"kind": KIND, "version": str(VERSION), **new.facts}, new.dimension)
        return new
    for name in ("about", "passages", "documents", "terms"):
        server.call("load_collection", name)
    about = read_about(server)
    if about.get("kind") != KIND:
        raise NotAnIndex(f"{place.shown}: collections named {place.name}_… hold something else; use another name")
    check_format(place.shown, int(about["version"]), VERSION)
    return IndexMeta.of(about, VERSION)


def _missing(place: Location) -> IndexNotFound:
    return IndexNotFound(f"there is no index at {place.shown}; make one with: selfright index add FILES")
