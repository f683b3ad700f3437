"""A turn as the page knows it: what was asked, what has been heard so far, and what came of it."""

from dataclasses import dataclass, field

from selfright.entrypoints.client import (
    AnswerReply,
    CorrectedEvent,
    DoneEvent,
    Evidence,
    NodeEvent,
    TokenEvent,
    TurnEvent,
    TurnLine,
    UrgentEvent,
    VerdictEvent,
    WithdrawnEvent,
)

MOST_STEPS = 500
MOST_TURNS = 100
MOST_DRAFT = 100_000


@dataclass(frozen=True, slots=True)
class Step:
    """A node that ran, and what it decided; or (``node`` is empty) a draft that was ``withdrawn``."""

    node: str
    said: str = ""
    seconds: float = 0.0
    verdict: str = ""
    withdrawn: str = ""


@dataclass
class Turn:
    """One question and its answer.

    ``draft`` is what was heard of an answer that is not checked yet, ``trouble`` why there is none. ``earlier`` is a
    turn read back from the service, of which only the text is known. ``urgent`` comes before any answer; ``rated`` is
    whether its reader found it helpful, where that was said.
    """

    question: str
    steps: list[Step] = field(default_factory=list)
    draft: str = ""
    drafts: int = 0
    answer: AnswerReply | None = None
    evidence: list[Evidence] = field(default_factory=list)
    trouble: str = ""
    earlier: TurnLine | None = None
    urgent: str = ""
    rated: bool | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more will be heard of it."""
        return bool(self.answer or self.trouble or self.earlier)

    def hear(self, event: TurnEvent) -> None:
        """Takes in what happened; steps and draft are bounded."""
        match event:
            case UrgentEvent(text=text):
                self.urgent = text
            case NodeEvent(node=node, said=said, seconds=seconds):
                self._step(Step(node, said, seconds))
            case VerdictEvent(verdict=verdict):
                self._step(Step("", verdict=verdict))
            case TokenEvent(text=text):
                self.draft = (self.draft + text)[:MOST_DRAFT]
            case WithdrawnEvent(reason=reason):
                self.drafts += 1
                self._step(Step("", said=self.draft, withdrawn=reason or "?"))
                self.draft = ""
            case CorrectedEvent(text=text):
                self.draft = text[:MOST_DRAFT]
            case DoneEvent(answer=answer, evidence=evidence):
                self.answer, self.evidence, self.draft = answer, list(evidence), ""

    def without_urgent(self, said: str) -> str:
        """A draft or an answer without what came first and is shown by itself."""
        return said.removeprefix(self.urgent).lstrip("\n") if self.urgent else said

    def _step(self, step: Step) -> None:
        if len(self.steps) < MOST_STEPS:
            self.steps.append(step)
