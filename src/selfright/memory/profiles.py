"""Profiles in one SQLite file, or in memory: what stands of each user, what stood before, and erasure that erases.

The file is in WAL mode, so several processes may use it. Values are text in it, so erasing overwrites them
(``secure_delete``), makes the file anew (``VACUUM``) and empties the write-ahead log.
"""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from selfright.domain.errors import StoreError
from selfright.domain.slots import Fact, Kinds, Profile, Slot
from selfright.memory import profile_rows as rows
from selfright.sqlite import write_ahead

T = TypeVar("T")

FORMAT = 1
_BUSY_S = 10.0
_LOG_BUSY = (
    "what was erased from {path} is gone from the profiles, but another process keeps SQLite's log open; "
    "run it again when that process is done, so that the log is emptied too"
)


class SqliteProfiles:
    """A ``ProfileStore`` in a SQLite file, readable for its owner alone; in memory without one.

    A folder that cannot be written makes it a store in memory, and ``ephemeral``. Raises ``StoreError``, which
    names the file, when that is damaged or of a newer version, and ``InputError`` for a user's name that is none.
    """

    def __init__(self, path: Path | None, kinds: Kinds, *, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.ephemeral = False
        self._kinds = kinds
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

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
        await asyncio.to_thread(self._close)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._locked, work)

    def _locked(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                return work(self._opened())
            except sqlite3.Error as error:
                raise StoreError(
                    f"the profiles in {self.path} cannot be used ({error}); if the file is damaged, put a backup in "
                    "its place, or move it away to begin with an empty one"
                ) from error

    def _remember(self, connection: sqlite3.Connection, user: str, slots: Sequence[Slot]) -> Profile:
        with rows.transaction(connection):
            before = rows.standing(connection, user)
            rows.write(connection, user, before.profile.with_slots(slots, self._kinds), before, self._clock())
            return rows.standing(connection, user).profile

    def _correct(self, connection: sqlite3.Connection, user: str, name: str, slots: Sequence[Slot]) -> Profile:
        with rows.transaction(connection):
            before = rows.standing(connection, user)
            after = before.profile.without(name).with_slots(slots, self._kinds)
            rows.write(connection, user, after, before, self._clock())
            return rows.standing(connection, user).profile

    def _forget(self, connection: sqlite3.Connection, user: str, name: str | None, value: str | None) -> int:
        with rows.transaction(connection):
            gone = rows.erase(connection, user, name, value)
        if self.path is not None:
            self._scrub(connection)
        return gone

    def _scrub(self, connection: sqlite3.Connection) -> None:
        connection.execute("VACUUM")
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreError(_LOG_BUSY.format(path=self.path))

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            if self.path is not None and not _writable(self.path):
                self.path, self.ephemeral = None, True
            self._connection = _connected(self.path)
        return self._connection

    def _close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()


def _writable(path: Path) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError:
        return False
    return os.access(path.parent, os.W_OK)  # SQLite's log is a file beside it


def _connected(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(path or ":memory:", timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        write_ahead(connection, _BUSY_S)
        for statement in ("synchronous = NORMAL", "secure_delete = ON", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {statement}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > FORMAT:
            raise StoreError(
                f"the profiles in {path} are of format {version}, but this version reads up to {FORMAT}; update it"
            )
        for statement in rows.SCHEMA:
            connection.execute(statement)
        if version != FORMAT:
            connection.execute(f"PRAGMA user_version = {FORMAT}")
    except BaseException:
        connection.close()
        raise
    return connection


class InMemoryProfiles(SqliteProfiles):
    """Profiles for as long as the process lives."""

    def __init__(self, kinds: Kinds | None = None) -> None:
        super().__init__(None, kinds or {})
