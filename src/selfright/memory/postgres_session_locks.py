"""One turn of a session at a time, on however many machines: advisory locks, and a token against those who lost one.

The locks hang on one connection of the process and are free again when that ends, however the process dies. A process
that lives on without its connection (the server was restarted, the network was cut) has lost them without knowing: so
every lock taken writes a new token, and what a turn writes is written only while its token is the one that stands.
"""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from selfright.domain.errors import DatabaseUnavailable, SessionLost, StoreError
from selfright.memory.postgres import PostgresDatabase

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

_TRIES = 2
_REST_S = 1.0  # between two attempts to connect to a server that is away
_SWEEP = "DELETE FROM session_claims WHERE at < now() - interval '1 day'"
_TAKE = (
    "WITH got AS MATERIALIZED (SELECT pg_try_advisory_lock(%(key)s) AS held) "
    "INSERT INTO session_claims (key, token) SELECT %(key)s, %(token)s FROM got WHERE held "
    "ON CONFLICT (key) DO UPDATE SET token = excluded.token, at = now() RETURNING 1"
)
_DROP = "DELETE FROM session_claims WHERE key = %(key)s AND token = %(token)s"
_UNLOCK = "SELECT pg_advisory_unlock(%(key)s)"
_LOCK_AGAIN = "SELECT pg_try_advisory_lock(%(key)s)"
_STANDS = "SELECT 1 FROM session_claims WHERE key = %(key)s AND token = %(token)s FOR SHARE"


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A session that is held: the lock's number, and the token that nobody else has."""

    key: int
    token: int

    @property
    def values(self) -> dict[str, int]:
        """For the statements."""
        return {"key": self.key, "token": self.token}


class PostgresSessionLocks:
    """Locks shared by all processes that use one database and schema. See ``SessionLocks``."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._held: dict[str, HeldLock] = {}
        self._connection: Connection[Any] | None = None
        self._failed_at = -_REST_S
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="selfright-session-locks")
        database.on_loss(self._look_soon)

    async def take(self, key: str) -> bool:
        """See ``SessionLocks``. Raises ``DatabaseUnavailable``."""
        task = self._submit(lambda: self._take(key))
        try:
            return await asyncio.shield(asyncio.wrap_future(task))
        except asyncio.CancelledError:  # nobody is left who would release it
            task.add_done_callback(lambda done: self._give_back(key, done))
            raise

    async def release(self, key: str) -> None:
        """See ``SessionLocks``. A lock whose connection is gone is free already."""
        await asyncio.shield(asyncio.wrap_future(self._submit(lambda: self._release(key))))

    def held_lock(self, key: str) -> HeldLock | None:
        """What is held on ``key`` here and now, to ``check`` a write with that is done later; None for nothing."""
        return self._held.get(key)

    def check(self, connection: "Connection[Any]", lock: HeldLock | None) -> None:
        """Raises ``SessionLost`` when the lock was taken over or given back; else keeps it so until the transaction of
        the connection ends. Without a lock there is nothing to check.
        """
        if lock is not None and connection.execute(_STANDS, lock.values).fetchone() is None:
            raise SessionLost(
                "another turn took this session over while the database was away; nothing of this one was kept: look "
                "at the conversation, then ask again"
            )

    async def close(self) -> None:
        """Closes the connection, and frees with it what is still held."""
        with suppress(StoreError):
            await asyncio.wrap_future(self._submit(self._hang_up))
        self._thread.shutdown(wait=False)

    def _submit(self, work: Callable[[], T]) -> "Future[T]":
        try:
            return self._thread.submit(work)
        except RuntimeError as error:
            raise StoreError(f"the sessions in {self._database.address.shown} are closed; open them again") from error

    def _give_back(self, key: str, done: "Future[bool]") -> None:
        if not done.cancelled() and done.exception() is None and done.result():
            with suppress(StoreError):
                self._submit(lambda: self._release(key))

    def _take(self, key: str) -> bool:
        if key in self._held:  # PostgreSQL would let the same connection lock it again
            return False
        lock = HeldLock(_number(self._database.address.schema, key), secrets.randbits(63))
        if any(held.key == lock.key for held in self._held.values()):
            return False
        if self._on_connection(lambda connection: connection.execute(_TAKE, lock.values).fetchone()) is None:
            return False
        self._held[key] = lock
        return True

    def _release(self, key: str) -> None:
        import psycopg

        lock = self._held.pop(key, None)
        if lock is None or self._connection is None:
            return
        try:
            self._connection.execute(_DROP, lock.values)
            self._connection.execute(_UNLOCK, lock.values)
        except psycopg.Error:  # the lock must not outlive its record: it goes with its connection, the others come back
            self._hang_up()
            self._look_soon()

    def _on_connection(self, work: "Callable[[Connection[Any]], T]") -> T:
        import psycopg

        for tried in range(1, _TRIES + 1):
            try:
                return work(self._connected())
            except psycopg.Error as error:
                self._hang_up()
                if tried == _TRIES or not isinstance(error, psycopg.OperationalError):
                    raise self._database.explained(error) from error
        raise AssertionError("unreachable")

    def _connected(self) -> "Connection[Any]":
        if self._connection is not None:
            return self._connection
        if time.monotonic() - self._failed_at < _REST_S:
            raise DatabaseUnavailable(
                f"the database {self._database.address.shown} could not be reached a moment ago; try again"
            )
        try:
            self._connection = self._database.connect()
        except StoreError:
            self._failed_at = time.monotonic()
            raise
        self._connection.execute("SET synchronous_commit = off")  # a token that a crash forgets lets nobody write
        self._connection.execute(_SWEEP)
        for lock in list(self._held.values()):
            self._connection.execute(_LOCK_AGAIN, lock.values)  # whoever has it by now has a newer token, too
        return self._connection

    def _look_soon(self) -> None:
        with suppress(StoreError):
            self._submit(self._look)

    def _look(self) -> None:
        """Takes the locks again if their connection broke."""
        with suppress(StoreError):
            self._on_connection(lambda connection: connection.execute("SELECT 1"))

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _number(schema: str, key: str) -> int:
    """The lock's number: 64 bits of a hash. Two sessions of the same number would only have to wait for one another."""
    text = f"{schema}/{key}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(b"selfright session " + text).digest()[:8], "big", signed=True)
