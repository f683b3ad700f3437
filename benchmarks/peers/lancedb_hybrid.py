"""LanceDB: an IVF_HNSW_SQ index and its own full-text index, joined by its RRFReranker."""

from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow
from lancedb.rerankers import RRFReranker

from benchmarks.peers.collection import Floats, Passages
from benchmarks.peers.driver import Found, QueryVectors

_TABLE = "passages"


class Hybrid:
    """Lives on disk. Rows that are added are found at once: by a scan, until ``optimize`` indexes them."""

    def __init__(self, _vectors: QueryVectors, depth: int) -> None:
        self.depth = depth
        self._table: Any = None
        self._reranker = RRFReranker()

    def build(self, folder: Path, passages: Passages) -> None:
        self._table = lancedb.connect(str(folder)).create_table(_TABLE, _rows(passages))
        self._table.create_index(metric="dot", index_type="IVF_HNSW_SQ", vector_column_name="vector")
        self._table.create_fts_index("text", with_position=False)

    def save(self, _folder: Path) -> bool:
        return True

    def open(self, folder: Path) -> None:
        self._table = lancedb.connect(str(folder)).open_table(_TABLE)

    def search(self, text: str, vector: Floats, k: int) -> Found:
        query = self._table.search(query_type="hybrid").vector(vector).text(text).distance_type("dot")
        found = query.rerank(self._reranker).select(["id", "text"]).limit(self.depth).to_list()
        return [(row["id"], row["text"]) for row in found[:k]]

    def dense(self, _text: str, vector: Floats, k: int) -> list[str]:
        query = self._table.search(vector, vector_column_name="vector").distance_type("dot")
        return [row["id"] for row in query.select(["id"]).limit(k).to_list()]

    def add(self, passages: Passages) -> None:
        self._table.add(_rows(passages))


def _rows(passages: Passages) -> Any:
    flat = pyarrow.array(np.ascontiguousarray(passages.vectors).reshape(-1))
    vectors = pyarrow.FixedSizeListArray.from_arrays(flat, passages.vectors.shape[1])
    return pyarrow.table({"id": passages.ids, "text": passages.texts, "vector": vectors})
