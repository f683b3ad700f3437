"""What a metric is, and those that every study of answers has: of words, judges, retrievals, and what a turn took.

A metric is a small frozen dataclass with one method, which gives a value with its reason:

>>> @dataclass(frozen=True)
... class Short:
...     name: str = "short"
...     limit: int = 200
...
...     def measure(self, sample: Sample) -> Value:
...         length = len(sample.turn.answer)
...         return Value(float(length <= self.limit), f"{length} characters")

The study's judge is the same for every system; the turn's own judge is measured beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, Protocol

from selfright.evals.reading import Question
from selfright.evals.results import Judgement, Turn, Value
from selfright.evals.words import ENOUGH, exact, f1, has_gold, share_in, spoken_text, stands_in

__all__ = ["BETTER", "STANDARD", "Metric", "Sample", "Value", "without"]

_LIMITS = ("max_iterations", "budget", "deadline")


@dataclass(frozen=True, slots=True)
class Sample:
    """What a metric may look at: the question with its gold, the turn as it went, the flags it ran under."""

    question: Question
    turn: Turn
    flags: Mapping[str, Any]

    @property
    def answer(self) -> str:
        """What was said, without citation markers; nothing when the turn abstained."""
        return "" if self.turn.abstained else spoken_text(self.turn.answer)


class Metric(Protocol):
    """A measure of single turns. Means and intervals over many are made by the study."""

    @property
    def name(self) -> str:
        """The name in results; unique within a study."""

    def measure(self, sample: Sample) -> Value:
        """The value for one turn, None where it does not apply, and why."""


def without(why: str) -> Value:
    """Does not apply, because."""
    return Value(None, why)


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric by a function of the sample."""

    name: str
    measure: Callable[[Sample], Value]


def _nearest_gold(likeness: Callable[[str, str], float], sample: Sample) -> Value:
    """The likeness (0…1) to the nearest gold answer; of an unanswerable question, to having said nothing (SQuAD)."""
    golds = ("",) if sample.question.answerable is False else sample.question.answers
    if not golds:
        return without("no gold answer")
    return Value(max(float(likeness(sample.answer, gold)) for gold in golds), f"{len(golds)} gold answers")


def _containment(sample: Sample) -> Value:
    """Of answerable questions only."""
    if not has_gold(sample.question):
        return without("no gold answer")
    found = stands_in(sample.answer, sample.question)
    return Value(float(found), "a gold answer stands in it" if found else "no gold answer stands in it")


def _right(sample: Sample) -> Value:
    """Right (1) or wrong (0): what corrections are counted by.

    An answerable question is answered right when a gold answer stands in the answer, or 60 % of the words of one that
    is longer than twelve. An unanswerable one is answered right by abstaining. Abstaining from an answerable question
    is wrong: nobody was helped.
    """
    question, abstained = sample.question, sample.turn.abstained
    if question.answerable is False:
        return Value(float(abstained), "rightly refused" if abstained else "answered what cannot be answered")
    if not has_gold(question):
        return without("no gold answer")
    if abstained:
        return Value(0.0, "refused what can be answered")
    if stands_in(sample.answer, question):
        return Value(1.0, "a gold answer stands in it")
    share = share_in(sample.answer, question)
    return Value(float(share >= ENOUGH), f"at most {share:.0%} of a long gold answer, and none stands in it")


def _judged(score: str, sample: Sample) -> Value:
    """By the study's judge; abstentions are left out, for there is nothing to judge."""
    judged = sample.turn.judged
    if sample.turn.abstained or judged is None:
        return without("abstained" if sample.turn.abstained else "not judged")
    return Value(getattr(judged, score), _why(judged))


def _own_quality(sample: Sample) -> Value:
    evaluation = sample.turn.evaluation
    return Value(evaluation.overall, _why(evaluation)) if evaluation else without("the preset does not judge")


def _second_pass_quality(sample: Sample) -> Value:
    passes = sample.turn.passes
    if len(passes) < 2:
        return without("one pass was enough, or all there is")
    if passes[1].overall is None:
        return without("the second pass was not judged")
    first = passes[0].overall
    return Value(passes[1].overall, f"after {first:.2f}" if first is not None else "the first was not judged")


def _why(judgement: Judgement) -> str:
    return (
        f"{judgement.source}: {judgement.answer_quality}, grounding {judgement.grounding:.2f}, completeness "
        f"{judgement.completeness:.2f}, accuracy {judgement.accuracy:.2f}"
    )


def _retrieval(of: Literal["retrieved", "relevant"], place: int, sample: Sample) -> Value:
    """Of the documents of one pass (−1 is the last), or of the relevant ones, the share that is both."""
    passes, relevant = sample.turn.passes, set(sample.question.relevant)
    if not relevant:
        return without("no relevant document known")
    if not -len(passes) <= place < len(passes):
        return without("no such pass")
    documents = passes[place].documents
    good, count = len(set(documents) & relevant), len(documents if of == "retrieved" else relevant)
    return Value(good / count if count else 0.0, f"{good} of {count} {of}")


def _targeted_retrieval(only_new: bool, sample: Sample) -> Value:
    """The share of the items that an evaluation missed which the next retrieval brings.

    An item is brought when one passage of the next pass holds three quarters of its words. With ``only_new`` it must
    not have been in the pass before: an item that was there all the time needed no retrieval.
    """
    asked = brought = 0
    for before, after in zip(sample.turn.passes, sample.turn.passes[1:], strict=False):
        asked += len(before.missing_info)
        brought += len(after.new if only_new else after.brought)
    if not asked:
        return without("nothing was missing, or nothing was looked up again")
    return Value(brought / asked, f"{brought} of {asked} missing items")


def _citation_precision(sample: Sample) -> Value:
    cited = {citation.document_id for citation in sample.turn.citations}
    if not cited or not sample.question.relevant:
        return without("nothing cited" if not cited else "no relevant document known")
    good = len(cited & set(sample.question.relevant))
    return Value(good / len(cited), f"{good} of {len(cited)} cited")


def _iterations(sample: Sample) -> Value:
    return Value(float(max(1, len(sample.turn.passes))), f"stopped: {sample.turn.stop_reason}")


def _tokens(sample: Sample) -> Value:
    given, written = sample.turn.prompt_tokens, sample.turn.completion_tokens
    return Value(float(given + written), f"{given} in, {written} out")


def _infinite_loop(sample: Sample) -> Value:
    """The bound is the flag's, plus the first pass."""
    most, passes = 1 + int(sample.flags["max_refine_iterations"]), len(sample.turn.passes)
    return Value(float(passes > most), f"{passes} of at most {most} passes")


def _cut_short(sample: Sample) -> Value:
    """By the stop reason; of one that abstained, by what stopped the loop before."""
    reason = next((visit.stop for visit in sample.turn.path if visit.stop), sample.turn.stop_reason)
    return Value(float(reason in _LIMITS), reason)


def _retrieval_avoided(sample: Sample) -> Value:
    searches = sum(visit.node == "retrieve" for visit in sample.turn.path)
    return Value(float(not searches), f"{searches} searches")


STANDARD: Sequence[Metric] = (
    Measure("right", _right),
    Measure("answered", lambda sample: Value(float(not sample.turn.abstained), sample.turn.stop_reason)),
    # 1 when a gold answer stands in the answer as whole words.
    Measure("containment", _containment),
    # Overlap with the nearest gold answer: of words, in Korean of characters.
    Measure("f1", partial(_nearest_gold, f1)),
    # 1 when the answer is a gold answer, both normalised.
    Measure("exact_match", partial(_nearest_gold, exact)),
    # S0's quality: 0.4 grounding + 0.4 completeness + 0.2 accuracy. Read it beside ``answered``.
    Measure("quality", partial(_judged, "overall")),
    # S0's grounding: how far the answer rests on what the turn looked at.
    Measure("grounding", partial(_judged, "grounding")),
    # What the loop went by: ``overall`` of the turn's own evaluation. None for presets that do not judge.
    Measure("own_quality", _own_quality),
    # S3's: ``overall`` of the second pass's draft by the turn's own judge, where there was one.
    Measure("second_pass_quality", _second_pass_quality),
    # S3's, of the last pass.
    Measure("retrieval_precision", partial(_retrieval, "retrieved", -1)),
    Measure("retrieval_recall", partial(_retrieval, "relevant", -1)),
    Measure("second_pass_precision", partial(_retrieval, "retrieved", 1)),
    Measure("second_pass_recall", partial(_retrieval, "relevant", 1)),
    Measure("targeted_retrieval_rate", partial(_targeted_retrieval, False)),
    Measure("targeted_retrieval_new", partial(_targeted_retrieval, True)),
    # The share of the cited documents that are relevant.
    Measure("citation_precision", _citation_precision),
    # S0's iterations: passes retrieve → … → evaluate; at least one.
    Measure("iterations", _iterations),
    # S0's LLM calls: all calls of the turn; those of the study's judge are not among them.
    Measure(
        "llm_calls", lambda sample: Value(float(sample.turn.llm_calls), "degraded" if sample.turn.degraded else "")
    ),
    # Tokens in and out, as the provider counts them.
    Measure("tokens", _tokens),
    # Wall time of the turn; with several workers on a busy machine more than it would take alone.
    Measure("seconds", lambda sample: Value(sample.turn.seconds, "")),
    # S0's: 1 for a turn that made more passes than ``max_refine_iterations`` allows.
    Measure("infinite_loop_rate", _infinite_loop),
    # 1 for a turn that wanted another pass and was stopped by the limit, the budget or the deadline.
    Measure("cut_short", _cut_short),
    # S2's saving: 1 for a turn that was answered without a single search, from the model or the conversation.
    Measure("retrieval_avoided", _retrieval_avoided),
)

_LESS_IS_BETTER = ("iterations", "llm_calls", "tokens", "seconds", "infinite_loop_rate", "cut_short")
BETTER: Mapping[str, bool] = MappingProxyType({metric.name: metric.name not in _LESS_IS_BETTER for metric in STANDARD})
"""Whether more of a metric is better."""
