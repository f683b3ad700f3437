"""Files in, passages indexed: what ``selfright index add`` does."""

import dataclasses
import hashlib
import itertools
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import DEFAULT_COLLECTION, Document, Origin, Passage
from selfright.domain.ports import Documents, Library, Writer
from selfright.ingest.reading import Discovery, discover, read_each
from selfright.ingest.splitting import split


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the document under an id, without its text; ``fresh``: this run brought it."""

    source: str | None
    collection: str
    content_hash: str
    shown: str
    fresh: bool = False

    @classmethod
    def of(cls, document: Document, *, fresh: bool = False) -> "Known":
        """What is known of ``document``; ``shown`` stands for what readers see beside title and text."""
        told = [document.url, document.media_type, sorted(document.metadata.items())]
        shown = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]
        return cls(document.source, document.collection, document.content_hash, shown, fresh)

    def holds_what(self, other: "Known") -> bool:
        """Whether nothing has changed: neither what is searched or shown, nor where it is from."""
        same = (self.content_hash, self.shown) == (other.content_hash, other.shown)
        return same and is_same_place(self.source, other.source)


Look = Callable[[str], Known | None]
"""Finds what is known under an id; asked again for the same ones, so it should remember."""


def name_of(document: Document, look: Look) -> str:
    """The id that the document has already, or a free one: short, then with its folders, then numbered.

    A file's name alone says nothing: two folders' README.md are two documents, whether or not the first is still there.
    """
    source = PurePath(document.source or "").as_posix()
    by_content = _is_named_by_file(document.id, source)
    names = _with_folders(document.id, source)
    possible: list[str] = []
    free = ""
    for free in itertools.chain(names, (f"{document.id}~{n}" for n in itertools.count(2))):
        if look(free) is None:
            break
        possible.append(free)
    if by_content:  # the same file has another name when it was found through another folder
        parts = PurePath(document.id).parts
        possible = [document.id, *("/".join(parts[start:]) for start in range(1, len(parts))), *names, *possible]
    found = {name: known for name in possible if (known := look(name)) is not None}
    now = Known.of(document)
    same = (name for name, known in found.items() if known.source and is_same_place(known.source, document.source))
    moved = (name for name, known in found.items() if _has_moved(known, now, by_content=by_content))
    return next(itertools.chain(same, moved), free)


def _has_moved(found: Known, now: Known, *, by_content: bool) -> bool:
    """Whether a document whose place is gone is this one: by what it holds, or by the id that a row gives itself."""
    if found.fresh or found.collection != now.collection:
        return False
    gone = found.source is None or (os.path.isabs(found.source) and not os.path.lexists(found.source))
    return gone and (found.content_hash == now.content_hash or not by_content)


def is_same_place(one: str | None, other: str | None) -> bool:
    """Whether two sources are one place, be it by way of links."""
    if one == other or one is None or other is None:
        return one == other
    return os.path.isabs(one) and os.path.isabs(other) and os.path.realpath(one) == os.path.realpath(other)


def _with_folders(name: str, source: str) -> list[str]:
    """The name, then with more and more of the folders that lead to it, nearest first."""
    rest = source.removesuffix("/" + name)
    folders = PurePath(rest if rest != source else PurePath(source).parent).parts
    above = (folder for folder in reversed(folders) if folder not in ("/", "\\"))
    return list(itertools.accumulate(above, lambda inner, folder: f"{folder}/{inner}", initial=name))


def _is_named_by_file(name: str, source: str) -> bool:
    """Whether the id is the file's own name (or that with a sheet or a row), not one that a row brought along."""
    while name and not source.endswith("/" + name):
        name = name.rpartition(":")[0]
    return name != ""


_BATCH = 128  # passages that are embedded and stored at once: a few seconds between two steps of the progress
_COMMIT = 2_000
_COMMIT_S = 20.0  # so much work at most is lost when the process is killed
_NAMED = 1_000


Progress = Callable[[int, int, str], None]
"""Told how far a run is: so many of so many bytes are done, and the file or document being read."""


class Change(NamedTuple):
    """What became of a document; ``source`` is where it was read from."""

    kind: Literal["added", "replaced", "removed"]
    document_id: str
    source: str | None


@dataclass(slots=True)
class Report:
    """What a run did, in documents; ``failed`` has a path and the reason for each file, or row of one, that failed.

    ``skipped`` counts files and hidden folders, ``skipped_why`` by reason. ``removed`` and ``kept`` are for ``sync``:
    what is gone, and what would be but for a file or folder that could not be read. ``changes`` names the first 1,000.
    ``recognised`` has the documents with text from scanned pages, and those ("2, 5-7"), the first 1,000 likewise.
    """

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    skipped: int = 0
    skipped_names: list[tuple[str, str]] = field(default_factory=list)
    passages: int = 0
    removed: int = 0
    kept: int = 0
    changes: list[Change] = field(default_factory=list)
    skipped_why: dict[str, int] = field(default_factory=dict)
    recognised: list[tuple[str, str]] = field(default_factory=list)

    @property
    def failed_files(self) -> int:
        """How many files failed, in whole or in part."""
        return len({path for path, _ in self.failed})


def ingest(
    paths: Sequence[Path] | Discovery,
    writer: Writer,
    library: Library,
    collection: str = DEFAULT_COLLECTION,
    progress: Progress | None = None,
    origin: Origin = "index",
    batch: int | None = None,
) -> Report:
    """Reads, splits and stores the documents of files and folders, or of what was found in them; what is stored
    unchanged already is left alone.

    Commits every 2,000 passages and at the end, so that an interrupted run keeps what it had committed. A file that
    cannot be read is reported, the others go on. ``origin`` says who brought them; ``batch`` passages are handed to the
    writer at once. Raises ``InputError`` when a path does not exist or nothing readable is there, and passes on what
    the writer raises.
    """
    found = paths if isinstance(paths, Discovery) else discover(paths)
    run = Run(writer, library, collection, found, origin, batch)
    run.through(progress)
    return run.report


class Run:
    """One run's documents on their way into the store; with ``collection`` empty they stay in the one they are in."""

    def __init__(
        self,
        writer: Writer | None,
        library: Documents | None,
        collection: str,
        found: Discovery,
        origin: Origin,
        batch: int | None = None,
    ) -> None:
        self.report = Report(
            failed=[(error.path, error.why) for error in found.failed],
            skipped=found.skipped,
            skipped_names=found.skipped_names,
            skipped_why=found.skipped_why,
        )
        self.seen: dict[str, Known] = {}
        self._writer, self._library = writer, library
        self._collection, self._found, self._origin = collection, found, origin
        self._size = batch or _BATCH
        self._batch: dict[str, tuple[Document, Sequence[Passage]]] = {}
        self._waiting = self._waiting_characters = self._uncommitted = 0
        self._told = 0
        self._committed_at = time.monotonic()
        self._divided: set[str | None] = set()

    def through(self, progress: Progress | None) -> None:
        """Reads and stores all that was found, and commits; broken off from the keyboard, it keeps what it stored."""
        files = [(file, file.size) for file in self._found.files]
        total, before = sum(size for _, size in files), 0

        def tell(done: int, name: str) -> None:
            # Vectors take most of the time, and what waits for them is yet to be done.
            if progress is not None:
                self._told = max(self._told, done - self._waiting_characters)
                progress(self._told, total, name)

        try:
            for file, size in files:
                tell(before, file.name)
                within = 0
                for item in read_each(file):
                    if isinstance(item, UnreadableFile):
                        self.report.failed.append((item.path, item.why))
                        continue
                    self.take(item)
                    within = min(within + len(item.text), size)
                    tell(before + within, file.name)
                before += size
            self.flush(commit=True)
            tell(total, "")
        except KeyboardInterrupt:
            if self._writer:
                self._writer.commit()
            raise

    def take(self, read: Document) -> None:
        """Stores a document with the next batch, unless it is stored already as it is."""
        named = dataclasses.replace(read.with_origin(self._origin), collection=self._collection or DEFAULT_COLLECTION)
        look = cache(self._known_document)
        name = name_of(named, look)
        before = look(name)
        collection = before.collection if before and not self._collection else named.collection
        document = dataclasses.replace(named, id=name, collection=collection)
        now = Known.of(document, fresh=True)
        self.seen[document.id] = now
        pages = document.metadata.get("recognised_pages")
        if pages and document.media_type == "application/pdf" and len(self.report.recognised) < _NAMED:
            self.report.recognised.append((document.id, pages))
        if before is not None and before.holds_what(now):
            self.report.unchanged += 1
            return
        self.report.added += before is None
        self.report.replaced += before is not None
        self._tell(Change("added" if before is None else "replaced", document.id, document.source))
        if before is None:
            self._replace_whole(document, look)
        if document.id in self._batch:
            self.flush()
        passages = split(document)
        self._batch[document.id] = document, passages
        self.report.passages += len(passages)
        self._waiting += len(passages)
        self._waiting_characters += len(document.text)
        if self._waiting >= self._size or len(self._batch) >= self._size:
            late = time.monotonic() - self._committed_at > _COMMIT_S
            self.flush(commit=late or self._uncommitted + self._waiting >= _COMMIT)

    def _replace_whole(self, document: Document, look: Look) -> None:
        """Removes what the file was as a whole before it grew into parts: ``t.csv`` when ``t.csv:101`` comes."""
        whole = document.id
        while ":" in whole and document.source not in self._divided:
            whole = whole.rpartition(":")[0]
            there = look(whole)
            is_old = there is not None and not there.fresh and is_same_place(there.source, document.source)
            if is_old and self._writer:
                self._writer.remove([whole])
        self._divided = {document.source}

    def remove(self, gone: Sequence[tuple[str, str | None]]) -> None:
        """Removes documents, ids and sources, behind all that was put; nothing of it lasts before ``flush``."""
        self.flush()
        if gone and self._writer:
            self._writer.remove([document_id for document_id, _ in gone])
        self.report.removed += len(gone)
        for document_id, source in gone:
            self._tell(Change("removed", document_id, source))

    def _tell(self, change: Change) -> None:
        if len(self.report.changes) < _NAMED:
            self.report.changes.append(change)

    def _known_document(self, document_id: str) -> Known | None:
        if document_id in self.seen:
            return self.seen[document_id]
        stored = self._library.document(document_id) if self._library else None
        return Known.of(stored) if stored else None

    def flush(self, *, commit: bool = False) -> None:
        """Hands the batch to the writer."""
        if self._batch and self._writer:
            self._writer.put(list(self._batch.values()))
        self._uncommitted += self._waiting
        self._waiting, self._waiting_characters, self._batch = 0, 0, {}
        if commit and self._writer:
            self._writer.commit()
            self._uncommitted, self._committed_at = 0, time.monotonic()
