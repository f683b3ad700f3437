"""The store in Milvus: its BM25 over our terms, its vector search, documents beside them; on a server or in a file."""

import json
from collections.abc import Iterable, Sequence
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
from selfright.retrieval.records import IndexCounts
from selfright.retrieval.schema import IndexMeta, check_format
from selfright.retrieval.stores.base import ServerStore
from selfright.storage.files import folder_bytes

_LITE = Abilities(atomic=False, history_free=False, upkeep=False)


class MilvusStore(ServerStore):
    """Retriever, library, writer and term statistics over four collections of a Milvus.

    What is put waits in memory until the commit (20,000 passages at most; more are written at once). A commit brings
    document after document, each wholly or not at all; one that was cut off is tidied up by the next writer. The
    candidates by words are the server's, whose statistics still count what was deleted; their scores are made exact.
    One store of a process writes at a time (else ``IndexBusy``); on a server nobody keeps processes apart.
    """

    _server: Server
    _reader: IndexReader
    _writing: Writing

    def __init__(self, server: Server, meta: IndexMeta, tokenizer: Tokenizer, embedder: Embedder | None) -> None:
        super().__init__(server, meta, tokenizer, embedder)
        self.abilities = _LITE if server.is_lite else replace(_LITE, single_writer=False)

    def info(self) -> StoreInfo:
        """The index in figures; on a server ``bytes`` are those of what was written, for it does not tell its own."""
        self._reader.refresh()
        counts, place = self._reader.counts, self._server.place
        written = counts.size + 4 * self._meta.dimension * counts.passages
        return self._info(place.shown, counts, "hnsw (milvus)", folder_bytes(place.path) if place.path else written)

    def _counts(self) -> IndexCounts:
        self._reader.refresh()
        return self._reader.counts

    def _described(self) -> Iterable[Sequence[str]]:
        return [json.loads(value) for name, value in self._reader.about.items() if name.startswith("collection:")]

    @classmethod
    def _connect(cls, place: Location, *, create: bool) -> Server:
        if place.path is not None:
            if not create and not place.path.exists():
                raise _missing(place)
            place.path.parent.mkdir(parents=True, exist_ok=True)
        return Server(place)

    @classmethod
    def _open_or_create(cls, server: Server, new: IndexMeta | None) -> IndexMeta:
        """The index as it was made; where there is none it is made as ``new`` says."""
        place = server.place
        if not server.call("has_collection", "about"):
            if new is None:
                raise _missing(place)
            make(server, {"kind": KIND, "version": str(VERSION), **new.facts}, new.dimension)
            return IndexMeta.of(new.facts, VERSION)
        for name in ("about", "passages", "documents", "terms"):
            server.call("load_collection", name)
        about = read_about(server)
        if about.get("kind") != KIND:
            raise NotAnIndex(f"{place.shown}: collections named {place.name}_… hold something else; use another name")
        check_format(place.shown, int(about["version"]), VERSION)
        return IndexMeta.of(about, VERSION)

    def _sides(self, dimension: int) -> tuple[IndexReader, Writing]:
        reader = IndexReader(self._server, dimension)
        return reader, Writing(self._server, reader, dimension)


def _missing(place: Location) -> IndexNotFound:
    return IndexNotFound(f"there is no index at {place.shown}; make one with: selfright index add FILES")
