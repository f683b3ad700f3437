"""How the catalogue changes: documents go in and out within one transaction, and every change is logged."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from selfright.domain.passages import Document, Passage
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.connections import explained, transaction


@dataclass(frozen=True, slots=True)
class Prepared:
    """A passage ready to be stored: its terms joined by blanks, the hash of the text that is embedded, its vector."""

    passage: Passage
    tokens: str
    text_hash: str
    embedding: bytes | None


class Ledger:
    """The writer's side of a catalogue; only the holder of the writer's lock may use it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._connections = catalogue.connections

    @property
    def pending(self) -> bool:
        """Whether there is something to commit."""
        return self._connections.writer.in_transaction

    @contextmanager
    def step(self) -> Iterator[None]:
        """A part of the open transaction (which it begins where needed) that happens wholly or not at all."""
        writer = self._connections.writer
        first = not self.pending
        with explained(self._connections.path):
            writer.execute("BEGIN IMMEDIATE" if first else "SAVEPOINT step")
        try:
            with explained(self._connections.path):
                yield
        except BaseException:
            writer.execute("ROLLBACK" if first else "ROLLBACK TO step")
            raise
        finally:
            if not first:
                writer.execute("RELEASE step")

    def put(self, document: Document, passages: Sequence[Prepared]) -> None:
        """Stores a document in place of the one with the same id."""
        self.remove(document.id)
        writer = self._connections.writer
        writer.execute(
            "INSERT INTO documents (id, title, collection, language, source, url, media_type, content_hash, metadata, "
            "characters, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            _document_row(document),
        )
        for prepared in passages:
            inserted = writer.execute(
                'INSERT INTO passages (id, document_id, title, text, start, "end", section, language, collection, url, '
                "tokens, text_hash, embedding) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*_passage_row(prepared.passage), prepared.tokens, prepared.text_hash, prepared.embedding),
            )
            writer.execute("INSERT INTO changes (action, passage) VALUES ('add', ?)", (inserted.lastrowid,))

    def remove(self, document_id: str) -> bool:
        """Takes a document out; whether it was there."""
        writer = self._connections.writer
        writer.execute(
            "INSERT INTO changes (action, passage) "
            "SELECT 'remove', key FROM passages WHERE document_id = ? AND NOT removed ORDER BY key",
            (document_id,),
        )
        writer.execute("UPDATE passages SET removed = 1 WHERE document_id = ? AND NOT removed", (document_id,))
        return writer.execute("DELETE FROM documents WHERE id = ?", (document_id,)).rowcount > 0

    def embeddings(self, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Vectors that are already stored, by the hash of the embedded text."""
        rows = self._connections.writer.execute(
            "SELECT text_hash, embedding FROM passages "
            "WHERE embedding IS NOT NULL AND text_hash IN (SELECT value FROM json_each(?))",
            (json.dumps(list(text_hashes)),),
        )
        return dict(rows.fetchall())

    def commit(self) -> None:
        """Makes the open transaction lasting."""
        if self.pending:
            with explained(self._connections.path):
                self._connections.writer.execute("COMMIT")

    def forget(self, sequence: int) -> None:
        """Erases removed passages and the log up to ``sequence``, once every search index has followed that far."""
        writer = self._connections.writer
        with explained(self._connections.path), transaction(writer, "IMMEDIATE"):
            writer.execute(
                "DELETE FROM passages WHERE removed AND key IN "
                "(SELECT passage FROM changes WHERE action = 'remove' AND sequence <= ?)",
                (sequence,),
            )
            writer.execute("DELETE FROM changes WHERE sequence <= ?", (sequence,))


def _document_row(document: Document) -> tuple[object, ...]:
    return (
        document.id,
        document.title,
        document.collection,
        document.language,
        document.source,
        document.url,
        document.media_type,
        document.content_hash,
        json.dumps(dict(document.metadata), ensure_ascii=False),
        len(document.text),
        document.text,
    )


def _passage_row(passage: Passage) -> tuple[object, ...]:
    return (
        passage.id,
        passage.document_id,
        passage.title,
        passage.text,
        passage.start,
        passage.end,
        passage.section,
        passage.language,
        passage.collection,
        passage.url,
    )
