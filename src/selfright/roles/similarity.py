"""How near single sentences are to a question in meaning: a passage's vector says what it is about, and a sentence that
answers is often a small part of that.
"""

import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from selfright.background import Recent
from selfright.domain.embedding import cross_language_penalty, query_vector
from selfright.domain.errors import ModelError
from selfright.domain.passages import Passage, Strip
from selfright.domain.ports import Embedder
from selfright.domain.text import language_of
from selfright.roles.answer_units import answer_units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

KEPT = 4_096  # vectors; six megabytes of them
MOST_SENTENCES = 40  # of a passage


class SentenceSimilarity:
    """Cosines of a question and short texts, by ``embedder``; ``kept`` is the same one, which keeps on disk the vectors
    of what passages say. Nothing that a user writes reaches it. Keeps the last 4,096 vectors in memory; safe to share
    between threads.
    """

    def __init__(self, embedder: Embedder, kept: Embedder | None = None) -> None:
        self.name = embedder.name
        self._embedder, self._of_passages = embedder, kept or embedder
        self._vectors: Recent[str, NDArray[np.float32]] = Recent(KEPT)
        self._asked = lru_cache(maxsize=64)(self._embed_question)

    def cosines(self, question: str, texts: Sequence[str]) -> list[float] | None:
        """One for each text of a passage (-1…1); None when the embedder cannot be used, which is said once."""
        try:
            asked = self._asked(question)
            return [float(asked @ vector) for vector in self._vectors.complete(texts, self._of_passages.embed)]
        except ModelError as error:
            _say(f"judging goes on without the meaning of sentences: {error}")
            return None

    def nearness(self, name: str, others: Sequence[str]) -> list[float] | None:
        """Cosines of a word or two that a user named and such words of what was asked before; None as above."""
        try:
            named, *rest = self._embedder.embed([name, *others])
        except ModelError as error:
            _say(f"follow-ups are completed without the meaning of words: {error}")
            return None
        return [float(named @ vector) for vector in rest]

    def best(self, question: str, passages: Sequence[Passage]) -> list[float] | None:
        """Of each passage its nearest sentence's (0 for a passage without one); None as above."""
        texts = [sentences(passage) for passage in passages]
        found = self.cosines(question, [text for own in texts for text in own])
        if found is None:
            return None
        left = iter(found)
        return [max((next(left) for _ in own), default=0.0) for own in texts]

    def _embed_question(self, question: str) -> "NDArray[np.float32]":
        language = language_of(question)
        once = cross_language_penalty(self._embedder, query_vector(self._embedder, question), language)
        return cross_language_penalty(
            self._embedder, once, language
        )  # a search leans half of what makes languages even


@lru_cache(maxsize=512)
def sentences(passage: Passage) -> tuple[str, ...]:
    """A passage's sentences, list items and table rows, as an answer would say them; at most 40."""
    whole = Strip(passage, passage.start, passage.end, passage.text, 1.0)
    return tuple(dict.fromkeys(unit.text for unit in answer_units([whole]) if unit.text))[:MOST_SENTENCES]


@lru_cache(maxsize=8)
def _say(message: str) -> None:
    log.error(message)
