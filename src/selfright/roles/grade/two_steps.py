"""The chance that a passage helps, in two steps: it is about what is asked, and if so, it answers.

One weighted sum cannot say both: a passage that is about the question and yet does not answer it would count against
all that makes passages be about a question. So each step has weights of its own, and their chances are multiplied.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from selfright.roles.scoring import Curve, Scorer, read_scorer

_EDGE = 30.0


@dataclass(frozen=True, slots=True)
class TwoSteps(Scorer):
    """The weights of the first step, those of the second, and the curve from their joint log-odds to a probability."""

    answers: Scorer
    joint: Curve

    def probability(self, values: Mapping[str, float]) -> float:
        """0…1; NaN when a signal is not a number."""
        score = joint_score(self.score(values), self.answers.score(values))
        return self.joint(score) if math.isfinite(score) else math.nan


def joint_score(about: float, answers: float) -> float:
    """The log-odds of two things at once, from the log-odds of each: -log(e^-a + e^-b + e^-(a+b))."""
    if not (math.isfinite(about) and math.isfinite(answers)):
        return math.nan
    a, b = (max(-_EDGE, min(_EDGE, value)) for value in (about, answers))
    low, high = min(a, b), max(a, b)
    return low - math.log1p(math.exp(low - high) + math.exp(-high))


def read_steps(stored: Mapping[str, Any]) -> Scorer:
    """A scorer of passages from its JSON form; of two steps where ``answers`` and ``joint`` are stored."""
    first = read_scorer(stored)
    if "answers" not in stored:
        return first
    curve = stored["joint"]
    joint = Curve(tuple(map(float, curve["scores"])), tuple(map(float, curve["probabilities"])))
    answers = read_scorer({**stored["answers"], "calibration": curve})
    return TwoSteps(first.names, first.weights, first.intercept, first.curve, answers, joint)
