"""Where sessions and traces are kept: files in the home folder, or the database that is set."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from selfright.domain.traces import Trace
from selfright.domain.turns import Scope
from selfright.telemetry.store import TraceKeeper, TraceStore, as_bytes, not_found, shows

if TYPE_CHECKING:
    from selfright.memory.postgres_traces import PostgresTraces
    from selfright.memory.sessions import Sessions
    from selfright.settings import Settings
    from selfright.storage.postgres import PostgresDatabase

_SESSIONS = "sessions.sqlite"
_TRACES = "traces"


def open_database(settings: "Settings") -> "PostgresDatabase | None":
    """The database that is set, opened when it is first used; None where all is kept in files."""
    if not settings.database:
        return None
    from selfright.memory import postgres

    return postgres.open_database(settings.database)


async def open_kept_sessions(settings: "Settings", database: "PostgresDatabase | None") -> "Sessions":
    """The sessions, in the database where there is one."""
    from selfright.memory.conversation import Retention
    from selfright.memory.opening import open_postgres_sessions, open_sessions

    retention = Retention(settings.session_turns, settings.session_days, settings.max_sessions)
    if database is None:
        return await open_sessions(settings.home / _SESSIONS, retention)
    return await open_postgres_sessions(database, retention)


def open_traces(settings: "Settings", database: "PostgresDatabase | None") -> TraceKeeper:
    """What keeps traces."""
    if database is None:
        return TraceStore(settings.home / _TRACES, settings.max_traces, settings.trace_bytes)
    from selfright.memory.postgres_traces import PostgresTraces

    kept = PostgresTraces(database, settings.max_traces, settings.trace_bytes)
    return DatabaseTraces(kept, settings.trace_bytes // 4)


class DatabaseTraces(TraceKeeper):
    """Traces in a database. ``largest`` are the bytes that one trace may have."""

    def __init__(self, kept: "PostgresTraces", largest: int) -> None:
        self._kept = kept
        self.place = kept.place
        self.largest = largest

    def _put(self, trace: Trace, head: bytes, recording: bytes) -> None:
        self._kept.put(trace.id, trace.at, as_bytes(trace.user), head, recording)

    def _heads(self, user: str | None) -> Iterable[bytes]:
        return self._kept.heads(None if user is None else as_bytes(user))

    def _beginning(self, start: str, scope: Scope) -> Sequence[str]:
        return [one for one, head in self._kept.beginning(start, _owner(scope)) if shows(scope, head)]

    def _read(self, trace_id: str) -> tuple[bytes, bytes]:
        found = self._kept.read(trace_id)
        if found is None:
            raise not_found(trace_id)
        return found

    def _drop(self, ids: Sequence[str]) -> int:
        return sum(self._kept.forget(None, one) for one in ids)

    def _drop_all(self, scope: Scope) -> int:
        if scope.collections is None:
            return self._kept.forget(_owner(scope), None)
        return self._drop([trace.id for trace in self.traces(scope.user) if scope.covers(trace.collections)])


def _owner(scope: Scope) -> bytes | None:
    return None if scope.user is None else as_bytes(scope.user)
