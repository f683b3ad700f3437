"""How far each half of a search is trusted for one query: few signals, and a small linear model over them.

The weights are in ``fusion_weights.json``, written by ``training/fit_fusion.py``. All signals stay the same when every
cosine is shifted; only ``spread`` changes when they are stretched.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from selfright.domain.passages import Language, SearchWeights

MOST_BM25 = 2.2  # k1 + 1: a term cannot add more than this times its idf
USUAL_SPREAD = 0.0135  # standard deviation of the cosines of the nearest passages, roughly
NEAR_SCALE = 0.04  # brings both halves to one scale
NEAR_POWER = 1.5  # a cosine high above the others counts for more than its height
_FEW = 10  # a spread over fewer cosines says little


@dataclass(frozen=True, slots=True)
class SearchedQuery:
    """What was searched for: the query as asked, its language, and the idf of each content term, repeats kept."""

    text: str
    language: Language
    idf: Sequence[float]

    @property
    def most(self) -> float:
        """The highest BM25 score that any passage could have; 0 without terms."""
        return MOST_BM25 * sum(self.idf)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a search looks like, both lists not empty.

    ``unit`` is the BM25 score that counts as one: the geometric mean of the highest found and the highest thinkable,
    which no long query comes near. ``lowest`` is the lowest cosine of the list, ``spread`` the standard deviation of
    its cosines, never 0. ``signals`` are the model's inputs by name.
    """

    unit: float
    lowest: float
    spread: float
    signals: Mapping[str, float]


def measure(searched: SearchedQuery, bm25: Sequence[float], cosines: Sequence[float]) -> Measured:
    """Of the scores of two lists that are not empty, best first."""
    first = max(bm25[0], 1e-9)
    spread = _spread(cosines)
    words = searched.text.split()
    signals = {
        "spread": max(-1.5, min(1.5, math.log(spread / USUAL_SPREAD))),
        "lead": 1 - _score(bm25, 2) / first,
        "field": 1 - _score(bm25, 10) / first,
        "codes": sum(any(map(str.isdigit, word)) for word in words) / max(len(words), 1),
    }
    return Measured(math.sqrt(max(searched.most, first) * first), min(cosines), spread, signals)


def _score(scores: Sequence[float], rank: int) -> float:
    return scores[rank - 1] if len(scores) >= rank else 0.0


def _spread(cosines: Sequence[float]) -> float:
    if len(cosines) < _FEW:
        return USUAL_SPREAD
    mean = sum(cosines) / len(cosines)
    return max(math.sqrt(sum([(cosine - mean) ** 2 for cosine in cosines]) / len(cosines)), 1e-3)


_BECAUSE = {
    "spread": ("the nearest passages stand out by meaning", "the nearest passages hardly differ in meaning"),
    "lead": ("one passage is far ahead by its words", "no passage is ahead by its words"),
    "field": ("few passages hold the query's words", "many passages hold the query's words as well"),
    "codes": ("the query names numbers or codes", "the query is plain words"),
}


@dataclass(frozen=True, slots=True)
class FusionWeightModel:
    """A logistic model of how much the words weigh, 0…1; ``usual`` are the signals' means where it was fitted.

    It was fitted on the cosines of ``embedder``, and says nothing about those of another.
    """

    weights: Mapping[str, float]
    usual: Mapping[str, float]
    intercept: float
    embedder: str = ""

    def words_share(self, signals: Mapping[str, float]) -> float:
        """The weight of the BM25 half; the dense half has the rest."""
        return 1 / (1 + math.exp(-self.intercept - sum([w * signals[name] for name, w in self.weights.items()])))

    def fusion_weights(self, signals: Mapping[str, float]) -> SearchWeights:
        """The two weights, and the signal that moved them most from what is usual."""
        share = self.words_share(signals)
        moves = {name: w * (signals[name] - self.usual[name]) for name, w in self.weights.items()}
        name = max(moves, key=lambda each: abs(moves[each]))
        reason = _BECAUSE[name][signals[name] < self.usual[name]]
        return SearchWeights(
            share, 1 - share, f"words count for {share:.0%}, meaning for {1 - share:.0%}, because {reason}"
        )


def read_model(stored: Mapping[str, Any]) -> FusionWeightModel:
    """A model from its JSON form."""
    weights, usual = ({k: float(v) for k, v in stored[name].items()} for name in ("weights", "usual"))
    return FusionWeightModel(weights, usual, float(stored["intercept"]), str(stored["embedder"]))


@cache
def load_model() -> FusionWeightModel:
    """The model that comes with the package."""
    return read_model(
        json.loads(files("selfright.retrieval").joinpath("fusion_weights.json").read_text(encoding="utf-8"))
    )
