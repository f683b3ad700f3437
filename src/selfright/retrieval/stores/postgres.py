"""The store in PostgreSQL: documents, BM25 in SQL over postings, vectors by pgvector, in one schema of one database."""

import json
from collections.abc import Sequence

from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Document, Passage, StoreInfo
from selfright.domain.ports import Embedder, TermLexicon, Tokenizer
from selfright.domain.routing import Collection
from selfright.domain.stores import Abilities
from selfright.retrieval.fusion import Fusion, fusion_named
from selfright.retrieval.locations import Location
from selfright.retrieval.postgres.connections import index_database
from selfright.retrieval.postgres.copying import Vectors
from selfright.retrieval.postgres.reading import IndexReader
from selfright.retrieval.postgres.schema import IndexSpec, open_or_create
from selfright.retrieval.postgres.writing import Writing
from selfright.retrieval.preparing import GivenVectors, Preparer, check_input, embedder_name
from selfright.retrieval.schema import ExistingEmbedder, IndexMeta, local_embedder, resolve_embedder
from selfright.retrieval.server_search import ServerSearch
from selfright.retrieval.stores.reading import ReadableStore
from selfright.storage.postgres import PostgresDatabase
from selfright.storage.postgres_address import decode, encode

_WRITTEN = 250  # documents written at a time


class PostgresStore(ReadableStore):
    """Retriever, library, writer and term statistics over one schema of a PostgreSQL database.

    Everything since the last commit is one transaction: nobody sees it before, and nothing of it is left when the
    process or the server dies. Readers see the index as of one moment and never wait for the writer. One writer at a
    time (else ``IndexBusy``, which names the other), kept apart by an advisory lock that dies with its connection.
    A server that was started again is reconnected to; reads wait ten seconds for it, then ``StoreUnavailable``.
    """

    abilities = Abilities(upkeep=False)
    _reader: IndexReader

    def __init__(
        self,
        database: PostgresDatabase,
        meta: IndexMeta,
        tokenizer: Tokenizer,
        embedder: Embedder | None,
    ) -> None:
        self._database = database
        self._meta = meta
        self._reader = IndexReader(database, meta.dimension)
        self._writing = Writing(database, meta.dimension)
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
    ) -> "PostgresStore":
        """The index at ``place``; with ``create`` it is made where there is none.

        Raises ``IndexNotFound``, ``NotAnIndex``, ``IncompatibleIndex`` or ``StoreUnavailable``.
        """
        name, dimension = embedder_name(local_embedder(embedder) if create else None)
        database = index_database(place)
        try:
            meta = open_or_create(database, IndexSpec(tokenizer.name, name, dimension, create))
            known = resolve_embedder(meta, place.shown, tokenizer, embedder)
            store = cls(database, meta, tokenizer, known)
            store._reader.refresh()
        except BaseException:
            database.close()
            raise
        return store

    @classmethod
    def read_meta(cls, place: Location) -> IndexMeta:
        """How the index at ``place`` was made. Raises as ``open`` does."""
        database = index_database(place)
        try:
            return open_or_create(database, IndexSpec("", "", 0, create=False))
        finally:
            database.close()

    def close(self) -> None:
        """Closes all connections; what was not committed is dropped."""
        self._writing.close()
        self._database.close()

    # Retriever

    def with_fusion(self, fusion: Fusion, lexicon: TermLexicon | None = None) -> ServerSearch:
        """A retriever over this index that fuses in another way, or knows names in the other language."""
        return ServerSearch(self._reader, self._tokenizer, self._embedder, fusion, lexicon)

    # Library

    def info(self) -> StoreInfo:
        """The index in figures; ``collections`` and ``languages`` count documents."""
        collections, languages, passages, size = self._reader.counts()
        self._reader.refresh()
        dense = "hnsw (pgvector)" if self._reader.shape.graph else "exact"
        return StoreInfo(
            location=self._database.address.shown,
            format_version=self._meta.format_version,
            documents=languages.total(),
            passages=passages,
            collections=dict(sorted(collections.items())),
            languages=dict(sorted(languages.items())),
            tokenizer=self._meta.tokenizer,
            embedder=self._meta.embedder,
            dimension=self._meta.dimension,
            dense_kind=dense if self._meta.dimension else "none",
            bytes=size,
            cannot=self.abilities.missing,
        )

    def collections(self) -> list[Collection]:
        """The named parts of the index, those that have documents and those that were described."""
        counts = self._reader.counts()[0]
        all_ = {name: Collection(name, documents=count) for name, count in counts.items()}
        for packed_name, description, classes, slots in self._reader.described_collections():
            name = decode(packed_name)
            kinds = tuple(QueryClass(value) for value in json.loads(classes))
            all_[name] = Collection(name, decode(description), kinds, tuple(json.loads(slots)), counts[name])
        return [collection for _, collection in sorted(all_.items())]

    # Writer

    def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]], vectors: GivenVectors | None = None) -> None:
        """Adds documents with their passages; a document with the same id is replaced whole.

        ``vectors`` are unit vectors by passage id that the index's embedder has made elsewhere; what is not among them
        is embedded. Raises ``InputError`` for a passage that is not part of its document, ``IndexBusy`` when another
        process writes, ``StoreUnavailable`` when the server goes away; nothing of the batch is kept then.
        """
        for document, passages in batch:
            check_input(document, passages)
        latest = list({document.id: (document, passages) for document, passages in batch}.values())
        with self._writing.step() as connection:
            kept = Vectors(connection, self._meta.dimension)
            every = [passage for _, passages in latest for passage in passages]
            prepared = iter(self._preparer.prepare(every, kept, vectors))
            self._writing.remove(connection, [document.id for document, _ in latest])
            for start in range(0, len(latest), _WRITTEN):
                some = latest[start : start + _WRITTEN]
                ready = [(document, [next(prepared) for _ in passages]) for document, passages in some]
                self._writing.insert(connection, ready, kept)

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents; gives back the ids that were there."""
        with self._writing.step() as connection:
            return self._writing.remove(connection, list(dict.fromkeys(document_ids)))

    def describe(self, collection: Collection) -> None:
        """Keeps what the operator says of a collection; joins what is uncommitted, and commits."""
        classes = json.dumps([value.value for value in collection.classes])
        with self._writing.step() as connection:
            connection.execute(
                "INSERT INTO collections VALUES (%s, %s, %s, %s) ON CONFLICT (name) DO UPDATE SET "
                "description = excluded.description, classes = excluded.classes, slots = excluded.slots",
                (encode(collection.name), encode(collection.description), classes, json.dumps(list(collection.slots))),
            )
        self.commit()

    def discard(self) -> None:
        """Forgets what was put and removed since the last commit."""
        self._writing.discard()

    def commit(self) -> None:
        """Makes what was put and removed lasting and visible; the vectors' graph is made here, once they are many."""
        self._writing.commit()
        self._reader.refresh()

    # TermStatistics

    def idf(self, terms: Sequence[str]) -> list[float]:
        """``ln(1 + (N - df + 0.5) / (df + 0.5))`` of each term; the highest value for a term never seen."""
        return self._reader.idf(terms) if terms else []
