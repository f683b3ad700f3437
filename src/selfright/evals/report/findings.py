"""What may be said of a difference: the rules by which the report calls something better, worse or not known.

A difference counts only when its 95 % interval leaves out zero *and* its p, corrected for all comparisons of the study,
is under 0.05. With fewer than 20 questions nothing is concluded, whatever the interval says.

And figures as they are shown: shares as points, scores with three decimals, a real minus.
"""

from enum import StrEnum

from selfright.evals.measures import BETTER
from selfright.evals.results import Difference, Estimate, Study

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


NONE = "–"
_GAP = "\N{NO-BREAK SPACE}"
_SHARES = ("right", "answered", "containment", "exact_match", "infinite_loop_rate", "cut_short", "retrieval_avoided")
# By how much a figure is multiplied, its decimals and its unit.
_SHARE = (100, 1, f"{_GAP}%")
_FORMS = {
    **dict.fromkeys(_SHARES, _SHARE),
    "seconds": (1, 2, f"{_GAP}s"),
    "tokens": (1, 0, ""),
    "iterations": (1, 2, ""),
    "llm_calls": (1, 2, ""),
}
_SCORE = (1, 3, "")


def value(metric: str, number: float | None) -> str:
    """A metric's value: ``41.3 %``, ``2.13``, ``1,204``, ``340 ms``, ``2.41 s``, ``36 s`` or ``0.413``."""
    if number is None:
        return NONE
    factor, digits, unit = _FORMS.get(metric, _SCORE)
    if metric == "seconds" and number < 0.9995:
        factor, digits, unit = 1_000, 0, f"{_GAP}ms"
    elif metric == "seconds" and number >= 10:
        digits = 0
    return minus(f"{factor * number:,.{digits}f}{unit}")


def share(number: float | None) -> str:
    """``41.3 %``."""
    return value(_SHARES[0], number)


def interval(metric: str, found: Estimate | Difference) -> str:
    """The bounds, ``39.0 … 43.5 %``; nothing where there are none."""
    if found.low is None or found.high is None:
        return ""
    low, high = (
        (format_signed if isinstance(found, Difference) else value)(metric, bound) for bound in (found.low, found.high)
    )
    unit = high.partition(_GAP)[2]
    return f"{low.removesuffix(f'{_GAP}{unit}')} … {high}"


def format_signed(metric: str, number: float) -> str:
    """A difference with its sign; of shares in points of a hundred."""
    factor, digits, unit = _FORMS.get(metric, _SCORE)
    return minus(f"{factor * number:+,.{digits}f}{'' if metric in _SHARES else unit}")


def chance(p: float) -> str:
    """A p value: ``< 0.001`` or three decimals."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def minus(shown: str) -> str:
    """With a real minus; nothing has no sign."""
    bare = shown.lstrip("+-")
    if shown[:1] in "+-" and not any(digit in bare for digit in "123456789"):
        return bare
    return shown.replace("-", "\N{MINUS SIGN}")
