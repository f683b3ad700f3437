"""The number on which abstention is decided."""

from selfright.domain.judgements import Evaluation

# The rule: about one in ten answerable questions may be refused on the set where that happens first, which is the demo
# with its everyday wording (11 %, for 64 % of its unanswerable ones). Other sets lie higher: under the same threshold
# CLAPNQ refuses under 1 % for 28 %, SQuAD 2.0 (whose unanswerable questions are edits of answerable ones) 2 % for 5 %.
DEFAULT_THRESHOLD = 0.13

_UNVERIFIED = 0.5


def support(evaluation: Evaluation) -> float:
    """How well (0…1) the answer is supported by evidence and covers the question.

    The least of grounding, completeness and accuracy, for an answer is as good as what it lacks most; a judgement that
    only a heuristic made counts half, for it looked at no evidence.
    """
    worth = min(evaluation.grounding, evaluation.completeness, evaluation.accuracy)
    return round(worth if evaluation.verified else _UNVERIFIED * worth, 6)
