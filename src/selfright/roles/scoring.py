"""Small linear models whose weights are kept as text: signals or opinions in, a probability out."""

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_EDGE = 60.0
_SUREST = 10.0


@dataclass(frozen=True, slots=True)
class Curve:
    """A rising curve through points, flat beyond its ends: score → probability."""

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __call__(self, score: float) -> float:
        """The probability at ``score``, interpolated."""
        i = bisect_right(self.scores, score)
        if i == 0 or i == len(self.scores):
            return self.probabilities[min(i, len(self.scores) - 1)]
        low, high = self.scores[i - 1], self.scores[i]
        part = (score - low) / (high - low)
        return self.probabilities[i - 1] + part * (self.probabilities[i] - self.probabilities[i - 1])


@dataclass(frozen=True, slots=True)
class Scorer:
    """A weighted sum of named signals, turned into a calibrated probability."""

    names: tuple[str, ...]
    weights: tuple[float, ...]
    intercept: float
    curve: Curve

    def score(self, values: Mapping[str, float]) -> float:
        """The weighted sum, in log-odds before calibration."""
        return self.intercept + sum(w * values[name] for name, w in zip(self.names, self.weights, strict=True))

    def probability(self, values: Mapping[str, float]) -> float:
        """0…1; NaN when a signal is not a number, for a judge that cannot read must not say yes or no."""
        score = self.score(values)
        return self.curve(max(-_EDGE, min(_EDGE, score))) if math.isfinite(score) else math.nan


@dataclass(frozen=True, slots=True)
class Blend:
    """Several opinions, as log-odds by name, made into one: a weighted sum, itself log-odds."""

    weights: Mapping[str, float]
    intercept: float = 0.0

    def __call__(self, opinions: Mapping[str, float]) -> float:
        """The probability (0…1); NaN when an opinion is not a number. Opinions count to ten on either side."""
        score = self.intercept + sum(w * _bound(opinions[name]) for name, w in self.weights.items())
        return 1 / (1 + math.exp(-max(-_EDGE, min(_EDGE, score)))) if math.isfinite(score) else math.nan


def read_blend(stored: Mapping[str, Any], like: Blend) -> Blend:
    """A blend from its JSON form; ``ValueError`` unless it has a finite weight for each opinion that ``like`` has."""
    weights = {str(name): float(weight) for name, weight in stored["weights"].items()}
    blend = Blend(weights, float(stored["intercept"]))
    if weights.keys() != like.weights.keys() or not all(map(math.isfinite, (*weights.values(), blend.intercept))):
        raise ValueError(f"a finite weight was expected for each of {', '.join(like.weights)}")
    return blend


def log_odds(probability: float) -> float:
    """From a probability (0…1), no further from even than 0.002 and 0.998."""
    inside = min(0.998, max(0.002, probability))
    return math.log(inside / (1 - inside)) if math.isfinite(probability) else math.nan


def _bound(opinion: float) -> float:
    return max(-_SUREST, min(_SUREST, opinion)) if math.isfinite(opinion) else math.nan


def read_scorer(stored: Mapping[str, Any]) -> Scorer:
    """A scorer from its JSON form: ``weights`` by name, ``intercept``, ``calibration`` (scores, probabilities)."""
    curve = stored["calibration"]
    return Scorer(
        tuple(stored["weights"]),
        tuple(map(float, stored["weights"].values())),
        float(stored["intercept"]),
        Curve(tuple(map(float, curve["scores"])), tuple(map(float, curve["probabilities"]))),
    )
