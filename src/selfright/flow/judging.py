"""Grading that cannot end a turn: errors and values out of range become the verdict ``unknown``."""

import logging
import math
from collections.abc import Sequence
from dataclasses import replace

from selfright.domain.errors import FAILURES, JudgeFailed
from selfright.domain.flags import Flags
from selfright.domain.judgements import Grading, Verdict
from selfright.domain.passages import Hit
from selfright.domain.ports import Grader

log = logging.getLogger(__name__)


async def judged(grader: Grader, question: str, hits: Sequence[Hit], flags: Flags) -> tuple[Grading, tuple[str, ...]]:
    """The grading, with the flags' thresholds applied, and a note if the grader failed."""
    try:
        return decided(_checked(await grader.grade(question, hits)), flags), ()
    except FAILURES as error:
        log.warning("the grader failed: %s", type(error).__name__)
        reason = f"the grader failed ({type(error).__name__})"
        return Grading(Verdict.UNKNOWN, None, reason=reason), (f"{reason}; its verdict is unknown",)


def decided(grading: Grading, flags: Flags) -> Grading:
    """The grading with the verdict by the flags' thresholds. Without passages it stays incorrect."""
    if grading.sufficiency is None or grading.verdict is Verdict.UNKNOWN or not grading.grades:
        return grading
    return replace(grading, verdict=_verdict(grading.verdict, grading.sufficiency, flags))


def _verdict(own: Verdict, sufficiency: float, flags: Flags) -> Verdict:
    upper, lower = flags.correct_threshold, flags.incorrect_threshold
    if upper and sufficiency >= upper:
        return Verdict.CORRECT
    if sufficiency < lower:
        return Verdict.INCORRECT
    # On a side with a threshold, the grader's own verdict does not count.
    overruled = (own is Verdict.CORRECT and upper > 0) or (own is Verdict.INCORRECT and lower > 0)
    return Verdict.AMBIGUOUS if overruled else own


def _checked(grading: Grading) -> Grading:
    given = [grading.sufficiency, *(grade.probability for grade in grading.grades)]
    if any(p is not None and not (math.isfinite(p) and 0 <= p <= 1) for p in given):
        raise JudgeFailed("a probability from 0 to 1 was expected of the grader, and something else came")
    return grading
