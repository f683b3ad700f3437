"""How much a short message reads like small talk: a logistic model over hashed character n-grams.

The weights are small whole numbers in ``weights.json``, fitted by ``training/fit_classifier.py``.
"""

import json
import math
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

BUCKETS = 4096
SCALE = 100
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class ChattinessModel:
    """``probability`` of small talk from bucket weights (hundredths); ``threshold`` keeps lost questions rare."""

    weights: Sequence[int]
    intercept: float
    threshold: float

    def probability(self, text: str) -> float:
        """0…1. Only the first 200 characters are read."""
        buckets = ngram_buckets(text)
        z = self.intercept
        if buckets:
            z += sum(self.weights[bucket] for bucket in buckets) / SCALE / math.sqrt(len(buckets))
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))


def ngram_buckets(text: str) -> frozenset[int]:
    """The buckets of the character n-grams (1–3 with Hangul, 2–5 without) of each word with its borders."""
    composed = unicodedata.normalize("NFKC", text[:_LONGEST]).lower()
    grams: set[str] = set()
    for word in composed.split():
        padded = f" {word} "
        low, high = (2, 5) if word.isascii() else (1, 4)
        grams.update(padded[i : i + n] for n in range(low, high + 1) for i in range(len(padded) - n + 1))
    return frozenset(zlib.crc32(gram.encode()) % BUCKETS for gram in grams)


@cache
def shipped_model() -> ChattinessModel:
    """The model that ships with the package."""
    raw = files("selfright.roles.classify").joinpath("weights.json").read_text(encoding="utf-8")
    return read_model(json.loads(raw))


def read_model(stored: Mapping[str, Any]) -> ChattinessModel:
    """A model from its JSON form; raises ``ValueError`` when the number of weights is not the number of buckets."""
    weights = tuple(int(weight) for weight in stored["weights"])
    if len(weights) != BUCKETS:
        raise ValueError(f"the classifier's weights must be {BUCKETS} numbers, but there are {len(weights)}")
    return ChattinessModel(weights, float(stored["intercept"]), float(stored["threshold"]))
