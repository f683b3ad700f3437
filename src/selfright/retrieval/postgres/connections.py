"""Connections to PostgreSQL: a pool for readers, one for the writer, and what becomes of a server that goes away."""

import hashlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool, PoolTimeout

from selfright.domain.errors import IndexBusy, InputError, StoreError, StoreUnavailable
from selfright.retrieval.locations import Location

_READERS = 8
_PATIENCE_S = 10.0  # how long a read waits for a server that is starting again
_CONNECT_S = 5
_STATEMENT_MS = 60_000
_PAUSE_S = 0.05

Result = TypeVar("Result")
Connection = psycopg.Connection[tuple[Any, ...]]


class Connections:
    """Opens and keeps the connections of one index; close it when done. ``vectors``: the index has some."""

    def __init__(self, place: Location) -> None:
        self.place = place
        self.vectors = False
        self._pool: ConnectionPool[Connection] | None = None
        self._opening = threading.Lock()
        self._closed = False

    def read(self, task: Callable[[Connection], Result]) -> Result:
        """What ``task`` gives, on a connection at one moment of the index; tried again when the connection breaks.

        Raises ``StoreUnavailable`` when the server stays away for ten seconds.
        """
        end = time.monotonic() + _PATIENCE_S
        while True:
            try:
                with self._readers().connection(timeout=max(0.1, end - time.monotonic())) as connection:
                    return task(connection)
            except PoolTimeout as error:
                raise self._unavailable(error) from error
            except psycopg.Error as error:
                if not _is_cut(error):
                    raise translated(error, self.place) from error
                if time.monotonic() > end or self._closed:
                    raise self._unavailable(error) from error
                self._readers().check()
                time.sleep(_PAUSE_S)

    def connect(self, role: str = "reader") -> Connection:
        """A connection of one's own, in autocommit mode."""
        with explained(self.place):
            connection = psycopg.connect(**self._arguments(role), autocommit=True)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Closes the pool."""
        self._closed = True
        with self._opening:
            if self._pool is not None:
                self._pool.close()

    def _readers(self) -> "ConnectionPool[Connection]":
        with self._opening:
            if self._closed:
                raise StoreError(f"the index {self.place.shown} was closed; open it again")
            if self._pool is None:
                self._pool = ConnectionPool(
                    kwargs={**self._arguments("reader"), "autocommit": False},
                    min_size=1,
                    max_size=_READERS,
                    timeout=_PATIENCE_S,
                    configure=self._configure_reader,
                    open=True,
                )
            return self._pool

    def _arguments(self, role: str) -> dict[str, Any]:
        place = self.place
        known = {
            "host": place.host or place.option("host"),
            "port": place.port,
            "user": place.user,
            "password": place.password,
            "dbname": place.database,
        }
        others = {name: value for name, value in place.options if name != "host"}
        return {
            "connect_timeout": _CONNECT_S,
            "keepalives_idle": 30,
            **others,
            **{name: value for name, value in known.items() if value},
            "application_name": f"selfright {role} {socket.gethostname()}:{os.getpid()}",
        }

    def _configure_reader(self, connection: Connection) -> None:
        connection.autocommit = True
        self._prepare(connection)
        connection.execute(f"SET statement_timeout = {_STATEMENT_MS}")
        connection.autocommit = False
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True

    def _prepare(self, connection: Connection) -> None:
        schema = sql.Identifier(self.place.name)
        connection.execute(sql.SQL("SET search_path = {}, public").format(schema))
        connection.execute("SET jit = off")
        if not self.vectors:
            return
        from pgvector.psycopg import register_vector

        found = connection.execute(
            "SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'vector'"
        ).fetchone()
        if found is not None:
            extension = sql.Identifier(found[0])
            connection.execute(sql.SQL("SET search_path = {}, public, {}").format(schema, extension))
        register_vector(connection)
        connection.execute("SET hnsw.ef_search = 200")
        connection.execute("SET hnsw.iterative_scan = strict_order")

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(
            f"the server of the index {self.place.shown} cannot be reached ({_first_line(error)}); "
            "see that it runs, then try again"
        )


class WriterLock:
    """Lets one writer in at a time: an advisory lock of the writer's connection, gone when the connection is."""

    def __init__(self, place: Location) -> None:
        self._place = place
        self._key = lock_key("writer", place)

    def acquire(self, connection: Connection) -> None:
        """Raises ``IndexBusy``, which names who holds it."""
        row = connection.execute("SELECT pg_try_advisory_lock(%s)", (self._key,)).fetchone()
        if row is None or not row[0]:
            raise IndexBusy(
                f"the index {self._place.shown} is being written to by {self._holder(connection)}; "
                "wait until that is done, then try again"
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


def lock_key(purpose: str, place: Location) -> int:
    """The number of an advisory lock; locks are those of one database."""
    digest = hashlib.blake2b(f"selfright/{purpose}/{place.name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


@contextmanager
def explained(place: Location) -> Iterator[None]:
    """Turns what PostgreSQL says into the errors of this package."""
    try:
        yield
    except psycopg.Error as error:
        raise translated(error, place) from error


def translated(error: psycopg.Error, place: Location) -> Exception:
    """The same as an error of this package."""
    if isinstance(error, psycopg.errors.UniqueViolation):
        what = error.diag.constraint_name or "a key"
        return InputError(f"documents and passages need ids of their own, but some are shared ({what})")
    if isinstance(error, psycopg.errors.ProgramLimitExceeded):
        return InputError(f"an id or a name is too long for PostgreSQL's indexes ({_first_line(error)}); shorten it")
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return StoreError(f"{place.shown}: the user may not do this ({_first_line(error)}); grant it what is needed")
    if _is_cut(error):
        return StoreUnavailable(
            f"the server of the index {place.shown} cannot be reached ({_first_line(error)}); "
            "see that it runs, then try again"
        )
    return StoreError(f"the index {place.shown} could not be used ({_first_line(error)}); see to that, then try again")


def _is_cut(error: psycopg.Error) -> bool:
    """Whether the connection, or the server, is gone."""
    state = error.sqlstate or ""
    if isinstance(error, psycopg.OperationalError):
        return not state or state.startswith(("08", "57P"))
    return isinstance(error, psycopg.InterfaceError)


def _first_line(error: Exception) -> str:
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return (primary or str(error)).strip().splitlines()[0][:300] if (primary or str(error)).strip() else "no answer"
