"""Traces of turns in PostgreSQL, as bytes: a head, which lists are made of, and a recording."""

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfright.storage.postgres import Connection, PostgresDatabase

_PAGE = 200
_TABLE = "turn_traces"
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
_PAGES = (
    "SELECT at, id, head FROM turn_traces WHERE (%(owner)s::bytea IS NULL OR owner = %(owner)s)"
    " AND (%(at)s::float8 IS NULL OR (at, id) < (%(at)s, %(id)s)) ORDER BY at DESC, id DESC LIMIT %(page)s"
)
_BEGINNING = (
    "SELECT id, head FROM turn_traces WHERE starts_with(id, %(start)s) AND (%(owner)s::bytea IS NULL OR owner ="
    " %(owner)s) ORDER BY id = %(start)s DESC, id LIMIT 100"
)
_FORGET = (
    "DELETE FROM turn_traces WHERE (%(owner)s::bytea IS NULL OR owner = %(owner)s)"
    " AND (%(id)s::text IS NULL OR id = %(id)s)"
)


class PostgresTraces:
    """Keeps at most ``most`` traces and ``most_bytes`` bytes for all programs together.

    Each looks at the bounds once in ``most / 50`` writes, so that there may be so many more for a while.
    """

    def __init__(self, database: "PostgresDatabase", most: int, most_bytes: int) -> None:
        self._database = database
        self._most, self._most_bytes = most, most_bytes
        self._every = max(1, most // 50)
        self._writes = 0
        self._lock = threading.Lock()

    @property
    def place(self) -> str:
        """Where they are, for messages."""
        return self._database.address.shown

    def put(self, trace_id: str, at: float, owner: bytes, head: bytes, recording: bytes) -> None:
        """Keeps a trace of ``owner`` begun ``at`` (Unix seconds); beyond the bounds, the oldest of who has most go."""
        row = (trace_id, at, owner, len(head) + len(recording), head, recording)
        with self._lock:
            looks = self._writes % self._every == 0
            self._writes += 1

        def work(connection: "Connection") -> None:
            connection.execute(_PUT, row)
            if looks:
                connection.execute(_TOO_MANY, (self._most, self._most_bytes))

        self._database.within(work, durable=False)

    def heads(self, owner: bytes | None = None) -> Iterator[bytes]:
        """The heads of all traces, or of one owner's, the newest first; read page by page."""
        last: Sequence[Any] = (None, None)
        while True:
            values = {"owner": owner, "at": last[0], "id": last[1], "page": _PAGE}
            rows = self._rows(_PAGES, values)
            yield from (bytes(row[2]) for row in rows)
            if len(rows) < _PAGE:
                return
            last = rows[-1]

    def _rows(self, query: str, values: Any) -> Sequence[Sequence[Any]]:
        return self._database.within(lambda connection: connection.execute(query.encode(), values).fetchall())

    def beginning(self, start: str, owner: bytes | None = None) -> list[tuple[str, bytes]]:
        """Ids of an owner, or of all, that begin so, with their heads, at most 100; the one that is just so first."""
        rows = self._rows(_BEGINNING, {"start": start, "owner": owner})
        return [(trace_id, bytes(head)) for trace_id, head in rows]

    def read(self, trace_id: str) -> tuple[bytes, bytes] | None:
        """Head and recording of a trace; None when there is none of that id."""
        rows = self._rows("SELECT head, recording FROM turn_traces WHERE id = %s", (trace_id,))
        return (bytes(rows[0][0]), bytes(rows[0][1])) if rows else None

    def forget(self, owner: bytes | None, trace_id: str | None) -> int:
        """Deletes one trace, an owner's, or all; gives back how many."""
        wanted = {"owner": owner, "id": trace_id}
        gone = self._database.within(lambda connection: connection.execute(_FORGET, wanted).rowcount)
        if gone:
            self._database.scrub(_TABLE)
        return gone
