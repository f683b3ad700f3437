"""LangChain's EnsembleRetriever over BM25Retriever (rank_bm25) and its FAISS store (flat, its default)."""

from pathlib import Path
from typing import Any

from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.embeddings import Embeddings

from benchmarks.peers.collection import Floats, Passages
from benchmarks.peers.driver import Found, QueryVectors


class GivenEmbeddings(Embeddings):
    """Looks vectors up; only queries are ever asked for."""

    def __init__(self, vectors: QueryVectors) -> None:
        self._vectors = {text: vector.tolist() for text, vector in vectors.items()}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._vectors[text]


class Ensemble:
    """BM25Retriever has neither a file nor a way to add: it is made anew from all texts."""

    def __init__(self, vectors: QueryVectors, depth: int) -> None:
        self.depth = depth
        self._embeddings = GivenEmbeddings(vectors)
        self._texts: list[str] = []
        self._ids: list[str] = []
        self._store: Any = None
        self._retriever: Any = None

    def build(self, _folder: Path, passages: Passages) -> None:
        pairs = zip(passages.texts, passages.vectors, strict=True)
        labels = [{"id": name} for name in passages.ids]
        self._store = FAISS.from_embeddings(pairs, self._embeddings, metadatas=labels, ids=passages.ids)
        self._texts, self._ids = list(passages.texts), passages.ids
        self._join()

    def save(self, _folder: Path) -> bool:
        return False

    def open(self, folder: Path) -> None:
        raise NotImplementedError(f"BM25Retriever cannot be opened from {folder}")

    def search(self, text: str, _vector: Floats, k: int) -> Found:
        found = self._retriever.invoke(text)
        return [(document.metadata["id"], document.page_content) for document in found[:k]]

    def dense(self, _text: str, vector: Floats, k: int) -> list[str]:
        found = self._store.similarity_search_by_vector(vector.tolist(), k=k)
        return [document.metadata["id"] for document in found]

    def add(self, passages: Passages) -> None:
        pairs = zip(passages.texts, passages.vectors, strict=True)
        self._store.add_embeddings(pairs, metadatas=[{"id": name} for name in passages.ids], ids=passages.ids)
        self._texts += passages.texts
        self._ids += passages.ids
        self._join()

    def _join(self) -> None:
        words = BM25Retriever.from_texts(self._texts, metadatas=[{"id": name} for name in self._ids])
        words.k = self.depth
        vectors = self._store.as_retriever(search_kwargs={"k": self.depth})
        self._retriever = EnsembleRetriever(retrievers=[words, vectors], weights=[0.5, 0.5])
