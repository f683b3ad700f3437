"""The store in PostgreSQL: documents, BM25 in SQL over postings, vectors by pgvector, in one schema of one database."""

import secrets
from collections.abc import Iterable, Sequence
from contextlib import closing

from selfright.domain.passages import StoreInfo
from selfright.domain.ports import Embedder, Tokenizer
from selfright.domain.stores import Abilities
from selfright.retrieval.locations import Location
from selfright.retrieval.postgres.copying import Vectors
from selfright.retrieval.postgres.reading import IndexReader
from selfright.retrieval.postgres.schema import index_database, open_or_create
from selfright.retrieval.postgres.writing import Writing
from selfright.retrieval.preparing import Batch, GivenVectors, embedder_name
from selfright.retrieval.records import IndexCounts
from selfright.retrieval.schema import ExistingEmbedder, IndexMeta, local_embedder, resolve_embedder
from selfright.retrieval.stores.base import Description, StoreBase
from selfright.storage.postgres import PostgresDatabase
from selfright.storage.postgres_address import encode_row

_WRITTEN = 250  # documents written at a time


class PostgresStore(StoreBase):
    """Retriever, library, writer and term statistics over one schema of a PostgreSQL database.

    Everything since the last commit is one transaction: nobody sees it before, and nothing of it is left when the
    process or the server dies. Readers see the index as of one moment and never wait for the writer. One writer at a
    time (else ``IndexBusy``, which names the other), kept apart by an advisory lock that dies with its connection.
    A server that was started again is reconnected to; reads wait ten seconds for it, then ``StoreUnavailable``.
    """

    abilities = Abilities(upkeep=False)

    def __init__(
        self, database: PostgresDatabase, meta: IndexMeta, tokenizer: Tokenizer, embedder: Embedder | None
    ) -> None:
        self._reader = IndexReader(database, meta.dimension)
        super().__init__(meta, self._reader, self._reader, tokenizer, embedder)
        self._database = database
        self._writing = Writing(database, meta.dimension)

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
        new = None
        if create:
            new = IndexMeta(secrets.token_hex(16), tokenizer.name, *embedder_name(local_embedder(embedder)))
        database = index_database(place)
        try:
            meta = open_or_create(database, new)
            store = cls(database, meta, tokenizer, resolve_embedder(meta, place.shown, tokenizer, embedder))
            store._reader.refresh()
        except BaseException:
            database.close()
            raise
        return store

    @classmethod
    def read_meta(cls, place: Location) -> IndexMeta:
        """How the index at ``place`` was made. Raises as ``open`` does."""
        with closing(index_database(place)) as database:
            return open_or_create(database, None)

    def close(self) -> None:
        """Closes all connections; what was not committed is dropped."""
        self._writing.close()
        self._database.close()

    def info(self) -> StoreInfo:
        """The index in figures; ``collections`` and ``languages`` count documents."""
        self._reader.refresh()
        counts, size = self._reader.counts()
        dense = "hnsw (pgvector)" if self._reader.shape.graph else "exact"
        return self._info(self._database.address.shown, counts, dense, size)

    def put(self, batch: Batch, vectors: GivenVectors | None = None) -> None:
        """Adds documents with their passages; a document with the same id is replaced whole.

        ``vectors`` are unit vectors by passage id that the index's embedder has made elsewhere; what is not among them
        is embedded. Raises ``InputError`` for a passage that is not part of its document, ``IndexBusy`` when another
        process writes, ``StoreUnavailable`` when the server goes away; nothing of the batch is kept then.
        """
        with self._writing.step() as connection:
            made = Vectors(connection, self._meta.dimension)
            ready = self._preparer.prepare(batch, made, vectors)
            self._writing.remove(connection, [document.id for document, _ in ready])
            for start in range(0, len(ready), _WRITTEN):
                self._writing.insert(connection, ready[start : start + _WRITTEN], made)

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Removes documents; gives back the ids that were there."""
        with self._writing.step() as connection:
            return self._writing.remove(connection, list(dict.fromkeys(document_ids)))

    def discard(self) -> None:
        """Forgets what was put and removed since the last commit."""
        self._writing.discard()

    def commit(self) -> None:
        """Makes what was put and removed lasting and visible; the vectors' graph is made here, once they are many."""
        self._writing.commit()
        self._reader.refresh()

    def _counts(self) -> IndexCounts:
        return self._reader.counts()[0]

    def _described(self) -> Iterable[Sequence[str]]:
        return self._reader.described_collections()

    def _describe(self, said: Description) -> None:
        with self._writing.step() as connection:
            connection.execute(
                "INSERT INTO collections VALUES (%s, %s, %s, %s) ON CONFLICT (name) DO UPDATE SET "
                "description = excluded.description, classes = excluded.classes, slots = excluded.slots",
                encode_row(said),
            )
