"""Rows on their way into an index in PostgreSQL: documents, passages, postings, vectors, by COPY."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from selfright.domain.passages import Document, Passage
from selfright.retrieval.postgres.reading import vector_of
from selfright.retrieval.records import PassageRow, id_hash
from selfright.storage.postgres import Connection
from selfright.storage.postgres_address import encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DOCUMENT = (
    "id, passages, characters, title, collection, language, source, url, media_type, content_hash, metadata, text"
)
_PASSAGE = (
    'key, mark, id, document_id, title, start, "end", section, language, collection, url, head, text, length, terms'
)


class Vectors:
    """The vectors of one batch: those that the index has already, and new ones."""

    def __init__(self, connection: Connection, dimension: int) -> None:
        self._connection = connection
        self._dimension = dimension
        self._rows: list[NDArray[np.float32]] = []

    def rows(self, text_hashes: Sequence[bytes]) -> Mapping[bytes, tuple[int, int]]:
        """Where vectors are that are stored already, by the hash of the embedded text."""
        if not self._dimension or not text_hashes:
            return {}
        found = self._connection.execute(
            "SELECT DISTINCT ON (text_hash) text_hash, embedding FROM vectors WHERE text_hash = ANY(%s)",
            (list(text_hashes),),
        ).fetchall()
        places = self.append([vector_of(vector) for _, vector in found])
        return {bytes(digest): place for (digest, _), place in zip(found, places, strict=True)}

    def append(self, matrix: "Sequence[NDArray[np.float32]] | NDArray[np.float32]") -> list[tuple[int, int]]:
        """Takes new ones."""
        first = len(self._rows)
        self._rows.extend(np.asarray(row, dtype=np.float32) for row in matrix)
        return [(row, 0) for row in range(first, len(self._rows))]

    def of(self, found: PassageRow) -> "NDArray[np.float32] | None":
        """The vector of a passage, or None."""
        return None if found.row is None else self._rows[found.row]


def _document_row(document: Document, passages: int) -> tuple[Any, ...]:
    return (
        *(encode(document.id), passages, len(document.text), encode(document.title), encode(document.collection)),
        *(document.language, document.source and encode(document.source), document.url and encode(document.url)),
        *(encode(document.media_type), document.content_hash),
        *(json.dumps(dict(document.metadata)), encode(document.text)),
    )


def copy_documents(connection: Connection, documents: Sequence[tuple[Document, int]]) -> None:
    """Documents with the number of their passages."""
    with connection.cursor() as cursor, cursor.copy(f"COPY documents ({_DOCUMENT}) FROM STDIN") as copy:
        for document, passages in documents:
            copy.write_row(_document_row(document, passages))


def copy_passages(
    connection: Connection,
    keys: Sequence[int],
    prepared: Sequence[PassageRow],
    terms: Sequence[Sequence[str]],
    counted: Sequence[Mapping[int, int]],
) -> None:
    """Passages with their terms."""
    with connection.cursor() as cursor, cursor.copy(f"COPY passages ({_PASSAGE}) FROM STDIN") as copy:
        for key, found, some, numbers in zip(keys, prepared, terms, counted, strict=True):
            copy.write_row((key, *_passage_row(found.passage), len(some), list(numbers)))


def _passage_row(passage: Passage) -> tuple[Any, ...]:
    return (
        *(id_hash(passage.id), encode(passage.id), encode(passage.document_id), encode(passage.title)),
        *(passage.start, passage.end, encode(passage.section), passage.language, encode(passage.collection)),
        *(passage.url and encode(passage.url), encode(passage.head), encode(passage.text)),
    )


def copy_postings(
    connection: Connection,
    keys: Sequence[int],
    terms: Sequence[Sequence[str]],
    counted: Sequence[Mapping[int, int]],
) -> None:
    """How often each term is in each passage."""
    # In the order of the index, which then grows at the ends of its lists.
    rows = sorted(
        (term, key, len(some), times)
        for key, some, numbers in zip(keys, terms, counted, strict=True)
        for term, times in numbers.items()
    )
    statement = "COPY postings (term, key, length, tf) FROM STDIN WITH (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(["int4", "int8", "int4", "int4"])
        for row in rows:
            copy.write_row(row)


def copy_vectors(connection: Connection, keys: Sequence[int], prepared: Sequence[PassageRow], vectors: Vectors) -> None:
    """The vectors of those passages that have one."""
    statement = "COPY vectors (key, mark, collection, text_hash, embedding) FROM STDIN WITH (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(["int8", "int8", "text", "bytea", "vector"])
        for key, found in zip(keys, prepared, strict=True):
            vector = vectors.of(found)
            if vector is not None:
                passage = found.passage
                copy.write_row((key, id_hash(passage.id), encode(passage.collection), found.text_hash, vector))
