"""Profiles as rows of a SQLite file: one fact a row, and what has become of it."""

import json
import sqlite3
from dataclasses import dataclass

from selfright.domain.errors import InputError, StoreError
from selfright.domain.slots import Fact, Profile, Slot

MAX_NAME = 200
MAX_USERS = 100_000
MAX_STANDING = 500
MAX_HISTORY = 20_000
MAX_VALUE = 500
MAX_DISPUTED = 50

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS facts (id INTEGER PRIMARY KEY, user TEXT NOT NULL, state TEXT NOT NULL,"
    " at REAL NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, unit TEXT, negated INTEGER NOT NULL,"
    " subject TEXT NOT NULL, time TEXT NOT NULL, turn INTEGER NOT NULL, first INTEGER NOT NULL, past INTEGER NOT NULL,"
    " details TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS facts_of ON facts (user, state, id)",
    "CREATE TABLE IF NOT EXISTS users (user TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID",
)
_COLUMNS = "name, value, unit, negated, subject, time, turn, first, past, details"
_STANDING = (
    f"SELECT id, state, {_COLUMNS} FROM facts WHERE user = ? AND state = 'stands' ORDER BY id",
    f"SELECT id, state, {_COLUMNS} FROM facts WHERE user = ? AND state = 'contradicted' ORDER BY id DESC LIMIT ?",
)
_TOO_MANY = (
    "DELETE FROM facts WHERE id IN (SELECT id FROM facts WHERE user = ? AND state {which} 'stands'"
    " ORDER BY id DESC LIMIT -1 OFFSET ?)"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """A profile, and the row of each of its slots by the slot's identity."""

    profile: Profile
    rows: dict[int, int]


def named(user: str) -> str:
    """The user's name as it is stored. Raises ``InputError`` for one that is empty or too long."""
    if not 0 < len(user) <= MAX_NAME:
        raise InputError(f"the name of a user must have 1 to {MAX_NAME} characters, but has {len(user):,}")
    return _clean(user)


def standing(connection: sqlite3.Connection, user: str) -> Standing:
    """What stands of a user, with what was said otherwise (of that the last 50)."""
    stands, denied = _STANDING
    kept = [(row[0], _slot(row[2:])) for row in connection.execute(stands, (user,))]
    disputed = [(row[0], _slot(row[2:])) for row in connection.execute(denied, (user, MAX_DISPUTED))][::-1]
    profile = Profile(tuple(slot for _, slot in kept), tuple(slot for _, slot in disputed))
    return Standing(profile, {id(slot): row for row, slot in (*kept, *disputed)})


def history(connection: sqlite3.Connection, user: str) -> tuple[Fact, ...]:
    """All facts of a user, oldest first."""
    query = f"SELECT state, at, {_COLUMNS} FROM facts WHERE user = ? ORDER BY id"
    return tuple(Fact(_slot(row[2:]), row[0], row[1]) for row in connection.execute(query, (user,)))


def users(connection: sqlite3.Connection) -> tuple[str, ...]:
    """All users, by name."""
    return tuple(user for (user,) in connection.execute("SELECT user FROM users ORDER BY user"))


def write(connection: sqlite3.Connection, user: str, profile: Profile, before: Standing, now: float) -> None:
    """Makes ``profile`` what stands. A slot that stood and is gone is superseded, or contradicted if it is disputed."""
    stand, disputed = {id(slot) for slot in profile.slots}, {id(slot) for slot in profile.disputed}
    for slot in (*before.profile.slots, *before.profile.disputed):
        if id(slot) not in stand:
            state = "contradicted" if id(slot) in disputed else "superseded"
            connection.execute("UPDATE facts SET state = ? WHERE id = ?", (state, before.rows[id(slot)]))
    # What one message says and denies at once never stood, and is part of what was said all the same.
    for state, slots in (("contradicted", profile.disputed), ("stands", profile.slots)):
        _put(connection, user, [slot for slot in slots if id(slot) not in before.rows], state, now)
    connection.execute("INSERT INTO users VALUES (?, ?) ON CONFLICT (user) DO UPDATE SET at = excluded.at", (user, now))
    _trim(connection, user)


def erase(connection: sqlite3.Connection, user: str, name: str | None, value: str | None) -> int:
    """Deletes facts, and the user when none is left; gives back how many went."""
    wanted = "DELETE FROM facts WHERE user = ?1 AND (?2 IS NULL OR name = ?2) AND (?3 IS NULL OR value = ?3)"
    gone = connection.execute(wanted, (user, name, value)).rowcount
    connection.execute(
        "DELETE FROM users WHERE user = ?1 AND NOT EXISTS (SELECT 1 FROM facts WHERE user = ?1)", (user,)
    )
    return gone


def _put(connection: sqlite3.Connection, user: str, slots: list[Slot], state: str, now: float) -> None:
    for s in slots:
        value, unit = _clean(s.value)[:MAX_VALUE], _clean(s.unit) if s.unit else None
        details = json.dumps([[_clean(k), _clean(v)[:MAX_VALUE]] for k, v in s.details], ensure_ascii=False)
        facts = (s.name, value, unit, s.negated, s.subject, s.time, s.turn, s.start, s.end, details)
        marks = ", ".join("?" * (3 + len(facts)))
        statement = f"INSERT INTO facts (user, state, at, {_COLUMNS}) VALUES ({marks})"
        connection.execute(statement, (user, state, now, *facts))


def _trim(connection: sqlite3.Connection, user: str) -> None:
    """Forgets the oldest facts of a user, and the users not heard of for longest, beyond the bounds."""
    for which, most in (("=", MAX_STANDING), ("<>", MAX_HISTORY)):
        connection.execute(_TOO_MANY.format(which=which), (user, most))
    (many,) = connection.execute("SELECT COUNT(*) FROM users").fetchone()
    if many > MAX_USERS:
        (oldest,) = connection.execute("SELECT user FROM users ORDER BY at LIMIT 1").fetchone()
        erase(connection, oldest, None, None)


def _slot(row: tuple[str, str, str | None, int, str, str, int, int, int, str]) -> Slot:
    name, value, unit, negated, subject, time, turn, start, end, details = row
    try:
        pairs = () if details == "[]" else tuple((str(key), str(said)) for key, said in json.loads(details))
    except (TypeError, ValueError) as error:
        raise StoreError("a stored fact cannot be read: put a backup of the profiles in place") from error
    return Slot(name, value, unit, bool(negated), subject, time, turn, start, end, pairs)  # type: ignore[arg-type]  # as they were put


def _clean(text: str) -> str:
    """Text that SQLite can hold: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
