"""A file that somebody sent, read in a process of its own and indexed under names that harm nobody's documents."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.ports import Library
from selfright.ingest import ocr
from selfright.ingest.apart import Bounds, read_apart
from selfright.ingest.files import FileLimits, SourceFile
from selfright.ingest.naming import Known
from selfright.ingest.parallel import ReadDocument
from selfright.ingest.reading import SUFFIXES
from selfright.ingest.splitting import split

if TYPE_CHECKING:
    from selfright.domain.stores import Store

_MIB = 2**20
_LIMITS = FileLimits(file_bytes=100 * _MIB, row_bytes=16 * _MIB, unpacked_bytes=128 * _MIB, ocr_seconds=240.0)
_NAMED = 100
_BATCH = 256


@dataclass(slots=True)
class UploadReport:
    """What became of a file: counts of documents, the ids of the first 100, and what could not be read."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    passages: int = 0
    documents: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)


def take_in(path: Path, name: str, collection: str, opened: Callable[[], "Store"], *, apart: bool) -> UploadReport:
    """Reads, splits and stores the documents of a file, and commits; the store is opened when there is any.

    Raises ``UnreadableFile`` when the file as a whole cannot be read.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UnreadableFile(name, f"files of this kind are not read; supported are {', '.join(sorted(SUFFIXES))}")
    report = UploadReport()
    with closing(_read(SourceFile(path, name, _LIMITS), report)) as items:
        first = next(items, None)
        if first is None:
            return report
        store = opened()
        try:
            _store([first], items, store, collection, report, apart=apart)
        except BaseException:
            store.discard()
            raise
    store.commit()
    return report


def _read(file: SourceFile, report: UploadReport) -> Generator[ReadDocument, None, None]:
    bounds = Bounds.of(file.path.stat().st_size)
    if ocr.is_installed() and file.path.suffix.lower() == ".pdf":
        bounds = bounds.and_for(_LIMITS.ocr_seconds)
    for item in read_apart(file, bounds):
        if isinstance(item, UnreadableFile):
            report.failed.append((item.path, item.why))
        else:
            # Where it lay for a moment says nothing; the same name is the same file again.
            yield replace(item, document=replace(item.document, source=f"upload:{file.name}").brought_by("upload"))


def _store(
    first: list[ReadDocument],
    items: Iterator[ReadDocument],
    store: "Store",
    collection: str,
    report: UploadReport,
    *,
    apart: bool,
) -> None:
    batch: dict[str, ReadDocument] = {}
    for reading in chain(first, items):
        document = reading.document
        named = _named(replace(document, collection=collection), store, apart=apart)
        batch[named.id] = replace(reading, document=named)
        if len(batch) >= _BATCH:
            _put(batch, store, report)
    _put(batch, store, report)


def _put(batch: dict[str, ReadDocument], store: "Store", report: UploadReport) -> None:
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
        ready.append((document, reading.passages(document) or split(document)))
    report.passages += sum(len(passages) for _, passages in ready)
    if ready:
        store.put(ready)
    batch.clear()


def _named(document: Document, library: Library, *, apart: bool) -> Document:
    """The document under its own name, or one that is free."""
    own = f"{document.collection}/{document.id}"
    free: str | None = None
    for name in chain((document.id, own), (f"{own}~{n}" for n in count(2))):
        there = library.document(name)
        if there is None:
            free = free or (None if apart and name == document.id else name)
            if name not in (document.id, own):
                break
        # Where nothing says what it came from, it was sent under this name before that was written down.
        elif there.collection == document.collection and there.source in (None, document.source):
            return replace(document, id=name)
    return replace(document, id=free or own)
