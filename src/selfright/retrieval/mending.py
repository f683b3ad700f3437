"""Verifying and mending an index as a whole, also one that can no longer be opened."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from selfright.domain.errors import IndexDamaged, NotAnIndex
from selfright.domain.passages import Document
from selfright.domain.ports import Embedder, Tokenizer
from selfright.domain.stores import Finding
from selfright.retrieval.as_made import AsMade, at_hand
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import FILE_NAME, LOCK_NAME
from selfright.retrieval.catalogue_writer import CatalogueWriter
from selfright.retrieval.files import erase, sync_folder, write_atomically
from selfright.retrieval.locking import WriterLock
from selfright.retrieval.preparing import indexed_text
from selfright.retrieval.records import Prepared
from selfright.retrieval.salvage import Saved, salvage
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.vectors import FOLDER, VectorFile

_MENDED = "mended"
_SIDES = ("", "-wal", "-shm")
AGAIN = "to-index-again.jsonl"


def verify(
    path: Path, tokenizer: Tokenizer, embedder: Embedder | AsMade | None, *, repair: bool = False
) -> list[Finding]:
    """Reads and checks all of the index at ``path``; with ``repair`` puts right what can be.

    Search indexes are made anew from the catalogue and damaged vectors from their text. Of a damaged catalogue
    everything readable goes into a new one; the damaged one stays in a folder ``damaged-N`` beside it, with the
    documents that have to be indexed again in ``to-index-again.jsonl``. Only for damaged vectors the embedder
    is needed. Raises ``IndexNotFound`` and ``IncompatibleIndex``.
    """
    if repair:
        _finish(path)
    try:
        with EmbeddedStore.unchecked(path, tokenizer, embedder) as store:
            embedder = store.embedder
            findings = store.verify()
            broken = any(finding.file == FILE_NAME for finding in findings)
            if repair and findings and not broken:
                return store.verify(repair=True)
    except (IndexDamaged, NotAnIndex) as error:
        if isinstance(error, NotAnIndex) and not (path / FOLDER).exists() and not (path / "lexical").exists():
            raise
        findings, broken = [Finding(FILE_NAME, str(error))], True
    if not repair or not broken:
        return findings
    return [*(replace(finding, mended=True) for finding in findings), *_rebuilt(path, tokenizer, at_hand(embedder))]


def _rebuilt(path: Path, tokenizer: Tokenizer, embedder: Embedder | None) -> list[Finding]:
    """Makes a new catalogue of what can be read of the damaged one, and takes its place."""
    with _locked(path):
        erase(path / _MENDED)
        EmbeddedStore.create(path / _MENDED, tokenizer, embedder).close()
        with closing(Catalogue(path / _MENDED)) as catalogue:
            saved = _carry_over(path, catalogue, embedder)
        grave = _grave(path)
        _write_texts(grave, saved.texts)
        for side in _SIDES:
            if (path / f"{FILE_NAME}{side}").exists():
                (path / f"{FILE_NAME}{side}").replace(grave / f"{FILE_NAME}{side}")
        if (path / FOLDER).exists():
            (path / FOLDER).replace(grave / FOLDER)
        _finish(path)
    EmbeddedStore.open(path, tokenizer, embedder).close()
    return _told(saved, grave)


def _carry_over(path: Path, catalogue: Catalogue, embedder: Embedder | None) -> Saved:
    writer = CatalogueWriter(catalogue)
    old = {file.name: VectorFile(file, catalogue.meta.dimension) for file in (path / FOLDER).glob("rows-*.f32")}

    def put(batch: Sequence[tuple[Document, list[Prepared]]]) -> None:
        moved = [(document, _with_vectors(passages, old, writer, embedder)) for document, passages in batch]
        writer.put(moved)

    with writer.step():
        saved = salvage(path / FILE_NAME, put)
    writer.commit()
    return saved


def _with_vectors(
    passages: Sequence[Prepared], old: dict[str, VectorFile], writer: CatalogueWriter, embedder: Embedder | None
) -> list[Prepared]:
    """The passages with their vectors carried over, or embedded anew where they are damaged."""
    carried = []
    for prepared in passages:
        place = None
        if prepared.row is not None and prepared.vector_sum is not None:
            row, checksum = np.array([prepared.row]), np.array([prepared.vector_sum])
            file = next((file for file in old.values() if file.intact(row, checksum)[0]), None)
            if file is not None:
                (place,) = writer.append(file.read(row, checksum))
            elif embedder is not None:
                (place,) = writer.append(embedder.embed([indexed_text(prepared.passage)]))
        carried.append(replace(prepared, row=place and place[0], vector_sum=place and place[1]))
    return carried


def _finish(path: Path) -> None:
    """Moves a finished new catalogue into the place of one that is no longer there; the catalogue itself last."""
    mended = path / _MENDED
    if (path / FILE_NAME).exists() or not (mended / FILE_NAME).exists():
        return
    if (mended / FOLDER).exists():
        (mended / FOLDER).replace(path / FOLDER)
    for side in _SIDES[::-1]:
        if (mended / f"{FILE_NAME}{side}").exists():
            (mended / f"{FILE_NAME}{side}").replace(path / f"{FILE_NAME}{side}")
    sync_folder(path)
    for folder in (mended, path / "lexical", path / "dense"):
        erase(folder)


def _grave(path: Path) -> Path:
    number = 1
    while (path / f"damaged-{number}").exists():
        number += 1
    (path / f"damaged-{number}").mkdir()
    return path / f"damaged-{number}"


def _write_texts(grave: Path, documents: Sequence[Document]) -> None:
    if documents:
        rows = (
            {"_id": found.id, "title": found.title, "text": found.text, "metadata": dict(found.metadata)}
            for found in documents
        )
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_atomically(grave / AGAIN, lines.encode())


def _told(saved: Saved, grave: Path) -> list[Finding]:
    told = [Finding(FILE_NAME, f"{saved.kept:,} documents were carried over into a new catalogue", mended=True)]
    if saved.texts:
        names = ", ".join(document.id for document in saved.texts[:10])
        told.append(
            Finding(FILE_NAME, f"{len(saved.texts):,} documents have to be indexed again from {grave / AGAIN}: {names}")
        )
    if saved.lost:
        names = ", ".join(saved.lost[:10])
        told.append(Finding(FILE_NAME, f"{len(saved.lost):,} documents are lost: {names}; add their files again"))
    return told


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = WriterLock(path / LOCK_NAME)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()
