"""Files in, passages indexed: what ``selfright index add`` does."""

import dataclasses
import itertools
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import DEFAULT_COLLECTION, Document, Origin, Passage
from selfright.domain.ports import Documents, Library, Writer
from selfright.ingest.naming import Known, Look, is_same_place, name_of
from selfright.ingest.parallel import read_files
from selfright.ingest.reading import Discovery, discover
from selfright.ingest.sandbox import ReadDocument

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
        # In an empty index nothing needs to be looked for, several names a file.
        self._writer, self._library = writer, library if library and any(library.documents()) else None
        self._collection, self._found, self._origin = collection, found, origin
        self._size = batch or _BATCH
        self._batch: dict[str, tuple[Document, Sequence[Passage]]] = {}
        self._waiting = self._waiting_characters = self._uncommitted = 0
        self._told = 0
        self._committed_at = time.monotonic()
        self._divided: set[str | None] = set()

    def through(self, progress: Progress | None) -> None:
        """Reads and stores all that was found, and commits; broken off from the keyboard, it keeps what it stored."""
        files = self._found.files
        sizes = [file.size for file in files]
        before = dict(zip(files, itertools.accumulate(sizes, initial=0), strict=False))
        total, within = sum(sizes), 0

        def tell(done: int, name: str) -> None:
            # Vectors take most of the time, and what waits for them is yet to be done.
            if progress is not None:
                self._told = max(self._told, done - self._waiting_characters)
                progress(self._told, total, name)

        try:
            with closing(read_files(files)) as items:
                for file, item in items:
                    if item is None:
                        within = 0
                    elif isinstance(item, UnreadableFile):
                        self.report.failed.append((item.path, item.why))
                    else:
                        self.take(item)
                        within = min(within + len(item.document.text), file.size)
                    tell(before[file] + within, file.name)
            self.flush(commit=True)
            tell(total, "")
        except KeyboardInterrupt:
            if self._writer:
                self._writer.commit()
            raise

    def take(self, read: ReadDocument) -> None:
        """Stores a document with the next batch, unless it is stored already as it is."""
        collection = self._collection or DEFAULT_COLLECTION
        named = dataclasses.replace(read.document.with_origin(self._origin), collection=collection)
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
        passages = read.passages(document)
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
