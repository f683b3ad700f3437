"""Search indexes as projections of the catalogue: each follows its change log and can be made anew from it.

A projection keeps its files in a folder and, beside them, ``state.json``: which files with which checksums, of which
catalogue, up to which change. Files that a state names are never changed: a commit writes new ones (or links those that
stay) and then replaces the state atomically. Whenever the process stops, the old state or the new one stands, whole.
"""

import json
import logging
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from selfright.domain.errors import IndexDamaged, StoreError
from selfright.retrieval.catalogue import Catalogue, Changes
from selfright.retrieval.records import file_checksum, seal
from selfright.storage.files import erase, read_json, write_atomically

log = logging.getLogger(__name__)

_STATE = "state.json"
_TRIES = 5
LATEST = sys.maxsize

Snapshot = TypeVar("Snapshot", bound="ProjectionSnapshot")


class NotWritten(StoreError):
    """The files of a search index could not be written; those that stood still do."""


@dataclass(frozen=True, slots=True)
class State:
    """How far a projection has followed: all changes up to ``sequence`` of the catalogue ``identity``.

    ``files`` maps the names of its files to size and checksum; ``passages`` is how many it holds, ``deleted`` how many
    were taken out since it was made anew; ``details`` is the projection's own business.
    """

    identity: str
    sequence: int
    files: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    passages: int = 0
    deleted: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProjectionSnapshot:
    """A projection as of one commit, ready to be searched; never changed afterwards."""

    state: State


class Projection(ABC, Generic[Snapshot]):
    """A search index in ``folder`` that follows the catalogue ``identity``. One thread at a time may change it."""

    def __init__(self, folder: Path, identity: str) -> None:
        self.folder = folder
        self.identity = identity
        self.problem = ""
        self._state_path = str(folder / _STATE)  # looked at before each search
        self._stamp: tuple[int, int] | None = None
        self._checked: dict[str, tuple[int, ...]] = {}  # files whose checksum was verified, and as what
        self._refreshing = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._earlier: Snapshot | None = None  # kept until every projection has moved on
        self.refresh()

    @property
    def name(self) -> str:
        """The folder's name, for messages."""
        return self.folder.name

    @property
    def state(self) -> State | None:
        """How far it is; None when there is none that can be used."""
        snapshot = self._snapshot
        return snapshot.state if snapshot else None

    @property
    def sequence(self) -> int:
        """The last change it has followed; -1 when it cannot be used."""
        snapshot = self._snapshot
        return snapshot.state.sequence if snapshot else -1

    def refresh(self) -> None:
        """Takes over what another process has committed."""
        if self._stamp is not None and self._stamp == self._current_stamp():
            return
        with self._refreshing:
            for _ in range(_TRIES):  # a writer may move on, and erase the old files, while they are opened
                stamp = self._current_stamp()
                self._move(self._load())
                self._stamp = stamp
                if self._snapshot is not None or stamp == self._current_stamp():
                    return

    def current(self) -> Snapshot:
        """What can be searched; raises ``IndexDamaged`` when there is nothing."""
        snapshot = self._snapshot
        if snapshot is None:
            raise IndexDamaged(
                f"the {self.name} index cannot be used: {self.problem}; mend it with: selfright index verify --repair"
            )
        return snapshot

    def at(self, sequence: int) -> Snapshot:
        """What could be searched at that change, where it is still known, else now; raises ``IndexDamaged``."""
        snapshot, earlier = self.current(), self._earlier
        if snapshot.state.sequence > sequence and earlier is not None and earlier.state.sequence == sequence:
            return earlier
        return snapshot

    def let_go(self) -> None:
        """Forgets what could be searched before."""
        self._earlier = None

    def _move(self, snapshot: Snapshot | None) -> None:
        before = self._snapshot
        if before is not None and snapshot is not None and before.state.sequence < snapshot.state.sequence:
            self._earlier = before
        self._snapshot = snapshot

    def check(self) -> list[str]:
        """Reads all files again, whatever was checked before, and says what is wrong."""
        self._checked.clear()
        state = self._read()
        problem = (self._broken(state) or "") if state else self.problem
        return [problem] if problem else []

    # What a kind of index has to bring

    @abstractmethod
    def open(self, state: State, /) -> Snapshot:
        """Opens the files of a state; raises ``ValueError``, ``RuntimeError`` or ``OSError`` when they are bad."""

    @abstractmethod
    def update(self, catalogue: Catalogue, changes: Changes, /) -> None:
        """Applies changes."""

    @abstractmethod
    def rebuild(self, catalogue: Catalogue, /) -> None:
        """Makes it anew from the catalogue."""

    @abstractmethod
    def prefers_rebuild(self, catalogue: Catalogue, changes: Changes, /) -> bool:
        """Whether making it anew is better than to apply the changes."""

    @abstractmethod
    def complete(self, catalogue: Catalogue, /) -> bool:
        """Whether it holds what it should, as far as that can be told quickly."""

    # Files

    def free_number(self) -> int:
        """A number for new files that no file in use has."""
        names = (name.partition("/")[0].partition(".")[0] for name in (self.state.files if self.state else ()))
        numbers = (name.rpartition("-")[2] for name in names)
        return max((int(number) for number in numbers if number.isdecimal()), default=0) + 1

    def place(self, name: str) -> Path:
        """Where a new file or folder goes; what a crash may have left there is erased."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        erase(path)
        return path

    def stand(self, state: State, names: list[str], snapshot: Snapshot) -> None:
        """Makes ``state`` with the files ``names`` the one that stands, and erases what it no longer names.

        ``snapshot`` is the same as it is searched; it gets the finished state.
        """
        known = self.state.files if self.state else {}
        files = {name: known[name] if name in known else self._measure(name) for name in names}
        state = replace(state, files=files)
        content = asdict(state)
        body = {"state": content, "seal": seal(json.dumps(content, sort_keys=True))}
        write_atomically(self.folder / _STATE, json.dumps(body).encode())
        self._move(replace(snapshot, state=state))
        self._stamp = self._current_stamp()
        kept = {_STATE, *(name.partition("/")[0] for name in files)}
        for path in self.folder.iterdir():
            if path.name not in kept:
                erase(path)

    def _measure(self, name: str) -> tuple[int, int]:
        path = self.folder / name
        measured = path.stat().st_size, file_checksum(path)
        self._checked[name] = (*measured, *_stamp_of(path))
        return measured

    def _load(self) -> Snapshot | None:
        state = self._read()
        if state is None:
            return None
        broken = self._broken(state)
        if broken:
            self.problem = broken
            return None
        try:
            return self.open(state)
        except (ValueError, RuntimeError, OSError, IndexDamaged) as error:
            self.problem = f"{self.folder} cannot be opened ({error})"
            return None

    def _read(self) -> State | None:
        path = self.folder / _STATE
        content = read_json(path)
        if content is None:
            self.problem = f"{path} is {'damaged' if path.exists() else 'missing'}"
            return None
        try:
            found = content["state"]
            state = State(**{**found, "files": {name: tuple(value) for name, value in found["files"].items()}})
            whole = content["seal"] == seal(json.dumps(found, sort_keys=True))
        except (KeyError, TypeError, AttributeError):
            whole = False
        if not whole:
            self.problem = f"{path} is damaged"
        elif state.identity != self.identity:
            self.problem, whole = f"{path} belongs to another index", False
        return state if whole else None

    def _broken(self, state: State) -> str | None:
        """The first file that is not what was written, in words."""
        for name, (size, checksum) in state.files.items():
            path = self.folder / name
            try:
                stamp = (size, checksum, *_stamp_of(path))
                if self._checked.get(name) == stamp:
                    continue
                if path.stat().st_size != size:
                    return f"{path} has {path.stat().st_size:,} bytes where {size:,} were written"
                if file_checksum(path) != checksum:
                    return f"{path} is damaged: its content is not what was written"
            except OSError as error:
                return f"{path} is missing" if isinstance(error, FileNotFoundError) else f"{path}: {error}"
            self._checked[name] = stamp
        self._checked = {name: stamp for name, stamp in self._checked.items() if name in state.files}
        return None

    def _current_stamp(self) -> tuple[int, int]:
        try:
            return _stamp_of(self._state_path)
        except OSError:
            return (0, 0)


def catch_up(projection: Projection[Any], catalogue: Catalogue) -> None:
    """Brings a projection to the catalogue's last change, by the log where it suffices; nothing is embedded anew."""
    state = projection.state
    changes = catalogue.changes_since(state.sequence) if state else None
    if changes is not None and not projection.prefers_rebuild(catalogue, changes):
        if changes.added or changes.removed or changes.embedded:
            projection.update(catalogue, changes)
        if projection.complete(catalogue):
            return
    if state is None and projection.folder.exists():
        # An error, so that the command line shows it too: the disk, or somebody on it, did damage.
        log.error("the %s index is made anew from the catalogue: %s", projection.name, projection.problem)
    projection.rebuild(catalogue)
    if not projection.complete(catalogue):
        raise StoreError(
            f"the {projection.name} index does not hold what the catalogue {catalogue.path} lists; "
            "find out what is wrong with: selfright index verify"
        )


def is_current(projection: Projection[Any], catalogue: Catalogue) -> bool:
    """Whether a projection has followed all changes and holds what it should."""
    state = projection.state
    return state is not None and state.sequence == catalogue.sequence() and projection.complete(catalogue)


def _stamp_of(path: Path | str) -> tuple[int, int]:
    stat = os.stat(path)
    return stat.st_mtime_ns, stat.st_ino
