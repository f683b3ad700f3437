"""The number on which abstention is decided."""

import math

from selfright.domain.judgements import Evaluation

# Under this support an answer is more likely wrong than right; see the calibration in the evaluator's module.
DEFAULT_THRESHOLD = 0.35

_UNVERIFIED = 0.5


def support(evaluation: Evaluation) -> float:
    """How well (0…1) the answer is supported by evidence and covers the question.

    The geometric mean of grounding and completeness, lowered by contradictions; a judgement that only a heuristic
    made counts half, for it looked at no evidence.
    """
    worth = math.sqrt(evaluation.grounding * evaluation.completeness) * (0.5 + 0.5 * evaluation.accuracy)
    return round(worth if evaluation.verified else _UNVERIFIED * worth, 6)
