"""LlamaIndex's QueryFusionRetriever over BM25Retriever (bm25s) and a FAISS vector store (flat)."""

from pathlib import Path
from typing import Any

import faiss
from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.embeddings.mock_embed_model import MockEmbedding
from llama_index.core.llms.mock import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import QueryBundle, TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.faiss import FaissVectorStore

from benchmarks.peers.collection import DIMENSION, Floats, Passages
from benchmarks.peers.driver import Found, QueryVectors

_BATCH = 10_000


class QueryFusion:
    """One query, no rewriting, mode ``reciprocal_rerank``. bm25s cannot add: its half is made anew from all nodes."""

    def __init__(self, _vectors: QueryVectors, depth: int) -> None:
        self.depth = depth
        self._embedding = MockEmbedding(embed_dim=DIMENSION)  # never asked: every query brings its vector
        self._index: Any = None
        self._words: Any = None
        self._dense: Any = None
        self._retriever: Any = None

    def build(self, _folder: Path, passages: Passages) -> None:
        store = FaissVectorStore(faiss_index=faiss.IndexFlatIP(DIMENSION))
        context = StorageContext.from_defaults(vector_store=store)
        self._index = VectorStoreIndex([], storage_context=context, embed_model=self._embedding)
        for start in range(0, len(passages.texts), _BATCH):  # a vector in a node takes eight times its room
            texts, vectors = passages.texts[start : start + _BATCH], passages.vectors[start : start + _BATCH]
            self._index.insert_nodes(_nodes(Passages(texts, vectors, start)))
        self._index_words()

    def save(self, folder: Path) -> bool:
        self._index.storage_context.persist(persist_dir=str(folder / "index"))
        self._words.persist(str(folder / "words"))
        return True

    def open(self, folder: Path) -> None:
        place = str(folder / "index")
        context = StorageContext.from_defaults(vector_store=FaissVectorStore.from_persist_dir(place), persist_dir=place)
        self._index = load_index_from_storage(context, embed_model=self._embedding)
        self._words = BM25Retriever.from_persist_dir(str(folder / "words"))
        self._join()

    def search(self, text: str, vector: Floats, k: int) -> Found:
        found = self._retriever.retrieve(QueryBundle(text, embedding=vector.tolist()))
        return [(hit.node.node_id, hit.node.get_content()) for hit in found[:k]]

    def dense(self, text: str, vector: Floats, k: int) -> list[str]:
        retriever = self._index.as_retriever(similarity_top_k=k)
        return [hit.node.node_id for hit in retriever.retrieve(QueryBundle(text, embedding=vector.tolist()))]

    def add(self, passages: Passages) -> None:
        self._index.insert_nodes(_nodes(passages))
        self._index_words()

    def _index_words(self) -> None:
        nodes = list(self._index.docstore.docs.values())
        self._words = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=self.depth)
        self._join()

    def _join(self) -> None:
        self._dense = self._index.as_retriever(similarity_top_k=self.depth)
        self._retriever = QueryFusionRetriever(
            [self._dense, self._words],
            llm=MockLLM(),  # never asked: there is one query
            mode="reciprocal_rerank",
            num_queries=1,
            similarity_top_k=self.depth,
            use_async=False,
        )


def _nodes(passages: Passages) -> list[TextNode]:
    rows = zip(passages.ids, passages.texts, passages.vectors, strict=True)
    return [TextNode(id_=name, text=text, embedding=vector.tolist()) for name, text, vector in rows]
