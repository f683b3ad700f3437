"""What a turn knows offline of its own answer, as numbers: what abstention is decided by.

Nothing here decides; the weights in ``abstain.json`` do. Every signal is log-odds, about -6…6.
"""

import math
from dataclasses import dataclass

from selfright.domain.answers import Draft
from selfright.domain.judgements import Evaluation, Grading

SIGNALS = (
    "sufficiency",  # as the grader judged the retrieved set
    "best",  # of the most probable passage
    "cited",  # of the most probable passage that the answer cites
    "completeness",  # as the evaluator judged the answer
)
_EDGE = 1e-3


@dataclass(frozen=True, slots=True)
class Grounds:
    """What an answer rests on: the draft, its judgement, and the grading of what it was written from."""

    draft: Draft
    evaluation: Evaluation
    grading: Grading | None


def signals(grounds: Grounds) -> dict[str, float]:
    """One value by each name in ``SIGNALS``; a signal that nothing is known of is as bad as it can be."""
    grading = grounds.grading
    cited = {citation.passage_id for citation in grounds.draft.citations}
    known = {g.passage_id: g.probability for g in grading.grades if g.probability is not None} if grading else {}
    return {
        "sufficiency": _log_odds(grading.sufficiency if grading and grading.sufficiency is not None else 0.0),
        "best": _log_odds(max(known.values(), default=0.0)),
        "cited": _log_odds(max((p for name, p in known.items() if name in cited), default=0.0)),
        "completeness": _log_odds(grounds.evaluation.completeness),
    }


def _log_odds(p: float) -> float:
    if math.isnan(p):
        return math.nan
    inside = min(1 - _EDGE, max(_EDGE, p))
    return math.log(inside / (1 - inside))
