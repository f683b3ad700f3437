"""Search indexes as projections of the catalogue: each follows its change log and can be made anew from it.

A projection keeps its files under a name of their own and, beside them, ``state.json``: which files, of which
catalogue, up to which change. The state is replaced atomically and last, so whatever happens in between, the old state
still stands for old files, or for files on which the same changes can be applied once more.
"""

import json
import logging
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from selfright.retrieval.catalogue import Catalogue, Entry
from selfright.retrieval.files import read_json, write_atomically

log = logging.getLogger(__name__)

_STATE = "state.json"
_TRIES = 3

Snapshot = TypeVar("Snapshot")


@dataclass(frozen=True, slots=True)
class State:
    """How far a projection has followed: all changes up to ``sequence`` of the catalogue ``identity``.

    ``files`` is the file or folder in use and ``passages`` how many it holds; ``deleted`` counts those taken out since
    it was made, ``checksum`` is its CRC-32 (each 0 where it is not kept).
    """

    identity: str
    sequence: int
    files: str
    passages: int = 0
    deleted: int = 0
    checksum: int = 0


class Projection(Protocol):
    """A search index that follows the catalogue."""

    @property
    def state(self) -> State | None:
        """How far it is; None when there is none that can be used."""
        ...

    def refresh(self) -> None:
        """Looks whether another process has moved it on."""
        ...

    def update(self, sequence: int, removed: Sequence[int], added: Sequence[int], entries: Iterable[Entry]) -> None:
        """Applies changes; the same ones may come twice. ``entries`` are those of ``added``."""
        ...

    def rebuild(self, sequence: int, entries: Iterable[Entry]) -> None:
        """Makes it anew from all entries."""
        ...

    def prefers_rebuild(self, removed: int, /) -> bool:
        """Whether making it anew is better than to take ``removed`` more passages out."""
        ...

    def complete(self, catalogue: Catalogue, /) -> bool:
        """Whether it holds what it should, as far as that can be told quickly."""
        ...


def catch_up(projection: Projection, catalogue: Catalogue) -> None:
    """Brings a projection to the catalogue's last change, by the log where it suffices; nothing is embedded anew."""
    state = projection.state
    changes = catalogue.changes_since(state.sequence) if state else None
    if changes is not None and not projection.prefers_rebuild(len(changes.removed)):
        if changes.added or changes.removed:
            projection.update(changes.sequence, changes.removed, changes.added, catalogue.entries(changes.added))
        if projection.complete(catalogue):
            return
    log.info("making %s anew from the catalogue", type(projection).__name__)
    projection.rebuild(catalogue.sequence(), catalogue.all_entries())


def is_current(projection: Projection, catalogue: Catalogue) -> bool:
    """Whether a projection has followed all changes and holds what it should."""
    state = projection.state
    return state is not None and state.sequence == catalogue.sequence() and projection.complete(catalogue)


class StateFile:
    """``state.json`` of a projection in ``folder`` that follows the catalogue ``identity``."""

    def __init__(self, folder: Path, identity: str) -> None:
        self.folder = folder
        self.identity = identity
        self._stamp: tuple[int, int] | None = None

    def changed(self) -> bool:
        """Whether the file is another one than the last time it was read or written here."""
        return self._stamp is None or self._stamp != self._current_stamp()

    def read(self) -> State | None:
        """The state, or None when there is none, it is broken, or it belongs to another catalogue."""
        self._stamp = self._current_stamp()
        content = read_json(self.folder / _STATE)
        try:
            state = State(**content) if content else None
        except TypeError:
            return None
        return state if state and state.identity == self.identity else None

    def load(self, open_files: Callable[[State], Snapshot | None]) -> Snapshot | None:
        """What ``open_files`` makes of the state, read anew when a writer has just moved on; None when all fails."""
        for _ in range(_TRIES):
            state = self.read()
            opened = open_files(state) if state else None
            if opened is not None or not self.changed():
                return opened
        return None

    def write(self, state: State) -> None:
        """Replaces the state, then erases the files that it no longer names."""
        write_atomically(self.folder / _STATE, json.dumps(asdict(state)).encode())
        self._stamp = self._current_stamp()
        for path in self.folder.iterdir():
            if path.name not in (_STATE, state.files):
                _erase(path)

    def next_name(self, kind: str, current: State | None) -> Path:
        """A place for new files that is not in use."""
        number = int(current.files.rpartition("-")[2]) + 1 if current else 1
        path = self.folder / f"{kind}-{number}"
        self.folder.mkdir(parents=True, exist_ok=True)
        _erase(path)  # what a crash may have left there
        return path

    def _current_stamp(self) -> tuple[int, int] | None:
        try:
            stat = (self.folder / _STATE).stat()
        except FileNotFoundError:
            return None
        return stat.st_mtime_ns, stat.st_ino


def _erase(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
