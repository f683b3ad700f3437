"""How two rankings become one. Plain reciprocal rank fusion, and the same with each half trusted by the language."""

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

from selfright.domain.errors import UnknownName
from selfright.domain.passages import Language, Ranked
from selfright.domain.text import language_of

Ranking = Sequence[tuple[str, Ranked]]
"""Passage ids with their places, best first."""

DEFAULT_K = 60


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[str]], k: int = DEFAULT_K, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Ids with ``sum of weight / (k + rank)`` over the rankings, ranks from 1, best first.

    An id that occurs twice in one ranking counts once, at its best rank. Ties go to the better single rank, then to
    the smaller id. Without ``weights`` every ranking counts one; a ranking of weight zero adds nothing and no ids.
    """
    places: dict[str, list[tuple[float, int]]] = {}  # id → (weight, rank) of each ranking it is in
    for number, ranking in enumerate(rankings):
        weight = weights[number] if weights else 1.0
        if weight:
            for item, rank in _best_ranks(ranking).items():
                places.setdefault(item, []).append((weight, rank))
    scored = [
        (-math.fsum(weight / (k + rank) for weight, rank in found), min(rank for _, rank in found), item)
        for item, found in places.items()
    ]
    return [(item, -score) for score, _, item in sorted(scored)]


def _best_ranks(ranking: Sequence[str]) -> dict[str, int]:
    best: dict[str, int] = {}
    for rank, item in enumerate(ranking, start=1):
        best.setdefault(item, rank)
    return best


class Fusion(Protocol):
    """Makes one ranking of the lexical and the dense one."""

    @property
    def name(self) -> str:
        """What settings and reports call it."""
        ...

    def wants_dense(self, query: str, /) -> bool:
        """Whether the dense half can add anything for this query; it is not even asked when it cannot."""
        ...

    def fuse(self, query: str, bm25: Ranking, dense: Ranking, /) -> list[tuple[str, float]]:
        """Ids with their fused score, best first, without repeats."""
        ...


class ReciprocalRankFusion:
    """Both halves count the same, always."""

    name = "rrf"

    def __init__(self, k: int = DEFAULT_K) -> None:
        self._k = k

    def wants_dense(self, _query: str, /) -> bool:
        """Always."""
        return True

    def fuse(self, _query: str, bm25: Ranking, dense: Ranking, /) -> list[tuple[str, float]]:
        """Plain reciprocal rank fusion."""
        return reciprocal_rank_fusion(([item for item, _ in bm25], [item for item, _ in dense]), self._k)


class LanguageAwareFusion:
    """Reciprocal rank fusion that leaves the dense half out where the embedder does not know the query's language.

    ``dense_languages`` are the languages the embedder declares; none declared means that it knows all.
    """

    name = "language_aware"

    def __init__(self, k: int = DEFAULT_K, dense_languages: Sequence[Language] = ()) -> None:
        self._plain = ReciprocalRankFusion(k)
        self._dense_languages = frozenset(dense_languages)

    def wants_dense(self, query: str, /) -> bool:
        """Whether the embedder knows the query's language."""
        return not self._dense_languages or language_of(query) in self._dense_languages

    def fuse(self, query: str, bm25: Ranking, dense: Ranking, /) -> list[tuple[str, float]]:
        """Plain fusion, of the lexical ranking alone where the dense one cannot be trusted."""
        return self._plain.fuse(query, bm25, dense if self.wants_dense(query) else ())


def fusion_named(name: str, k: int = DEFAULT_K, dense_languages: Sequence[Language] = ()) -> Fusion:
    """The fusion that settings call ``name``; raises ``UnknownName``."""
    match name:
        case "rrf":
            return ReciprocalRankFusion(k)
        case "language_aware":
            return LanguageAwareFusion(k, dense_languages)
    raise UnknownName("fusion", name, ("rrf", "language_aware"))
