"""The collections of an index in Milvus, and terms and vectors in the form that it takes.

Rows carry hashes (``id_hash``) of ids and names, by which they are found: no user text is ever part of a condition.
``generation`` is the number of the commit that wrote a row; the document's head row names the one that counts.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pymilvus import DataType, Function, FunctionType, MilvusClient  # type: ignore[import-untyped]

from selfright.domain.errors import InputError
from selfright.domain.passages import Document, Language, Passage
from selfright.retrieval.milvus.server import Server
from selfright.retrieval.records import IndexCounts, shown_values

VERSION = 1
KIND = "selfright-index"
MOST_BYTES = 65_000  # Milvus keeps at most 65,535 bytes of text in a field
PIECE = 15_000  # characters of a document's text in one row
_NOTHING = {"nothing": [0.0, 0.0]}  # every collection of Milvus needs a vector


@dataclass(slots=True)
class Counts(IndexCounts):
    """What the index holds; ``length`` in terms, ``blank`` passages have no vector, ``size`` are the bytes written."""

    length: int = 0
    blank: int = 0
    size: int = 0


class DocumentRecord(NamedTuple):
    """What is kept of a document without its text, which is in ``pieces``."""

    generation: int
    pieces: int
    passages: int
    characters: int
    content_hash: str
    id: str
    title: str
    language: Language
    source: str | None
    url: str | None
    media_type: str
    collection: str
    metadata: Mapping[str, str]

    @classmethod
    def of(cls, record: str) -> "DocumentRecord":
        """As ``encode_document`` wrote it."""
        return cls(*json.loads(record))


def make(server: Server, about: Mapping[str, str], dimension: int) -> None:
    """Makes the collections; the one that says what they are comes last, so that a crash leaves no half-made index."""
    for name in ("passages", "documents", "terms"):
        if server.call("has_collection", name):
            server.call("drop_collection", name)
    _make_passages(server, dimension)
    _make(server, "documents", key=_WHOLE, document=_WHOLE, generation=_WHOLE, part=_WHOLE, record=_LONG)
    _make(server, "terms", term={**_LONG, "max_length": 512}, df=_WHOLE)
    _make(server, "about", name={**_LONG, "max_length": 1_024}, value=_LONG)
    write_about(server, about)


def write_about(server: Server, about: Mapping[str, str]) -> None:
    """Keeps facts of the index by name."""
    server.write("upsert", "about", [{"name": name, "value": value, **_NOTHING} for name, value in about.items()])


def read_about(server: Server) -> dict[str, str]:
    """All facts of the index by name."""
    return {row["name"]: row["value"] for row in server.rows("about", 'name != ""', ["name", "value"])}


def term_row(term: str, frequency: int) -> dict[str, Any]:
    """A row of ``terms``."""
    return {"term": term, "df": frequency, **_NOTHING}


def document_row(key: int, document: int, generation: int, part: int, record: str) -> dict[str, Any]:
    """A row of ``documents``: part 0 is the head, keyed by the document's id hash; the others hold text."""
    return {"key": key, "document": document, "generation": generation, "part": part, "record": record, **_NOTHING}


def encode_document(document: Document, passages: int, generation: int) -> str:
    """What is kept of a document without its text."""
    pieces = -(-len(document.text) // PIECE)
    head = DocumentRecord(
        *(generation, pieces, passages, len(document.text), document.content_hash),
        *(document.id, document.title, document.language, document.source, document.url),
        *(document.media_type, document.collection, dict(document.metadata)),
    )
    return _bound(head, f"what is known of document '{document.id[:200]}'")


def record_of(passage: Passage) -> str:
    """What is kept of a passage."""
    return _bound(shown_values(passage), f"passage '{passage.id[:200]}'")


def passage_of(record: str) -> Passage:
    """A passage as it was kept."""
    return Passage(*json.loads(record))


def bound_terms(terms: str, passage: Passage) -> str:
    """Terms of a passage joined by blanks, when Milvus can keep them."""
    if len(terms) > MOST_BYTES:  # Latin letters only
        raise _too_long(f"passage '{passage.id[:200]}' with {len(terms):,} bytes of terms")
    return terms


def _bound(values: Sequence[Any], what: str) -> str:
    text = json.dumps(values, ensure_ascii=False)
    if len(text.encode()) > MOST_BYTES:
        raise _too_long(what)
    return text


def _too_long(what: str) -> InputError:
    return InputError(f"Milvus keeps at most {MOST_BYTES:,} bytes in a field, and {what} has more; split it smaller")


def _make_passages(server: Server, dimension: int) -> None:
    schema = MilvusClient.create_schema(auto_id=False)
    schema.add_field("key", DataType.INT64, is_primary=True)
    for name in ("mark", "document", "collection", "generation"):
        schema.add_field(name, DataType.INT64)
    schema.add_field("record", DataType.VARCHAR, max_length=65_535)
    # Lite knows no analyzer that splits at blanks; of Latin letters and digits the standard one makes the same.
    schema.add_field(
        "terms",
        DataType.VARCHAR,
        max_length=65_535,
        enable_analyzer=True,
        analyzer_params={"tokenizer": "standard" if server.is_lite else "whitespace"},
    )
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_function(
        Function(
            name="bm25", function_type=FunctionType.BM25, input_field_names=["terms"], output_field_names=["sparse"]
        )
    )
    indexes = MilvusClient.prepare_index_params()
    weights = {"bm25_k1": 1.2, "bm25_b": 0.75}
    indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=weights)
    if dimension:
        schema.add_field("dense", DataType.FLOAT_VECTOR, dim=dimension)
        schema.add_field("known", DataType.BOOL)
        graph = {"M": 16, "efConstruction": 100}
        indexes.add_index("dense", index_type="HNSW", metric_type="IP", params=graph)
    if not server.is_lite:
        for name in ("mark", "document", "collection"):
            indexes.add_index(name, index_type="INVERTED")
    _create(server, "passages", schema, indexes)


_WHOLE = {"datatype": DataType.INT64}
_LONG = {"datatype": DataType.VARCHAR, "max_length": 65_535}


def _make(server: Server, collection: str, **columns: Mapping[str, Any]) -> None:
    """A collection without vectors of its own; the first column is its key."""
    schema = MilvusClient.create_schema(auto_id=False)
    for number, (name, column) in enumerate(columns.items()):
        schema.add_field(name, is_primary=not number, **column)
    schema.add_field("nothing", DataType.FLOAT_VECTOR, dim=2)
    indexes = MilvusClient.prepare_index_params()
    indexes.add_index("nothing", index_type="FLAT", metric_type="L2")
    _create(server, collection, schema, indexes)


def _create(server: Server, collection: str, schema: Any, indexes: Any) -> None:
    level = server.place.option("consistency", "Strong")
    server.call("create_collection", collection, schema=schema, consistency_level=level)
    # Not waited for: over no rows there is nothing to build, and the client sleeps half a second before it looks.
    server.call("create_index", collection, indexes, sync=False)
    server.call("load_collection", collection)


_PLAIN = re.compile(r"[a-z0-9]+")
_ENCODED = "zx"
_LONGEST = 400


def encode_term(term: str) -> str:
    """A term as one word for every analyzer: itself, or ``zx`` and the bytes in hexadecimal; a very long one hashed."""
    if _PLAIN.fullmatch(term) and not term.startswith(_ENCODED) and len(term) <= _LONGEST:
        return term
    written = term.encode("utf-8", "surrogatepass")
    if len(written) > _LONGEST // 2:
        return f"{_ENCODED}h{hashlib.blake2b(written, digest_size=20).hexdigest()}"
    return f"{_ENCODED}{written.hex()}"
