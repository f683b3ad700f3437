"""What judges say: of a retrieval (verdict), of an answer (evaluation), and why a turn stopped."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from selfright.domain.errors import JudgeFailed


class QueryClass(StrEnum):
    """What kind of message the user sent; it decides whether documents are looked up."""

    QUESTION = "question"
    SUMMARY = "summary"
    CHITCHAT = "chitchat"
    UNKNOWN = "unknown"


class Verdict(StrEnum):
    """What grading says of a retrieval as a set (CRAG, arXiv 2401.15884); ``unknown`` when the judge failed."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"
    UNKNOWN = "unknown"

    def one_step_down(self) -> "Verdict":
        """One step down: correct → ambiguous → incorrect. ``unknown`` stays, for nothing was judged."""
        steps = {Verdict.CORRECT: Verdict.AMBIGUOUS, Verdict.AMBIGUOUS: Verdict.INCORRECT}
        return steps.get(self, self)


class AnswerQuality(StrEnum):
    """The label of an answer; self-correction by label is routed on it."""

    ADEQUATE = "adequate"
    NEEDS_DOCS = "needs_docs"
    HALLUCINATION = "hallucination"
    OFF_TOPIC = "off_topic"


class EvaluationSource(StrEnum):
    """Who judged: a language model, the local judge, or the heuristic that stands in when judging failed."""

    LLM = "llm"
    LOCAL = "local"
    HEURISTIC = "heuristic"


class ClaimStatus(StrEnum):
    """Whether the passages support a sentence of the answer; ``unknown`` when nobody could tell."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class StopReason(StrEnum):
    """Why a turn ended."""

    ADEQUATE = "adequate"
    BASIC = "basic"
    FAST_PATH = "fast_path"
    MAX_ITERATIONS = "max_iterations"
    DUPLICATE_DOCUMENTS = "duplicate_documents"
    STAGNATED = "stagnated"
    DECLINED = "declined"
    BUDGET = "budget"
    DEADLINE = "deadline"
    ABSTAINED = "abstained"
    DEGRADED = "degraded"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """Characters ``start`` to ``end`` of a text, a word or a part of one.

    ``begins`` and ``ends`` are the chances (0…1) that the answer, if the text holds one, begins and ends with them.
    """

    start: int
    end: int
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class PairReading:
    """What a reader makes of a passage beside a question or a claim.

    ``score`` are log-odds: that it answers the question, or bears the claim out. ``places`` are where the answer may
    begin or end, in order, for who can tell; ``denies`` is the chance (0…1) that it says the opposite of the claim.
    """

    score: float
    places: tuple[AnswerPlace, ...] = ()
    denies: float = 0.0

    @property
    def is_number(self) -> bool:
        """Whether the score is one: a network can come out with NaN or infinity."""
        return math.isfinite(self.score)


class WithheldReason(StrEnum):
    """Why a passage that was found may not be evidence.

    ``trust``: others brought it, and the operator's own texts answer. ``states_nothing``: it only speaks of what is
    asked. ``named_thing``: it is on another thing than the question names. ``other_subject``: only pages of the other
    language have the question's subject as their title, and it does not name that.
    """

    TRUST = "trust"
    STATES_NOTHING = "states_nothing"
    NAMED_THING = "named_thing"
    OTHER_SUBJECT = "other_subject"


@dataclass(frozen=True, slots=True)
class Grade:
    """The calibrated probability (0…1) that one passage helps to answer; None when the judge could not tell.

    ``withheld`` is why it was kept from the judge; its probability is then 0.
    """

    passage_id: str
    probability: float | None
    withheld: WithheldReason | None = None


@dataclass(frozen=True, slots=True)
class Grading:
    """The verdict on a retrieved set.

    ``sufficiency`` is the probability (0…1) that the set as a whole can answer; None with ``Verdict.UNKNOWN``.
    """

    verdict: Verdict
    sufficiency: float | None
    grades: tuple[Grade, ...] = ()
    reason: str = ""

    @property
    def confidence(self) -> float | None:
        """How sure the verdict is (0…1): of ``correct`` that the set answers, of ``incorrect`` that it does not, of
        ``ambiguous`` how near to even the two are. None without a sufficiency.
        """
        if self.sufficiency is None:
            return None
        even = 1 - abs(2 * self.sufficiency - 1)
        sure = {Verdict.CORRECT: self.sufficiency, Verdict.INCORRECT: 1 - self.sufficiency}
        return sure.get(self.verdict, even)

    def probability(self, passage_id: str) -> float | None:
        """The probability given to one passage, or None when it was not graded."""
        return next((grade.probability for grade in self.grades if grade.passage_id == passage_id), None)


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer, whether it is supported (``score`` 0…1), and the ids of passages that support it."""

    text: str
    status: ClaimStatus
    passage_ids: tuple[str, ...] = ()
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A judgement of one answer. Scores and confidence lie in 0…1.

    Raises ``JudgeFailed`` for a score that is not a number in that range: a judge that says so has failed, and
    a failed judgement must never be clamped into a good one.

    ``missing_info`` is in words to search for; ``open_parts`` are parts of the question that are left open, as asked.
    """

    grounding: float
    completeness: float
    accuracy: float
    answer_quality: AnswerQuality
    confidence: float
    source: EvaluationSource
    needs_retrieval: bool = False
    missing_info: tuple[str, ...] = ()
    improvement_suggestions: tuple[str, ...] = ()
    reason: str = ""
    claims: tuple[Claim, ...] = ()
    open_parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("grounding", "completeness", "accuracy", "confidence"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and math.isfinite(value) and 0.0 <= value <= 1.0):
                raise JudgeFailed(f"{name} must be a number from 0 to 1, but the judge gave {value!r}")

    @property
    def overall(self) -> float:
        """``0.4·grounding + 0.4·completeness + 0.2·accuracy``, rounded to six decimals against binary noise."""
        return round(0.4 * self.grounding + 0.4 * self.completeness + 0.2 * self.accuracy, 6)

    @property
    def lacking(self) -> tuple[str, ...]:
        """What is missing, for people: the open parts as asked, and what is missing besides."""
        others = (item for item in self.missing_info if not any(item in part for part in self.open_parts))
        return tuple(dict.fromkeys((*others, *self.open_parts)))

    def listed(self, items: Iterable[str]) -> str:
        """Missing items in one line, the words of the question in quotes."""
        return ", ".join(f"“{item}”" if item in self.open_parts and " " in item else item for item in items)

    @property
    def verified(self) -> bool:
        """Whether a real judge looked at the answer; a heuristic stand-in verifies nothing."""
        return self.source is not EvaluationSource.HEURISTIC
