"""Grading that cannot end a turn: whatever a grader dies of or says out of range is ``unknown``, neither yes nor no."""

import logging
import math
from collections.abc import Sequence

from selfright.domain.errors import JudgeFailed
from selfright.domain.judgements import Grading, Verdict
from selfright.domain.passages import Hit
from selfright.domain.ports import Grader

log = logging.getLogger(__name__)


async def judged(grader: Grader, question: str, hits: Sequence[Hit]) -> tuple[Grading, tuple[str, ...]]:
    """The grader's verdict, and a note when there is none."""
    try:
        return _checked(await grader.grade(question, hits)), ()
    except Exception as error:
        # A judge may fail in any way its model or user code can.
        log.warning("the grader failed: %s", type(error).__name__)
        reason = f"the grader failed ({type(error).__name__})"
        return Grading(Verdict.UNKNOWN, None, reason=reason), (f"{reason}; its verdict is unknown",)


def _checked(grading: Grading) -> Grading:
    given = [grading.sufficiency, *(grade.probability for grade in grading.grades)]
    if any(p is not None and not (math.isfinite(p) and 0 <= p <= 1) for p in given):
        raise JudgeFailed("a probability from 0 to 1 was expected of the grader, and something else came")
    return grading
