"""Where sessions, traces and ratings are kept: files in the home folder, or the database that is set."""

import contextlib
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from selfright.domain.errors import InputError, StoreError
from selfright.domain.ratings import RatingStore
from selfright.domain.scopes import Scope
from selfright.domain.traces import Trace
from selfright.telemetry.outline import trace_form, trace_of

if TYPE_CHECKING:
    from selfright.memory.postgres import PostgresDatabase
    from selfright.memory.postgres_traces import PostgresTraces
    from selfright.memory.sessions import Sessions
    from selfright.settings import Settings

_SESSIONS = "sessions.sqlite"
_TRACES = "traces"
_RATINGS = "ratings.sqlite"
_ID = re.compile(r"[0-9a-f]{4,64}")
_MOST_LINES = 20_000

log = logging.getLogger(__name__)


class TraceKeeper(Protocol):
    """Keeps traces; see ``TraceStore``."""

    @property
    def largest(self) -> int:
        """The bytes that one trace may have."""
        ...

    def write(self, trace: Trace, recording: Iterable[str] = ()) -> None:
        """Keeps a trace; trouble costs the trace, not the turn."""
        ...

    def traces(self, user: str | None = None) -> Iterator[Trace]:
        """All traces, or a user's, the newest first."""
        ...

    def find(self, trace_id: str, scope: Scope) -> tuple[Trace, list[Mapping[str, Any]]]:
        """A trace that ``scope`` sees, and its recording. Raises ``InputError``."""
        ...

    def forget(self, scope: Scope, trace_id: str | None = None) -> int:
        """Deletes the traces that ``scope`` sees, or one of them; gives back how many."""
        ...


def open_database(settings: "Settings") -> "PostgresDatabase | None":
    """The database that is set, opened when it is first used; None where all is kept in files."""
    if not settings.database:
        return None
    from selfright.memory.postgres import PostgresDatabase

    return PostgresDatabase(settings.database)


async def open_kept_sessions(settings: "Settings", database: "PostgresDatabase | None") -> "Sessions":
    """The sessions, in the database where there is one."""
    from selfright.memory.conversation import Retention

    retention = Retention(settings.session_turns, settings.session_days, settings.max_sessions)
    if database is None:
        from selfright.memory.opening import open_sessions

        return await open_sessions(settings.home / _SESSIONS, retention)
    from selfright.memory.postgres_sessions import open_postgres_sessions

    return await open_postgres_sessions(database, retention)


def open_traces(settings: "Settings", database: "PostgresDatabase | None") -> TraceKeeper:
    """What keeps traces."""
    if database is None:
        from selfright.telemetry.store import TraceStore

        return TraceStore(settings.home / _TRACES, settings.max_traces, settings.trace_bytes)
    from selfright.memory.postgres_traces import PostgresTraces

    kept = PostgresTraces(database, settings.max_traces, settings.trace_bytes)
    return DatabaseTraces(kept, settings.trace_bytes // 4)


def open_ratings(settings: "Settings", database: "PostgresDatabase | None") -> RatingStore:
    """What keeps ratings of answers."""
    if database is None:
        from selfright.memory.ratings import SqliteRatings

        return SqliteRatings(settings.home / _RATINGS)
    from selfright.memory.postgres_ratings import PostgresRatings

    return PostgresRatings(database)


class DatabaseTraces:
    """A ``TraceKeeper`` in a database. ``largest`` are the bytes that one trace may have."""

    def __init__(self, kept: "PostgresTraces", largest: int) -> None:
        self._kept = kept
        self.largest = largest

    def write(self, trace: Trace, recording: Iterable[str] = ()) -> None:
        """Keeps a trace, with its recording line by line. Trouble with the database costs the trace, not the turn."""
        from selfright.memory.postgres_traces import KeptTrace

        head = _bytes(json.dumps(trace_form(trace), ensure_ascii=False, separators=(",", ":")))
        owner = _bytes(trace.user)
        try:
            self._kept.put(KeptTrace(trace.id, trace.at, owner, head, _bytes("\n".join(recording))))
        except StoreError as error:
            log.warning("a trace could not be kept in %s (%s)", self._kept.place, type(error).__name__)

    def traces(self, user: str | None = None) -> Iterator[Trace]:
        """All traces that can be read, or a user's, the newest first."""
        for head in self._kept.heads(None if user is None else _bytes(user)):
            with contextlib.suppress(ValueError, RecursionError):
                yield trace_of(_object(head))

    def find(self, trace_id: str, scope: Scope) -> tuple[Trace, list[Mapping[str, Any]]]:
        """A trace by its id or the beginning of it (at least 4 digits), and the lines of its recording.

        Raises ``InputError`` when ``scope`` sees no such trace, or several, and for one that cannot be read.
        """
        found = self._kept.read(self._named(trace_id, scope))
        if found is None:
            raise self._none(trace_id)
        head, recording = found
        try:
            return trace_of(_object(head)), [_object(line) for line in recording.split(b"\n")[:_MOST_LINES] if line]
        except (ValueError, RecursionError) as error:
            raise InputError(f"the trace {trace_id} cannot be read ({error}); ask the question again") from None

    def forget(self, scope: Scope, trace_id: str | None = None) -> int:
        """Deletes the traces that ``scope`` sees, or one of them; gives back how many."""
        if trace_id is not None:
            return self._kept.forget(None, self._named(trace_id, scope))
        if scope.collections is None:
            return self._kept.forget(_owner(scope), None)
        seen = [trace.id for trace in self.traces(scope.user) if scope.covers(trace.collections)]
        return sum(self._kept.forget(None, one) for one in seen)

    def _named(self, trace_id: str, scope: Scope) -> str:
        start = trace_id.strip().lower()
        found = self._kept.beginning(start, _owner(scope)) if _ID.fullmatch(start) else []
        ids = [one for one, head in found if _shows(scope, head)]
        if ids and (ids[0] == start or len(ids) == 1):
            return ids[0]
        if ids:
            raise InputError(f"several traces begin with '{start}'; give more digits")
        raise self._none(start)

    def _none(self, trace_id: str) -> InputError:
        shown = trace_id[:40] if trace_id.isprintable() else "that id"
        return InputError(f"there is no trace '{shown}'; 'selfright trace list' shows those there are")


def _owner(scope: Scope) -> bytes | None:
    return None if scope.user is None else _bytes(scope.user)


def _shows(scope: Scope, head: bytes) -> bool:
    if scope == Scope(None):
        return True  # a damaged one, too
    with contextlib.suppress(ValueError, RecursionError):
        trace = trace_of(_object(head))
        return scope.shows(trace.user, trace.collections)
    return False


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _object(line: bytes) -> Mapping[str, Any]:
    value = json.loads(line.decode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError("a line of a trace is a JSON object")
    return value
