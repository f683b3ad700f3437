"""A tiny embedder whose vectors can be reasoned about: words are hashed into a few dimensions."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from selfright.domain.passages import Language


class WordHashes:
    """Texts that share words are near each other; ``embedded`` records every text it was given."""

    def __init__(
        self, name: str = "word-hashes", dimension: int = 64, languages: tuple[Language, ...] = ("en",)
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.languages = languages
        self.embedded: list[str] = []
        self.identified = True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded.extend(texts)
        vectors = np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(-1, self.dimension)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.full(self.dimension, 1e-3, dtype=np.float32)
        for word in text.lower().split():
            vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % self.dimension] += 1
        return vector
