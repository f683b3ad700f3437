"""One PostgreSQL database: its connections, its transactions, and what happens when it is away for a moment.

Work runs on threads of the database's own, so nothing here is bound to an event loop. A statement that meets a broken
connection is run again on a new one, a few times and for a few seconds: everything that is run here may be run twice.
When the server stays away, callers are told so quickly until it is back.
"""

import asyncio
import importlib.util
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from selfright.domain.errors import DatabaseUnavailable, MissingExtra, StoreError
from selfright.memory.postgres_address import Address, read_address

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

T = TypeVar("T")

CONNECTIONS = 10
CONNECT_S = 5
_WAIT_S = 6.0
_SHORT_WAIT_S = 0.3
_DRAIN_S = 1.0
_DOWN_S = 2.0  # after a failure this young, nobody waits for long
_RECONNECT_S = 5.0
_IDLE_S = 300.0
_TRIES = 3
_ERASE_LOCK_S = 5.0
_REWRITE_BELOW = 256 * 2**20
# Bounds of the server's side, for every connection; milliseconds, and seconds for keepalives. A machine that vanished
# is noticed within 40 s, and what it held is free.
_BOUNDS = {
    "statement_timeout": 30_000,
    "lock_timeout": 10_000,
    "idle_in_transaction_session_timeout": 60_000,
    "tcp_keepalives_idle": 20,
    "tcp_keepalives_interval": 5,
    "tcp_keepalives_count": 4,
    "tcp_user_timeout": 40_000,
}
_CLIENT = {"keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 4, "tcp_user_timeout": 30_000}
# Serialization failure, deadlock, and a server that is ending, has crashed or is starting.
_AGAIN = frozenset({"40001", "40P01", "57P01", "57P02", "57P03"})
_ONLY_THIS = frozenset({"40001", "40P01"})  # of these, those that say nothing of other connections

log = logging.getLogger(__name__)


class PostgresDatabase:
    """A database that is opened when it is first used; its tables are made or brought up to date then."""

    def __init__(self, address: str, most: int = CONNECTIONS) -> None:
        _check_installed()
        self.address: Address = read_address(address)
        self._most = most
        self._pool: ConnectionPool[Connection[Any]] | None = None
        self._opening = threading.Lock()
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="selfright-postgres")
        self._failed_at = self._worked_at = self._drained_at = -2 * _WAIT_S
        self._closed = False
        self._last: dict[str, Future[Any]] = {}
        self._ordering = threading.Lock()
        self._on_loss: list[Callable[[], None]] = []

    async def run(self, work: "Callable[[Connection[Any]], T]", *, durable: bool = True, after: str | None = None) -> T:
        """What ``work`` gives for a connection, in a transaction of its own; it may be run twice.

        ``after``: what is run under the same name runs in the order in which it came, though a caller went away.
        Without ``durable`` it is not waited for the server's disk: a crash of the server may lose it, not of a client.
        """
        task = self._ordered(after, lambda: self.within(work, durable=durable))
        return await asyncio.shield(asyncio.wrap_future(task))

    def within(self, work: "Callable[[Connection[Any]], T]", *, durable: bool = True) -> T:
        """``run`` for callers on a thread of their own."""
        import psycopg

        for tried in range(1, _TRIES + 1):
            try:
                with self._transaction(durable=durable) as connection:
                    return work(connection)
            except psycopg.Error as error:
                if tried == _TRIES or not _worth_again(error):
                    raise self.explained(error) from error
                if error.sqlstate not in _ONLY_THIS:
                    self._lost()
        raise AssertionError("unreachable")

    def connect(self) -> "Connection[Any]":
        """A connection of one's own, which commits every statement; the caller closes it."""
        import psycopg

        try:
            return psycopg.connect(self._uri(), autocommit=True, connect_timeout=CONNECT_S)
        except psycopg.Error as error:
            raise self.explained(error) from error

    def on_loss(self, told: Callable[[], None]) -> None:
        """``told`` is called when a connection turned out to be broken; it must return at once."""
        self._on_loss.append(told)

    def scrub(self, *tables: str) -> None:
        """Frees what was deleted from these tables: small ones are written anew, of large ones the rows are freed.

        Raises ``StoreError`` when a table is in use for too long.
        """
        import psycopg

        with self.connect() as connection:
            connection.execute(f"SET lock_timeout = {int(1000 * _ERASE_LOCK_S)}")
            connection.execute("SET statement_timeout = 0")
            for table in tables:
                try:
                    found = connection.execute("SELECT pg_total_relation_size(%s::regclass)", (table,)).fetchone()
                    kind = "VACUUM (FULL)" if found and found[0] < _REWRITE_BELOW else "VACUUM"
                    connection.execute(f"{kind} {table}".encode())
                except psycopg.errors.LockNotAvailable as error:
                    raise StoreError(
                        f"what was erased is gone from {self.address.shown}, but a table is in use for so long that "
                        "its space could not be cleared; run it again later"
                    ) from error
                except psycopg.Error as error:
                    raise self.explained(error) from error

    def close(self) -> None:
        """Closes the connections; nothing happens when it is closed already."""
        self._threads.shutdown(wait=True)
        with self._opening:
            pool, self._pool, self._closed = self._pool, None, True
        if pool is not None:
            pool.close()

    def explained(self, error: Exception) -> StoreError:
        """An error of the database as one of ours. Words of the server are left out: they may quote what is kept."""
        import psycopg

        if isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate in _AGAIN):
            return DatabaseUnavailable(
                f"the database {self.address.shown} cannot be reached now; it is tried again by itself. If this lasts, "
                f"see whether it runs and what setting 'database' says{_connecting(error)}"
            )
        return StoreError(
            f"the database {self.address.shown} refused ({type(error).__name__}, {error_state(error)}); see the "
            "server's log, and whether its user may write there"
        )

    def _ordered(self, name: str | None, work: Callable[[], T]) -> "Future[T]":
        try:
            if name is None:
                return self._threads.submit(work)
            with self._ordering:
                before = self._last.get(name)
                task = self._threads.submit(_behind(before, work))
                self._last[name] = task
        except RuntimeError as error:
            raise self._over() from error
        task.add_done_callback(lambda done: self._forget(name, done))
        return task

    def _forget(self, name: str, done: "Future[Any]") -> None:
        with self._ordering:
            if self._last.get(name) is done:
                del self._last[name]

    @contextmanager
    def _transaction(self, *, durable: bool) -> "Iterator[Connection[Any]]":
        from psycopg_pool import PoolTimeout

        pool = self._opened()
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

    def _opened(self) -> "ConnectionPool[Connection[Any]]":
        with self._opening:
            if self._closed:
                raise self._over()
            if self._pool is None:
                self._pool = self._made()
            return self._pool

    def _made(self) -> "ConnectionPool[Connection[Any]]":
        from psycopg_pool import ConnectionPool

        from selfright.memory.postgres_schema import bring_up_to_date

        # What it says of every attempt to connect is said once by whoever asked for a connection.
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
        if time.monotonic() - self._failed_at < _SHORT_WAIT_S:
            raise DatabaseUnavailable(f"the database {self.address.shown} could not be reached just now; try again")
        try:
            bring_up_to_date(self)
        except DatabaseUnavailable:
            self._failed_at = time.monotonic()
            raise
        return ConnectionPool(
            self._uri(),
            kwargs={"autocommit": True, "connect_timeout": CONNECT_S},
            min_size=1,
            max_size=self._most,
            max_idle=_IDLE_S,
            reconnect_timeout=_RECONNECT_S,
            open=True,
            name="selfright",
        )

    def _uri(self) -> str:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        try:
            given = conninfo_to_dict(self.address.uri)
        except ProgrammingError:  # its words quote the address, and with it perhaps the password
            raise StoreError(
                f"the address {self.address.shown} in setting 'database' cannot be read; write special characters in "
                "a name or password as %xx"
            ) from None
        bounds = " ".join(f"-c {name}={value}" for name, value in _BOUNDS.items())
        options = f"{given.get('options') or ''} -c search_path={self.address.schema} {bounds}".strip()
        return make_conninfo(self.address.uri, application_name="selfright", options=options, **_CLIENT)

    def _over(self) -> StoreError:
        return StoreError(f"the database {self.address.shown} is closed; open it again")

    def _lost(self) -> None:
        pool, now = self._pool, time.monotonic()
        if pool is not None and now - self._drained_at > _DRAIN_S:
            self._drained_at = now
            pool.drain()  # the other connections are most likely broken too
        for told in self._on_loss:
            told()


def _check_installed() -> None:
    try:
        import psycopg  # noqa: F401
        import psycopg_pool  # noqa: F401

        there = importlib.util.find_spec("langgraph.checkpoint.postgres") is not None
    except ImportError:  # also of a psycopg that finds no libpq
        there = False
    if not there:
        raise MissingExtra("what setting 'database' needs", 'pip install "selfright[postgres]"')


def error_state(error: Exception) -> str:
    """PostgreSQL's code of an error."""
    return str(getattr(error, "sqlstate", None) or "no code")


def _connecting(error: Exception) -> str:
    """What libpq says of a connection that could not be made: host, port and user, nothing that is kept."""
    from psycopg_pool import PoolTimeout

    said = str(error).strip().splitlines()
    if isinstance(error, PoolTimeout) or not said or not said[0].startswith("connection failed"):
        return ""
    return f" ({said[0][:300]})"


def _worth_again(error: Exception) -> bool:
    import psycopg
    from psycopg_pool import PoolTimeout

    if isinstance(error, PoolTimeout) or not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate in _AGAIN


def _behind(before: "Future[Any] | None", work: Callable[[], T]) -> Callable[[], T]:
    def turn() -> T:
        if before is not None:
            wait([before])
        return work()

    return turn
