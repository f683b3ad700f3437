"""How two rankings become one: by ranks alone, or by scores, with each half trusted as the query deserves."""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Generic, TypeVar

from selfright.domain.errors import UnknownName
from selfright.domain.passages import SearchWeights
from selfright.domain.ports import Embedder
from selfright.retrieval.fusion_weights import (
    NEAR_POWER,
    NEAR_SCALE,
    FusionWeightModel,
    Measured,
    SearchedQuery,
    load_model,
    measure,
)

Item = TypeVar("Item", int, str)
Ranking = Sequence[tuple[Item, float]]
"""Items with their scores, best first."""

DEFAULT_K = 60
FUSIONS = ("adaptive", "rrf")
_TIE = 1e-6  # fused scores that differ by less are ties: the order of summation alone makes such differences
_WORDS_ALONE = SearchWeights(1.0, 0.0, "there is no list by meaning")
_MEANING_ALONE = SearchWeights(0.0, 1.0, "no passage holds a word of the query")
_EVEN = SearchWeights(0.5, 0.5, "both count the same, as set")
_UNFITTED = SearchWeights(0.5, 0.5, "both count the same, for nothing was fitted for this embedder")


@dataclass(frozen=True, slots=True)
class Fused(Generic[Item]):
    """Items with their fused score, best first, without repeats, and how far each half was trusted."""

    items: list[tuple[Item, float]]
    trust: SearchWeights


def reciprocal_rank_fusion(rankings: Iterable[Sequence[Item]], k: int = DEFAULT_K) -> list[tuple[Item, float]]:
    """Items with the sum of ``1 / (k + rank)`` over the rankings, ranks from 1, best first.

    An item that occurs twice in one ranking counts once, at its best rank. Ties go to the better single rank, then to
    the smaller item.
    """
    ranks: dict[Item, list[int]] = {}  # in each ranking that the item is in
    for ranking in rankings:
        best = dict(zip(reversed(ranking), range(len(ranking), 0, -1), strict=True))
        for item, rank in best.items():
            ranks.setdefault(item, []).append(rank)
    scored = [(-math.fsum(1 / (k + rank) for rank in found), min(found), item) for item, found in ranks.items()]
    return [(item, -score) for score, _, item in sorted(scored)]


class Fusion(ABC):
    """Makes one ranking of the lexical and the dense one."""

    name: str
    """What settings and reports call it."""
    tells_languages: bool
    """Whether it makes a difference which items are ``foreign``; nobody needs to find out where it does not."""

    @abstractmethod
    def fuse(
        self,
        searched: SearchedQuery,
        bm25: Ranking[Item],
        dense: Ranking[Item],
        foreign: Collection[Item] = (),
        waiting: Collection[Item] = (),
        /,
    ) -> Fused[Item]:
        """One ranking of the two; either may be empty. ``foreign`` are in another language than the query, ``waiting``
        have no vector yet: the words stand for both halves."""


class ReciprocalRankFusion(Fusion):
    """Both halves count the same. It also stands in for the adaptive fusion over an embedder that this was not fitted
    on."""

    name = "rrf"
    tells_languages = False

    def __init__(self, k: int = DEFAULT_K, trust: SearchWeights = _EVEN) -> None:
        self._k, self._trust = k, trust

    def fuse(
        self,
        searched: SearchedQuery,
        bm25: Ranking[Item],
        dense: Ranking[Item],
        foreign: Collection[Item] = (),
        waiting: Collection[Item] = (),
        /,
    ) -> Fused[Item]:
        """Orders by the sum of ``1 / (k + rank)`` over both lists."""
        del searched, foreign
        lists = ([item for item, _ in bm25], [item for item, _ in dense])
        fused = reciprocal_rank_fusion(lists, self._k)
        if waiting and dense:  # of one list, in which the place by words is that by meaning too
            fused = [(item, 2 * score if item in waiting else score) for item, score in fused]
            fused.sort(key=itemgetter(1), reverse=True)
        return Fused(fused, self._trust)


class AdaptiveFusion(Fusion):
    """A weighted sum of both scores, brought to one scale, with weights that a small model gives for each query.

    BM25 counts as a share of a score between the highest found and the highest thinkable; a cosine counts as a power of
    its height above the lowest of the list, in standard deviations of the list. A passage that one list lacks gets 0
    for that half. A foreign passage cannot hold the query's words: by meaning it is worth what it would be if that half
    alone counted; and so is by words what has no vector yet. Scores lie from 0 upward, mostly below 1; they compare
    within one search only.
    """

    name = "adaptive"
    tells_languages = True

    def __init__(self, model: FusionWeightModel | None = None) -> None:
        self._model = model or load_model()

    def fuse(
        self,
        searched: SearchedQuery,
        bm25: Ranking[Item],
        dense: Ranking[Item],
        foreign: Collection[Item] = (),
        waiting: Collection[Item] = (),
        /,
    ) -> Fused[Item]:
        """Orders by the weighted sum; one list alone keeps its order."""
        if not bm25 or not dense:
            return _one_half(bm25 or dense, searched, _MEANING_ALONE if dense else _WORDS_ALONE)
        words, near = _once(bm25), _once(dense)
        measured = measure(searched, list(words.values()), list(near.values()))
        trust = self._model.fusion_weights(measured.signals)
        return Fused(_weigh((words, near), measured, trust, foreign, waiting), trust)


def _once(ranking: Ranking[Item]) -> dict[Item, float]:
    """Each item at its best place."""
    scores = dict(ranking)
    if len(scores) < len(ranking):
        scores.update(reversed(ranking))
    return scores


def _one_half(ranking: Ranking[Item], searched: SearchedQuery, trust: SearchWeights) -> Fused[Item]:
    """In the order it has: BM25 as the share of the highest score thinkable, cosines as they are."""
    scores = _once(ranking)
    scale = 1.0 if trust.dense else 1 / max(searched.most, *scores.values(), 1e-9)
    return Fused([(item, score * scale) for item, score in scores.items()], trust)


def _weigh(
    halves: tuple[Mapping[Item, float], Mapping[Item, float]],
    measured: Measured,
    trust: SearchWeights,
    foreign: Collection[Item],
    waiting: Collection[Item],
) -> list[tuple[Item, float]]:
    words, near = halves
    word_weight, lowest = trust.bm25 / measured.unit, measured.lowest
    near_weight = trust.dense * NEAR_SCALE / measured.spread**NEAR_POWER
    scores = {item: score * word_weight for item, score in words.items()}
    scores.update((item, words[item] / measured.unit) for item in waiting)
    for item, score in near.items():
        part = (score - lowest) ** NEAR_POWER * near_weight
        both = scores.get(item, 0.0) + part
        scores[item] = max(both, part / trust.dense) if trust.dense and item in foreign else both
    ordered = sorted(scores.items(), key=itemgetter(1), reverse=True)
    ties = [place for place, (a, b) in enumerate(pairwise(ordered)) if a[1] - b[1] <= _TIE]
    return _ties_ordered(ordered, ties, halves) if ties else ordered


def _ties_ordered(
    ordered: list[tuple[Item, float]], ties: Sequence[int], halves: Sequence[Mapping[Item, float]]
) -> list[tuple[Item, float]]:
    """Runs of scores that hardly differ, by the better single rank and then by the smaller item.

    ``ties`` are the places whose score is that of the next.
    """
    ranks = [{item: rank for rank, item in enumerate(half)} for half in halves]

    def place(pair: tuple[Item, float]) -> tuple[int, Item]:
        return min(found[pair[0]] for found in ranks if pair[0] in found), pair[0]

    start = end = ties[0]
    for tie in (*ties, len(ordered)):
        if tie > end:
            ordered[start : end + 1] = sorted(ordered[start : end + 1], key=place)
            start = tie
        end = tie + 1
    return ordered


def fusion_named(name: str, k: int = DEFAULT_K, embedder: Embedder | None = None) -> Fusion:
    """The fusion that settings call ``name``; raises ``UnknownName``.

    Over another ``embedder`` than it was fitted on the adaptive one is plain reciprocal rank fusion.
    """
    match name:
        case "adaptive" if embedder is None or embedder.name == load_model().embedder:
            return AdaptiveFusion()
        case "adaptive":
            return ReciprocalRankFusion(k, _UNFITTED)
        case "rrf":
            return ReciprocalRankFusion(k)
    raise UnknownName("fusion", name, FUSIONS)
