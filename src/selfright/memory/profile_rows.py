"""Profiles as rows of a SQL database: one fact a row, and what has become of it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from selfright.domain.errors import InputError, StoreError
from selfright.domain.slots import Fact, Profile, Slot
from selfright.storage.rows import Connection

MAX_NAME = 200
MAX_USERS = 100_000
MAX_STANDING = 500
MAX_HISTORY = 20_000
MAX_VALUE = 500
MAX_DISPUTED = 50

_COLUMNS = "name, value, unit, negated, subject, time, turn, first, past, details"
_ALL = 1_000_000_000  # SQLite takes no OFFSET without a LIMIT


@dataclass(frozen=True, slots=True)
class Standing:
    """A profile, and the row of each of its slots by the slot's identity."""

    profile: Profile
    rows: dict[int, int]


@dataclass(frozen=True, slots=True)
class ProfileRows:
    """The tables ``facts`` and ``users`` of one database, in which the column ``owner`` names the user.

    ``mark`` stands for a value in a statement. ``encode`` makes text as the database can hold it, ``decode`` undoes it.
    """

    facts: str
    users: str
    owner: str
    mark: str
    encode: Callable[[str], str]
    decode: Callable[[str], str]

    def named(self, user: str) -> str:
        """The user's name as it is stored. Raises ``InputError`` for one that is empty or too long."""
        return self.encode(checked_name(user))

    def standing(self, connection: Connection, owner: str) -> Standing:
        """What stands of a user, with what was said otherwise (of that the last 50)."""
        select = f"SELECT id, {_COLUMNS} FROM {self.facts} WHERE {self.owner} = %s AND state"
        stands = self._rows(connection, f"{select} = 'stands' ORDER BY id", owner)
        denied = self._rows(connection, f"{select} = 'contradicted' ORDER BY id DESC LIMIT %s", owner, MAX_DISPUTED)
        kept = [(row[0], self._slot(row[1:])) for row in stands]
        disputed = [(row[0], self._slot(row[1:])) for row in reversed(denied)]
        profile = Profile(tuple(slot for _, slot in kept), tuple(slot for _, slot in disputed))
        return Standing(profile, {id(slot): row for row, slot in (*kept, *disputed)})

    def history(self, connection: Connection, owner: str) -> tuple[Fact, ...]:
        """All facts of a user, oldest first."""
        select = f"SELECT state, at, {_COLUMNS} FROM {self.facts} WHERE {self.owner} = %s ORDER BY id"
        return tuple(Fact(self._slot(row[2:]), row[0], row[1]) for row in self._rows(connection, select, owner))

    def names(self, connection: Connection) -> tuple[str, ...]:
        """All users, by name."""
        return tuple(
            sorted(self.decode(row[0]) for row in self._rows(connection, f"SELECT {self.owner} FROM {self.users}"))
        )

    def write(self, connection: Connection, owner: str, profile: Profile, before: Standing, now: float) -> Profile:
        """Makes ``profile`` what stands, and gives what then does.

        A slot that stood and is gone is superseded, or contradicted if it is disputed.
        """
        stand, disputed = {id(slot) for slot in profile.slots}, {id(slot) for slot in profile.disputed}
        for slot in (*before.profile.slots, *before.profile.disputed):
            if id(slot) not in stand:
                state = "contradicted" if id(slot) in disputed else "superseded"
                self._run(connection, f"UPDATE {self.facts} SET state = %s WHERE id = %s", state, before.rows[id(slot)])
        put = f"INSERT INTO {self.facts} ({self.owner}, state, at, {_COLUMNS}) VALUES ({', '.join(['%s'] * 13)})"
        # What one message says and denies at once never stood, and is part of what was said all the same.
        for state, slots in (("contradicted", profile.disputed), ("stands", profile.slots)):
            for slot in slots:
                if id(slot) not in before.rows:
                    self._run(connection, put, owner, state, now, *self._row(slot))
        self._trim(connection, owner, now)
        return self.standing(connection, owner).profile

    def erase(self, connection: Connection, owner: str, name: str | None = None, value: str | None = None) -> int:
        """Deletes facts, and the user when none is left; gives back how many went."""
        said = {self.owner: owner} | {
            column: self.encode(text) for column, text in (("name", name), ("value", value)) if text is not None
        }
        where = " AND ".join(f"{column} = %s" for column in said)
        gone: int = self._run(connection, f"DELETE FROM {self.facts} WHERE {where}", *said.values()).rowcount
        left = f"SELECT 1 FROM {self.facts} WHERE {self.owner} = %s"
        drop = f"DELETE FROM {self.users} WHERE {self.owner} = %s AND NOT EXISTS ({left})"
        self._run(connection, drop, owner, owner)
        return gone

    def _trim(self, connection: Connection, owner: str, now: float) -> None:
        """Notes that the user was heard of, and keeps to the bounds: the oldest facts and users go."""
        for which, most in (("=", MAX_STANDING), ("<>", MAX_HISTORY)):
            of = f"SELECT id FROM {self.facts} WHERE {self.owner} = %s AND state {which} 'stands'"
            beyond = f"{of} ORDER BY id DESC LIMIT {_ALL} OFFSET %s"
            self._run(connection, f"DELETE FROM {self.facts} WHERE id IN ({beyond})", owner, most)
        known = self._rows(connection, f"SELECT 1 FROM {self.users} WHERE {self.owner} = %s", owner)
        heard = f"INSERT INTO {self.users} VALUES (%s, %s) ON CONFLICT ({self.owner}) DO UPDATE SET at = excluded.at"
        self._run(connection, heard, owner, now)
        if not known:
            beyond = f"SELECT {self.owner} FROM {self.users} ORDER BY at DESC LIMIT {_ALL} OFFSET %s"
            for (oldest,) in self._rows(connection, beyond, MAX_USERS):
                self.erase(connection, oldest)

    def _run(self, connection: Connection, statement: str, *values: object) -> Any:
        return connection.execute(statement.replace("%s", self.mark), values)

    def _rows(self, connection: Connection, statement: str, *values: object) -> list[Any]:
        found: list[Any] = self._run(connection, statement, *values).fetchall()
        return found

    def _row(self, slot: Slot) -> tuple[object, ...]:
        details = json.dumps(
            [[self.encode(k), self.encode(v)[:MAX_VALUE]] for k, v in slot.details], ensure_ascii=False
        )
        unit = self.encode(slot.unit) if slot.unit else None
        texts = self.encode(slot.name), self.encode(slot.value)[:MAX_VALUE], unit
        return (*texts, slot.negated, slot.subject, slot.time, slot.turn, slot.start, slot.end, details)

    def _slot(self, row: Sequence[Any]) -> Slot:
        name, value, unit, negated, subject, time, turn, start, end, details = row
        try:
            pairs = (
                ()
                if details == "[]"
                else tuple((self.decode(key), self.decode(said)) for key, said in json.loads(details))
            )
        except (AttributeError, TypeError, ValueError) as error:
            raise StoreError("a stored fact cannot be read: put a backup of the profiles in place") from error
        texts = self.decode(name), self.decode(value), self.decode(unit) if unit else None
        return Slot(*texts, bool(negated), subject, time, turn, start, end, pairs)


def checked_name(user: str) -> str:
    """The user's name. Raises ``InputError`` for one that is empty or too long."""
    if not 0 < len(user) <= MAX_NAME:
        raise InputError(f"the name of a user must have 1 to {MAX_NAME} characters, but has {len(user):,}")
    return user


def named(user: str) -> str:
    """The user's name, with lone surrogates as question marks. Raises ``InputError`` for one that is none."""
    return writable(checked_name(user))


def writable(text: str) -> str:
    """Text that can be written as UTF-8: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
