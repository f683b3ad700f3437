"""Metrics of an answer's words against gold answers, and of right and wrong."""

from dataclasses import dataclass

from selfright.evals.metrics import Sample, Value, without
from selfright.evals.overlap import best, contains, exact, f1, normalised, recall, said

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
        if not sample.question.answers:
            return without("no gold answer")
        found = next((gold for gold in sample.question.answers if contains(answer_of(sample), gold)), None)
        return Value(float(found is not None), "a gold answer stands in it" if found else "no gold answer stands in it")


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
        if not question.answers:
            return without("no gold answer")
        if abstained:
            return Value(0.0, "refused what can be answered")
        answer = answer_of(sample)
        if any(contains(answer, gold) for gold in question.answers):
            return Value(1.0, "a gold answer stands in it")
        shares = [recall(answer, gold) for gold in question.answers if len(normalised(gold).split()) > LONG]
        share = max(shares, default=0.0)
        return Value(float(share >= ENOUGH), f"at most {share:.0%} of a long gold answer, and none stands in it")


def answer_of(sample: Sample) -> str:
    """What was said; nothing when the turn abstained."""
    return "" if sample.turn.abstained else said(sample.turn.answer)


def golds_of(sample: Sample) -> tuple[str, ...] | None:
    """The gold answers; the empty one for an unanswerable question (SQuAD 2.0); None where nobody knows."""
    if sample.question.answerable is False:
        return ("",)
    return sample.question.answers or None
