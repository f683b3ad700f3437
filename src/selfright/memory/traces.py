"""Traces of turns as rows: the trace itself is the head, which lists are made of; its recording stands beside it."""

import json
import logging
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from selfright.domain.errors import InputError, StoreError
from selfright.domain.traces import Rating, Trace
from selfright.domain.turns import Scope
from selfright.schemas import trace_form, trace_of
from selfright.storage.rows import Connection, FileRows, Rows
from selfright.storage.sqlite import LOG_BYTES, Layout

TABLES = (
    "CREATE TABLE IF NOT EXISTS turn_traces (id text PRIMARY KEY, at double precision NOT NULL, owner bytea NOT NULL,"
    " bytes bigint NOT NULL, head bytea NOT NULL, recording bytea NOT NULL)",
    "CREATE INDEX IF NOT EXISTS turn_traces_at ON turn_traces (at, id)",
    "CREATE INDEX IF NOT EXISTS turn_traces_of ON turn_traces (owner, at)",
)
_LAYOUT = Layout("traces", 1, TABLES, ("synchronous = NORMAL", "secure_delete = ON", LOG_BYTES), anew=False)
_PUT = (
    "INSERT INTO turn_traces VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE SET at = excluded.at, "
    "owner = excluded.owner, bytes = excluded.bytes, head = excluded.head, recording = excluded.recording"
)
# Of owners with the most first, so that nobody's traces drive out another's.
_TOO_MANY = (
    "DELETE FROM turn_traces WHERE id IN (SELECT id FROM (SELECT id,"
    " row_number() OVER (ORDER BY place, at DESC, id DESC) AS number,"
    " sum(bytes) OVER (ORDER BY own, at DESC, id DESC) AS total"
    " FROM (SELECT id, at, bytes, row_number() OVER newest AS place, sum(bytes) OVER newest AS own FROM turn_traces"
    " WINDOW newest AS (PARTITION BY owner ORDER BY at DESC, id DESC)) AS owned) AS counted"
    " WHERE number > %s OR total > %s)"
)
_ID = re.compile(r"[0-9a-f]{1,64}")
_PAGE = 200
_LATEST = (1e300, "")
_MOST_LINES = 20_000

log = logging.getLogger(__name__)


class TraceStore:
    """Keeps at most ``most`` traces and ``most_bytes`` bytes, for all programs together.

    Each looks at the bounds once in ``most / 50`` writes, so that there may be so many more for a while. A trace may
    have a quarter of all bytes (``largest``), so that one turn never drives out all others. Raises ``StoreError``.
    """

    def __init__(self, rows: Rows, most: int = 1_000, most_bytes: int = 100_000_000) -> None:
        self.largest = most_bytes // 4
        self._rows = rows
        self._most, self._most_bytes = most, most_bytes
        self._every = max(1, most // 50)
        self._writes = 0
        self._lock = threading.Lock()

    @classmethod
    def in_file(cls, path: Path, most: int, most_bytes: int) -> "TraceStore":
        """In a SQLite file, which is made at the first write for its owner alone."""
        return cls(FileRows(path, _LAYOUT), most, most_bytes)

    def write(self, trace: Trace, recording: Iterable[str] = ()) -> None:
        """Keeps a trace, with its recording line by line. Trouble costs the trace, not the turn."""
        head, lines = _head(trace), _bytes("\n".join(recording))
        row = (trace.id, trace.at, _bytes(trace.user), len(head) + len(lines), head, lines)
        with self._lock:
            looks = self._writes % self._every == 0
            self._writes += 1

        def work(connection: Connection) -> None:
            self._rows.run(connection, _PUT, *row)
            if looks:
                self._rows.run(connection, _TOO_MANY, self._most, self._most_bytes)

        try:
            self._rows.transact(work, durable=False)
        except StoreError as error:
            log.warning("a trace could not be kept: %s", error)

    def traces(self, user: str | None = None) -> Iterator[Trace]:
        """All traces that can be read, or a user's, the newest first."""
        owned, owner = _owned(user)
        page = (
            f"SELECT at, id, head FROM turn_traces WHERE (at, id) < (%s, %s){owned}"
            f" ORDER BY at DESC, id DESC LIMIT {_PAGE}"
        )
        last: Sequence[Any] = _LATEST
        while True:
            rows = self._rows.rows(page, *last[:2], *owner)
            yield from filter(None, (_trace(row[2]) for row in rows))
            if len(rows) < _PAGE:
                return
            last = rows[-1]

    def find(self, trace_id: str, scope: Scope) -> tuple[Trace, list[Mapping[str, Any]]]:
        """A trace by its id or the beginning of it, and the lines of its recording.

        Raises ``InputError`` when ``scope`` sees no such trace, or several, and for one that cannot be read.
        """
        name = self._full_id(trace_id, scope)
        rows = self._rows.rows("SELECT head, recording FROM turn_traces WHERE id = %s", name)
        if not rows:  # another process has dropped it
            raise _not_found(name)
        try:
            return trace_of(_object(rows[0][0])), _lines(rows[0][1])
        except (ValueError, RecursionError) as error:
            raise InputError(f"the trace {trace_id} cannot be read ({error}); ask the question again") from None

    def rate(self, trace_id: str, scope: Scope, rating: Rating | None) -> Trace:
        """Keeps with a trace what a reader said of its answer. Raises ``InputError`` as ``find``."""
        trace = replace(self.find(trace_id, scope)[0], rating=rating)
        change = "UPDATE turn_traces SET head = %s WHERE id = %s"
        self._rows.transact(lambda connection: self._rows.run(connection, change, _head(trace), trace.id))
        return trace

    def forget(self, scope: Scope, trace_id: str | None = None) -> int:
        """Deletes the traces that ``scope`` sees, or one of them, for good; gives back how many."""
        one = "DELETE FROM turn_traces WHERE id = %s"
        drops: list[tuple[Any, ...]]
        if trace_id is not None:
            drops = [(one, self._full_id(trace_id, scope))]
        elif not self._rows.is_there:
            return 0
        elif scope.collections is not None:
            drops = [(one, trace.id) for trace in self.traces(scope.user) if scope.covers(trace.collections)]
        else:
            owned, owner = _owned(scope.user)
            drops = [(f"DELETE FROM turn_traces WHERE TRUE{owned}", *owner)]

        def work(connection: Connection) -> int:
            return sum(self._rows.run(connection, *drop).rowcount for drop in drops)

        if gone := self._rows.transact(work):
            self._rows.scrub("turn_traces")
        return gone

    def close(self) -> None:
        """Closes the file; a database stays its owner's to close."""
        self._rows.close()

    def _full_id(self, trace_id: str, scope: Scope) -> str:
        start = trace_id.strip().lower()
        if not _ID.fullmatch(start):
            raise _not_found(start)
        owned, owner = _owned(scope.user)
        found = self._rows.rows(
            f"SELECT id, head FROM turn_traces WHERE id LIKE %s{owned} ORDER BY id LIMIT {_PAGE}", f"{start}%", *owner
        )
        ids = [name for name, head in found if _is_shown(scope, head)]
        if start in ids or len(ids) == 1:
            return start if start in ids else ids[0]
        if ids:
            raise InputError(f"{len(ids)} traces begin with '{start}'; give more digits")
        raise _not_found(start)


def _owned(user: str | None) -> tuple[str, tuple[bytes, ...]]:
    """The condition for a user's traces, and its value; nothing for everyone's."""
    return ("", ()) if user is None else (" AND owner = %s", (_bytes(user),))


def _is_shown(scope: Scope, head: bytes) -> bool:
    """Whether a scope sees the trace of this head; everyone's sees a damaged one, too."""
    trace = _trace(head)
    return scope == Scope(None) or (trace is not None and scope.shows(trace.user, trace.collections))


def _not_found(trace_id: str) -> InputError:
    shown = trace_id[:40] if trace_id.isprintable() else "that id"
    return InputError(f"there is no trace '{shown}'; 'selfright trace list' shows those there are")


def _bytes(text: str) -> bytes:
    """Text as it is kept: lone surrogates come back."""
    return text.encode("utf-8", "surrogatepass")


def _head(trace: Trace) -> bytes:
    return _bytes(json.dumps(trace_form(trace), ensure_ascii=False, separators=(",", ":")))


def _trace(head: bytes) -> Trace | None:
    """None for one that cannot be read."""
    try:
        return trace_of(_object(head))
    except (ValueError, RecursionError):
        return None


def _lines(recording: bytes) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for line in bytes(recording).split(b"\n")[:_MOST_LINES]:
        try:
            found += [_object(line)] if line else []
        except (ValueError, RecursionError):
            log.warning("a damaged line of a trace is left out")
    return found


def _object(line: bytes) -> Mapping[str, Any]:
    value = json.loads(bytes(line).decode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError("a line of a trace is a JSON object")
    return value
