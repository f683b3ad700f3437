"""How two rankings become one: by ranks alone, or by scores, with each half trusted as the query deserves."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Generic, Protocol, TypeVar

from selfright.domain.errors import UnknownName
from selfright.domain.passages import Language, Ranked, Trust
from selfright.domain.text import language_of
from selfright.retrieval.trust import (
    NEAR_POWER,
    NEAR_SCALE,
    Measured,
    SearchedQuery,
    TrustModel,
    measure,
    shipped_model,
)

Item = TypeVar("Item", int, str)
Ranking = Sequence[tuple[Item, Ranked]]
"""Items with their places, best first."""

DEFAULT_K = 60
FUSIONS = ("adaptive", "rrf")
_TIE = 1e-6  # fused scores that differ by less are ties: the order of summation alone makes such differences
_WORDS_ALONE = Trust(1.0, 0.0, "words alone: there is no list by meaning")
_MEANING_ALONE = Trust(0.0, 1.0, "meaning alone: no passage holds a word of the query")
_EVEN = Trust(0.5, 0.5, "both count the same, as set")


@dataclass(frozen=True, slots=True)
class Fused(Generic[Item]):
    """Items with their fused score, best first, without repeats, and how far each half was trusted."""

    items: list[tuple[Item, float]]
    trust: Trust


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[Item]], k: int = DEFAULT_K, weights: Sequence[float] | None = None
) -> list[tuple[Item, float]]:
    """Items with ``sum of weight / (k + rank)`` over the rankings, ranks from 1, best first.

    An item that occurs twice in one ranking counts once, at its best rank. Ties go to the better single rank, then to
    the smaller item. Without ``weights`` every ranking counts one; one of weight zero adds nothing and no items.
    """
    places: dict[Item, list[tuple[float, int]]] = {}  # item → (weight, rank) of each ranking it is in
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


def _best_ranks(ranking: Sequence[Item]) -> dict[Item, int]:
    best: dict[Item, int] = {}
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

    def fuse(self, searched: SearchedQuery, bm25: Ranking[Item], dense: Ranking[Item], /) -> Fused[Item]:
        """One ranking of the two; either may be empty."""
        ...


class ReciprocalRankFusion:
    """Both halves count the same, always."""

    name = "rrf"

    def __init__(self, k: int = DEFAULT_K) -> None:
        self._k = k

    def wants_dense(self, _query: str, /) -> bool:
        """Always."""
        return True

    def fuse(self, _searched: SearchedQuery, bm25: Ranking[Item], dense: Ranking[Item], /) -> Fused[Item]:
        """Plain reciprocal rank fusion."""
        lists = ([item for item, _ in bm25], [item for item, _ in dense])
        return Fused(reciprocal_rank_fusion(lists, self._k), _EVEN)


class AdaptiveFusion:
    """A weighted sum of both scores, brought to one scale, with weights that a small model gives for each query.

    BM25 counts as a share of a score between the highest found and the highest thinkable; a cosine counts as a power of
    its height above the lowest of the list, in standard deviations of the list. A passage that one list lacks gets 0
    for that half.
    ``dense_languages`` are the languages the embedder declares; none declared means that it knows all. A query in
    another one is searched for by words alone.
    """

    name = "adaptive"

    def __init__(self, dense_languages: Sequence[Language] = (), model: TrustModel | None = None) -> None:
        self._dense_languages = frozenset(dense_languages)
        self._model = model or shipped_model()

    def wants_dense(self, query: str, /) -> bool:
        """Whether the embedder knows the query's language."""
        return not self._dense_languages or language_of(query) in self._dense_languages

    def fuse(self, searched: SearchedQuery, bm25: Ranking[Item], dense: Ranking[Item], /) -> Fused[Item]:
        """Scores lie from 0 upward, mostly below 1; they compare within one search only."""
        if self._dense_languages and searched.language not in self._dense_languages:
            dense = ()
        if not bm25 or not dense:
            return _one_half(dict(reversed(bm25 or dense)), searched, _MEANING_ALONE if dense else _WORDS_ALONE)
        measured = measure(searched, [place for _, place in bm25], [place for _, place in dense])
        trust = self._model.trust(measured.signals)
        return Fused(_weighed(dict(reversed(bm25)), dict(reversed(dense)), measured, trust), trust)


def _one_half(places: Mapping[Item, Ranked], searched: SearchedQuery, trust: Trust) -> Fused[Item]:
    """In the order of its ranks: BM25 as the share of the highest score thinkable, cosines as they are."""
    best = max((place.score for place in places.values()), default=0.0)
    scale = 1.0 if trust.dense else 1 / max(searched.most, best, 1e-9)
    ordered = sorted([(place.rank, item, place.score * scale) for item, place in places.items()])
    return Fused([(item, score) for _, item, score in ordered], trust)


def _weighed(
    words: Mapping[Item, Ranked], near: Mapping[Item, Ranked], measured: Measured, trust: Trust
) -> list[tuple[Item, float]]:
    word_weight, lowest = trust.bm25 / measured.unit, measured.lowest
    near_weight = trust.dense * NEAR_SCALE / measured.spread**NEAR_POWER
    scores = {item: score * word_weight for item, (_, score) in words.items()}
    for item, (_, score) in near.items():
        scores[item] = scores.get(item, 0.0) + (score - lowest) ** NEAR_POWER * near_weight
    ordered = sorted(scores.items(), key=itemgetter(1), reverse=True)
    return list(_ties_ordered(ordered, words, near))


def _ties_ordered(
    ordered: Sequence[tuple[Item, float]], words: Mapping[Item, Ranked], near: Mapping[Item, Ranked]
) -> Iterator[tuple[Item, float]]:
    """Runs of scores that hardly differ, by the better single rank and then by the smaller item."""

    def place(pair: tuple[Item, float]) -> tuple[int, Item]:
        item = pair[0]
        return min(found[item].rank for found in (words, near) if item in found), item

    start = 0
    for end in range(1, len(ordered) + 1):
        if end == len(ordered) or ordered[end - 1][1] - ordered[end][1] > _TIE:
            yield from ordered[start:end] if end - start == 1 else sorted(ordered[start:end], key=place)
            start = end


def fusion_named(name: str, k: int = DEFAULT_K, dense_languages: Sequence[Language] = ()) -> Fusion:
    """The fusion that settings call ``name``; raises ``UnknownName``."""
    match name:
        case "adaptive":
            return AdaptiveFusion(dense_languages)
        case "rrf":
            return ReciprocalRankFusion(k)
    raise UnknownName("fusion", name, FUSIONS)
