"""Rows on their way into an index in PostgreSQL: documents, passages, postings, vectors, by COPY."""

import json
from collections.abc import Mapping, Sequence

from selfright.domain.passages import Document
from selfright.retrieval.postgres.reading import vector_of
from selfright.retrieval.preparing import BatchVectors, VectorRow
from selfright.retrieval.records import PassageRow, id_hash
from selfright.storage.postgres import Connection
from selfright.storage.postgres_address import encode, encode_row

_DOCUMENT = (
    "id, passages, characters, title, collection, language, source, url, media_type, content_hash, metadata, text"
)
_PASSAGE = (
    'key, mark, id, document_id, title, start, "end", section, language, collection, url, head, text, length, terms'
)


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
    with connection.cursor() as cursor, cursor.copy(f"COPY documents ({_DOCUMENT}) FROM STDIN") as copy:
        for document, passages in documents:
            row = (
                *(document.id, passages, len(document.text), document.title, document.collection, document.language),
                *(document.source, document.url, document.media_type, document.content_hash),
                *(json.dumps(dict(document.metadata)), document.text),
            )
            copy.write_row(encode_row(row))


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
            passage = found.passage
            row = (
                *(key, id_hash(passage.id), passage.id, passage.document_id, passage.title, passage.start, passage.end),
                *(passage.section, passage.language, passage.collection, passage.url, passage.head, passage.text),
            )
            copy.write_row((*encode_row(row), len(some), list(numbers)))


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
