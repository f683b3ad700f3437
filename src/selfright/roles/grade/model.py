"""The grader's decision: scorers for a passage and for the set, and the two thresholds.

All numbers come from ``weights.json``, which ``training/fit_judges.py`` writes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from selfright.domain.judgements import Verdict
from selfright.roles.grade.features import COSINES, FEATURES, READ
from selfright.roles.scoring import Scorer, log_odds, read_scorer

SET_SIGNALS = (
    "best_logit",  # log-odds of the most probable passage
    "lead",  # how far the most probable is ahead of the next
    "most_coverage",  # the highest of any passage
    "most_reading",
    "most_nearest",
    "most_apart",  # how far the highest cosine is ahead of the fourth: what is asked for stands out
    "few",  # 1 / passages: with few of them nothing can stand out
)
_BESIDE = 3
_MOST = ("coverage", "reading", "nearest")


@dataclass(frozen=True, slots=True)
class Variant:
    """A scorer of single passages and one of the set they make."""

    passage: Scorer
    sufficiency: Scorer


VARIANTS = {"words": (), "cosines": COSINES, "read": READ, "both": (*COSINES, *READ)}
"""The scorers, and the signals that each counts beside the words."""


def names_of(variant: str) -> tuple[str, ...]:
    """The signals of passages that a variant counts."""
    return tuple(name for name in FEATURES if name not in (*COSINES, *READ) or name in VARIANTS[variant])


@dataclass(frozen=True, slots=True)
class GraderModel:
    """``variants`` are named as in ``VARIANTS``; cosines are those of the encoder named ``embedder``, and readings
    those of the reader named ``reader``.

    A set whose sufficiency is below ``lower`` is incorrect, from ``upper`` on it is correct.
    """

    embedder: str
    reader: str
    variants: Mapping[str, Variant]
    lower: float
    upper: float

    def variant(self, *, has_cosine: bool, was_read: bool) -> Variant:
        """The scorers for a passage of which this is known."""
        if was_read:
            return self.variants["both" if has_cosine else "read"]
        return self.variants["cosines" if has_cosine else "words"]

    def verdict(self, sufficiency: float) -> Verdict:
        """What a set of that sufficiency (0…1) is."""
        if sufficiency < self.lower:
            return Verdict.INCORRECT
        return Verdict.CORRECT if sufficiency >= self.upper else Verdict.AMBIGUOUS


def read_model(stored: Mapping[str, Any]) -> GraderModel:
    """A model from its JSON form."""
    variants = {
        name: Variant(read_scorer(parts["passage"]), read_scorer(parts["sufficiency"]))
        for name, parts in stored["variants"].items()
    }
    lower, upper = (float(stored["thresholds"][name]) for name in ("lower", "upper"))
    return GraderModel(stored["embedder"], stored["reader"], variants, lower, upper)


@cache
def load_model() -> GraderModel:
    """The model that ships with the package."""
    raw = files("selfright.roles.grade").joinpath("weights.json").read_text(encoding="utf-8")
    return read_model(json.loads(raw))


def set_signals(probabilities: Sequence[float], rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """What the passages of a set say together: one value per name in ``SET_SIGNALS``.

    ``rows`` are the passages' features, ``probabilities`` what the passage scorer made of them.
    """
    first, second = sorted([*probabilities, 0.0], reverse=True)[:2]
    cosines = sorted((row["cosine"] for row in rows), reverse=True)
    return {
        "best_logit": log_odds(first),
        "lead": first - second,
        **{f"most_{name}": max(row[name] for row in rows) for name in _MOST},
        "most_apart": cosines[0] - cosines[min(_BESIDE, len(cosines) - 1)],
        "few": 1 / len(rows),
    }
