"""Writes an index in PostgreSQL: one transaction from the first change to the commit, on a connection of its own."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import psycopg

from selfright.domain.errors import StoreError, StoreUnavailable
from selfright.domain.passages import Document
from selfright.retrieval.postgres.reading import EXACT_MOST
from selfright.retrieval.postgres.schema import (
    GRAPH,
    Vectors,
    WriterLock,
    copy_documents,
    copy_passages,
    copy_vectors,
    explain_errors,
    term_as_kept,
)
from selfright.retrieval.preparing import Prepare
from selfright.retrieval.records import PassageRow
from selfright.storage.postgres import Connection, PostgresDatabase
from selfright.storage.postgres_address import encode, encode_row

_log = logging.getLogger(__name__)

_WRITTEN = 250  # documents written at a time
_KNOWN_TERMS = 500_000
_VACUUM_FROM = 0.1  # share of the passages that changed
_BUILD_MEMORY = "512MB"
_REMOVE_WITH_VECTORS = """
WITH gone AS (DELETE FROM passages WHERE document_id = ANY(%s) RETURNING key, terms, collection, length),
each AS (SELECT key, unnest(terms) AS term FROM gone),
o AS (DELETE FROM postings p USING each WHERE p.term = each.term AND p.key = each.key),
v AS (DELETE FROM vectors USING gone WHERE vectors.key = gone.key)
SELECT NULL, term, count(*), 0 FROM each GROUP BY term
UNION ALL SELECT collection, 0, count(*), sum(length) FROM gone GROUP BY collection
"""
_REMOVE = _REMOVE_WITH_VECTORS.replace(",\nv AS (DELETE FROM vectors USING gone WHERE vectors.key = gone.key)", "")


class Writing:
    """The open transaction of the one writer; begins with the first change."""

    def __init__(self, database: PostgresDatabase, dimension: int) -> None:
        self._database = database
        self._dimension = dimension
        self._lock = WriterLock(database)
        self._connection: Connection | None = None
        self._pending = False
        self._lost = False
        self._changed = 0
        self._counts: Counter[int] = Counter()  # changes of document frequency by term, not yet written
        self._terms: dict[str, int] = {}

    def put(self, prepare: Prepare) -> None:
        """Stores documents in the place of those with the same ids."""
        with self._step() as connection:
            vectors = Vectors(connection, self._dimension)
            ready = prepare(vectors)
            self._remove(connection, [document.id for document, _ in ready])
            for start in range(0, len(ready), _WRITTEN):
                self._insert(connection, ready[start : start + _WRITTEN], vectors)

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        """Takes documents out; those that were there."""
        with self._step() as connection:
            return self._remove(connection, document_ids)

    def describe(self, said: Sequence[str]) -> None:
        """Keeps what the operator says of a collection."""
        with self._step() as connection:
            connection.execute(
                "INSERT INTO collections VALUES (%s, %s, %s, %s) ON CONFLICT (name) DO UPDATE SET "
                "description = excluded.description, classes = excluded.classes, slots = excluded.slots",
                encode_row(said),
            )

    def commit(self) -> None:
        """Makes the open transaction lasting and visible; the vectors' graph is made here, once they are many."""
        lost, self._lost = self._lost, False
        if lost:
            raise self._connection_lost()
        if not self._pending or self._connection is None:
            return
        try:
            with explain_errors(self._database):
                self._write_counts(self._connection)
                self._connection.execute("COMMIT")
            self._look_after(self._connection)
        finally:
            self._end("ROLLBACK" if self._in_transaction() else None)

    def discard(self) -> None:
        """Forgets the open transaction, and lets the next writer in."""
        self._lost = False
        if self._connection is not None:
            self._end("ROLLBACK")

    def close(self) -> None:
        """Drops what is open."""
        self._drop()

    @contextmanager
    def _step(self) -> Iterator[Connection]:
        """A part of the transaction that happens wholly or not at all; raises ``IndexBusy`` for a second writer."""
        if self._lost:
            raise self._connection_lost()
        connection = self._open_transaction()
        counts = self._counts.copy()
        try:
            with explain_errors(self._database), connection.transaction():
                yield connection
        except BaseException:
            self._counts, self._terms = counts, {}
            if connection.closed:
                self._lost = self._pending
                self._drop()
            elif not self._pending:
                self._end("ROLLBACK")
            raise
        self._pending = True

    # Within a step

    def _insert(
        self, connection: Connection, batch: Sequence[tuple[Document, Sequence[PassageRow]]], vectors: Vectors
    ) -> None:
        """Stores documents whose ids are free."""
        copy_documents(connection, [(document, len(passages)) for document, passages in batch])
        prepared = [passage for _, passages in batch for passage in passages]
        if not prepared:
            return
        terms = [[term_as_kept(term) for term in found.terms.split()] for found in prepared]
        numbers = self._numbers(connection, {term for some in terms for term in some})
        counted = [Counter(numbers[term] for term in some) for some in terms]
        keys = self._keys(connection, len(prepared))
        copy_passages(connection, keys, prepared, terms, counted)
        if self._dimension:
            copy_vectors(connection, keys, prepared, vectors)
        for numbers_of in counted:
            self._counts.update(numbers_of.keys())
        passages, lengths = Counter[str](), Counter[str]()
        for found, some in zip(prepared, terms, strict=True):
            passages[encode(found.passage.collection)] += 1
            lengths[encode(found.passage.collection)] += len(some)
        self._count(connection, passages, lengths)
        self._changed += len(prepared)

    def _remove(self, connection: Connection, document_ids: Sequence[str]) -> list[str]:
        wanted = {encode(document_id): document_id for document_id in document_ids}
        rows = connection.execute("DELETE FROM documents WHERE id = ANY(%s) RETURNING id", (list(wanted),)).fetchall()
        gone = [row[0] for row in rows]
        if not gone:
            return []
        found = connection.execute(_REMOVE_WITH_VECTORS if self._dimension else _REMOVE, (gone,)).fetchall()
        passages, lengths = Counter[str](), Counter[str]()
        for collection, term, count, length in found:
            if collection is None:
                self._counts[term] -= count
            else:
                passages[collection], lengths[collection] = -count, -int(length)
        self._count(connection, passages, lengths)
        self._changed -= sum(passages.values())
        there = {wanted[document_id] for document_id in gone}
        return [document_id for document_id in wanted.values() if document_id in there]

    # The rest

    def _open_transaction(self) -> Connection:
        if self._pending and (self._connection is None or self._connection.closed):
            self._drop()
            self._lost = True
            raise self._connection_lost()
        if self._connection is None or self._connection.closed:
            self._connection = self._database.connect("selfright writer")
        connection = self._connection
        if not self._in_transaction():
            try:
                self._begin(connection)
            except StoreUnavailable:  # an old connection: the server was started again since
                self._connection = connection = self._database.connect("selfright writer")
                self._begin(connection)
        return connection

    def _begin(self, connection: Connection) -> None:
        with explain_errors(self._database):
            try:
                self._lock.acquire(connection)
                connection.execute("BEGIN")
            except psycopg.Error:
                self._drop()  # and with the connection the lock
                raise

    def _in_transaction(self) -> bool:
        connection = self._connection
        if connection is None or connection.closed:
            return False
        return connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def _end(self, command: str | None) -> None:
        """Lets the next writer in; a connection that cannot do that is dropped, which lets it in too."""
        self._pending, self._changed = False, 0
        self._counts, self._terms = Counter(), self._terms if command is None else {}
        connection = self._connection
        if connection is None:
            return
        try:
            if command:
                connection.execute(command)
            self._lock.release(connection)
        except psycopg.Error:
            self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        self._pending, self._changed = False, 0
        self._counts, self._terms = Counter(), {}
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    def _connection_lost(self) -> StoreError:
        return StoreUnavailable(
            f"the connection to {self._database.shown} broke while something was written; nothing since the "
            "last commit is kept: discard, then put it again"
        )

    def _keys(self, connection: Connection, count: int) -> list[int]:
        rows = connection.execute(
            "SELECT nextval(pg_get_serial_sequence('passages', 'key')) FROM generate_series(1, %s)", (count,)
        ).fetchall()
        return sorted(row[0] for row in rows)

    def _numbers(self, connection: Connection, terms: set[str]) -> Mapping[str, int]:
        """The number of each term; new ones get one, with a frequency that is written at the commit."""
        if len(self._terms) > _KNOWN_TERMS:
            self._terms = {}
        missing = sorted(terms - self._terms.keys())
        if missing:
            connection.execute(
                "INSERT INTO terms (term, df) SELECT term, 0 FROM unnest(%s::text[]) AS u (term) "
                "ON CONFLICT DO NOTHING",
                (missing,),
            )
            self._terms.update(
                connection.execute("SELECT term, id FROM terms WHERE term = ANY(%s)", (missing,)).fetchall()
            )
        return self._terms

    def _count(self, connection: Connection, passages: Counter[str], lengths: Counter[str]) -> None:
        for collection, count in passages.items():
            connection.execute(
                "INSERT INTO tally VALUES (%s, %s, %s) ON CONFLICT (collection) DO UPDATE "
                "SET passages = tally.passages + excluded.passages, length = tally.length + excluded.length",
                (collection, count, lengths[collection]),
            )

    def _write_counts(self, connection: Connection) -> None:
        changed = {term: count for term, count in self._counts.items() if count}
        numbers, counts = list(changed), list(changed.values())
        connection.execute(
            "UPDATE terms t SET df = t.df + u.count FROM unnest(%s::int[], %s::int[]) AS u (id, count) "
            "WHERE t.id = u.id",
            (numbers, counts),
        )
        # What was removed is not to live on as words.
        gone = connection.execute(
            "DELETE FROM terms WHERE id = ANY(%s) AND df <= 0 RETURNING term", (list(self._counts),)
        ).fetchall()
        for (term,) in gone:
            self._terms.pop(term, None)

    def _look_after(self, connection: Connection) -> None:
        """After a large change: statistics and visibility for the planner; a graph once there are many vectors.

        What was committed stays so when this fails: searches are slower then, and the next commit tries again.
        """
        try:
            row = connection.execute("SELECT coalesce(sum(passages), 0) FROM tally").fetchone()
            passages = int(row[0]) if row else 0
            if self._changed >= max(_VACUUM_FROM * passages, 1_000):
                for table in ("postings", "passages", "terms", "tally", *(["vectors"] if self._dimension else [])):
                    connection.execute(f"VACUUM (ANALYZE) {table}")
            if not self._dimension or passages <= EXACT_MOST:
                return
            found = connection.execute("SELECT to_regclass('vectors_graph'), count(*) FROM vectors").fetchone()
            if found is not None and found[0] is None and found[1] > EXACT_MOST:
                connection.execute(f"SET maintenance_work_mem = '{_BUILD_MEMORY}'")
                connection.execute(GRAPH.format(dimension=self._dimension))
        except psycopg.Error as error:
            _log.warning("the index %s could not be tidied: %s", self._database.shown, type(error).__name__)
