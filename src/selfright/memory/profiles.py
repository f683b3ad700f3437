"""Profiles as rows: what stands of each user, what stood before, and erasure that erases. In a database or in memory.

Several processes may use a SQLite file. Values are text in it, so erasing overwrites them (``secure_delete``), makes
the file anew and empties its log. In PostgreSQL it deletes the rows and clears their space in the tables
(``PostgresDatabase.scrub``); the server's write-ahead log, its replicas and backups keep them for as long as whoever
runs it lets them.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from selfright.domain.slots import Fact, Kinds, Profile, Slot
from selfright.memory.postgres import PostgresDatabase
from selfright.memory.postgres_address import decode, encode
from selfright.memory.profile_rows import ProfileRows, writable
from selfright.storage.rows import Connection
from selfright.storage.sqlite import Layout, SqliteFile, transaction

T = TypeVar("T")

FORMAT = 1
_BUSY_S = 10.0
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS facts (id INTEGER PRIMARY KEY, user TEXT NOT NULL, state TEXT NOT NULL,"
    " at REAL NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, unit TEXT, negated INTEGER NOT NULL,"
    " subject TEXT NOT NULL, time TEXT NOT NULL, turn INTEGER NOT NULL, first INTEGER NOT NULL, past INTEGER NOT NULL,"
    " details TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS facts_of ON facts (user, state, id)",
    "CREATE TABLE IF NOT EXISTS users (user TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID",
)
_LAYOUT = Layout("profiles", FORMAT, _SCHEMA, ("synchronous = NORMAL", "secure_delete = ON", "temp_store = MEMORY"))


class RowProfiles(ABC):
    """A ``ProfileStore`` over rows. Raises ``StoreError`` when they cannot be read or written.

    And ``InputError`` for a user's name that is none.
    """

    def __init__(self, rows: ProfileRows, kinds: Kinds) -> None:
        self._rows = rows
        self._kinds = kinds

    @property
    def ephemeral(self) -> bool:
        """Whether profiles that were to be kept end with the process."""
        return False

    async def profile(self, user: str) -> Profile:
        """What stands of a user."""
        owner = self._rows.named(user)
        return await self._read(lambda connection: self._rows.standing(connection, owner).profile)

    async def remember(self, user: str, slots: Sequence[Slot]) -> Profile:
        """Adds what was said; what it says anew, supersedes or denies is settled with what stood."""
        if not slots:
            return await self.profile(user)
        return await self._change(user, lambda before: before.with_slots(slots, self._kinds))

    async def correct(self, user: str, name: str, slots: Sequence[Slot]) -> Profile:
        """Puts ``slots`` in the place of what stands of a kind; what stood is history."""
        return await self._change(user, lambda before: before.without(name).with_slots(slots, self._kinds))

    async def history(self, user: str) -> tuple[Fact, ...]:
        """All facts of a user, oldest first."""
        owner = self._rows.named(user)
        return await self._read(lambda connection: self._rows.history(connection, owner))

    async def forget(self, user: str, name: str | None = None, value: str | None = None) -> int:
        """Erases for good. Raises ``StoreError`` while others hinder that."""
        owner = self._rows.named(user)
        gone = await self._alone(owner, lambda connection: self._rows.erase(connection, owner, name, value))
        await asyncio.to_thread(self._scrub, gone)
        return gone

    async def users(self) -> tuple[str, ...]:
        """All users, by name."""
        return await self._read(self._rows.names)

    @abstractmethod
    async def close(self) -> None:
        """Closes what was opened here; nothing happens when it is closed already."""

    async def _change(self, user: str, change: Callable[[Profile], Profile]) -> Profile:
        owner = self._rows.named(user)

        def work(connection: Connection) -> Profile:
            before = self._rows.standing(connection, owner)
            return self._rows.write(connection, owner, change(before.profile), before, time.time())

        return await self._alone(owner, work)

    @abstractmethod
    async def _read(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives."""

    @abstractmethod
    async def _alone(self, owner: str, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives, in a transaction beside which nobody else changes the profile of ``owner``."""

    @abstractmethod
    def _scrub(self, gone: int) -> None:
        """Leaves nothing of the facts that were deleted, ``gone`` of them just now."""


class SqliteProfiles(RowProfiles):
    """Profiles in a SQLite file, readable for its owner alone; in memory without one.

    A folder that cannot be written makes it a store in memory, and ``ephemeral``. A ``StoreError`` names the file, when
    that is damaged or of a newer version.
    """

    def __init__(self, path: Path | None, kinds: Kinds) -> None:
        super().__init__(ProfileRows("facts", "users", "user", "?", writable, str), kinds)
        self._is_kept = path is not None
        self._file = SqliteFile(path, _LAYOUT, _BUSY_S, or_memory=True)

    @property
    def ephemeral(self) -> bool:
        """Whether profiles that were to be kept in a file end with the process."""
        return self._is_kept and self._file.path is None

    async def close(self) -> None:
        """Closes the file; nothing happens when it is closed already."""
        await asyncio.to_thread(self._file.close)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        def locked() -> T:
            with self._file.connected() as connection:
                return work(connection)

        return await asyncio.to_thread(locked)

    async def _alone(self, owner: str, work: Callable[[Connection], T]) -> T:
        del owner  # the file has one writer at a time, whatever user it writes for

        def locked() -> T:
            with self._file.connected() as connection, transaction(connection, "IMMEDIATE"):
                return work(connection)

        return await asyncio.to_thread(locked)

    def _scrub(self, gone: int) -> None:
        del gone  # where nothing went now, another process may have hindered it before
        with self._file.connected() as connection:
            self._file.scrub(connection)


_ROWS = ProfileRows("profile_facts", "profile_users", "owner", "%s", encode, decode)
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '/profile/' || %s, 0))"


class PostgresProfiles(RowProfiles):
    """Profiles in a database, which stays its owner's to close. One change of a user's profile at a time."""

    def __init__(self, database: PostgresDatabase, kinds: Kinds) -> None:
        super().__init__(_ROWS, kinds)
        self._database = database

    async def close(self) -> None:
        """Nothing: the database is its owner's."""

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await self._database.run(work)

    async def _alone(self, owner: str, work: Callable[[Connection], T]) -> T:
        def locked(connection: Connection) -> T:
            connection.execute(_ONE_AT_A_TIME, (owner,))
            return work(connection)

        return await self._database.run(locked)

    def _scrub(self, gone: int) -> None:
        if gone:
            self._database.scrub(_ROWS.facts, _ROWS.users)
