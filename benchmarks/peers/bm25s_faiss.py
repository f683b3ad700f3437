"""bm25s (numba) and a flat FAISS index, joined by hand: the quickest exact parts, and the reference for overlap."""

import json
from pathlib import Path
from typing import Any

import bm25s
import faiss
import numpy as np

from benchmarks.peers.collection import Floats, Passages
from benchmarks.peers.driver import Found, QueryVectors

_K = 60


class ByHand:
    """Exact in both halves. bm25s cannot add: its half is made anew, from tokens that are kept for that."""

    def __init__(self, _vectors: QueryVectors, depth: int) -> None:
        self.depth = depth
        self._texts: list[str] = []
        self._dense: Any = None
        self._words: Any = None

    def build(self, _folder: Path, passages: Passages) -> None:
        self._texts = list(passages.texts)
        self._dense = faiss.IndexFlatIP(passages.vectors.shape[1])
        self._dense.add(np.asarray(passages.vectors))
        self._index_words()

    def save(self, folder: Path) -> bool:
        self._words.save(str(folder / "words"))
        faiss.write_index(self._dense, str(folder / "vectors.faiss"))
        (folder / "texts.json").write_text(json.dumps(self._texts))
        return True

    def open(self, folder: Path) -> None:
        self._words = bm25s.BM25.load(str(folder / "words"), mmap=True)
        self._words.activate_numba_scorer()
        self._dense = faiss.read_index(str(folder / "vectors.faiss"), faiss.IO_FLAG_MMAP)
        self._texts = json.loads((folder / "texts.json").read_text())

    def search(self, text: str, vector: Floats, k: int) -> Found:
        return [(f"p{number}", self._texts[number]) for number in self.fused(text, vector, self.depth)[:k]]

    def dense(self, _text: str, vector: Floats, k: int) -> list[str]:
        return [f"p{number}" for number in self._nearest(vector, k)]

    def add(self, passages: Passages) -> None:
        self._texts += passages.texts
        self._dense = faiss.clone_index(self._dense)  # a mapped index cannot grow
        self._dense.add(np.asarray(passages.vectors))
        self._index_words()

    def fused(self, text: str, vector: Floats, depth: int) -> list[int]:
        """Passage numbers by reciprocal rank fusion of ``depth`` from each half."""
        words = bm25s.tokenize(text, stopwords=None, return_ids=False, show_progress=False)
        lexical, _ = self._words.retrieve(words, k=min(depth, len(self._texts)), show_progress=False)
        scores: dict[int, float] = {}
        for ranking in (lexical[0].tolist(), self._nearest(vector, depth)):
            for rank, number in enumerate(ranking, start=1):
                scores[number] = scores.get(number, 0.0) + 1 / (_K + rank)
        return sorted(scores, key=lambda number: (-scores[number], number))

    def _nearest(self, vector: Floats, k: int) -> list[int]:
        found: list[int] = self._dense.search(vector.reshape(1, -1), k)[1][0].tolist()
        return found

    def _index_words(self) -> None:
        tokens = bm25s.tokenize(self._texts, stopwords=None, show_progress=False)
        self._words = bm25s.BM25(k1=1.2, b=0.75, backend="numba")
        self._words.index(tokens, show_progress=False)
