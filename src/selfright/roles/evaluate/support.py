"""The number on which abstention is decided."""

import math

from selfright.domain.judgements import Evaluation

# On the development halves of SQuAD 2.0, CLAPNQ and COVID-QA and on the demo's questions about nine tenths or more of
# the right answers lie above it. Of answers to unanswerable questions it keeps back 75 % (demo), 37 % (CLAPNQ) and 5 %
# (SQuAD 2.0, whose unanswerable questions are edits of answerable ones).
DEFAULT_THRESHOLD = 0.35

_UNVERIFIED = 0.5


def support(evaluation: Evaluation) -> float:
    """How well (0…1) the answer is supported by evidence and covers the question.

    The geometric mean of grounding and completeness, lowered by contradictions; a judgement that only a heuristic
    made counts half, for it looked at no evidence.
    """
    worth = math.sqrt(evaluation.grounding * evaluation.completeness) * (0.5 + 0.5 * evaluation.accuracy)
    return round(worth if evaluation.verified else _UNVERIFIED * worth, 6)
