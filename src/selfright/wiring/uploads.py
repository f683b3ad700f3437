"""Ingestion wired: files that somebody sent, read in a process of their own, and files prepared on a cluster."""

import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import IO, TYPE_CHECKING

from selfright.background import Deadline
from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.ports import Library
from selfright.ingest import ocr
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.naming import Known
from selfright.ingest.reading import SUFFIXES
from selfright.ingest.sandbox import ReadDocument, decode_document, encode_document, read_apart
from selfright.processes import receive, send
from selfright.retrieval.stores.opening import words_first

if TYPE_CHECKING:
    from selfright.domain.stores import Store

_MIB = 2**20
_LIMITS = FileLimits(file_bytes=100 * _MIB, row_bytes=16 * _MIB, unpacked_bytes=128 * _MIB, ocr_seconds=240.0)
_MOST_PASSAGES = 20_000  # of a file; embedding them takes some minutes of two cores
_NAMED = 100
_BATCH = 256  # documents and passages, between which an upload can be broken off: an index on a server embeds them


@dataclass(slots=True)
class UploadReport:
    """What became of a file: counts of documents, the ids of the first 100, and what could not be read."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    passages: int = 0
    documents: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)


class ReadUpload:
    """The documents of a file, split and not stored yet; they lie on disk until ``close``.

    ``failed`` has what could not be read. Reading may take minutes, in which nobody need wait for the index.
    """

    def __init__(self, name: str = "", deadline: Deadline | None = None) -> None:
        self.failed: list[tuple[str, str]] = []
        self.count = self.passages = 0
        self._name, self._deadline = name, deadline or Deadline()
        self._kept: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # ``close`` closes it

    def keep(self, reading: ReadDocument) -> None:
        """Adds a document."""
        send(self._kept, encode_document(reading))
        self.count += 1
        self.passages += len(reading.spans)
        if self.passages > _MOST_PASSAGES:
            raise UnreadableFile(
                self._name,
                f"it has more than {_MOST_PASSAGES:,} passages; split it, or add it with 'selfright index add'",
            )

    def check(self) -> None:
        """Raises ``UnreadableFile`` when there is no time left to go on with it."""
        if not self._deadline.left:
            why = f"taking it in took more than {self._deadline.seconds:.0f} s"
            raise UnreadableFile(self._name, f"{why}; split it, or add it with 'selfright index add'")

    def documents(self) -> Iterator[ReadDocument]:
        """All of them, as they were added."""
        self._kept.seek(0)
        for _ in range(self.count):
            yield decode_document(receive(self._kept))

    def close(self) -> None:
        """Forgets the documents."""
        self._kept.close()


def read_upload(path: Path, name: str, deadline: Deadline) -> ReadUpload:
    """Reads and splits the documents of a file; ``deadline`` bounds this and storing together.

    Raises ``UnreadableFile`` when files of this kind are not read, when it is too much, and when the time is over.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UnreadableFile(name, f"files of this kind are not read; supported are {', '.join(sorted(SUFFIXES))}")
    upload = ReadUpload(name, deadline)
    try:
        with closing(_read(SourceFile(path, name, _LIMITS), deadline)) as items:
            for item in items:
                if isinstance(item, UnreadableFile):
                    upload.failed.append((item.path, item.why))
                else:
                    upload.keep(item)
        upload.check()
    except BaseException:
        upload.close()
        raise
    return upload


def store_upload(upload: ReadUpload, collection: str, opened: Callable[[], "Store"], *, apart: bool) -> UploadReport:
    """Stores what was read of a file, and commits; the store is opened when there is any document."""
    report = UploadReport(failed=upload.failed)
    if not upload.count:
        return report
    store, batch = opened(), dict[str, ReadDocument]()
    try:
        for reading in _name_readings(upload, collection, store, apart=apart):
            batch[reading.document.id] = reading
            if sum(1 + len(each.spans) for each in batch.values()) >= _BATCH:
                _put(upload, batch, store, report)
        _put(upload, batch, store, report)
        upload.check()  # the last moment at which nothing of it stays
    except BaseException:
        store.discard()
        raise
    store.commit()
    return report


def _read(file: SourceFile, deadline: Deadline) -> Generator[ReadDocument | UnreadableFile, None, None]:
    with closing(read_apart(file, ocr.bounds_of(file), deadline)) as items:
        for item in items:
            if isinstance(item, UnreadableFile):
                yield item
            else:
                # Where it lay for a moment says nothing; the same name is the same file again.
                yield replace(item, document=replace(item.document, source=f"upload:{file.name}").with_origin("upload"))


def _name_readings(upload: ReadUpload, collection: str, library: Library, *, apart: bool) -> Iterator[ReadDocument]:
    for reading in upload.documents():
        document = replace(reading.document, collection=collection)
        yield replace(reading, document=_name_document(document, library, apart=apart))


def _put(upload: ReadUpload, batch: dict[str, ReadDocument], store: "Store", report: UploadReport) -> None:
    upload.check()
    ready = []
    for reading in batch.values():
        document = reading.document
        before = store.document(document.id)
        report.documents += [document.id] * (len(report.documents) < _NAMED)
        if before is not None and Known.of(before).holds_what(Known.of(document)):
            report.unchanged += 1
            continue
        report.added += before is None
        report.replaced += before is not None
        ready.append((document, reading.passages(reading.document)))
    report.passages += sum(len(passages) for _, passages in ready)
    if ready:
        words_first(store).put(ready)
    batch.clear()


def _name_document(document: Document, library: Library, *, apart: bool) -> Document:
    """The document under its own name, or one that is free."""
    own = f"{document.collection}/{document.id}"
    free: str | None = None
    for name in chain((document.id, own), (f"{own}~{n}" for n in count(2))):
        there = library.document(name)
        if there is None:
            free = free or (None if apart and name == document.id else name)
            if name not in (document.id, own):
                break
        elif there.collection == document.collection and there.source == document.source:
            return replace(document, id=name)
    return replace(document, id=free or own)
