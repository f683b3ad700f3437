"""Traces on disk: one JSON Lines file each; of who has the most the oldest go when there are too many or too large.

The first line is the trace, the lines after it the recording where there is one. A file is written beside its place
and moved there, so it is there whole or not at all; a line that is damaged all the same is left out when it is read.
"""

import contextlib
import hashlib
import json
import logging
import os
import re
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from selfright.domain.errors import InputError, StoreError
from selfright.domain.traces import Rating, Trace
from selfright.domain.turns import Scope
from selfright.telemetry.outline import trace_form, trace_of

_NAME = re.compile(r"(?P<at>[0-9]{13})-(?P<id>[0-9a-f]{8,64})(?:-(?P<owner>[0-9a-f]{8}))?\.jsonl")
_ID = re.compile(r"[0-9a-f]{4,64}")
_LONGEST_FIRST_LINE = 20_000_000
_MOST_LINES = 20_000
_BESIDE = ".trace-"
_LEFT_OVER_S = 3_600.0
_LOOK_AGAIN = 200  # writes between two looks at what other processes have written

log = logging.getLogger(__name__)


class TraceKeeper(ABC):
    """Keeps traces as lines of JSON: the trace itself is the head, the lines of its recording follow.

    ``largest`` are the bytes that one trace may have, ``place`` is where they are, for messages.
    """

    largest: int
    place: object

    def write(self, trace: Trace, recording: Iterable[str] = ()) -> None:
        """Keeps a trace, with its recording line by line. Trouble costs the trace, not the turn."""
        try:
            self._put(trace, _head(trace), as_bytes("\n".join(recording)))
        except (OSError, StoreError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            log.warning("a trace could not be kept in %s (%s)", self.place, why)

    def traces(self, user: str | None = None) -> Iterator[Trace]:
        """All traces that can be read, or a user's, the newest first."""
        for head in self._heads(user):
            if (trace := _trace(head)) is not None and user in (None, trace.user):
                yield trace

    def find(self, trace_id: str, scope: Scope) -> tuple[Trace, list[Mapping[str, Any]]]:
        """A trace by its id or the beginning of it (at least 4 digits), and the lines of its recording.

        Raises ``InputError`` when ``scope`` sees no such trace, or several, and for one that cannot be read.
        """
        name = self._full_id(trace_id, scope)
        try:
            head, recording = self._read(name)
            return trace_of(_object(head)), self._lines(recording)
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(
                f"the trace {trace_id} in {self.place} cannot be read ({error}); ask the question again"
            ) from None

    def rate(self, trace_id: str, scope: Scope, rating: Rating | None) -> Trace:
        """Keeps with a trace what a reader said of its answer. Raises ``InputError`` as ``find``, and ``OSError``."""
        trace = replace(self.find(trace_id, scope)[0], rating=rating)
        self._put(trace, _head(trace), self._read(trace.id)[1].removesuffix(b"\n"))
        return trace

    def forget(self, scope: Scope, trace_id: str | None = None) -> int:
        """Deletes the traces that ``scope`` sees, or one of them; gives back how many."""
        return self._drop([self._full_id(trace_id, scope)]) if trace_id is not None else self._drop_all(scope)

    def _full_id(self, trace_id: str, scope: Scope) -> str:
        start = trace_id.strip().lower()
        ids = self._beginning(start, scope) if _ID.fullmatch(start) else []
        if start in ids or len(ids) == 1:
            return start if start in ids else ids[0]
        if ids:
            raise InputError(f"{len(ids)} traces begin with '{start}', and several cannot be meant; give more digits")
        raise not_found(start)

    def _lines(self, recording: bytes) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        for line in recording.split(b"\n")[:_MOST_LINES]:
            try:
                found += [_object(line)] if line else []
            except (ValueError, RecursionError):
                log.warning("a damaged line of a trace in %s is left out", self.place)
        return found

    @abstractmethod
    def _put(self, trace: Trace, head: bytes, recording: bytes) -> None:
        """Keeps a trace in the place of one of the same id; beyond the bounds the oldest of who has the most go."""

    @abstractmethod
    def _heads(self, user: str | None) -> Iterable[bytes]:
        """The heads of all traces, the newest first; others than the user's may be left out."""

    @abstractmethod
    def _beginning(self, start: str, scope: Scope) -> Sequence[str]:
        """The ids that begin so, of traces that ``scope`` sees."""

    @abstractmethod
    def _read(self, trace_id: str) -> tuple[bytes, bytes]:
        """Head and recording. Raises ``InputError`` where another process has dropped them."""

    @abstractmethod
    def _drop(self, ids: Sequence[str]) -> int:
        """Deletes these traces; gives back how many."""

    @abstractmethod
    def _drop_all(self, scope: Scope) -> int:
        """Deletes all that ``scope`` sees; gives back how many."""


def not_found(trace_id: str) -> InputError:
    """The error for an id that nobody may see a trace by."""
    shown = trace_id[:40] if trace_id.isprintable() else "that id"
    return InputError(f"there is no trace '{shown}'; 'selfright trace list' shows those there are")


def as_bytes(text: str) -> bytes:
    """Text as it is kept: lone surrogates come back."""
    return text.encode("utf-8", "surrogatepass")


def _head(trace: Trace) -> bytes:
    return as_bytes(json.dumps(trace_form(trace), ensure_ascii=False, separators=(",", ":")))


def shows(scope: Scope, head: bytes) -> bool:
    """Whether a scope sees the trace of this head; everyone's sees a damaged one, too."""
    if scope == Scope(None):
        return True
    trace = _trace(head)
    return trace is not None and scope.shows(trace.user, trace.collections)


def _trace(head: bytes) -> Trace | None:
    try:
        return trace_of(_object(head))
    except (ValueError, RecursionError):
        return None


def _object(line: bytes) -> Mapping[str, Any]:
    value = json.loads(line.decode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError("a line of a trace is a JSON object")
    return value


class TraceStore(TraceKeeper):
    """Keeps at most ``most`` traces and ``most_bytes`` bytes in ``folder``, which only its owner may read.

    Several processes may write to one folder; the bounds then hold once each has looked again, every 200 writes. A
    trace may have a quarter of all bytes, so that one turn never drives out all others.
    """

    def __init__(self, folder: Path, most: int = 1_000, most_bytes: int = 100_000_000) -> None:
        self.place = self._folder = folder
        self.largest = most_bytes // 4
        self._most = most
        self._most_bytes = most_bytes
        self._kept: dict[str, int] = {}  # name → bytes, the oldest first
        self._total = 0
        self._writes = 0
        self._lock = threading.Lock()

    def _put(self, trace: Trace, head: bytes, recording: bytes) -> None:
        payload = head + b"\n" + (recording + b"\n" if recording else b"")
        name = f"{int(trace.at * 1_000):013d}-{trace.id}-{_mark(trace.user)}.jsonl"
        with self._lock:
            if name not in self._kept:
                self._make_room(len(payload))
            self._write(name, payload)

    def _heads(self, user: str | None) -> Iterable[bytes]:
        del user  # it stands in the head
        return map(self._head, sorted(self._names().values(), reverse=True))

    def _beginning(self, start: str, scope: Scope) -> Sequence[str]:
        names = self._names()
        return [one for one in names if one.startswith(start) and self._shows(scope, names[one])]

    def _read(self, trace_id: str) -> tuple[bytes, bytes]:
        name = self._names().get(trace_id)
        if name is None:
            raise not_found(trace_id)
        with (self._folder / name).open("rb") as file:
            return file.readline(_LONGEST_FIRST_LINE), file.read()

    def _drop(self, ids: Sequence[str]) -> int:
        names = self._names()
        with self._lock:
            for name in filter(None, map(names.get, ids)):
                self._unlink(name)
        return len(ids)

    def _drop_all(self, scope: Scope) -> int:
        return self._drop([one for one, name in self._names().items() if self._shows(scope, name)])

    def _shows(self, scope: Scope, name: str) -> bool:
        return scope == Scope(None) or shows(scope, self._head(name))

    def _head(self, name: str) -> bytes:
        """The first line of a file; empty where it cannot be read."""
        with contextlib.suppress(OSError), (self._folder / name).open("rb") as file:
            return file.readline(_LONGEST_FIRST_LINE)
        return b""

    def _names(self) -> dict[str, str]:
        """The files by the ids of their traces, the oldest first."""
        try:
            found = (_NAME.fullmatch(name) for name in sorted(os.listdir(self._folder)))
            return {match["id"]: match[0] for match in found if match}
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def _make_room(self, size: int) -> None:
        if self._writes % _LOOK_AGAIN == 0:
            self._look()
        self._writes += 1
        while self._kept and len(self._kept) >= self._most:
            self._unlink(self._oldest_of_most(lambda _name: 1))
        while self._kept and self._total + size > self._most_bytes:
            self._unlink(self._oldest_of_most(self._kept.__getitem__))

    def _oldest_of_most(self, weight: Callable[[str], int]) -> str:
        """The oldest trace of the user whose traces weigh most, so that nobody's drive out another's."""
        held: Counter[str] = Counter()
        for name in self._kept:
            held[_owner(name)] += weight(name)
        most = max(held, key=held.__getitem__)
        return next(name for name in self._kept if _owner(name) == most)

    def _unlink(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)
        self._total -= self._kept.pop(name, 0)

    def _look(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        files: dict[str, os.stat_result] = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # another process made room
                    if entry.is_file(follow_symlinks=False):
                        files[entry.name] = entry.stat(follow_symlinks=False)
        self._kept = {name: files[name].st_size for name in sorted(files) if _NAME.fullmatch(name)}
        self._total = sum(self._kept.values())
        for name, found in files.items():
            if name.startswith(_BESIDE) and time.time() - found.st_mtime > _LEFT_OVER_S:  # by a process that was killed
                (self._folder / name).unlink(missing_ok=True)

    def _write(self, name: str, payload: bytes) -> None:
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
        self._total += len(payload) - self._kept.get(name, 0)
        self._kept[name] = len(payload)


def _mark(user: str) -> str:
    """Eight letters that stand for a user in the name of a file."""
    return hashlib.blake2b(as_bytes(user), digest_size=4).hexdigest()


@lru_cache(maxsize=2_000)  # asked of every kept trace in each turn once the store is full
def _owner(name: str) -> str:
    """Whose trace a file holds; empty where its name does not tell."""
    match = _NAME.fullmatch(name)
    return (match["owner"] if match else "") or ""
