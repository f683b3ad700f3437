"""An index goes out, or one made elsewhere comes in: texts in JSON Lines, vectors in a file, and lines that join both.

What comes in is checked before anything is written, and all is committed at once: an import happens wholly or not at
all. No text is embedded, but for a few that show whether the vectors are this embedder's. What goes out has the layout
of BEIR.
"""

import dataclasses
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import numpy as np
from numpy.typing import NDArray

from selfright.domain.errors import InputError, ModelError, UnreadableFile
from selfright.domain.passages import Document, Passage
from selfright.domain.ports import Embedder
from selfright.domain.stores import Contents, Store
from selfright.ingest.corpus_layout import CorpusLayout, FaissVectors, Part, faiss
from selfright.ingest.pipeline import Progress
from selfright.ingest.splitting import split

CORPUS, VECTORS, META = "corpus.jsonl", "vectors.faiss", "vectors.meta.jsonl"
_BATCH = 64  # documents that are written at a time
_BLOCK = 4_096  # vectors that are checked at a time
_ALIKE = 0.9  # cosine; the same model in another number format stays above 0.97
_SHORTEST = 1e-6  # what is shorter has no direction
_ROUNDING = 1e-6
_NAMED = (
    "name the embedder that made them with --embedder (e5: 384 dimensions, Korean and English; "
    "openai:text-embedding-3-small: 1,536; or provider:model)"
)
_ADVICE = f"{_NAMED}, or import with --no-vectors"


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import brought, in documents, passages and vectors; ``notes`` says what is peculiar about the vectors."""

    added: int
    replaced: int
    passages: int
    vectors: int
    notes: tuple[str, ...]


def import_corpus(
    corpus: Path,
    meta: Path | None,
    vectors: FaissVectors | None,
    embedder: Embedder | None,
    opened: Callable[[], Store],
    collection: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Checks all files, then opens the store and puts every document in, in ``collection`` or where its row says.

    ``vectors`` None takes the texts only. ``embedder`` is what the index is searched with. A document that has an id of
    the import is replaced, as ``add`` does it. After an error nothing stays.
    """
    if vectors is not None and meta is None:
        raise InputError(f"the vectors of {vectors.path} need the .meta.jsonl that says which text each is of")
    used = _embedder_for(vectors, embedder) if vectors else None
    layout = CorpusLayout(corpus, meta)
    if vectors and used:
        check_vectors(layout, vectors, used)
    store, entries = opened(), _entries(layout, collection)
    known = passages = stored = 0
    try:
        while batch := list(islice(entries, _BATCH)):
            known += sum(store.document(document.id) is not None for document, _, _ in batch)
            passages += sum(len(cut) for _, cut, _ in batch)
            stored += _put(store, vectors, batch)
            if progress:
                progress(min(passages, len(layout.parts)), len(layout.parts), batch[-1][0].id)
        store.commit()
    except BaseException:
        store.discard()
        raise
    return ImportReport(len(layout) - known, known, passages, stored, vectors.notes if vectors else ())


_Entry = tuple[Document, list[Passage], dict[str, int]]


def _entries(layout: CorpusLayout, collection: str | None) -> Iterator[_Entry]:
    """The documents with their passages, and by a passage's id which vector is its own."""
    for found, parts in layout.documents():
        document = dataclasses.replace(found, collection=collection or found.collection)
        passages = [_passage(document, n, part) for n, part in enumerate(parts)] or split(document)
        own = zip(passages, parts, strict=False)  # no parts: as ``add`` splits it
        yield document, passages, {passage.id: part.number for passage, part in own if part.embedded}


def _passage(document: Document, n: int, part: Part) -> Passage:
    return document.passage(n, part.start, part.end, part.section, part.head, part.language)


def _put(store: Store, vectors: FaissVectors | None, batch: Sequence[_Entry]) -> int:
    """How many vectors were put with the documents."""
    documents = [(document, passages) for document, passages, _ in batch]
    if vectors is None:
        store.put(documents)
        return 0
    numbers = {name: number for _, _, own in batch for name, number in own.items()}
    matrix = _unit(vectors.rows(list(numbers.values())))
    store.put(documents, dict(zip(numbers, matrix, strict=True)))
    return len(numbers)


def _embedder_for(vectors: FaissVectors, embedder: Embedder | None) -> Embedder:
    """The embedder, if it can have made the vectors."""
    if embedder is None:
        raise InputError(
            f"this index is searched by words alone and takes no vectors; import with --no-vectors, or {_NAMED}"
        )
    if vectors.dimension != embedder.dimension:
        raise InputError(
            f"the vectors of {vectors.path} have {vectors.dimension} dimensions, but the embedder {embedder.name} "
            f"makes {embedder.dimension}; {_ADVICE}"
        )
    return embedder


def check_vectors(layout: CorpusLayout, vectors: FaissVectors, embedder: Embedder) -> None:
    """Raises ``InputError`` when the vectors are not one for each line, no directions, or not the embedder's."""
    if vectors.count != len(layout.parts):
        raise InputError(
            f"{vectors.path} has {vectors.count:,} vectors, but the .meta.jsonl has {len(layout.parts):,} lines; "
            "each vector needs the one line that says what it is of"
        )
    for begin in range(0, len(layout.parts), _BLOCK):
        block = layout.parts[begin : begin + _BLOCK]
        lengths = np.linalg.norm(vectors.rows([part.number for part in block]).astype(np.float64), axis=1)
        for part, length in zip(block, lengths.tolist(), strict=True):
            if part.embedded and not _SHORTEST < length < float("inf"):
                raise UnreadableFile(
                    str(vectors.path),
                    f"vector {part.number} (line {part.line} of the .meta.jsonl) is no direction: its length is "
                    f"{length}; make it anew, or import with --no-vectors",
                )
    for row, document in layout.sample.items():
        part = layout.parts_of(row)[0]
        if part.embedded:
            _check_cosine(vectors, embedder, part, _passage(document, 0, part))


def _check_cosine(vectors: FaissVectors, embedder: Embedder, part: Part, passage: Passage) -> None:
    # Some embed the text alone, some with its title: both are this embedder's work.
    texts = [passage.text, f"{passage.context}\n{passage.text}"]
    try:
        own = embedder.embed(texts if passage.context else texts[:1])
    except ModelError:
        return  # out of reach now; the dimension fits, and nothing else can be said
    cosine = float((own @ _unit(vectors.rows([part.number]))[0]).max())
    if cosine < _ALIKE:
        raise InputError(
            f"the vectors of {vectors.path} are not those of the embedder {embedder.name}, or belong to other texts: "
            f"the cosine for line {part.line} of the .meta.jsonl is {cosine:.2f}, expected at least {_ALIKE}; {_ADVICE}"
        )


def _unit(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length one; those that have it already stay as they are, to the last bit."""
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.where(np.abs(lengths - 1) < _ROUNDING, matrix, matrix / lengths).astype(np.float32)
    return unit


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
