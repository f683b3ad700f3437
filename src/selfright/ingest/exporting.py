"""An index goes out: documents or passages in the layout of BEIR, with their vectors beside them if wanted."""

import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from selfright.domain.errors import InputError
from selfright.domain.passages import Document, Passage
from selfright.domain.stores import Contents
from selfright.ingest.faiss_files import FlatVectors
from selfright.ingest.pipeline import Progress

CORPUS, VECTORS, META = "corpus.jsonl", "vectors.faiss", "vectors.meta.jsonl"


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written: rows of ``corpus.jsonl``, and vectors."""

    folder: Path
    documents: int
    rows: int
    vectors: int


def export(
    store: Contents,
    folder: Path,
    *,
    passages: bool = False,
    dimension: int = 0,
    force: bool = False,
    progress: Progress | None = None,
    total: int = 0,
) -> ExportReport:
    """Writes ``corpus.jsonl`` (a row for each document, or passage), and vectors where their ``dimension`` is given.

    All of it lies in ``folder`` when it is done, or nothing. Raises ``InputError`` when something is in the folder
    already; with ``force`` files of the same names are replaced and others are left alone. Memory holds the vectors,
    4 bytes × dimension each, and one document.
    """
    target = Path(os.path.realpath(folder))
    _check_free(target, force=force)
    counts = {"documents": 0, "rows": 0, "vectors": 0}
    with _unfinished(target) as place:
        made = FlatVectors(dimension) if dimension else None
        with _lines(place / CORPUS) as corpus, _lines(place / META) as meta:
            for document, cut in _documents(store, cut=passages or bool(dimension)):
                rows = [passage_row(document, each) for each in cut] if passages else [document_row(document)]
                _write(corpus, rows)
                counts["documents"] += 1
                counts["rows"] += len(rows)
                if made is not None and cut:
                    counts["vectors"] += _add_vectors(store, made, dimension, meta, document, cut, whole=passages)
                if progress:
                    progress(counts["documents"], max(total, counts["documents"]), document.id)
        if made is None:
            (place / META).unlink()
        else:
            made.write(place / VECTORS)
        _move(place, target)
    return ExportReport(folder, **counts)


def _documents(store: Contents, *, cut: bool) -> Iterator[tuple[Document, list[Passage]]]:
    for info in store.documents():
        document = store.document(info.id)
        if document is not None:  # else removed meanwhile
            yield document, list(store.passages_of(info.id)) if cut else []


def _add_vectors(
    store: Contents,
    made: FlatVectors,
    dimension: int,
    meta: IO[str],
    document: Document,
    cut: list[Passage],
    *,
    whole: bool,
) -> int:
    """A line and a vector for every passage; one without a vector gets zeros, which are near nothing."""
    import numpy as np

    found = store.vectors_of(document.id)
    _write(meta, [_pointer(document, passage, passage.id in found, whole=whole) for passage in cut])
    none = np.zeros(dimension, dtype=np.float32)
    made.add(np.stack([found.get(passage.id, none) for passage in cut]))
    return sum(passage.id in found for passage in cut)


def document_row(document: Document) -> dict[str, object]:
    """A document as a row of BEIR's ``corpus.jsonl``."""
    return _row(document, document.id, document.title, document.text, {})


def passage_row(document: Document, passage: Passage) -> dict[str, object]:
    """A passage as such a row; its place in the document is in ``metadata``."""
    place = {
        "document_id": document.id,
        "section": passage.section,
        "head": passage.head,
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
    if passage.head:
        pointer["head"] = passage.head
    if not whole and passage.language != document.language:
        pointer["language"] = passage.language
    return pointer if embedded else {**pointer, "embedded": False}


@contextmanager
def _lines(path: Path) -> Iterator[IO[str]]:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _write(file: IO[str], rows: list[dict[str, object]]) -> None:
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


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
