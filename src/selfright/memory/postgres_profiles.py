"""Profiles in PostgreSQL: one fact a row, and what has become of it. One change of a user's profile at a time.

Erasing deletes the rows and clears their space in the tables (``PostgresDatabase.scrub``). The server's write-ahead
log, its replicas and backups keep them for as long as whoever runs it lets them.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from selfright.domain.errors import InputError, StoreError
from selfright.domain.slots import Fact, Kinds, Profile, Slot
from selfright.memory.postgres import PostgresDatabase
from selfright.memory.postgres_text import decode, encode
from selfright.memory.profile_rows import (
    MAX_DISPUTED,
    MAX_HISTORY,
    MAX_NAME,
    MAX_STANDING,
    MAX_USERS,
    MAX_VALUE,
    Standing,
)

if TYPE_CHECKING:
    from psycopg import Connection

_COLUMNS = "name, value, unit, negated, subject, time, turn, first, past, details"
# Only names of columns and marks for values are put in.
_SELECT = f"SELECT id, {_COLUMNS} FROM profile_facts WHERE owner = %s"  # noqa: S608
_STANDS = f"{_SELECT} AND state = 'stands' ORDER BY id"
_DENIED = f"{_SELECT} AND state = 'contradicted' ORDER BY id DESC LIMIT %s"
_HISTORY = f"SELECT state, at, {_COLUMNS} FROM profile_facts WHERE owner = %s ORDER BY id"  # noqa: S608
_PUT = f"INSERT INTO profile_facts (owner, state, at, {_COLUMNS}) VALUES ({', '.join(['%s'] * 13)})"  # noqa: S608
_HEARD = (
    "INSERT INTO profile_users VALUES (%s, %s) ON CONFLICT (owner) DO UPDATE SET at = excluded.at "
    "RETURNING xmax = 0"  # which is so for a row that was not there before
)
_TOO_MANY = (
    "DELETE FROM profile_facts WHERE id IN (SELECT id FROM profile_facts WHERE owner = %s AND state {which} 'stands'"
    " ORDER BY id DESC OFFSET %s)"
)
_ERASE = (
    "DELETE FROM profile_facts WHERE owner = %(owner)s AND (%(name)s::text IS NULL OR name = %(name)s)"
    " AND (%(value)s::text IS NULL OR value = %(value)s)"
)
_GONE = "DELETE FROM profile_users WHERE owner = %s AND NOT EXISTS (SELECT 1 FROM profile_facts WHERE owner = %s)"
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '/profile/' || %s, 0))"


class PostgresProfiles:
    """A ``ProfileStore`` in a database, which stays its owner's to close.

    Raises ``StoreError`` when the database cannot be used, and ``InputError`` for a user's name that is none.
    """

    ephemeral = False

    def __init__(self, database: PostgresDatabase, kinds: Kinds, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._kinds = kinds
        self._clock = clock

    async def profile(self, user: str) -> Profile:
        """What stands of a user."""
        owner = _named(user)
        return await self._database.run(lambda connection: _standing(connection, owner).profile)

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
        owner = _named(user)
        rows = await self._database.run(lambda connection: connection.execute(_HISTORY, (owner,)).fetchall())
        return tuple(Fact(_slot(row[2:]), row[0], row[1]) for row in rows)

    async def forget(self, user: str, name: str | None = None, value: str | None = None) -> int:
        """Erases from the tables. Raises ``StoreError`` while their space cannot be cleared."""
        owner = _named(user)
        wanted = {"owner": owner, "name": name and encode(name), "value": None if value is None else encode(value)}

        def erase(connection: "Connection[Any]") -> int:
            connection.execute(_ONE_AT_A_TIME, (owner,))
            gone = connection.execute(_ERASE, wanted).rowcount
            connection.execute(_GONE, (owner, owner))
            return gone

        gone = await self._database.run(erase)
        if gone:
            await asyncio.to_thread(self._database.scrub, "profile_facts", "profile_users")
        return gone

    async def users(self) -> tuple[str, ...]:
        """All users, by name."""
        rows = await self._database.run(
            lambda connection: connection.execute("SELECT owner FROM profile_users").fetchall()
        )
        return tuple(sorted(decode(owner) for (owner,) in rows))

    async def close(self) -> None:
        """Nothing: the database is its owner's."""

    async def _change(self, user: str, change: Callable[[Profile], Profile]) -> Profile:
        owner = _named(user)

        def work(connection: "Connection[Any]") -> Profile:
            connection.execute(_ONE_AT_A_TIME, (owner,))
            before = _standing(connection, owner)
            _write(connection, owner, change(before.profile), before, self._clock())
            return _standing(connection, owner).profile

        return await self._database.run(work)


def _named(user: str) -> str:
    if not 0 < len(user) <= MAX_NAME:
        raise InputError(f"the name of a user must have 1 to {MAX_NAME} characters, but has {len(user):,}")
    return encode(user)


def _standing(connection: "Connection[Any]", owner: str) -> Standing:
    stands = [(row[0], _slot(row[1:])) for row in connection.execute(_STANDS, (owner,))]
    denied = [(row[0], _slot(row[1:])) for row in connection.execute(_DENIED, (owner, MAX_DISPUTED))][::-1]
    profile = Profile(tuple(slot for _, slot in stands), tuple(slot for _, slot in denied))
    return Standing(profile, {id(slot): row for row, slot in (*stands, *denied)})


def _write(connection: "Connection[Any]", owner: str, profile: Profile, before: Standing, now: float) -> None:
    """Makes ``profile`` what stands. A slot that stood and is gone is superseded, or contradicted if it is disputed."""
    stand, disputed = {id(slot) for slot in profile.slots}, {id(slot) for slot in profile.disputed}
    gone = [slot for slot in (*before.profile.slots, *before.profile.disputed) if id(slot) not in stand]
    for state, slots in (
        ("contradicted", [slot for slot in gone if id(slot) in disputed]),
        ("superseded", [slot for slot in gone if id(slot) not in disputed]),
    ):
        numbers = [before.rows[id(slot)] for slot in slots]
        if numbers:
            connection.execute("UPDATE profile_facts SET state = %s WHERE id = ANY(%s)", (state, numbers))
    # What one message says and denies at once never stood, and is part of what was said all the same.
    for state, said in (("contradicted", profile.disputed), ("stands", profile.slots)):
        fresh = [(owner, state, now, *_row(slot)) for slot in said if id(slot) not in before.rows]
        for row in fresh:  # one by one: their numbers are their order
            connection.execute(_PUT, row)
    _trim(connection, owner, now)


def _trim(connection: "Connection[Any]", owner: str, now: float) -> None:
    """Notes that the user was heard of, and keeps to the bounds: the oldest facts and users go."""
    for which, most in (("=", MAX_STANDING), ("<>", MAX_HISTORY)):
        connection.execute(_TOO_MANY.format(which=which).encode(), (owner, most))
    heard = connection.execute(_HEARD, (owner, now)).fetchone()
    if heard is None or not heard[0]:
        return
    beyond = "SELECT owner FROM profile_users ORDER BY at DESC OFFSET %s"
    for (oldest,) in connection.execute(beyond, (MAX_USERS,)).fetchall():
        connection.execute("DELETE FROM profile_facts WHERE owner = %s", (oldest,))
        connection.execute("DELETE FROM profile_users WHERE owner = %s", (oldest,))


def _row(slot: Slot) -> tuple[Any, ...]:
    details = json.dumps([[key, value[:MAX_VALUE]] for key, value in slot.details])
    return (
        encode(slot.name), encode(slot.value)[:MAX_VALUE], encode(slot.unit) if slot.unit else None, slot.negated,
        slot.subject, slot.time, slot.turn, slot.start, slot.end, details,
    )  # fmt: skip


def _slot(row: Sequence[Any]) -> Slot:
    name, value, unit, negated, subject, at, turn, start, end, details = row
    try:
        pairs = tuple((str(key), str(said)) for key, said in json.loads(details))
    except (TypeError, ValueError) as error:
        raise StoreError("a stored fact cannot be read: put a backup of the profiles in place") from error
    unit = decode(unit) if unit else None
    return Slot(decode(name), decode(value), unit, negated, subject, at, turn, start, end, pairs)
