"""What some embedders do besides the port: questions in other vectors than passages, and leaning across languages."""

from typing import TYPE_CHECKING

from selfright.domain.errors import UsageError
from selfright.domain.passages import Language
from selfright.domain.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def query_vector(embedder: Embedder | None, query: str) -> "NDArray[np.float32]":
    """The vector to search with, shape ``(dimension,)``; some models embed questions in another way than passages.

    Raises ``UsageError`` without an embedder.
    """
    if embedder is None:
        raise UsageError("a search by meaning needs an embedder, but the index has none")
    special = getattr(embedder, "embed_query", None)
    vector: NDArray[np.float32] = special(query) if special else embedder.embed([query])[0]
    return vector


def cross_language_penalty(
    embedder: Embedder | None, vector: "NDArray[np.float32]", language: Language
) -> "NDArray[np.float32]":
    """A question's vector, leaning towards passages in the other language than its own where the embedder knows how."""
    special = getattr(embedder, "cross_language_penalty", None)
    return vector if special is None else special(vector, language)
