"""The embedded multilingual encoder: multilingual-e5-small on onnxruntime, from files of the package.

The encoder puts texts of one language nearer to each other than their meaning alone would: a passage stands about 0.08
nearer to a question in its own language than its translation does. Along one direction, from the mean of Korean
passages to that of their English translations, all passages of a language lie alike, so a step along it lifts one
language over the other and leaves the order within each as it is. A second, much smaller step keeps the own language's
scores at their level. Judges see the cosines of vectors that do not lean. ``training/fit_leaning.py`` writes both steps
and what was measured as ``leaning.npz``.

On passages that the steps were not fitted on, cosines of Korean questions with English passages grow by 0.041 (standard
deviation 0.003), of English questions with Korean passages by 0.031 (0.002); those within Korean change by -0.0001 on
average (0.003), within English by 0.0000 (0.002).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from selfright.background import Recent
from selfright.domain.passages import Language
from selfright.models.batching import (
    BATCH_TOKENS,
    CACHED_TEXTS,
    DynamicBatcher,
    Lanes,
    embed_batches,
    pad_pieces,
)
from selfright.models.files import BEGIN, END, FOLDER, PAD, Network, model_file, piece_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


@cache
def read_leaning(folder: Path = FOLDER) -> "Mapping[Language, NDArray[np.float32]]":
    """What is added to the vector of a question, by its language: one number for each dimension.

    Raises ``ModelFilesDamaged``.
    """
    with np.load(model_file("leaning.npz", folder), allow_pickle=False) as arrays:
        return {"ko": arrays["ko"], "en": arrays["en"]}


_MAX_TOKENS = 512
# The form in which the model was trained to read texts (Wang et al. 2024, arXiv:2402.05672, section 2).
_QUERY, _PASSAGE = "query: ", "passage: "


class E5:
    """Embeds text of a hundred languages in one space of 384 dimensions; of a longer text 512 word pieces count.

    The model is read on the first call, which raises ``ModelFilesDamaged`` when one of its files is not the pinned one.
    It computes on ``threads`` cores. Safe to share between threads. The name is that of the weights in four bits: the
    eight bits that are computed with (``training/eight_bits.py``) give vectors with a cosine of 0.9992 to theirs.
    """

    name: ClassVar[str] = "multilingual-e5-small-q4"
    dimension: ClassVar[int] = 384
    languages: ClassVar[tuple[Language, ...]] = ()  # none declared: all of them

    def __init__(self, *, threads: int = 2, folder: Path = FOLDER) -> None:
        self._lanes, self._network = Lanes(threads), Network("encoder", folder)
        self._recent: Recent[str, NDArray[np.float32]] = Recent(CACHED_TEXTS)
        self._batched = DynamicBatcher(self._vectors, len, BATCH_TOKENS)

    def cross_language_penalty(self, vector: "NDArray[np.float32]", language: Language) -> "NDArray[np.float32]":
        """The vector of a question in ``language``, shape ``(384,)``, leaning towards passages in the other one.

        Its inner products with passages of its own language stay what they are on average, those with the others grow
        by 0.03 to 0.04; it is not of length one. Raises ``ModelFilesDamaged``.
        """
        result: NDArray[np.float32] = vector + read_leaning()[language]
        return result

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Passages: one row per text: float32, shape ``(len(texts), 384)``, rows of length one."""
        return self._embed(_PASSAGE, texts)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The vector to search with: float32, shape ``(384,)``, of length one."""
        row: NDArray[np.float32] = self._embed(_QUERY, [text])[0]
        return row

    def _embed(self, form: str, texts: Sequence[str]) -> "NDArray[np.float32]":
        self._network.load()
        return embed_batches([form + text for text in texts], self._recent, self._encode, self.dimension)

    def _encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        found = self._batched([[BEGIN, *numbers[: _MAX_TOKENS - 2], END] for numbers in piece_numbers(texts)])
        return np.asarray(found, dtype=np.float32).reshape(-1, self.dimension)

    def _vectors(self, pieces: "Sequence[Sequence[int]]") -> "Sequence[NDArray[np.float32]]":
        vectors = np.empty((len(pieces), self.dimension), dtype=np.float32)

        def run(rows: list[int]) -> None:
            numbers, mask = pad_pieces([pieces[row] for row in rows], PAD)
            (vectors[rows],) = self._network.run({"pieces": numbers, "attention_mask": mask})

        self._lanes([len(numbers) for numbers in pieces], run)
        return list(vectors)
