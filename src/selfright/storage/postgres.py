"""One PostgreSQL database: its connections, its transactions, and what happens when it is away for a moment.

Work runs on threads, so nothing here is bound to an event loop. A statement that meets a broken connection is run again
on a new one, a few times and for a few seconds: everything that is run here may be run twice. When the server stays
away, callers are told so quickly until it is back.
"""

import asyncio
import hashlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from selfright.domain.errors import MissingExtra, StoreError, StoreUnavailable
from selfright.storage.postgres_address import Address

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
    from psycopg_pool import ConnectionPool, PoolTimeout
except ImportError as error:  # also of a psycopg that finds no libpq
    raise MissingExtra("what PostgreSQL needs", 'pip install "selfright[postgres]"') from error

T = TypeVar("T")
Connection = psycopg.Connection[tuple[Any, ...]]

CONNECTIONS = 10
_WAIT_S = 10.0
_SHORT_WAIT_S = 0.3
_DRAIN_S = 0.1
_DOWN_S = 2.0  # after a failure this young, nobody waits for long
_RECONNECT_S = 5.0
_IDLE_S = 300.0
_AGAIN_S, _PAUSE_S = 3.0, 0.05  # a server that ends cuts one connection after the other
_ERASE_LOCK_S = 5.0
_REWRITE_BELOW = 256 * 2**20
# A machine that vanished is noticed within 40 s; an address may say otherwise.
_CLIENT = {
    "connect_timeout": "5",
    "keepalives_idle": "20",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}
# Bounds of the server's side for the connections of the pool; milliseconds, and seconds for keepalives.
_BOUNDS: Mapping[str, str | int] = {
    "statement_timeout": 60_000,
    "lock_timeout": 10_000,
    "idle_in_transaction_session_timeout": 60_000,
    "tcp_keepalives_idle": 20,
    "tcp_keepalives_interval": 5,
    "tcp_keepalives_count": 4,
    "tcp_user_timeout": 40_000,
}
# Serialization failure, deadlock, and a server that is ending, has crashed or is starting.
_AGAIN = frozenset({"40001", "40P01", "57P01", "57P02", "57P03"})
_ONLY_THIS = frozenset({"40001", "40P01"})  # of these, those that say nothing of other connections

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Use:
    """What a database is used for. ``name`` is for messages ("the index"), ``hint`` says what to check when it is away.

    ``prepare`` is run on each new connection. ``make`` is run once before the first use: it makes the tables.
    ``snapshot``: the pool is there to read, each time as of one moment.
    """

    name: str
    hint: str
    prepare: Callable[[Connection], None] = field(default=lambda _: None)
    make: "Callable[[PostgresDatabase], None]" = field(default=lambda _: None)
    snapshot: bool = False


class PostgresDatabase:
    """A database that is opened when it is first used, with at most ``most`` connections in its pool."""

    def __init__(self, address: Address, use: Use, most: int = CONNECTIONS) -> None:
        self.address, self.use, self.most = address, use, most
        self._pool: ConnectionPool[Connection] | None = None
        self._opening = threading.Lock()
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="selfright-postgres")
        self._failed_at = self._worked_at = self._drained_at = -2 * _WAIT_S
        self._closed = False

    @property
    def shown(self) -> str:
        """Its name for messages."""
        return f"{self.use.name} {self.address.shown}"

    async def run(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """``within`` on a thread; it is done although the caller goes away."""
        return await self.aside(partial(self.within, work, durable=durable))

    async def aside(self, call: Callable[[], T]) -> T:
        """What ``call`` gives on a thread; it is done although the caller goes away."""
        try:
            task = self._threads.submit(call)
        except RuntimeError as error:
            raise self._over() from error
        return await asyncio.shield(asyncio.wrap_future(task))

    def within(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """What ``work`` gives for a connection, in a transaction of its own; it may be run several times.

        Without ``durable`` the server's disk is not waited for: a crash of the server may lose it, not of a client.
        Raises ``StoreUnavailable`` while the server is away, ``StoreError`` for what it refuses.
        """
        end = time.monotonic() + _AGAIN_S
        while True:
            try:
                with self._transaction(durable=durable) as connection:
                    return work(connection)
            except psycopg.Error as error:
                if time.monotonic() > end or isinstance(error, PoolTimeout) or not _is_cut(error):
                    raise self.explain_errors(error) from error
                pool, now = self._pool, time.monotonic()
                if pool is not None and error.sqlstate not in _ONLY_THIS and now - self._drained_at > _DRAIN_S:
                    self._drained_at = now
                    pool.drain()  # the other connections are most likely broken too
                time.sleep(_PAUSE_S)

    def connect(self, role: str = "selfright") -> Connection:
        """A connection of one's own, which commits every statement and has no bounds; the caller closes it."""
        try:
            connection = psycopg.connect(self._conninfo(role), autocommit=True)
        except psycopg.Error as error:
            raise self.explain_errors(error) from error
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def scrub(self, *tables: str) -> None:
        """Frees what was deleted from these tables: small ones are written anew, of large ones the rows are freed.

        Raises ``StoreError`` when a table is in use for too long.
        """
        with self.connect() as connection:
            connection.execute(f"SET lock_timeout = {int(1000 * _ERASE_LOCK_S)}")
            for table in tables:
                try:
                    found = connection.execute("SELECT pg_total_relation_size(%s::regclass)", (table,)).fetchone()
                    kind = "VACUUM (FULL)" if found and found[0] < _REWRITE_BELOW else "VACUUM"
                    connection.execute(f"{kind} {table}".encode())
                except psycopg.errors.LockNotAvailable as error:
                    raise StoreError(
                        f"what was erased is gone from {self.shown}, but a table is in use for so long that its space "
                        "could not be cleared; run it again later"
                    ) from error
                except psycopg.Error as error:
                    raise self.explain_errors(error) from error

    def close(self) -> None:
        """Closes the connections; nothing happens when it is closed already."""
        self._threads.shutdown(wait=True)
        with self._opening:
            pool, self._pool, self._closed = self._pool, None, True
        if pool is not None:
            pool.close()

    def explain_errors(self, error: psycopg.Error) -> StoreError:
        """An error of the database as one of ours. Words of the server are left out: they may quote what is stored."""
        if _is_cut(error):
            return StoreUnavailable(
                f"{self.shown} cannot be reached now{_connecting(error)}; it is tried again by itself. If this lasts, "
                f"{self.use.hint}"
            )
        return StoreError(
            f"{self.shown} refused ({type(error).__name__}, {error.sqlstate or 'no code'}); see the server's log, and "
            "whether its user may write there"
        )

    @contextmanager
    def _transaction(self, *, durable: bool) -> Iterator[Connection]:
        pool = self._open()
        patience = _SHORT_WAIT_S if time.monotonic() - self._failed_at < _DOWN_S else _WAIT_S
        try:
            connection = pool.getconn(patience)
        except PoolTimeout:
            if time.monotonic() - self._worked_at > patience:  # else all of them are at work
                self._failed_at = time.monotonic()
            raise
        try:
            with connection.transaction():
                if not durable:
                    connection.execute("SET LOCAL synchronous_commit = off")
                yield connection
            self._worked_at = time.monotonic()
        finally:
            pool.putconn(connection)

    def _open(self) -> "ConnectionPool[Connection]":
        with self._opening:
            if self._closed:
                raise self._over()
            if self._pool is None:
                self._pool = self._make_pool()
            return self._pool

    def _make_pool(self) -> "ConnectionPool[Connection]":
        # What it says of every attempt to connect is said once by whoever asked for a connection.
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
        if time.monotonic() - self._failed_at < _SHORT_WAIT_S:
            raise StoreUnavailable(f"{self.shown} could not be reached just now; try again")
        try:
            self.use.make(self)
        except StoreUnavailable:
            self._failed_at = time.monotonic()
            raise
        return ConnectionPool(
            self._conninfo("selfright reader" if self.use.snapshot else "selfright", _BOUNDS),
            kwargs={"autocommit": True},
            configure=self._configure,
            min_size=1,
            max_size=self.most,
            max_idle=_IDLE_S,
            reconnect_timeout=_RECONNECT_S,
            open=True,
        )

    def _configure(self, connection: Connection) -> None:
        self._prepare(connection)
        if self.use.snapshot:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True

    def _prepare(self, connection: Connection) -> None:
        connection.execute(
            psycopg.sql.SQL("SET search_path = {}, public").format(psycopg.sql.Identifier(self.address.schema))
        )
        self.use.prepare(connection)

    def _conninfo(self, role: str, bounds: Mapping[str, str | int] | None = None) -> str:
        try:
            given = conninfo_to_dict(self.address.uri)
        except psycopg.ProgrammingError:  # its words quote the address, and with it perhaps the password
            raise StoreError(
                f"the address of {self.shown} cannot be read; write special characters in a name or password as %xx"
            ) from None
        said = " ".join(f"-c {name}={value}" for name, value in (bounds or {}).items())
        ours = {"application_name": f"{role} {socket.gethostname()}:{os.getpid()}"}
        options = f"{given.get('options') or ''} {said}".strip()
        all_of_it: dict[str, Any] = {**_CLIENT, **given, **ours, "options": options or None}
        return make_conninfo(**all_of_it)

    def _over(self) -> StoreError:
        return StoreError(f"{self.shown} is closed; open it again")


def lock_key(purpose: str, schema: str) -> int:
    """The number of an advisory lock; locks are those of one database."""
    digest = hashlib.blake2b(f"selfright/{purpose}/{schema}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _is_cut(error: psycopg.Error) -> bool:
    """Whether the connection, or the server, is gone."""
    if isinstance(error, psycopg.OperationalError):
        return error.sqlstate is None or error.sqlstate.startswith("08") or error.sqlstate in _AGAIN
    return isinstance(error, psycopg.InterfaceError)


def _connecting(error: psycopg.Error) -> str:
    """What libpq says of a connection that could not be made: host, port and user, nothing that is stored."""
    said = str(error).strip().splitlines()
    if isinstance(error, PoolTimeout) or not said or not said[0].startswith("connection failed"):
        return ""
    return f" ({said[0][:300]})"
