"""An index goes out: documents or passages in the layout of BEIR, with their vectors beside them if wanted.

What is written comes from any stream of records, so that a damaged index can be saved by what is readable of it.
"""

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from selfright.domain.errors import InputError, StoreError
from selfright.domain.passages import Document, Passage
from selfright.domain.stores import Store
from selfright.ingest.pipeline import Progress

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

CORPUS, VECTORS, META = "corpus.jsonl", "vectors.faiss", "vectors.meta.jsonl"


@dataclass(frozen=True, slots=True)
class Record:
    """A document with its passages in reading order and their vectors by passage id; a passage may have none."""

    document: Document
    passages: Sequence[Passage] = ()
    vectors: "Mapping[str, NDArray[np.float32]]" = field(default_factory=dict)


class VectorSink(Protocol):
    """A file that vectors are written to, row by row."""

    def add(self, rows: "NDArray[np.float32]") -> None:
        """Appends rows."""
        ...


@dataclass(frozen=True, slots=True)
class VectorFormat:
    """How vectors are written: what opens the file at a path, and how long a vector is."""

    open: "Callable[[Path], AbstractContextManager[VectorSink]]"
    dimension: int


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written: rows of ``corpus.jsonl``, vectors, and why what is missing could not be read."""

    folder: Path
    documents: int
    rows: int
    vectors: int
    failed: tuple[str, ...]


def records_of(shelf: Store, *, passages: bool, vectors: bool) -> Iterator[Record]:
    """The records of a sound store, one document at a time, ordered by id."""
    for info in shelf.documents():
        document = shelf.document(info.id)
        if document is None:
            continue  # removed meanwhile
        cut = shelf.passages_of(info.id) if passages or vectors else ()
        yield Record(document, cut, shelf.vectors_of(info.id) if vectors else {})


def export(
    records: Iterable[Record | StoreError],
    folder: Path,
    *,
    passages: bool = False,
    vectors: VectorFormat | None = None,
    force: bool = False,
    progress: Progress | None = None,
    total: int = 0,
) -> ExportReport:
    """Writes ``corpus.jsonl`` (a row for each document, or each passage), and the vectors where a format is given.

    All of it lies in ``folder`` when it is done, or nothing. A ``StoreError`` among the records is a document that
    could not be read: reported, and the others are written. Raises ``InputError`` when something is in the folder
    already; with ``force`` files of the same names are replaced and others are left alone.
    """
    target = Path(os.path.realpath(folder))
    _check_free(target, force=force)
    with _unfinished(target) as place:
        with _Files(place, passages=passages, vectors=vectors) as files:
            for done, record in enumerate(records, start=1):
                files.write(record)
                if progress:
                    name = record.document.id if isinstance(record, Record) else ""
                    progress(done, max(total, done), name)
        _move(place, target)
    return ExportReport(folder, files.documents, files.rows, files.vectors, tuple(files.failed))


class _Files:
    """The files of one export while they are written."""

    def __init__(self, place: Path, *, passages: bool, vectors: VectorFormat | None) -> None:
        self._place, self._passages, self._format = place, passages, vectors
        self._stack = ExitStack()
        self.documents = self.rows = self.vectors = 0
        self.failed: list[str] = []

    def __enter__(self) -> "_Files":
        with ExitStack() as stack:
            self._corpus = stack.enter_context(_lines(self._place / CORPUS))
            if self._format:
                self._meta = stack.enter_context(_lines(self._place / META))
                self._sink = stack.enter_context(self._format.open(self._place / VECTORS))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def write(self, record: Record | StoreError) -> None:
        """A document, or why it is missing."""
        if isinstance(record, StoreError):
            self.failed.append(" ".join(str(record).split()))
            return
        self.documents += 1
        if self._passages:
            for passage in record.passages:
                self._row(passage_row(record.document, passage))
        else:
            self._row(document_row(record.document))
        if self._format and record.passages:
            self._write_vectors(self._format, record)

    def _row(self, row: Mapping[str, object]) -> None:
        _write(self._corpus, row)
        self.rows += 1

    def _write_vectors(self, form: VectorFormat, record: Record) -> None:
        """A line and a vector for every passage; one without a vector gets zeros, which are near nothing."""
        import numpy as np

        none = np.zeros(form.dimension, dtype=np.float32)
        for passage in record.passages:
            _write(self._meta, _pointer(record.document, passage, passage.id in record.vectors, whole=self._passages))
        self._sink.add(np.stack([record.vectors.get(passage.id, none) for passage in record.passages]))
        self.vectors += sum(passage.id in record.vectors for passage in record.passages)


def document_row(document: Document) -> dict[str, object]:
    """A document as a row of BEIR's ``corpus.jsonl``."""
    return _row(document, document.id, document.title, document.text, {})


def passage_row(document: Document, passage: Passage) -> dict[str, object]:
    """A passage as such a row; its place in the document is in ``metadata``."""
    place = {
        "document_id": document.id,
        "section": passage.section,
        "start": str(passage.start),
        "end": str(passage.end),
    }
    return _row(replace(document, language=passage.language), passage.id, passage.title, passage.text, place)


def _row(document: Document, name: str, title: str, text: str, place: Mapping[str, str]) -> dict[str, object]:
    told = {
        "language": document.language,
        "url": document.url,
        "collection": document.collection,
        "source": document.source,
    }
    facts = {key: value for key, value in told.items() if value is not None}
    # What the document brought along is never overwritten; how the index holds it also stands beside it.
    return {"_id": name, "title": title, "text": text, **facts, "metadata": {**facts, **place, **document.metadata}}


def _pointer(document: Document, passage: Passage, embedded: bool, *, whole: bool) -> dict[str, object]:
    """Which text a vector is of: all of a row that is a passage, else a part of a document's row."""
    pointer: dict[str, object] = {"_id": passage.id if whole else document.id}
    if not whole:
        pointer |= {"start": passage.start, "end": passage.end}
    pointer["section"] = passage.section
    if not whole and passage.language != document.language:
        pointer["language"] = passage.language
    return pointer if embedded else {**pointer, "embedded": False}


@contextmanager
def _lines(path: Path) -> Iterator[IO[str]]:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _write(file: IO[str], row: Mapping[str, object]) -> None:
    file.write(json.dumps(row, ensure_ascii=False))
    file.write("\n")


def _check_free(target: Path, *, force: bool) -> None:
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is a file, but an export needs a folder; name another place")
    if not force and target.is_dir() and any(target.iterdir()):
        raise InputError(f"{target} is not empty; name another folder, or replace an export in it with --force")


@contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """A folder beside ``target``, or in it where it exists, which is gone afterwards."""
    around = target if target.is_dir() else target.parent
    place = around / f".{target.name[:100]}-{uuid.uuid4().hex[:8]}.unfinished"
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _move(place: Path, target: Path) -> None:
    """Puts the finished files where they belong: the folder at once, or file by file where it exists."""
    if not target.exists():
        os.replace(place, target)
        return
    for name in (VECTORS, META, CORPUS):
        if (place / name).exists():
            os.replace(place / name, target / name)
        else:
            (target / name).unlink(missing_ok=True)
