"""What may be said of a difference: the rules by which the report calls something better, worse or not known.

A difference counts only when its 95 % interval leaves out zero *and* its p, corrected for all comparisons of the study,
is under 0.05. With fewer than 20 questions nothing is concluded, whatever the interval says.
"""

from enum import StrEnum

from selfright.evals.measures.standard import BETTER
from selfright.evals.results import Difference, Study

FEW = 20
LEVEL = 0.05
_NEUTRAL = ("answered",)  # more answers are good where they are right, and bad where nothing can be known
_RANKING = ("nDCG", "R", "P", "RR", "AP", "Success", "Judged", "MRR", "MAP")


class Outcome(StrEnum):
    """What a difference amounts to."""

    BETTER = "better"
    WORSE = "worse"
    DIFFERENT = "different"
    HINT = "a hint, no result"
    CHANCE = "within chance"
    SAME = "the same"
    FEW = "too few questions"


def outcome(metric: str, found: Difference) -> Outcome:
    """What the difference amounts to."""
    if found.n < FEW:
        return Outcome.FEW
    if found.mean == found.low == found.high == 0:
        return Outcome.SAME
    if found.low <= 0 <= found.high:
        return Outcome.CHANCE
    if found.p_holm >= LEVEL:
        return Outcome.HINT
    good = more_is_better(metric)
    if good is None:
        return Outcome.DIFFERENT
    return Outcome.BETTER if (found.mean > 0) == good else Outcome.WORSE


def more_is_better(metric: str) -> bool | None:
    """Whether more of a metric is better; None where that depends, or nobody said."""
    if metric in _NEUTRAL:
        return None
    return BETTER.get(metric, True if metric.split("@", maxsplit=1)[0] in _RANKING else None)


def main_metric(study: Study) -> str:
    """What systems are told apart by: ``right`` where gold answers exist, else ``quality``; of rankings, the first."""
    if study.kind != "retrieval":
        for name in ("right", "quality"):
            if any(found.n for run in study.runs if (found := run.summary.get(name))):
                return name
    return next((name for run in study.runs for name in run.summary), "right")
