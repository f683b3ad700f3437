"""An index made what some folders are: ``selfright index sync``.

Removed is only what came from these folders, in the collection if one is named, and is certainly gone: what a file or
folder that could not be read held before stays.
"""

import os
from collections import defaultdict
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict

from selfright.domain.errors import InputError
from selfright.domain.passages import DocumentInfo, Origin
from selfright.domain.ports import Documents, Writer
from selfright.domain.routing import collection_name
from selfright.domain.text import singular
from selfright.ingest.files import readable_name
from selfright.ingest.pipeline import Progress, Report, Run
from selfright.ingest.reading import Discovery, discover

FileStates = MutableMapping[str, tuple[int, int]]
"""Size in bytes and time of the last change in nanoseconds, by a file's real path."""


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How folders are synchronised.

    Without ``collection`` documents stay in the one they are in. ``dry_run`` changes nothing and reports what would be
    done. ``allow_empty`` lets a folder without any file empty its part of the index. ``states`` remembers files from
    pass to pass: those that look unchanged are not read again.
    """

    collection: str | None = None
    origin: Origin = "index"
    dry_run: bool = False
    allow_empty: bool = False
    states: FileStates | None = None

    def __post_init__(self) -> None:
        if self.collection is not None:
            object.__setattr__(self, "collection", collection_name(self.collection))


class SyncKeywords(TypedDict, total=False):
    """``SyncOptions`` by name."""

    collection: str | None
    origin: Origin
    dry_run: bool
    allow_empty: bool
    states: FileStates | None


def sync(
    paths: Sequence[Path],
    writer: Writer | None,
    library: Documents | None,
    options: SyncOptions,
    progress: Progress | None = None,
) -> Report:
    """Adds and replaces as ``ingest`` does, then removes what came from ``paths`` and is there no longer.

    A file that was renamed is removed and added, with the vectors that it had. Commits as it goes. Raises
    ``InputError`` for a path that does not exist, and for one with nothing to read in it when the index has documents
    from there, unless ``allow_empty``. A dry run needs no writer, and no library where there is no index.
    """
    found = discover(paths, maybe_none=True)
    within = _stored_documents(paths, library, options.collection)
    if not options.allow_empty:
        _check_not_empty(paths, found, within)
    now = {}
    for file in found.files:
        with suppress(OSError):
            stat = os.stat(file.path)
            now[_real(file.path)] = stat.st_size, stat.st_mtime_ns
    before = options.states or {}
    same = {place for place in within if place in now and before.get(place) == now[place]}
    found.files = [file for file in found.files if _real(file.path) not in same]
    unread = {info.id for place in same for info in within[place]}
    run = Run(None if options.dry_run else writer, library, options.collection or "", found, options.origin)
    run.report.unchanged = len(unread)
    run.through(progress)
    gone, run.report.kept = _find_removed(
        within, {*run.seen, *unread}, {_real(Path(path)) for path, _ in run.report.failed}
    )
    run.remove(gone)
    run.flush(commit=True)
    if options.states is not None and not options.dry_run:
        options.states.clear()
        options.states.update(now)
    return run.report


_Within = Mapping[str, list[DocumentInfo]]
"""The documents, of a collection where one is named, that came from the paths, by the file they are from."""


def _stored_documents(paths: Sequence[Path], library: Documents | None, collection: str | None) -> _Within:
    within: dict[str, list[DocumentInfo]] = defaultdict(list)
    roots = [_real(path) for path in paths]
    real = cache(os.path.realpath)  # many documents may come from one file, and links are looked up on the disk
    for info in library.documents(collections=[collection] if collection else ()) if library else ():
        place = str(real(info.source)) if info.source is not None and os.path.isabs(info.source) else ""
        if place and _is_within(place, roots):
            within[place].append(info)
    return within


def _find_removed(within: _Within, seen: set[str], failed: set[str]) -> tuple[list[tuple[str, str | None]], int]:
    """Ids and sources of what is gone, and the number of those that stay since they could not be looked at."""
    gone: list[tuple[str, str | None]] = []
    kept = 0
    for place, infos in within.items():
        unseen = [(info.id, info.source) for info in infos if info.id not in seen]
        if unseen and _is_within(place, failed):
            kept += len(unseen)
        else:
            gone += unseen
    return gone, kept


def _check_not_empty(paths: Sequence[Path], found: Discovery, within: _Within) -> None:
    """A drive that is not mounted looks like an empty folder: that alone must not empty an index."""
    there = [_real(path) for path in (*(file.path for file in found.files), *(Path(e.path) for e in found.failed))]
    for path in paths:
        root = [_real(path)]
        number = sum(len(infos) for place, infos in within.items() if _is_within(place, root))
        if number and not any(_is_within(place, root) for place in there):
            raise InputError(
                singular(f"nothing to read in {path}, but the index has {number:,} documents from there; check that ")
                + "the drive is mounted, or remove them with --allow-empty"
            )


def _is_within(place: str, roots: Sequence[str] | set[str]) -> bool:
    return any(place == root or place.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def _real(path: Path) -> str:
    return os.path.realpath(readable_name(os.path.abspath(path)))
