"""What a node of a turn decided, as facts; ``wordings.said`` puts them into words."""

from dataclasses import dataclass, replace

from selfright.domain.judgements import (
    AnswerQuality,
    EvaluationSource,
    Grading,
    QueryClass,
    StopReason,
    Verdict,
    WithheldReason,
)
from selfright.domain.routing import RoutingDecision


@dataclass(frozen=True, slots=True)
class WithheldPassage:
    """A passage that was found and may not be evidence; ``passage_id`` is empty in an outline, which names nothing."""

    reason: WithheldReason
    passage_id: str = ""


@dataclass(frozen=True, slots=True)
class NodeOutcome:
    """The facts of one visit, without document text and profile content; None, false or empty where one does not apply.

    ``slots``, ``strips``, ``passages``, ``sentences`` and ``repaired`` are counts; ``sufficiency``, ``removed_share``
    and ``overall`` lie in 0…1. ``provider`` searched the web, ``judge`` gave ``overall`` and ``quality``. ``stop`` is
    why the check ended the loop, ``again`` the node where it starts another pass, ``ended`` why the turn is over.
    """

    slots: int | None = None
    query_class: QueryClass | None = None
    fast_path: bool = False
    strips: int | None = None
    verdict: Verdict | None = None
    sufficiency: float | None = None
    removed_share: float | None = None
    passages: int | None = None
    provider: str = ""
    routing: RoutingDecision | None = None
    sentences: int | None = None
    refused: bool = False
    unjudged: bool = False
    overall: float | None = None
    quality: AnswerQuality | None = None
    judge: EvaluationSource | None = None
    stop: StopReason | None = None
    again: str = ""
    ended: StopReason | None = None
    repaired: int | None = None
    withheld: tuple[WithheldPassage, ...] = ()

    def without_names(self) -> "NodeOutcome":
        """The same without the ids of passages."""
        return replace(self, withheld=tuple(WithheldPassage(one.reason) for one in self.withheld))


def withheld_passages(grading: Grading | None) -> tuple[WithheldPassage, ...]:
    """The passages that were kept from the grader."""
    grades = grading.grades if grading else ()
    return tuple(WithheldPassage(one.withheld, one.passage_id) for one in grades if one.withheld)


NOTHING = NodeOutcome()
"""What a node leaves that decides nothing."""
