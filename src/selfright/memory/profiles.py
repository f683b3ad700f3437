"""Profiles in one SQLite file, or in memory: what stands of each user, what stood before, and erasure that erases.

Several processes may use the file. Values are text in it, so erasing overwrites them (``secure_delete``), makes the
file anew and empties its log.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from selfright.domain.slots import Fact, Kinds, Profile, Slot
from selfright.memory import profile_rows as rows
from selfright.storage.sqlite import Layout, SqliteFile, transaction

T = TypeVar("T")

FORMAT = 1
_BUSY_S = 10.0
_LAYOUT = Layout("profiles", FORMAT, rows.SCHEMA, ("synchronous = NORMAL", "secure_delete = ON", "temp_store = MEMORY"))


class SqliteProfiles:
    """A ``ProfileStore`` in a SQLite file, readable for its owner alone; in memory without one.

    A folder that cannot be written makes it a store in memory, and ``ephemeral``. Raises ``StoreError``, which
    names the file, when that is damaged or of a newer version, and ``InputError`` for a user's name that is none.
    """

    def __init__(self, path: Path | None, kinds: Kinds, *, clock: Callable[[], float] = time.time) -> None:
        self._kinds = kinds
        self._clock = clock
        self._is_kept = path is not None
        self._file = SqliteFile(path, _LAYOUT, _BUSY_S, or_memory=True)

    @property
    def ephemeral(self) -> bool:
        """Whether profiles that were to be kept in a file end with the process."""
        return self._is_kept and self._file.path is None

    async def profile(self, user: str) -> Profile:
        """What stands of a user."""
        return await self._run(lambda connection: rows.standing(connection, rows.named(user)).profile)

    async def remember(self, user: str, slots: Sequence[Slot]) -> Profile:
        """Adds what was said; what it says anew, supersedes or denies is settled with what stood."""
        if not slots:
            return await self.profile(user)
        return await self._run(lambda connection: self._remember(connection, rows.named(user), slots))

    async def correct(self, user: str, name: str, slots: Sequence[Slot]) -> Profile:
        """Puts ``slots`` in the place of what stands of a kind; what stood is history."""
        return await self._run(lambda connection: self._correct(connection, rows.named(user), name, slots))

    async def history(self, user: str) -> tuple[Fact, ...]:
        """All facts of a user, oldest first."""
        return await self._run(lambda connection: rows.history(connection, rows.named(user)))

    async def forget(self, user: str, name: str | None = None, value: str | None = None) -> int:
        """Erases; no byte of it is left in the files. Raises ``StoreError`` while another process hinders that."""
        return await self._run(lambda connection: self._forget(connection, rows.named(user), name, value))

    async def users(self) -> tuple[str, ...]:
        """All users, by name."""
        return await self._run(rows.users)

    async def close(self) -> None:
        """Closes the file; nothing happens when it is closed already."""
        await asyncio.to_thread(self._file.close)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._locked, work)

    def _locked(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._file.connected() as connection:
            return work(connection)

    def _remember(self, connection: sqlite3.Connection, user: str, slots: Sequence[Slot]) -> Profile:
        with transaction(connection, "IMMEDIATE"):
            before = rows.standing(connection, user)
            rows.write(connection, user, before.profile.with_slots(slots, self._kinds), before, self._clock())
            return rows.standing(connection, user).profile

    def _correct(self, connection: sqlite3.Connection, user: str, name: str, slots: Sequence[Slot]) -> Profile:
        with transaction(connection, "IMMEDIATE"):
            before = rows.standing(connection, user)
            after = before.profile.without(name).with_slots(slots, self._kinds)
            rows.write(connection, user, after, before, self._clock())
            return rows.standing(connection, user).profile

    def _forget(self, connection: sqlite3.Connection, user: str, name: str | None, value: str | None) -> int:
        with transaction(connection, "IMMEDIATE"):
            gone = rows.erase(connection, user, name, value)
        self._file.scrub(connection)
        return gone


class InMemoryProfiles(SqliteProfiles):
    """Profiles for as long as the process lives."""

    def __init__(self, kinds: Kinds | None = None) -> None:
        super().__init__(None, kinds or {})
