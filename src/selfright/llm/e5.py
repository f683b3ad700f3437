"""The embedded multilingual encoder: multilingual-e5-small on onnxruntime, from an installed package, no download."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from selfright.domain.passages import Language
from selfright.llm.batching import DynamicBatcher
from selfright.llm.e5_words import E5Words, shared_words
from selfright.llm.encoding import BATCH_TOKENS, CACHED_TEXTS, RecentVectors, batches, embedded, encoder_session, padded
from selfright.llm.leaning import shipped_leaning

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_TOKENS = 512
# The form in which the model was trained to read texts (Wang et al. 2024, arXiv:2402.05672, section 2).
_QUERY, _PASSAGE = "query: ", "passage: "


class E5:
    """Embeds text of a hundred languages in one space of 384 dimensions; of a longer text 512 word pieces count.

    The model is read on the first call (half a second), which raises ``ModelFilesDamaged`` when its file is not the
    pinned one. ``file`` is one that lies elsewhere: the package exists for Linux on x86-64, the same file serves every
    platform. Raises ``MissingExtra`` when neither is there. It computes on ``threads`` threads. Safe to share between
    threads.
    """

    name: ClassVar[str] = "multilingual-e5-small-q4"
    dimension: ClassVar[int] = 384
    languages: ClassVar[tuple[Language, ...]] = ()  # none declared: all of them

    def __init__(self, *, file: Path | None = None, threads: int = 2) -> None:
        self._words, self._threads = shared_words(file), threads
        self._loading = threading.Lock()
        self._session: Any = None
        self._weights: Mapping[str, NDArray[Any]] = {}  # the session borrows this memory
        self._recent = RecentVectors(CACHED_TEXTS)
        self._batched = DynamicBatcher(self._vectors, len, BATCH_TOKENS)

    def leaned(self, vector: "NDArray[np.float32]", language: Language) -> "NDArray[np.float32]":
        """The vector of a question in ``language``, shape ``(384,)``, leaning towards passages in the other one.

        Its inner products with passages of its own language stay what they are on average, those with the others grow
        by 0.03 to 0.04; it is not of length one. Raises ``ModelFilesDamaged``.
        """
        return shipped_leaning().leaned(vector, language)

    @property
    def words(self) -> E5Words:
        """What others that use the encoder's word vectors share with it."""
        return self._words

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Passages: one row per text: float32, shape ``(len(texts), 384)``, rows of length one."""
        return self._embed(_PASSAGE, texts)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The vector to search with: float32, shape ``(384,)``, of length one."""
        row: NDArray[np.float32] = self._embed(_QUERY, [text])[0]
        return row

    def _embed(self, form: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        self._load()
        return embedded([form + text for text in texts], self._recent, self._encode, self.dimension)

    def _encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        begin, end = self._words.pieces.bos_id(), self._words.pieces.eos_id()
        found = self._batched([[begin, *ids[: _MAX_TOKENS - 2], end] for ids in self._words.numbers(texts)])
        return np.asarray(found, dtype=np.float32).reshape(-1, self.dimension)

    def _vectors(self, pieces: "Sequence[Sequence[int]]") -> "Sequence[NDArray[np.float32]]":
        vectors = np.empty((len(pieces), self.dimension), dtype=np.float32)
        for rows in batches([len(ids) for ids in pieces]):
            vectors[rows] = self._run([pieces[row] for row in rows])
        return list(vectors)

    def _run(self, pieces: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
        ids, mask = padded(pieces, self._words.pieces.pad_id())
        (embedding,) = self._session.run(None, {"embedded": self._words.vectors(ids), "attention_mask": mask})
        result: NDArray[np.float32] = embedding
        return result

    def _load(self) -> None:
        if self._session is not None:
            return
        with self._loading:
            if self._session is None:
                from selfright.llm.encoder_graph import EncoderGraph

                graph = EncoderGraph(self._words.parameters())
                self._weights = graph.weights
                self._session = encoder_session(graph, self._threads)
