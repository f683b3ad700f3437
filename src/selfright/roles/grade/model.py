"""The grader's decision: scorers for a passage and for the set, and the two thresholds.

All numbers come from ``weights.json``, which ``training/fit_grader.py`` writes; but for one: a passage that says the
opposite of what is asked about (of the highest where the lowest is asked for) shares all other words with the question,
so every signal speaks for it, and its probability is lowered.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Any

from selfright.domain.judgements import Verdict
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.features import COSINES, FEATURES, READER, Asked, Read
from selfright.roles.questions import AnswerType
from selfright.roles.scoring import Scorer, log_odds, read_scorer
from selfright.roles.words import may_be_opposed, negated, opposed

SET_SIGNALS = (
    "best_logit",  # log-odds of the most probable passage
    "any",  # chance that one of the three most probable helps, were they independent
    "lead",  # how far the most probable is ahead of the next
    "most_saturation",  # the highest of any passage
    "most_adjacent",
    "most_cosine",
    "most_sentence_cosine",
    "spread_saturation",  # the highest over the mean: one passage stands out
    "spread_sentence_coverage",
    "spread_cosine",
    "spread_sentence_cosine",
    "names_missing",  # of the most probable passage
    "numbers_missing",
    "few",  # 1 / passages: with few of them nothing can stand out
)
_MOST = ("saturation", "adjacent", "cosine", "sentence_cosine")
_SPREAD = ("saturation", "sentence_coverage", "cosine", "sentence_cosine")
_MISSING = ("names_missing", "numbers_missing")


@dataclass(frozen=True, slots=True)
class Variant:
    """A scorer of single passages and one of the set they make."""

    passage: Scorer
    sufficiency: Scorer


VARIANTS = {"words": (), "korean": (), "cosines": COSINES, "reader": READER, "both": (*COSINES, *READER)}
"""The scorers, and the signals that each counts beside the words. ``korean`` are the words of Korean questions on
Korean passages: weighed as all words are, but worth more."""


def names_of(variant: str) -> tuple[str, ...]:
    """The signals of passages that a variant counts."""
    return tuple(name for name in FEATURES if name not in (*COSINES, *READER) or name in VARIANTS[variant])


def set_names_of(variant: str) -> tuple[str, ...]:
    """The signals of sets that a variant counts."""
    return tuple(name for name in SET_SIGNALS if "cosine" not in name or "cosine" in VARIANTS[variant])


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

    def variant(self, *, has_cosine: bool, was_read: bool, korean: bool = False) -> Variant:
        """The scorers for a passage of which this is known; ``korean``: it is Korean, and so is the question."""
        if was_read:
            return self.variants["both" if has_cosine else "reader"]
        return self.variants["cosines" if has_cosine else "korean" if korean else "words"]

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
def shipped_model() -> GraderModel:
    """The model that ships with the package."""
    raw = files("selfright.roles.grade").joinpath("weights.json").read_text(encoding="utf-8")
    return read_model(json.loads(raw))


def set_signals(probabilities: Sequence[float], rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """What the passages of a set say together: one value per name in ``SET_SIGNALS``.

    ``rows`` are the passages' features, ``probabilities`` what the passage scorer made of them.
    """
    ranked = sorted(zip(probabilities, range(len(rows)), strict=True), reverse=True)
    first, second = ranked[0][0], ranked[1][0] if len(ranked) > 1 else 0.0
    best = rows[ranked[0][1]]
    return {
        "best_logit": log_odds(first),
        "any": 1 - math.prod(1 - p for p, _ in ranked[:3]),
        "lead": first - second,
        **{f"most_{name}": max(row[name] for row in rows) for name in _MOST},
        **{f"spread_{name}": max(row[name] for row in rows) - fmean(row[name] for row in rows) for name in _SPREAD},
        **{name: best[name] for name in _MISSING},
        "few": 1 / len(rows),
    }


_COMPARABLE = 0.4
_AS_NEAR = 0.9

# What it says of a passage, in log-odds: it is so of 42 of the 1,605 paragraphs of SQuAD 2.0 that do not answer their
# question and of 1 of the 1,463 that do (one more of each counted: 1 in 20), and of none of 1,690 that help in others.
_AGAINST = 3.0


def without_opposing(
    chances: Sequence[float], asked: Asked, reads: Sequence[Read], analyzer: TextAnalyzer
) -> list[float]:
    """The probabilities (0…1), lowered where each of the sentences nearest to the question says the opposite.

    Whether something rises is answered by what says that it falls, so yes-no questions are left alone.
    """
    tokens = analyzer.token_set(asked.text)
    if asked.kind is AnswerType.YES_NO or not may_be_opposed(tokens, analyzer.tokens):
        return list(chances)
    return [
        _lowered(p) if _opposes(asked, tokens, read, analyzer) else p for p, read in zip(chances, reads, strict=True)
    ]


def _opposes(asked: Asked, tokens: frozenset[str], read: Read, analyzer: TextAnalyzer) -> bool:
    shares = [asked.matcher.share(places) for places in read.places]
    best = max(shares)
    if best < _COMPARABLE:
        return False
    nearest = (
        read.text[slice(*span)] for span, share in zip(read.spans, shares, strict=True) if share >= _AS_NEAR * best
    )
    return all(
        opposed(tokens, analyzer.token_set(sentence), analyzer.tokens, clearly=True)
        and negated(sentence) == asked.negated
        for sentence in nearest
    )


def _lowered(p: float) -> float:
    return p / (p + (1 - p) * math.exp(_AGAINST)) if 0 < p < 1 else p
