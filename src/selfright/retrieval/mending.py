"""Verifying and mending an index as a whole, and saving what can be read of one that can no longer be opened.

Each record is asked for by its number, so that a broken page costs only what lies on it. A document is carried over
when its own record and all its passages are whole; of the others those with a whole text are given back as documents,
to be indexed again, and the rest is named as lost.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from selfright.domain.errors import IndexDamaged, NotAnIndex
from selfright.domain.passages import Document
from selfright.domain.ports import Embedder, Tokenizer
from selfright.domain.stores import Finding
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import FILE_NAME, LOCK_NAME
from selfright.retrieval.catalogue_writer import CatalogueWriter
from selfright.retrieval.files import erase, locked, sync_folder, write_atomically
from selfright.retrieval.preparing import indexed_text
from selfright.retrieval.records import INFO_COLUMNS, SHOWN_COLUMNS, Prepared, Shown, document_of, seal, shown_of
from selfright.retrieval.schema import AsMade, at_hand
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.vectors import FOLDER, VectorFile

_MOST_NUMBERS = 50_000_000

Put = Callable[[Sequence[tuple[Document, list[Prepared]]]], None]


@dataclass(slots=True)
class Saved:
    """What became of the documents: ``kept`` whole, ``texts`` whose passages are damaged, ids that are ``lost``."""

    kept: int = 0
    texts: list[Document] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


class _Wreck:
    """Reads single records of a catalogue of which parts are damaged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = sqlite3.connect(f"file:{path.as_posix()}?mode=ro", uri=True)

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def documents(self) -> Iterator[tuple[Document | str, int]]:
        """Each document with the number of its passages; its id alone when its text or record is damaged."""
        for number in self._numbers("documents", "rowid"):
            row = self._row(f"SELECT {INFO_COLUMNS}, text FROM documents WHERE rowid = ?", number)
            if row is None:
                continue
            try:
                yield document_of(row, self._path), row[1]
            except (IndexDamaged, ValueError):
                yield str(row[0]), 0

    def passages(self) -> Iterator[tuple[Shown, str, bytes]]:
        """Each whole passage with its terms and the hash of its text, by key."""
        query = f"SELECT {SHOWN_COLUMNS}, mark, text_hash, terms, terms_crc FROM passages WHERE key = ? AND NOT removed"
        for number in self._numbers("passages", "key"):
            row = self._row(query, number)
            if row is None:
                continue
            *columns, tie, text_hash, terms, terms_crc = row
            try:
                shown = shown_of(columns, self._path)
            except (IndexDamaged, ValueError, TypeError):
                continue
            if seal(shown.key, tie, shown.passage.collection, terms) == terms_crc:
                yield shown, terms, text_hash

    def _row(self, query: str, number: int) -> Sequence[Any] | None:
        try:
            row: Sequence[Any] | None = self._connection.execute(query, (number,)).fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            return None
        return row

    def _numbers(self, table: str, column: str) -> range:
        highest = 0
        for query in (
            f"SELECT MAX({column}) FROM {table}",
            f"SELECT MAX(seq) FROM sqlite_sequence WHERE name = '{table}'",
            f"SELECT COUNT(*) FROM {table}",
        ):
            try:
                highest = max(highest, self._connection.execute(query).fetchone()[0] or 0)
            except (sqlite3.DatabaseError, TypeError):
                continue
        return range(1, min(highest, _MOST_NUMBERS) + 1)


def readable(path: Path) -> Iterator[tuple[Document, list[Prepared]] | Document | str]:
    """A document with its passages, or alone when passages are damaged, or only the id of one that is lost."""
    if not path.exists():
        return
    with closing(_Wreck(path)) as wreck:
        by_document: dict[str, list[Prepared]] = {}
        for shown, terms, text_hash in wreck.passages():
            prepared = Prepared(shown.passage, terms, text_hash, shown.row, shown.vector_sum)
            by_document.setdefault(shown.passage.document_id, []).append(prepared)
        for found, count in wreck.documents():
            passages = by_document.pop(found if isinstance(found, str) else found.id, [])
            if isinstance(found, str):
                yield found
            elif len(passages) == count:
                yield found, passages
            else:
                yield found
        yield from by_document  # passages whose document could not be read at all


def salvage(damaged: Path, put: Put) -> Saved:
    """Carries over what is whole in the file ``damaged`` through ``put``, in batches; says what became of the rest."""
    saved = Saved()
    batch: list[tuple[Document, list[Prepared]]] = []
    for found in readable(damaged):
        if isinstance(found, str):
            saved.lost.append(found)
        elif isinstance(found, Document):
            saved.texts.append(found)
        else:
            batch.append(found)
            saved.kept += 1
        if len(batch) == 500:
            put(batch)
            batch = []
    put(batch)
    return saved


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
    with locked(path / LOCK_NAME):
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
