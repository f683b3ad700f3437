"""An embedder whose vectors are kept in a folder, for embedding is what takes the time."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfright.domain.embedding import cross_language_penalty, query_vector
from selfright.domain.passages import Language
from selfright.domain.ports import Embedder
from training.fitting import Array


class CachedEmbedder:
    """Remembers vectors in a folder, for embedding is what takes the time."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._path = folder / f"vectors-{embedder.name}.npz"
        self._vectors: dict[str, NDArray[np.float32]] = {}
        if self._path.exists():
            with np.load(self._path) as stored:
                self._vectors = dict(zip(stored["keys"].tolist(), stored["vectors"].astype(np.float32), strict=True))

    @property
    def name(self) -> str:
        """The embedder's."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The embedder's."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows of length one."""
        return self._found(texts, self._embedder.embed)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector to search with."""
        row: NDArray[np.float32] = self._found([f"?{text}"], lambda _: np.array([query_vector(self._embedder, text)]))[
            0
        ]
        return row

    def cross_language_penalty(self, vector: NDArray[np.float32], language: Language) -> NDArray[np.float32]:
        """As the embedder leans."""
        return cross_language_penalty(self._embedder, vector, language)

    def cosines(self, question: str, texts: Sequence[str]) -> Array:
        """Of a question and each text."""
        return np.asarray(self.embed(texts) @ self.embed_query(question), dtype=np.float64)

    def _found(self, texts: Sequence[str], embed: Callable[[list[str]], NDArray[np.float32]]) -> NDArray[np.float32]:
        missing = {self._key(text): text for text in texts if self._key(text) not in self._vectors}
        if missing:
            self._vectors.update(zip(missing, embed(list(missing.values())), strict=True))
        return np.array([self._vectors[self._key(text)] for text in texts])

    def save(self) -> None:
        """Writes what is known."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(
            self._path, keys=np.array(list(self._vectors)), vectors=np.array(list(self._vectors.values()), np.float16)
        )

    @staticmethod
    def _key(text: str) -> str:
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
