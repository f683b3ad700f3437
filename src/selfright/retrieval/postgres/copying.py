"""Rows on their way into an index in PostgreSQL: documents, passages, postings, vectors, by COPY."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from selfright.domain.passages import Document
from selfright.retrieval.postgres.reading import vector_of
from selfright.retrieval.preparing import BatchVectors, VectorRow
from selfright.retrieval.records import SHOWN, PassageRow, id_hash, shown_values
from selfright.storage.postgres import Connection
from selfright.storage.postgres_address import encode, encode_row

_DOCUMENTS = (
    "documents (id, passages, characters, title, collection, language, source, url, media_type, content_hash, metadata,"
    " text)"
)
_PASSAGES = f"passages (key, mark, {SHOWN}, length, terms)"


class Vectors(BatchVectors):
    """The vectors of one batch: those that the index has already, and new ones."""

    def __init__(self, connection: Connection, dimension: int) -> None:
        super().__init__()
        self._connection, self._dimension = connection, dimension

    def rows(self, text_hashes: Sequence[bytes]) -> Mapping[bytes, VectorRow]:
        """Where vectors are that are stored already, by the hash of the embedded text."""
        if not self._dimension or not text_hashes:
            return {}
        found = self._connection.execute(
            "SELECT DISTINCT ON (text_hash) text_hash, embedding FROM vectors WHERE text_hash = ANY(%s)",
            (list(text_hashes),),
        ).fetchall()
        places = self.append([vector_of(vector) for _, vector in found])
        return {bytes(digest): place for (digest, _), place in zip(found, places, strict=True)}


def copy_documents(connection: Connection, documents: Sequence[tuple[Document, int]]) -> None:
    """Documents with the number of their passages."""
    rows = (
        (
            *(one.id, passages, len(one.text), one.title, one.collection, one.language, one.source, one.url),
            *(one.media_type, one.content_hash, json.dumps(dict(one.metadata)), one.text),
        )
        for one, passages in documents
    )
    _copy(connection, _DOCUMENTS, map(encode_row, rows))


def copy_passages(
    connection: Connection,
    keys: Sequence[int],
    prepared: Sequence[PassageRow],
    terms: Sequence[Sequence[str]],
    counted: Sequence[Mapping[int, int]],
) -> None:
    """Passages with their terms, and how often each term is in each of them."""
    _copy(
        connection,
        _PASSAGES,
        (
            (key, id_hash(found.passage.id), *encode_row(shown_values(found.passage)), len(some), list(numbers))
            for key, found, some, numbers in zip(keys, prepared, terms, counted, strict=True)
        ),
    )
    # In the order of the index, which then grows at the ends of its lists.
    postings = sorted(
        (term, key, len(some), times)
        for key, some, numbers in zip(keys, terms, counted, strict=True)
        for term, times in numbers.items()
    )
    _copy(connection, "postings (term, key, length, tf)", postings, ("int4", "int8", "int4", "int4"))


def copy_vectors(connection: Connection, keys: Sequence[int], prepared: Sequence[PassageRow], vectors: Vectors) -> None:
    """The vectors of those passages that have one."""
    rows = (
        (key, id_hash(found.passage.id), encode(found.passage.collection), found.text_hash, vector)
        for key, found in zip(keys, prepared, strict=True)
        if (vector := vectors.of(found)) is not None
    )
    types = ("int8", "int8", "text", "bytea", "vector")
    _copy(connection, "vectors (key, mark, collection, text_hash, embedding)", rows, types)


def _copy(connection: Connection, into: str, rows: Iterable[Sequence[Any]], types: Sequence[str] = ()) -> None:
    form = " WITH (FORMAT BINARY)" if types else ""
    with connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN{form}".encode()) as copy:
        if types:
            copy.set_types(types)
        for row in rows:
            copy.write_row(row)
