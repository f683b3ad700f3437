"""Profiles in PostgreSQL. One change of a user's profile at a time.

Erasing deletes the rows and clears their space in the tables (``PostgresDatabase.scrub``). The server's write-ahead
log, its replicas and backups keep them for as long as whoever runs it lets them.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from selfright.domain.slots import Kinds
from selfright.memory.postgres import PostgresDatabase
from selfright.memory.postgres_text import decode, encode
from selfright.memory.profile_rows import Connection, ProfileRows
from selfright.memory.profiles import RowProfiles

T = TypeVar("T")

_ROWS = ProfileRows("profile_facts", "profile_users", "owner", "%s", encode, decode)
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '/profile/' || %s, 0))"


class PostgresProfiles(RowProfiles):
    """Profiles in a database, which stays its owner's to close."""

    def __init__(self, database: PostgresDatabase, kinds: Kinds, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(_ROWS, kinds, clock)
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
