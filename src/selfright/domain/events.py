"""What happens in a turn, told while it happens."""

from dataclasses import dataclass

from selfright.domain.answers import Answer, Step
from selfright.domain.judgements import Verdict


@dataclass(frozen=True, slots=True)
class NodeFinished(Step):
    """A node ran."""


@dataclass(frozen=True, slots=True)
class VerdictReached:
    """A retrieval was judged; ``sufficiency`` (0…1) is None when the judge failed."""

    verdict: Verdict
    sufficiency: float | None


@dataclass(frozen=True, slots=True)
class AnswerToken:
    """The next piece of the draft that is being written; pass ``iteration`` of the loop, from 0."""

    text: str
    iteration: int = 0


@dataclass(frozen=True, slots=True)
class DraftWithdrawn:
    """The draft that was heard failed its checks, and another one is coming; ``reason`` is the judge's label."""

    iteration: int
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerCorrected:
    """The whole answer, which takes the place of what was heard: claims were removed, or the best draft was another."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over."""

    answer: Answer


TurnEvent = NodeFinished | VerdictReached | AnswerToken | DraftWithdrawn | AnswerCorrected | TurnFinished
