"""Metrics of an answer's words against gold answers, and of right and wrong."""

import re
import unicodedata
from dataclasses import dataclass

from selfright.evals.metrics import Sample, Value, without
from selfright.evals.overlap import best, contains, exact, f1, normalised, recall, said
from selfright.evals.questions import Question

LONG = 12
"""Words from which on a gold answer is a passage, that nobody repeats letter by letter."""
ENOUGH = 0.6
"""The share of a long gold answer's words that makes an answer right."""


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """1 when the answer is a gold answer, both normalised; of an unanswerable question, when none is given (SQuAD)."""

    name: str = "exact_match"

    def measure(self, sample: Sample) -> Value:
        """Against the best of the gold answers."""
        golds = golds_of(sample)
        if golds is None:
            return without("no gold answer")
        return Value(best(float(exact(answer_of(sample), gold)) for gold in golds), f"{len(golds)} gold answers")


@dataclass(frozen=True, slots=True)
class F1:
    """Overlap with the nearest gold answer: of words, in Korean of characters."""

    name: str = "f1"

    def measure(self, sample: Sample) -> Value:
        """Against the best of the gold answers."""
        golds = golds_of(sample)
        if golds is None:
            return without("no gold answer")
        return Value(best(f1(answer_of(sample), gold) for gold in golds), f"{len(golds)} gold answers")


@dataclass(frozen=True, slots=True)
class Containment:
    """1 when a gold answer stands in the answer as whole words."""

    name: str = "containment"

    def measure(self, sample: Sample) -> Value:
        """Of answerable questions only."""
        if not has_gold(sample.question):
            return without("no gold answer")
        found = _stands_in(answer_of(sample), sample.question)
        return Value(float(found), "a gold answer stands in it" if found else "no gold answer stands in it")


@dataclass(frozen=True, slots=True)
class Right:
    """Right (1) or wrong (0): what corrections are counted by.

    An answerable question is answered right when a gold answer stands in the answer, or 60 % of the words of one that
    is longer than twelve. An unanswerable one is answered right by abstaining. Abstaining from an answerable question
    is wrong: nobody was helped.
    """

    name: str = "right"

    def measure(self, sample: Sample) -> Value:
        """None where nobody knows the answer."""
        question, abstained = sample.question, sample.turn.abstained
        if question.answerable is False:
            return Value(float(abstained), "rightly refused" if abstained else "answered what cannot be answered")
        if not has_gold(question):
            return without("no gold answer")
        if abstained:
            return Value(0.0, "refused what can be answered")
        answer = answer_of(sample)
        if _stands_in(answer, question):
            return Value(1.0, "a gold answer stands in it")
        share = _share_in(answer, question)
        return Value(float(share >= ENOUGH), f"at most {share:.0%} of a long gold answer, and none stands in it")


def has_gold(question: Question) -> bool:
    """Whether it is known what a right answer says."""
    return bool(question.answers or question.patterns)


def gold_in(text: str, question: Question) -> bool:
    """Whether a text has a gold answer, as ``Right`` asks of an answer."""
    return _stands_in(text, question) or _share_in(text, question) >= ENOUGH


def _stands_in(text: str, question: Question) -> bool:
    if any(contains(text, gold) for gold in question.answers):
        return True
    line = " ".join(unicodedata.normalize("NFC", text).split())  # a pattern's blank is any space, or a line's end
    return any(re.search(pattern, line, re.IGNORECASE) for pattern in question.patterns)


def _share_in(text: str, question: Question) -> float:
    """The largest share of a long gold answer's words that stands in a text."""
    return max((recall(text, gold) for gold in question.answers if len(normalised(gold).split()) > LONG), default=0.0)


def answer_of(sample: Sample) -> str:
    """What was said; nothing when the turn abstained."""
    return "" if sample.turn.abstained else said(sample.turn.answer)


def golds_of(sample: Sample) -> tuple[str, ...] | None:
    """The gold answers; the empty one for an unanswerable question (SQuAD 2.0); None where nobody knows."""
    if sample.question.answerable is False:
        return ("",)
    return sample.question.answers or None
