"""Traces on disk: one JSON Lines file each, the oldest dropped when there are too many or they grow too large.

The first line is the trace, the lines after it the recording where there is one. A file is written beside its place
and moved there, so it is there whole or not at all; a line that is damaged all the same is left out when it is read.
"""

import contextlib
import json
import logging
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from selfright.domain.errors import InputError
from selfright.domain.scopes import Scope
from selfright.domain.traces import Trace
from selfright.telemetry.outline import trace_form, trace_of

_NAME = re.compile(r"(?P<at>[0-9]{13})-(?P<id>[0-9a-f]{8,64})\.jsonl")
_ID = re.compile(r"[0-9a-f]{4,64}")
_LONGEST_FIRST_LINE = 20_000_000
_MOST_LINES = 20_000
_BESIDE = ".trace-"
_LEFT_OVER_S = 3_600.0
_LOOK_AGAIN = 200  # writes between two looks at what other processes have written

log = logging.getLogger(__name__)


class TraceStore:
    """Keeps at most ``most`` traces and ``most_bytes`` bytes in ``folder``, which only its owner may read.

    Several processes may write to one folder; the bounds then hold once each has looked again, every 200 writes.
    """

    def __init__(self, folder: Path, most: int = 1_000, most_bytes: int = 100_000_000) -> None:
        self._folder = folder
        self._most = most
        self._most_bytes = most_bytes
        self._kept: dict[str, int] = {}  # name → bytes, the oldest first
        self._total = 0
        self._writes = 0
        self._lock = threading.Lock()

    @property
    def largest(self) -> int:
        """The bytes that one trace may have: a quarter of all, so that one turn never drives out all others."""
        return self._most_bytes // 4

    def write(self, trace: Trace, recording: Iterable[str] = ()) -> None:
        """Keeps a trace, with its recording line by line. Trouble with the disk costs the trace, not the turn."""
        lines = [json.dumps(trace_form(trace), ensure_ascii=False, separators=(",", ":")), *recording]
        payload = ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
        name = f"{int(trace.at * 1_000):013d}-{trace.id}.jsonl"
        try:
            with self._lock:
                self._make_room(len(payload))
                self._put(name, payload)
        except OSError as error:
            log.warning("a trace could not be kept in %s (%s)", self._folder, error.strerror)

    def traces(self, user: str | None = None) -> Iterator[Trace]:
        """All traces that can be read, or a user's, the newest first."""
        for name in sorted(self._names(), reverse=True):
            with contextlib.suppress(OSError, ValueError, RecursionError):
                trace = _first(self._folder / name)
                if user in (None, trace.user):
                    yield trace

    def find(self, trace_id: str, scope: Scope) -> tuple[Trace, list[Mapping[str, Any]]]:
        """A trace by its id or the beginning of it (at least 4 digits), and the lines of its recording.

        Raises ``InputError`` when ``scope`` sees no such trace, or several, and for one that cannot be read.
        """
        path = self._folder / self._named(trace_id, scope)
        try:
            return _first(path), _rest(path)
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(
                f"the trace {trace_id} in {path} cannot be read ({error}); ask the question again"
            ) from None

    def forget(self, scope: Scope, trace_id: str | None = None) -> int:
        """Deletes the traces that ``scope`` sees, or one of them; gives back how many."""
        if trace_id is not None:
            names = [self._named(trace_id, scope)]
        else:
            names = [name for name in self._names() if self._shows(scope, name)]
        with self._lock:
            for name in names:
                self._drop(name)
        return len(names)

    def _shows(self, scope: Scope, name: str) -> bool:
        if scope == Scope(None):
            return True  # a damaged one, too
        with contextlib.suppress(OSError, ValueError, RecursionError):
            trace = _first(self._folder / name)
            return scope.shows(trace.user, trace.collections)
        return False

    def _named(self, trace_id: str, scope: Scope) -> str:
        given = trace_id.strip().lower()
        start = given if _ID.fullmatch(given) else "-"  # no id has it
        found = (match for name in sorted(self._names()) if (match := _NAME.fullmatch(name)))
        ids = {match["id"]: match[0] for match in found if match["id"].startswith(start)}
        ids = {known: name for known, name in ids.items() if self._shows(scope, name)}
        names = list(ids.values())
        if given in ids:
            return ids[given]
        if len(names) == 1:
            return names[0]
        if names:
            raise InputError(f"{len(names)} traces begin with '{given}'; give more digits")
        shown = given[:40] if given.isprintable() else "that id"
        raise InputError(f"there is no trace '{shown}'; 'selfright trace list' shows those there are")

    def _names(self) -> list[str]:
        try:
            return [name for name in os.listdir(self._folder) if _NAME.fullmatch(name)]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _make_room(self, size: int) -> None:
        if self._writes % _LOOK_AGAIN == 0:
            self._look()
        self._writes += 1
        while self._kept and (len(self._kept) >= self._most or self._total + size > self._most_bytes):
            self._drop(next(iter(self._kept)))

    def _drop(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)
        self._total -= self._kept.pop(name, 0)

    def _look(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.scandir(self._folder) as entries:
            files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
        traces = sorted((entry for entry in files if _NAME.fullmatch(entry.name)), key=lambda entry: entry.name)
        self._kept = {entry.name: _size(entry) for entry in traces}
        self._total = sum(self._kept.values())
        for entry in files:
            if entry.name.startswith(_BESIDE) and _age(entry) > _LEFT_OVER_S:  # by a process that was killed
                Path(entry.path).unlink(missing_ok=True)

    def _put(self, name: str, payload: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, beside = tempfile.mkstemp(dir=self._folder, prefix=_BESIDE)  # made for its owner alone
        try:
            with os.fdopen(number, "wb") as file:
                file.write(payload)
            os.replace(beside, self._folder / name)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
        self._kept[name] = len(payload)
        self._total += len(payload)


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:  # another process made room
        return 0


def _age(entry: "os.DirEntry[str]") -> float:
    try:
        return time.time() - entry.stat(follow_symlinks=False).st_mtime
    except FileNotFoundError:
        return 0.0


def _first(path: Path) -> Trace:
    with path.open("rb") as file:
        line = file.readline(_LONGEST_FIRST_LINE)
    return trace_of(_object(line))


def _rest(path: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    with path.open("rb") as file:
        file.readline(_LONGEST_FIRST_LINE)
        for _, line in zip(range(_MOST_LINES), file, strict=False):
            try:
                found.append(_object(line))
            except (ValueError, RecursionError):
                log.warning("a damaged line of %s is left out", path)
    return found


def _object(line: bytes) -> Mapping[str, Any]:
    value = json.loads(line.decode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError("a line of a trace is a JSON object")
    return value
