"""A finished turn → its trace.

An outline is made of what can hold no content: names of nodes and what they decided, verdicts, scores, counts.
"""

from collections.abc import Sequence

from selfright.domain.answers import Answer, Cost, Step
from selfright.domain.traces import Origins, Pass, Trace
from selfright.domain.turns import Scope
from selfright.schemas import answer_view

_SCORES = ("grounding", "completeness", "accuracy", "overall", "confidence")


def finished_trace(answer: Answer, at: float, scope: Scope, origins: Origins, *, content: bool) -> Trace:
    """The trace of a turn that came to its end; with ``content`` also everything that was said."""
    judged = answer.evaluation
    return Trace(
        id=answer.trace_id,
        at=at,
        kind="full" if content else "outline",
        user=scope.owner,
        collections=scope.collections,
        origins=origins,
        steps=answer.trace,
        passes=tuple(
            Pass(one.verdict, one.overall, len(one.documents), one.improvement, one.duplicate_share)
            for one in answer.iterations
        ),
        verdict=answer.verdict,
        scores={name: float(getattr(judged, name)) for name in _SCORES} if judged else {},
        quality=judged.answer_quality.value if judged else "",
        judge=judged.source.value if judged else "",
        stop_reason=answer.stop_reason,
        abstained=answer.abstained,
        degraded=answer.degraded,
        language=answer.language,
        cost=answer.cost,
        web=answer.web.effect if answer.web else "",
        answer=answer_view(answer) if content else None,
    )


def broken(
    trace_id: str, at: float, scope: Scope, origins: Origins, steps: Sequence[Step], seconds: float, error: Exception
) -> Trace:
    """The trace of a turn that an error ended before there was an answer: its class only, for its words may quote."""
    spent, kind = Cost(seconds=seconds), type(error).__name__
    return Trace(
        trace_id,
        at,
        "outline",
        scope.owner,
        origins,
        tuple(steps),
        cost=spent,
        error=kind,
        collections=scope.collections,
    )
