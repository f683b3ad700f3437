"""An index goes out: its documents in the layout of BEIR, with their vectors beside them if wanted."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import numpy as np

from selfright.domain.errors import InputError
from selfright.domain.passages import Document, Passage
from selfright.domain.stores import Contents
from selfright.ingest.faiss_files import faiss
from selfright.ingest.pipeline import Progress

CORPUS, VECTORS, META = "corpus.jsonl", "vectors.faiss", "vectors.meta.jsonl"


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written: documents in ``corpus.jsonl``, and vectors."""

    folder: Path
    documents: int
    vectors: int


def export(
    store: Contents,
    folder: Path,
    *,
    dimension: int = 0,
    force: bool = False,
    progress: Progress | None = None,
    total: int = 0,
) -> ExportReport:
    """Writes ``corpus.jsonl`` (a row for each document), and vectors where their ``dimension`` is given.

    All of it lies in ``folder`` when it is done, or nothing. Raises ``InputError`` when something is in the folder
    already; with ``force`` files of the same names are replaced and others are left alone. Memory holds the vectors,
    4 bytes × dimension each, and one document.
    """
    target = Path(os.path.realpath(folder))
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is a file, but an export needs a folder; name another place")
    if not force and target.is_dir() and any(target.iterdir()):
        raise InputError(f"{target} is not empty; name another folder, or replace an export in it with --force")
    around = target if target.is_dir() else target.parent
    around.mkdir(parents=True, exist_ok=True)
    counts = {"documents": 0, "vectors": 0}
    with TemporaryDirectory(prefix=".unfinished-", dir=around, ignore_cleanup_errors=True) as unfinished:
        place = Path(unfinished)
        index, none = faiss().IndexFlatIP(dimension) if dimension else None, np.zeros(dimension, dtype=np.float32)
        with _open(place / CORPUS) as corpus, _open(place / META) as meta:
            for info in store.documents():
                if (document := store.document(info.id)) is None:
                    continue  # removed meanwhile
                _write(corpus, [_row(document)])
                counts["documents"] += 1
                cut = list(store.passages_of(info.id)) if dimension else []
                if index is not None and cut:
                    found = store.vectors_of(document.id)
                    _write(meta, [_pointer(document, each, each.id in found) for each in cut])
                    index.add(np.stack([found.get(each.id, none) for each in cut]))
                    counts["vectors"] += sum(each.id in found for each in cut)
                if progress:
                    progress(counts["documents"], max(total, counts["documents"]), document.id)
        if index is not None:
            faiss().write_index(index, str(place / VECTORS))
        _move(place, target, (VECTORS, META, CORPUS) if index is not None else (CORPUS,))
    return ExportReport(folder, **counts)


def _move(place: Path, target: Path, names: Sequence[str]) -> None:
    """The files of these names; those of an older export that are no part of this one go."""
    target.mkdir(exist_ok=True)
    for name in {VECTORS, META, CORPUS} - set(names):
        (target / name).unlink(missing_ok=True)
    for name in names:
        os.replace(place / name, target / name)


def _row(of: Document) -> dict[str, object]:
    """A document as a row of BEIR's ``corpus.jsonl``."""
    told = {"language": of.language, "url": of.url, "collection": of.collection, "source": of.source}
    facts = {key: value for key, value in told.items() if value is not None}
    # What the document brought along is never overwritten; how the index holds it also stands beside it.
    return {"_id": of.id, "title": of.title, "text": of.text, **facts, "metadata": {**facts, **of.metadata}}


def _pointer(document: Document, passage: Passage, embedded: bool) -> dict[str, object]:
    """Which part of a row a vector is of."""
    pointer: dict[str, object] = {"_id": document.id, "start": passage.start, "end": passage.end}
    pointer["section"] = passage.section
    if passage.head:
        pointer["head"] = passage.head
    if passage.language != document.language:
        pointer["language"] = passage.language
    return pointer if embedded else {**pointer, "embedded": False}


def _open(path: Path) -> IO[str]:
    return path.open("w", encoding="utf-8", newline="\n")


def _write(file: IO[str], rows: list[dict[str, object]]) -> None:
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
