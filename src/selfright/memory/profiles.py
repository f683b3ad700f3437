"""Profiles as rows: what stands of each user, what stood before, and erasure that erases. One fact a row.

In a SQLite file erasing overwrites the values, makes the file anew and empties its log. In PostgreSQL it deletes the
rows and clears their space in the tables; the server's write-ahead log, its replicas and backups hold them for as long
as whoever runs it lets them.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selfright.domain.errors import StoreError
from selfright.domain.slots import Fact, Kinds, Profile, Slot
from selfright.domain.text import check_name
from selfright.storage.postgres_address import decode, encode
from selfright.storage.rows import Connection, FileRows, Rows
from selfright.storage.sqlite import Layout

MAX_USERS = 100_000
MAX_STANDING = 500
MAX_HISTORY = 20_000
MAX_VALUE = 500
MAX_DISPUTED = 50

TABLES = (
    "CREATE TABLE IF NOT EXISTS profile_facts (id {serial}, owner text NOT NULL, state text NOT NULL,"
    " at double precision NOT NULL,"
    " name text NOT NULL, value text NOT NULL, unit text, negated boolean NOT NULL, subject text NOT NULL,"
    " time text NOT NULL, turn integer NOT NULL, first integer NOT NULL, past integer NOT NULL, details text NOT NULL)",
    "CREATE INDEX IF NOT EXISTS profile_facts_of ON profile_facts (owner, state, id)",
    "CREATE TABLE IF NOT EXISTS profile_users (owner text PRIMARY KEY, at double precision NOT NULL)",
    "CREATE INDEX IF NOT EXISTS profile_users_at ON profile_users (at)",
)
_LAYOUT = Layout(
    "profiles",
    1,
    tuple(table.format(serial="integer PRIMARY KEY") for table in TABLES),
    ("synchronous = NORMAL", "secure_delete = ON", "temp_store = MEMORY"),
)
_BUSY_S = 10.0
_COLUMNS = "name, value, unit, negated, subject, time, turn, first, past, details"
_STATE = f"SELECT id, {_COLUMNS} FROM profile_facts WHERE owner = %s AND state = %s ORDER BY id DESC LIMIT %s"
_HISTORY = f"SELECT state, at, {_COLUMNS} FROM profile_facts WHERE owner = %s ORDER BY id"
_PUT = f"INSERT INTO profile_facts (owner, state, at, {_COLUMNS}) VALUES ({', '.join(['%s'] * 13)})"
# One change of a user's profile at a time: PostgreSQL locks the row until the transaction ends, SQLite has one writer.
_HEAR = "INSERT INTO profile_users VALUES (%s, %s) ON CONFLICT (owner) DO UPDATE SET at = excluded.at"
_LEAVE = (
    "DELETE FROM profile_users WHERE owner = %s AND NOT EXISTS (SELECT 1 FROM profile_facts"
    " WHERE profile_facts.owner = profile_users.owner)"
)
_ALL = 1_000_000_000  # SQLite takes no OFFSET without a LIMIT
_TRIM = (
    "DELETE FROM profile_facts WHERE id IN (SELECT id FROM profile_facts WHERE owner = %s AND (state = 'stands') = %s"
    f" ORDER BY id DESC LIMIT {_ALL} OFFSET %s)"
)
_TOO_MANY = f"SELECT owner FROM profile_users ORDER BY at DESC LIMIT {_ALL} OFFSET %s"


@dataclass(frozen=True, slots=True)
class _Standing:
    """A profile, and the row of each of its slots by the slot's identity."""

    profile: Profile
    ids: dict[int, int]


class RowProfiles:
    """A ``ProfileStore`` over rows. Raises ``StoreError`` when they cannot be read or written.

    And ``UsageError`` for a user's name that is none.
    """

    def __init__(self, rows: Rows, kinds: Kinds) -> None:
        self._rows = rows
        self._kinds = kinds

    @classmethod
    def in_file(cls, path: Path | None, kinds: Kinds) -> "RowProfiles":
        """In a SQLite file, readable for its owner alone; in memory without one, or where it cannot be written."""
        return cls(FileRows(path, _LAYOUT, _BUSY_S, or_memory=True), kinds)

    @property
    def ephemeral(self) -> bool:
        """Whether profiles that were to be stored end with the process."""
        return self._rows.ephemeral

    async def profile(self, user: str) -> Profile:
        """What stands of a user, with what was said otherwise (of that the last 50)."""
        owner = self._user_key(user)
        return await self._rows.read(lambda connection: self._standing(connection, owner).profile)

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
        found = await asyncio.to_thread(self._rows.rows, _HISTORY, self._user_key(user))
        return tuple(Fact(self._slot(row[2:]), row[0], row[1]) for row in found)

    async def forget(self, user: str, name: str | None = None, value: str | None = None) -> int:
        """Erases for good. Raises ``StoreError`` while others hinder that."""
        owner = self._user_key(user)

        def work(connection: Connection) -> int:
            self._rows.run(connection, _HEAR, owner, time.time())
            return self._erase(connection, owner, name, value)

        gone = await self._rows.change(work)
        # Also where nothing went now: something may have hindered it before.
        await asyncio.to_thread(self._rows.scrub, "profile_facts", "profile_users")
        return gone

    async def users(self) -> tuple[str, ...]:
        """All users, by name."""
        found = await asyncio.to_thread(self._rows.rows, "SELECT owner FROM profile_users")
        return tuple(sorted(decode(owner) for (owner,) in found))

    async def close(self) -> None:
        """Closes what was opened here; nothing happens when it is closed already."""
        await asyncio.to_thread(self._rows.close)

    def _user_key(self, user: str) -> str:
        return encode(check_name("user", user))

    async def _change(self, user: str, change: Callable[[Profile], Profile]) -> Profile:
        owner = self._user_key(user)

        def work(connection: Connection) -> Profile:
            now, known = time.time(), self._fetch(connection, "SELECT 1 FROM profile_users WHERE owner = %s", owner)
            self._rows.run(connection, _HEAR, owner, now)
            before = self._standing(connection, owner)
            self._write(connection, owner, change(before.profile), before, now)
            for stands, most in ((True, MAX_STANDING), (False, MAX_HISTORY)):
                self._rows.run(connection, _TRIM, owner, stands, most)
            if not known:
                for (oldest,) in self._fetch(connection, _TOO_MANY, MAX_USERS):
                    self._erase(connection, oldest)
            return self._standing(connection, owner).profile

        return await self._rows.change(work)

    def _standing(self, connection: Connection, owner: str) -> _Standing:
        stands = self._fetch(connection, _STATE, owner, "stands", _ALL)[::-1]
        denied = self._fetch(connection, _STATE, owner, "contradicted", MAX_DISPUTED)[::-1]
        slots = [self._slot(row[1:]) for row in (*stands, *denied)]
        profile = Profile(tuple(slots[: len(stands)]), tuple(slots[len(stands) :]))
        return _Standing(profile, {id(slot): row[0] for slot, row in zip(slots, (*stands, *denied), strict=True)})

    def _write(self, connection: Connection, owner: str, profile: Profile, before: _Standing, now: float) -> None:
        """Makes ``profile`` what stands: a slot that stood is superseded, or contradicted if it is disputed."""
        stand, disputed = {id(slot) for slot in profile.slots}, {id(slot) for slot in profile.disputed}
        for slot in (*before.profile.slots, *before.profile.disputed):
            if id(slot) not in stand:
                state = "contradicted" if id(slot) in disputed else "superseded"
                change = "UPDATE profile_facts SET state = %s WHERE id = %s"
                self._rows.run(connection, change, state, before.ids[id(slot)])
        # What one message says and denies at once never stood, and is part of what was said all the same.
        for state, slots in (("contradicted", profile.disputed), ("stands", profile.slots)):
            for slot in slots:
                if id(slot) not in before.ids:
                    self._rows.run(connection, _PUT, owner, state, now, *self._row(slot))

    def _erase(self, connection: Connection, owner: str, name: str | None = None, value: str | None = None) -> int:
        """Deletes facts, and the user when none is left; gives back how many went."""
        said = {column: text for column, text in (("name", name), ("value", value)) if text is not None}
        where = "".join(f" AND {column} = %s" for column in said)
        drop = f"DELETE FROM profile_facts WHERE owner = %s{where}"
        gone: int = self._rows.run(connection, drop, owner, *map(encode, said.values())).rowcount
        self._rows.run(connection, _LEAVE, owner)
        return gone

    def _fetch(self, connection: Connection, statement: str, *values: object) -> list[Any]:
        found: list[Any] = self._rows.run(connection, statement, *values).fetchall()
        return found

    def _row(self, slot: Slot) -> tuple[object, ...]:
        details = json.dumps([[encode(k), encode(v)[:MAX_VALUE]] for k, v in slot.details], ensure_ascii=False)
        texts = encode(slot.name), encode(slot.value)[:MAX_VALUE], encode(slot.unit) if slot.unit else None
        return (*texts, slot.negated, slot.subject, slot.time, slot.turn, slot.start, slot.end, details)

    def _slot(self, row: Sequence[Any]) -> Slot:
        name, value, unit, negated, subject, at, turn, start, end, details = row
        try:
            pairs = tuple((decode(key), decode(said)) for key, said in json.loads(details)) if details != "[]" else ()
        except (AttributeError, TypeError, ValueError) as error:
            raise StoreError("a stored fact cannot be read: put a backup of the profiles in place") from error
        texts = decode(name), decode(value), decode(unit) if unit else None
        return Slot(*texts, bool(negated), subject, at, turn, start, end, pairs)
