"""What one half of a search brings: passages in a stable order of scores; and how rare terms are, as BM25 counts it.

A Hangul term can only occur in Korean passages. Counted among all passages of an index in two languages, every Korean
word would look rare, and outweigh the names in Latin letters ("CORS") that stand next to it in a question. Latin terms
occur in passages of both languages, so they are counted among all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from selfright.domain.text import has_hangul

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


SPARE = 20  # fetched beyond what is wanted, so that ties at its edge are broken by us and not by the index's layout
_BLAS_FROM = 2_000  # rows
_DIGITS = 4  # scores that differ by less are ties: the order of summation alone makes such differences


class ScoredKeys(NamedTuple):
    """Keys, id hashes and scores of passages, best first; ties go to the smaller id hash."""

    keys: Sequence[int] = ()
    id_hashes: Sequence[int] = ()
    scores: Sequence[float] = ()

    def pairs(self) -> list[tuple[int, float]]:
        """Id hashes with their scores."""
        return list(zip(self.id_hashes, self.scores, strict=True))


def in_order(keys: "ArrayLike", id_hashes: "ArrayLike", scores: "ArrayLike", limit: int) -> ScoredKeys:
    """The ``limit`` best."""
    keys, id_hashes, scores = np.asarray(keys), np.asarray(id_hashes), np.asarray(scores)
    order = np.lexsort((id_hashes, -scores.round(_DIGITS)))[:limit]
    return ScoredKeys(keys[order].tolist(), id_hashes[order].tolist(), scores[order].tolist())


def inner_products(matrix: "NDArray[np.float32]", vector: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """The inner product of each row; not by BLAS when there are few, whose threads would go on spinning for a while.

    Few rows are summed one by one, so that a score does not depend on what else is asked for.
    """
    if len(matrix) > _BLAS_FROM:
        return matrix @ vector
    products: NDArray[np.float32] = np.einsum("ij,j->i", matrix, vector)
    return products


def highest(scores: "NDArray[np.float32]", limit: int) -> "tuple[NDArray[np.int64], NDArray[np.float32]]":
    """The places of the highest scores, unordered, and these scores; impossible ones are left out."""
    places = np.argpartition(-scores, limit)[:limit] if len(scores) > limit else np.arange(len(scores))
    places = places[np.isfinite(scores[places])]
    return places, scores[places]


_FEWEST = 10  # passages; fewer say too little about how common a word is


@dataclass(frozen=True, slots=True)
class Population:
    """The number of passages of an index, and of those in Korean."""

    passages: int
    korean: int = 0

    @property
    def mixed(self) -> bool:
        """Whether Hangul terms are counted among fewer passages than others."""
        return 0 < self.korean < self.passages

    def of(self, term: str, frequency: int) -> int:
        """How many passages could hold ``term``, which ``frequency`` passages do hold."""
        fewest = fewest_holders(term, self.korean)
        return min(max(fewest, frequency), self.passages) if fewest else self.passages

    def idf(self, terms: Sequence[str], frequencies: Sequence[int]) -> list[float]:
        """The inverse document frequency of each term."""
        return [idf(count, self.of(term, count)) for term, count in zip(terms, frequencies, strict=True)]


def fewest_holders(term: str, korean: int) -> int:
    """The number of passages that could hold a Hangul term at least; 0 for another term, which any could hold."""
    return max(korean, _FEWEST) if korean and has_hangul(term) else 0


def idf(frequency: int, total: int) -> float:
    """``ln(1 + (N - df + 0.5) / (df + 0.5))``: how much a term says that ``frequency`` of ``total`` passages have."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
