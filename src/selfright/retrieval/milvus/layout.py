"""The collections of an index in Milvus, and terms and vectors in the form that it takes.

Rows carry hashes (``id_hash``) of ids and names, by which they are found: no user text is ever part of a condition.
``generation`` is the number of the commit that wrote a row; the document's head row names the one that counts.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pymilvus import DataType, Function, FunctionType, MilvusClient  # type: ignore[import-untyped]

from selfright.domain.errors import InputError
from selfright.domain.passages import Document, Passage
from selfright.retrieval.milvus.server import Server

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


VERSION = 1
KIND = "selfright-index"
MOST_BYTES = 65_000  # Milvus keeps at most 65,535 bytes of text in a field
PIECE = 15_000  # characters of a document's text in one row
_NOTHING = {"nothing": [0.0, 0.0]}  # every collection of Milvus needs a vector


@dataclass
class Counts:
    """What the index holds; ``length`` in terms, ``blank`` passages have no vector, ``size`` are the bytes written.

    ``languages`` counts documents, ``passages_in`` passages by the language of their document.
    """

    passages: int = 0
    length: int = 0
    blank: int = 0
    size: int = 0
    collections: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    passages_in: Counter[str] = field(default_factory=Counter)

    def move(self, head: Sequence[Any], sign: int) -> None:
        """Counts a document that came (1) or went (-1), but for its passages' terms; ``head`` is as in ``head_of``."""
        self.collections[head[11]] += sign
        self.languages[head[7]] += sign
        self.passages_in[head[7]] += sign * head[2]

    def text(self) -> str:
        """As it is kept."""
        counters = (dict(+counter) for counter in (self.collections, self.languages, self.passages_in))
        return json.dumps([self.passages, self.length, self.blank, self.size, *counters])

    @classmethod
    def of(cls, text: str) -> "Counts":
        """As it was kept."""
        passages, length, blank, size, *counters = json.loads(text)
        return cls(passages, length, blank, size, *map(Counter, counters))


def make(server: Server, about: Mapping[str, str], dimension: int) -> None:
    """Makes the collections; the one that says what they are comes last, so that a crash leaves no half-made index."""
    for name in ("passages", "documents", "terms"):
        if server.exists(name):
            server.call("drop_collection", server.name_of(name))
    _make_passages(server, dimension)
    schema = MilvusClient.create_schema(auto_id=False)
    schema.add_field("key", DataType.INT64, is_primary=True)
    for name in ("document", "generation", "part"):
        schema.add_field(name, DataType.INT64)
    schema.add_field("record", DataType.VARCHAR, max_length=65_535)
    _make(server, "documents", schema)
    schema = MilvusClient.create_schema(auto_id=False)
    schema.add_field("term", DataType.VARCHAR, is_primary=True, max_length=512)
    schema.add_field("df", DataType.INT64)
    _make(server, "terms", schema)
    schema = MilvusClient.create_schema(auto_id=False)
    schema.add_field("name", DataType.VARCHAR, is_primary=True, max_length=1_024)
    schema.add_field("value", DataType.VARCHAR, max_length=65_535)
    _make(server, "about", schema)
    write_about(server, about)


def write_about(server: Server, about: Mapping[str, str]) -> None:
    """Keeps facts of the index by name."""
    server.upsert("about", [{"name": name, "value": value, **_NOTHING} for name, value in about.items()])


def read_about(server: Server) -> dict[str, str]:
    """All facts of the index by name."""
    return {row["name"]: row["value"] for row in server.rows("about", 'name != ""', ["name", "value"])}


def term_row(term: str, frequency: int) -> dict[str, Any]:
    """A row of ``terms``."""
    return {"term": term, "df": frequency, **_NOTHING}


def document_row(key: int, document: int, generation: int, part: int, record: str) -> dict[str, Any]:
    """A row of ``documents``: part 0 is the head, keyed by the document's id hash; the others hold text."""
    return {"key": key, "document": document, "generation": generation, "part": part, "record": record, **_NOTHING}


def head_of(document: Document, passages: int, generation: int) -> str:
    """What is kept of a document without its text."""
    pieces = -(-len(document.text) // PIECE)
    return _bound(
        [
            *(generation, pieces, passages, len(document.text), document.content_hash),
            *(document.id, document.title, document.language, document.source, document.url),
            *(document.media_type, document.collection, dict(document.metadata)),
        ],
        f"what is known of document '{document.id[:200]}'",
    )


def record_of(passage: Passage) -> str:
    """What is kept of a passage."""
    return _bound(
        [
            *(passage.id, passage.document_id, passage.title, passage.text, passage.start, passage.end),
            *(passage.section, passage.language, passage.collection, passage.url, passage.head, passage.origin),
        ],
        f"passage '{passage.id[:200]}'",
    )


def passage_of(record: str) -> Passage:
    """A passage as it was kept."""
    return Passage(*json.loads(record))


def bound_terms(terms: str, passage: Passage) -> str:
    """Terms of a passage joined by blanks, when Milvus can keep them."""
    if len(terms) > MOST_BYTES:  # Latin letters only
        raise _too_long(f"passage '{passage.id[:200]}' with {len(terms):,} bytes of terms")
    return terms


def _bound(values: list[Any], what: str) -> str:
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
    server.create("passages", schema, indexes)


def _make(server: Server, name: str, schema: Any) -> None:
    schema.add_field("nothing", DataType.FLOAT_VECTOR, dim=2)
    indexes = MilvusClient.prepare_index_params()
    indexes.add_index("nothing", index_type="FLAT", metric_type="L2")
    server.create(name, schema, indexes)


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


class Vectors:
    """The vectors of one batch; Milvus is not asked for those that it has already."""

    def __init__(self) -> None:
        self.by_row: dict[int, NDArray[np.float32]] = {}

    def rows(self, _text_hashes: Sequence[bytes]) -> Mapping[bytes, tuple[int, int]]:
        """None."""
        return {}

    def append(self, matrix: "NDArray[np.float32]") -> list[tuple[int, int]]:
        """Takes new ones."""
        first = len(self.by_row)
        self.by_row.update(enumerate(matrix, start=first))
        return [(row, 0) for row in range(first, first + len(matrix))]
