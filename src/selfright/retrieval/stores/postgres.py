"""The store in PostgreSQL: documents, BM25 in SQL over postings, vectors by pgvector, in one schema of one database."""

from collections.abc import Iterable, Sequence

from selfright.domain.passages import StoreInfo
from selfright.domain.stores import Abilities
from selfright.retrieval.locations import Location
from selfright.retrieval.postgres.reading import IndexReader
from selfright.retrieval.postgres.schema import index_database, open_or_create
from selfright.retrieval.postgres.writing import Writing
from selfright.retrieval.records import IndexCounts
from selfright.retrieval.schema import IndexMeta
from selfright.retrieval.stores.base import ServerStore
from selfright.storage.postgres import PostgresDatabase


class PostgresStore(ServerStore):
    """Retriever, library, writer and term statistics over one schema of a PostgreSQL database.

    Everything since the last commit is one transaction: nobody sees it before, and nothing of it is left when the
    process or the server dies. Readers see the index as of one moment and never wait for the writer. One writer at a
    time (else ``IndexBusy``, which names the other), kept apart by an advisory lock that dies with its connection.
    A server that was started again is reconnected to; reads wait ten seconds for it, then ``StoreUnavailable``.
    """

    abilities = Abilities(upkeep=False)
    _server: PostgresDatabase
    _reader: IndexReader
    _writing: Writing

    def info(self) -> StoreInfo:
        """The index in figures; ``collections`` and ``languages`` count documents."""
        self._reader.refresh()
        counts, size = self._reader.counts()
        dense = "hnsw (pgvector)" if self._reader.shape.graph else "exact"
        return self._info(self._server.address.shown, counts, dense, size)

    def _counts(self) -> IndexCounts:
        return self._reader.counts()[0]

    def _described(self) -> Iterable[Sequence[str]]:
        return self._reader.described_collections()

    @classmethod
    def _connect(cls, place: Location, *, create: bool) -> PostgresDatabase:
        del create
        return index_database(place)

    @classmethod
    def _open_or_create(cls, server: PostgresDatabase, new: IndexMeta | None) -> IndexMeta:
        return open_or_create(server, new)

    def _sides(self, dimension: int) -> tuple[IndexReader, Writing]:
        reader = IndexReader(self._server, dimension)
        reader.refresh()
        return reader, Writing(self._server, dimension)
