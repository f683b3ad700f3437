"""How rare terms are: the inverse document frequency of BM25, among the passages that could hold a term.

A Hangul term can only occur in Korean passages. Counted among all passages of an index in two languages, every Korean
word would look rare, and outweigh the names in Latin letters ("CORS") that stand next to it in a question. Latin terms
occur in passages of both languages, so they are counted among all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from selfright.domain.text import has_hangul

_FEWEST = 10  # passages; fewer say too little about how common a word is


@dataclass(frozen=True, slots=True)
class Population:
    """The number of passages of an index, and of those in Korean; None or 0 if Korean is not a language of its own."""

    passages: int
    korean: int | None = None

    @property
    def mixed(self) -> bool:
        """Whether Hangul terms are counted among fewer passages than others."""
        return 0 < (self.korean or 0) < self.passages

    def of(self, term: str, frequency: int) -> int:
        """How many passages could hold ``term``, which ``frequency`` passages do hold."""
        fewest = fewest_holders(term, self.korean)
        return min(max(fewest, frequency), self.passages) if fewest else self.passages

    def idf(self, terms: Sequence[str], frequencies: Sequence[int]) -> list[float]:
        """The inverse document frequency of each term."""
        return [idf(count, self.of(term, count)) for term, count in zip(terms, frequencies, strict=True)]


def fewest_holders(term: str, korean: int | None) -> int:
    """The number of passages that could hold a Hangul term at least; 0 for another term, which any could hold."""
    return max(korean, _FEWEST) if korean and has_hangul(term) else 0


def idf(frequency: int, total: int) -> float:
    """``ln(1 + (N - df + 0.5) / (df + 0.5))``: how much a term says that ``frequency`` of ``total`` passages have."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
