"""Haystack's in-memory document store: its BM25 and its embedding retriever, joined by reciprocal rank fusion."""

from pathlib import Path
from typing import Any

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from benchmarks.peers.collection import Floats, Passages
from benchmarks.peers.driver import Found, QueryVectors


class Joiner:
    """Exact in both halves; it can add, and it can save itself as one JSON file."""

    def __init__(self, _vectors: QueryVectors, depth: int) -> None:
        self.depth = depth
        self._store: Any = None
        self._pipeline: Any = None

    def build(self, _folder: Path, passages: Passages) -> None:
        self._store = InMemoryDocumentStore(embedding_similarity_function="dot_product")
        self._store.write_documents(_documents(passages))
        self._join()

    def save(self, folder: Path) -> bool:
        self._store.save_to_disk(str(folder / "store.json"))
        return True

    def open(self, folder: Path) -> None:
        self._store = InMemoryDocumentStore.load_from_disk(str(folder / "store.json"))
        self._join()

    def search(self, text: str, vector: Floats, k: int) -> Found:
        asked = {"words": {"query": text}, "vectors": {"query_embedding": vector.tolist()}}
        found = self._pipeline.run(asked)["joiner"]["documents"]
        return [(document.id, document.content) for document in found[:k]]

    def dense(self, _text: str, vector: Floats, k: int) -> list[str]:
        return [document.id for document in self._store.embedding_retrieval(vector.tolist(), top_k=k)]

    def add(self, passages: Passages) -> None:
        self._store.write_documents(_documents(passages))

    def _join(self) -> None:
        pipeline = Pipeline()
        pipeline.add_component("words", InMemoryBM25Retriever(self._store, top_k=self.depth))
        pipeline.add_component("vectors", InMemoryEmbeddingRetriever(self._store, top_k=self.depth))
        pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
        pipeline.connect("words", "joiner")
        pipeline.connect("vectors", "joiner")
        self._pipeline = pipeline


def _documents(passages: Passages) -> list[Document]:
    rows = zip(passages.ids, passages.texts, passages.vectors, strict=True)
    return [Document(id=name, content=text, embedding=vector.tolist()) for name, text, vector in rows]
