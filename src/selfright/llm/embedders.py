"""LangChain's ``Embeddings`` behind our ``Embedder`` port: any provider's model, its vectors checked before use."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from selfright.domain.errors import EmbeddingFailed
from selfright.llm.backend import model_name
from selfright.resilience import Breaker

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from numpy.typing import NDArray

_BATCH = 256  # texts handed over at a time; what goes into one request is the model's own business
_MODEL_ATTRIBUTES = ("model", "model_name", "model_id", "deployment", "repo_id")
_PROBE = "dimension"
_BLANK = "."  # stands in for a blank text, which several providers refuse
_SHORTEST = 1e-12  # a vector shorter than this points nowhere
_AT_ONCE_S = 1.0  # what fails sooner is tried again: a connection that the server had let go of fails so
_REST_S = 10.0  # how long questions are not waited with for a model that kept one waiting


class LangChainEmbedder:
    """Embeds with a LangChain model.

    ``name`` is what an index remembers; by default it is made of the class and the model's name. ``identified`` is
    false when neither tells which model it is: vectors are then not to be shared between indexes by that name.
    ``dimension``, when not given, is found out by embedding one word when it is first asked for. ``questions`` is the
    same model for what nobody should wait long for: questions, and that word. Safe to share between threads when the
    model is.
    """

    def __init__(
        self,
        embeddings: "Embeddings",
        *,
        name: str | None = None,
        dimension: int | None = None,
        questions: "Embeddings | None" = None,
    ) -> None:
        model = model_name(embeddings, _MODEL_ATTRIBUTES)
        self.name = name or ":".join(("langchain", type(embeddings).__name__, *([model] if model else [])))
        self.identified = bool(name or model)
        self._embeddings, self._questions = embeddings, questions or embeddings
        self._breaker = Breaker(failures=1, cooldown_s=_REST_S, longest_s=_REST_S)
        self._dimension = dimension
        self._probing = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of a vector. Raises ``EmbeddingFailed`` when the model has to be asked and does not answer."""
        with self._probing:
            if self._dimension is None:
                self._dimension = self._now(lambda: self._questions.embed_documents([_PROBE])).shape[1]
            return self._dimension

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row per text: float32, shape ``(len(texts), dimension)``, rows of length one.

        Raises ``EmbeddingFailed`` when the model fails or answers anything but one finite vector for each text.
        """
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = [_sendable(text) for text in texts[start : start + _BATCH]]
            vectors[start : start + len(batch)] = self._check_size(self._documents(batch))
        return vectors

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The vector to search with: float32, shape ``(dimension,)``, of length one. Raises ``EmbeddingFailed``.

        Many models embed a question in another way than a passage; ``embed`` is for passages.
        """
        rows = self._now(lambda: [self._questions.embed_query(_sendable(text))])
        vector: NDArray[np.float32] = self._check_size(rows)[0]
        return vector

    def _now(self, ask: Callable[[], object]) -> "NDArray[np.float32]":
        """One row, asked for again when that failed at once; one that kept us waiting for nothing is left alone."""
        ticket = self._breaker.admit()
        if ticket is None:
            raise EmbeddingFailed(f"{self.name} did not answer just before, and is left alone for some seconds")
        for again in (True, False):
            began = time.monotonic()
            try:
                rows = self._rows(ask, 1)
            except EmbeddingFailed:
                if slow := time.monotonic() - began > _AT_ONCE_S:
                    self._breaker.note_failure(ticket)
                if slow or not again:
                    self._breaker.release(ticket)
                    raise
            else:
                self._breaker.note_success(ticket)
                return rows
        raise AssertionError("the second failure is raised")

    def _documents(self, texts: list[str]) -> "NDArray[np.float32]":
        return self._rows(lambda: self._embeddings.embed_documents(texts), len(texts))

    def _rows(self, ask: Callable[[], object], count: int) -> "NDArray[np.float32]":
        """The model's rows, of length one."""
        try:
            rows = ask()
        except Exception as error:
            # The provider's own words stay in the cause: they can hold an address with a password in it.
            raise EmbeddingFailed(
                f"{self.name} should have embedded text, but failed with {type(error).__name__}; "
                "check the model's name, its key and the connection"
            ) from error
        try:
            matrix = np.asarray(rows, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self._failure(count, "rows that are not lists of numbers of one length") from error
        if matrix.ndim != 2 or matrix.shape[0] != count or not matrix.shape[1]:
            raise self._failure(count, f"an array of shape {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise self._failure(count, "NaN or infinity")
        largest = np.abs(matrix).max(axis=1, keepdims=True)
        if largest.min() < _SHORTEST:
            raise self._failure(count, "a vector of zeros")
        matrix /= largest  # squares of very large numbers would overflow
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        return matrix.astype(np.float32)

    def _check_size(self, vectors: "NDArray[np.float32]") -> "NDArray[np.float32]":
        if vectors.shape[1] != self.dimension:
            raise EmbeddingFailed(
                f"{self.name} should give vectors of {self.dimension} numbers, but gave {vectors.shape[1]}; "
                "leave the dimension out, or give the model's own"
            )
        return vectors

    def _failure(self, count: int, came: str) -> EmbeddingFailed:
        return EmbeddingFailed(
            f"{self.name} should give {count} finite vector{'s' * (count != 1)}, but gave {came}; "
            "try again, or use another model"
        )


def _sendable(text: str) -> str:
    return text if text.strip() else _BLANK
