"""An index's database, its writer's lock, and its errors."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from selfright.domain.errors import IndexBusy, InputError, StoreError
from selfright.retrieval.locations import Location
from selfright.storage.postgres import Connection, PostgresDatabase, Use, lock_key

_READERS = 8


def index_database(place: Location) -> PostgresDatabase:
    """The database of an index: a pool of readers, each of which sees one moment of it."""
    schema = sql.Identifier(place.name)

    def prepare(connection: Connection) -> None:
        connection.execute("SET jit = off")
        found = connection.execute(
            "SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'vector'"
        ).fetchone()
        if found is None:
            return
        from pgvector.psycopg import register_vector

        path = sql.SQL("SET search_path = {}, public, {}").format(schema, sql.Identifier(found[0]))
        connection.execute(path)
        register_vector(connection)
        connection.execute("SET hnsw.ef_search = 200")
        connection.execute("SET hnsw.iterative_scan = strict_order")

    use = Use("the index", "see that its server runs, then try again", prepare, snapshot=True)
    return PostgresDatabase(place.address, use, _READERS)


class WriterLock:
    """Lets one writer in at a time: an advisory lock of the writer's connection, gone when the connection is."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._shown = database.shown
        self._key = lock_key("writer", database.address.schema)

    def acquire(self, connection: Connection) -> None:
        """Raises ``IndexBusy``, which names who holds it."""
        row = connection.execute("SELECT pg_try_advisory_lock(%s)", (self._key,)).fetchone()
        if row is None or not row[0]:
            raise IndexBusy(
                f"{self._shown} is being written to by {self._holder(connection)}; wait until that is done, then try "
                "again"
            )

    def release(self, connection: Connection) -> None:
        """Lets the next one in."""
        connection.execute("SELECT pg_advisory_unlock(%s)", (self._key,))

    def _holder(self, connection: Connection) -> str:
        row = connection.execute(
            "SELECT application_name, a.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
            "WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
            "AND (classid::bigint << 32 | objid::bigint) = %s",
            (self._key,),
        ).fetchone()
        return f"'{row[0]}' (server process {row[1]})" if row else "another process"


@contextmanager
def explain_errors(database: PostgresDatabase) -> Iterator[None]:
    """Turns what PostgreSQL says to a writer into the errors of this package."""
    try:
        yield
    except psycopg.errors.UniqueViolation as error:
        what = error.diag.constraint_name or "a key"
        raise InputError(f"documents and passages need ids of their own, but some are shared ({what})") from error
    except psycopg.errors.ProgramLimitExceeded as error:
        raise InputError("an id or a name is too long for PostgreSQL's indexes; shorten it") from error
    except psycopg.errors.InsufficientPrivilege as error:
        said = error.diag.message_primary
        raise StoreError(f"{database.shown}: the user may not do this ({said}); grant it what is needed") from error
    except psycopg.Error as error:
        raise database.explain_errors(error) from error
