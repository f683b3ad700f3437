"""Sessions as rows: one for each session, with the lease of whoever runs a turn of it, and one for each finished turn.

A lease is a token, and ``beat``, the last moment at which its holder was heard of, by the database's own clock. The
session is free ``LEASE_S`` after that. Whatever a turn writes is written only while its token stands, in the same
transaction. Everything may be run twice: the answer to a commit may be lost with the connection.
"""

import json
import math
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from selfright.domain.errors import SessionBusy, SessionLost, StoreError
from selfright.domain.text import compose_name
from selfright.domain.turns import Scope, union_of_collections
from selfright.memory.conversation import RunningTurn, TurnRecord
from selfright.storage.postgres_address import decode, encode
from selfright.storage.rows import Connection, Rows

T = TypeVar("T")

LEASE_S = 6.0
MAX_LISTED = 1_000_000
# ``place`` numbers the sessions of a user that have one name: each scope has its own, where it does not see another's.
_COLUMNS = (
    "(id text PRIMARY KEY, owner bytea NOT NULL, name bytea NOT NULL,"
    " created double precision NOT NULL, updated double precision NOT NULL, summary text NOT NULL DEFAULT '',"
    " summarised integer NOT NULL DEFAULT 0, first integer NOT NULL DEFAULT 0, turns integer NOT NULL DEFAULT 0,"
    " running text NOT NULL DEFAULT 'null', collections text NOT NULL DEFAULT '[]', token bigint NOT NULL"
    " DEFAULT 0, beat double precision NOT NULL DEFAULT 0, place integer NOT NULL DEFAULT 0,"
    " UNIQUE (owner, name, place))"
)
TABLES = (
    f"CREATE TABLE IF NOT EXISTS sessions {_COLUMNS}",
    "CREATE INDEX IF NOT EXISTS sessions_of ON sessions (owner, updated)",
    "CREATE INDEX IF NOT EXISTS sessions_at ON sessions (updated)",
    "CREATE TABLE IF NOT EXISTS session_turns (session text NOT NULL, number integer NOT NULL, record text NOT NULL,"
    " PRIMARY KEY (session, number))",
)
_FORMER = "id, owner, name, created, updated, summary, summarised, first, turns, running, collections, token, beat"
UPGRADES = (
    (  # a name was unique for its owner
        f"CREATE TABLE sessions_anew {_COLUMNS}",
        f"INSERT INTO sessions_anew ({_FORMER}) SELECT {_FORMER} FROM sessions",
        "DROP TABLE sessions",
        "ALTER TABLE sessions_anew RENAME TO sessions",
        *TABLES[1:3],
    ),
)
"""What makes of version 1 of the tables version 2, and so on; ``TABLES`` are the newest."""
_HEAD = "id, name, created, updated, summary, summarised, first, turns, running, collections"
_FREE = f"(beat < {{now}} - {LEASE_S})"
_FIND = f"SELECT {_HEAD}, {_FREE} FROM sessions WHERE owner = %s AND name = %s ORDER BY updated DESC"
LIST = f"SELECT {_HEAD}, {_FREE} FROM sessions WHERE owner = %s ORDER BY updated DESC LIMIT %s"
_MAKE = (
    "INSERT INTO sessions (id, owner, name, created, updated, place) SELECT %s, %s, %s, %s, %s,"
    " coalesce(max(place) + 1, 0) FROM sessions WHERE owner = %s AND name = %s ON CONFLICT DO NOTHING"
)
_TAKE = f"UPDATE sessions SET token = %s, beat = {{now}} WHERE id = %s AND ({_FREE} OR token = %s)"
_RENEW = "UPDATE sessions SET beat = {now} WHERE id = %s AND token = %s AND beat > 0"
_STANDS = "SELECT 1 FROM sessions WHERE id = %s AND token = %s AND beat > 0 {share}"
_LET_GO = "UPDATE sessions SET beat = 0 WHERE id = %s AND token = %s AND beat > 0"
_DROP = "UPDATE sessions SET beat = 0, running = 'null' WHERE id = %s AND token = %s AND beat > 0"
_BEGIN = "UPDATE sessions SET running = %s, updated = %s WHERE id = %s"
_FINISH = (
    "UPDATE sessions SET beat = 0, running = 'null', updated = %s, summary = %s, summarised = %s, first = %s,"
    " turns = %s, collections = %s WHERE id = %s AND token = %s"
)
_PUT = (
    "INSERT INTO session_turns VALUES (%s, %s, %s) ON CONFLICT (session, number) DO UPDATE SET record = excluded.record"
)
_TURNS = "SELECT record FROM session_turns WHERE session = %s AND number >= %s AND number < %s ORDER BY number"
_TRIM = "DELETE FROM session_turns WHERE session = %s AND number < %s"
OLD = f"SELECT id FROM sessions WHERE updated < %s AND {_FREE} ORDER BY updated LIMIT %s"
# Of users with the most first, so that nobody's sessions drive out another's.
_TOO_MANY = (
    "SELECT id FROM (SELECT id, updated, beat, row_number() OVER (ORDER BY place, updated DESC) AS number FROM"
    " (SELECT id, updated, beat, row_number() OVER (PARTITION BY owner ORDER BY updated DESC) AS place"
    f" FROM sessions) AS placed) AS numbered WHERE number > %s AND {_FREE} ORDER BY number DESC LIMIT %s"
)

_TRIES = 5
_RUNNING = TypeAdapter[RunningTurn | None](RunningTurn | None)
_NAMES = TypeAdapter[tuple[str, ...] | None](tuple[str, ...] | None)
_RECORD = TypeAdapter[TurnRecord](TurnRecord)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session's row. Times are Unix seconds.

    ``summarised`` counts the messages, from the very first, that are in ``summary``. ``first`` is the number of the
    oldest turn that is still kept, ``turns`` how many have been finished in all. ``running`` is the turn that was begun
    and not finished. ``collections`` are those that finished turns searched, None for all of them. ``free``: nobody
    holds the session.
    """

    id: str
    name: str
    created: float
    updated: float
    summary: str
    summarised: int
    first: int
    turns: int
    running: RunningTurn | None
    collections: tuple[str, ...] | None
    free: bool

    @property
    def searched(self) -> tuple[str, ...] | None:
        """The collections that any turn searched, the unfinished one included; None for all of them."""
        return union_of_collections(self.collections, self.running.collections if self.running else ())

    @property
    def breadth(self) -> float:
        """How many collections were searched."""
        return math.inf if self.searched is None else len(self.searched)

    @property
    def unsummarised(self) -> range:
        """The numbers of the turns of which at least one message is not in the summary."""
        return range(max(self.first, self.summarised // 2), self.turns)

    @property
    def next_message(self) -> int:
        """The number of the oldest message that is kept and not in the summary; two make a turn."""
        return max(self.summarised, 2 * self.first)

    def advance(self, now: float, summary: str | None, covered: int, most: int) -> "SessionRow":
        """The row when its running turn is over; a new summary covers ``covered`` messages more.

        At most ``most`` turns are kept.
        """
        assert self.running is not None
        turns, collections = self.running.number + 1, union_of_collections(self.collections, self.running.collections)
        row = replace(
            self, updated=now, turns=turns, collections=collections, running=None, first=max(self.first, turns - most)
        )
        return row if summary is None else replace(row, summary=summary, summarised=self.next_message + covered)


@dataclass(frozen=True, slots=True)
class SessionRows:
    """Reads and writes sessions on a connection.

    ``checkpoints`` are LangGraph's tables, each with a ``thread_id``; in those that are ``whole`` a checkpoint holds
    all of a turn's state, so that a new one takes the place of those before it.
    """

    rows: Rows
    checkpoints: tuple[str, ...]
    whole: bool

    def find(self, connection: Connection, scope: Scope, name: str) -> SessionRow | None:
        """The session of that name that ``scope`` sees; of several the one that searched most, then the one used last.

        Raises ``StoreError`` when something else is there.
        """
        seen = (row for row in map(self.parse, self.of(connection, scope.owner, name)) if scope.covers(row.searched))
        return max(seen, key=lambda row: row.breadth, default=None)

    def of(
        self, connection: Connection, owner: str, name: str | None = None, most: int = MAX_LISTED
    ) -> list[Sequence[Any]]:
        """The rows of a user's sessions, or of those of one name, the one used last first."""
        query, value = (LIST, most) if name is None else (_FIND, _bytes(name))
        found: list[Sequence[Any]] = self.rows.run(connection, query, _bytes(owner), value).fetchall()
        return found

    def take(self, connection: Connection, scope: Scope, name: str, token: int, now: float) -> SessionRow:
        """A session that is now held with ``token``; it is made where ``scope`` sees none.

        Raises ``SessionBusy`` while somebody else holds it.
        """
        place = _bytes(scope.owner), _bytes(name)
        for _ in range(_TRIES):
            row = self.find(connection, scope, name)
            if row is None:
                self.rows.run(connection, _MAKE, secrets.token_hex(16), *place, now, now, *place)
            elif not self.rows.run(connection, _TAKE, token, row.id, token).rowcount:
                break
            elif (held := self.find(connection, scope, name)) is not None and held.id == row.id:
                return held
            else:  # before it was taken, somebody searched farther in it, or deleted it
                self.free(connection, row.id, token)
        raise busy()

    def stands(self, connection: Connection, session: str, token: int) -> bool:
        """Whether the token stands; it does so then until the transaction ends."""
        return self.rows.run(connection, _STANDS, session, token).fetchone() is not None

    def renew(self, connection: Connection, session: str, token: int) -> None:
        """Says that the holder lives, if the token stands."""
        self.rows.run(connection, _RENEW, session, token)

    def begin(self, connection: Connection, row: SessionRow) -> None:
        """Writes the running turn of a session that is held, and drops what another one left."""
        self.drop_checkpoints(connection, row.id)
        self.rows.run(connection, _BEGIN, _json(row.running and asdict(row.running)), row.updated, row.id)

    def finish(self, connection: Connection, row: SessionRow, token: int, number: int, record: TurnRecord) -> None:
        """Writes the outcome of a turn and frees the session. Raises ``SessionLost`` when the token does not stand."""
        said = encode(row.summary), row.summarised, row.first, row.turns, _json(row.collections)
        if not self.rows.run(connection, _FINISH, row.updated, *said, row.id, token).rowcount:
            raise session_lost()
        self.rows.run(connection, _PUT, row.id, number, _json(asdict(record)))
        self.rows.run(connection, _TRIM, row.id, row.first)
        self.drop_checkpoints(connection, row.id)

    def free(self, connection: Connection, session: str, token: int) -> None:
        """Frees a session, if the token stands; a running turn stays as far as it came."""
        self.rows.run(connection, _LET_GO, session, token)

    def abandon(self, connection: Connection, session: str, token: int) -> None:
        """Frees a session and drops its running turn, if the token stands; a session without turns goes."""
        if self.rows.run(connection, _DROP, session, token).rowcount:
            self.drop_checkpoints(connection, session)
            self.rows.run(connection, "DELETE FROM sessions WHERE id = %s AND turns = 0", session)

    def records(self, connection: Connection, session: str, numbers: range) -> tuple[TurnRecord, ...]:
        """Finished turns, oldest first. Raises ``StoreError`` when something else is there."""
        found = self.rows.run(connection, _TURNS, session, numbers.start, numbers.stop).fetchall() if numbers else ()
        return tuple(_read(_RECORD, row[0]) for row in found)

    def erase(self, connection: Connection, sessions: Iterable[str]) -> int:
        """Deletes those that nobody holds; gives back how many."""
        gone = 0
        for session in sessions:
            if self.rows.run(connection, f"DELETE FROM sessions WHERE id = %s AND {_FREE}", session).rowcount:
                self.rows.run(connection, "DELETE FROM session_turns WHERE session = %s", session)
                self.drop_checkpoints(connection, session)
                gone += 1
        return gone

    def find_outdated(self, connection: Connection, oldest: float, most: int, at_once: int) -> list[str]:
        """Sessions that nobody holds, last used before ``oldest``, or beyond the ``most`` that may be kept."""
        old = self.rows.run(connection, OLD, oldest, at_once).fetchall()
        if not old:
            (count,) = self.rows.run(connection, "SELECT count(*) FROM sessions").fetchone()
            old = self.rows.run(connection, _TOO_MANY, most, at_once).fetchall() if count > most else []
        return [session for (session,) in old]

    def drop_checkpoints(self, connection: Connection, session: str) -> None:
        """Deletes what a running turn left in LangGraph's tables."""
        for table in self.checkpoints:
            self.rows.run(connection, f"DELETE FROM {table} WHERE thread_id = %s", session)

    def parse(self, row: Sequence[Any]) -> SessionRow:
        """A session of its row. Raises ``StoreError`` when something else is there."""
        session, name, created, updated, summary, summarised, first, turns, running, collections, free = row
        left, searched = _read(_RUNNING, running), _read(_NAMES, collections)
        text = decode(summary)
        said = session, bytes(name).decode("utf-8", "surrogatepass"), created, updated, text, summarised, first, turns
        return SessionRow(*said, left, searched, bool(free))


def busy() -> SessionBusy:
    """The error for a session that somebody holds."""
    return SessionBusy(
        "a turn of this session is still running, and a session runs one at a time; wait for its answer, then try again"
    )


def session_lost() -> SessionLost:
    """The error for a token that no longer stands."""
    return SessionLost(
        "another turn took this session over while this one was not heard of; nothing of it was kept: look at the "
        "conversation, then ask again"
    )


def _json(value: Any) -> str:
    """JSON without NUL, which it escapes, and lone surrogates, which become question marks."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()


def _read(kind: TypeAdapter[T], text: str) -> T:
    try:
        return kind.validate_json(text)
    except ValidationError as error:
        raise StoreError(
            "among the stored sessions something else was found than a session; forget that session to go on"
        ) from error


def _bytes(name: str) -> bytes:
    """The composed name, so that different ones stay different."""
    return compose_name(name).encode("utf-8", "surrogatepass")
