"""Saving what can be read of a damaged catalogue into a new one.

Each record is asked for by its number, so that a broken page costs only what lies on it. A document is carried over
when its own record and all its passages are whole; of the others those with a whole text are given back as documents,
to be indexed again, and the rest is named as lost.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from selfright.domain.errors import IndexDamaged
from selfright.domain.passages import Document
from selfright.retrieval.checksums import seal
from selfright.retrieval.records import (
    INFO_COLUMNS,
    SHOWN_COLUMNS,
    Prepared,
    Shown,
    document_of,
    shown_of,
)

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
