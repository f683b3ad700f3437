"""Selfright's embedded store, as it comes: its own tokenizer, its own choice of the dense index, its default fusion."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.peers.collection import DIMENSION, Floats, Passages
from benchmarks.peers.driver import Found, QueryVectors
from selfright.domain.passages import Document, Passage
from selfright.retrieval.fusion import ReciprocalRankFusion
from selfright.retrieval.search_request import DEPTH
from selfright.retrieval.stores.embedded import EmbeddedStore
from selfright.retrieval.tokenizer import BilingualTokenizer

_BATCH = 5_000


class GivenVectors:
    """An embedder that looks vectors up by text: those of the queries, and those of the batch being written."""

    name = "given"
    dimension = DIMENSION

    def __init__(self, queries: QueryVectors) -> None:
        self._queries = queries
        self._batch: dict[str, Floats] = {}

    def expect(self, passages: Passages) -> None:
        self._batch = dict(zip(passages.texts, passages.vectors, strict=True))

    def embed(self, texts: Sequence[str]) -> Floats:
        return np.array([self._batch[t] if t in self._batch else self._queries[t] for t in texts], dtype=np.float32)


class Store:
    """Lives on disk; everything is committed once, at the end. Its halves give 100 candidates each."""

    depth = DEPTH

    def __init__(self, vectors: QueryVectors, _depth: int) -> None:
        self._embedder = GivenVectors(vectors)
        self._store: EmbeddedStore | None = None

    def build(self, folder: Path, passages: Passages) -> None:
        self._store = EmbeddedStore.create(folder, BilingualTokenizer(), self._embedder)
        self.add(passages)

    def save(self, _folder: Path) -> bool:
        self._opened.close()
        return True

    def open(self, folder: Path) -> None:
        self._store = EmbeddedStore.open(folder, BilingualTokenizer(), self._embedder)

    async def search(self, text: str, _vector: Floats, k: int) -> Found:
        found = await self._opened.search(text, k)
        return [(hit.passage.document_id, hit.passage.text) for hit in found.hits]

    async def by_ranks(self, text: str, _vector: Floats, k: int) -> Found:
        found = await self._opened.with_fusion(ReciprocalRankFusion()).search(text, k)
        return [(hit.passage.document_id, hit.passage.text) for hit in found.hits]

    async def dense(self, text: str, _vector: Floats, k: int) -> list[str]:
        # Of a fused list as deep as the halves: whatever is among the first ten of one half is in it.
        found = await self._opened.with_fusion(ReciprocalRankFusion()).search(text, self.depth)
        places = [(hit.dense.rank, hit.passage.document_id) for hit in found.hits if hit.dense]
        return [name for rank, name in sorted(places) if rank <= k]

    def add(self, passages: Passages) -> None:
        for start in range(0, len(passages.texts), _BATCH):
            end = start + _BATCH
            batch = Passages(passages.texts[start:end], passages.vectors[start:end], passages.first + start)
            self._embedder.expect(batch)
            self._opened.put([_document(name, text) for name, text in zip(batch.ids, batch.texts, strict=True)])
        self._opened.commit()

    @property
    def _opened(self) -> EmbeddedStore:
        if self._store is None:
            raise RuntimeError("expected an open store, but neither build nor open was called")
        return self._store


def _document(name: str, text: str) -> tuple[Document, list[Passage]]:
    return Document(name, "", text), [Passage(f"{name}#0", name, "", text, 0, len(text))]
