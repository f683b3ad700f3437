"""The metrics that every study of answers has, in the order of its tables: of judges, and of what a turn took.

The study's judge is the same for every system; the turn's own judge is measured beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from selfright.evals.measures.retrieval import (
    CitationPrecision,
    RetrievalPrecision,
    RetrievalRecall,
    TargetedRetrievalRate,
)
from selfright.evals.measures.words import EXACT_MATCH, F1, Containment, Right
from selfright.evals.metrics import Metric, Sample, Value, without
from selfright.evals.results import Judgement

_LIMITS = ("max_iterations", "budget", "deadline")


@dataclass(frozen=True, slots=True)
class StudyJudge:
    """A score of the study's judge; abstentions are left out, for there is nothing to judge."""

    name: str
    score: Literal["overall", "grounding"]

    def measure(self, sample: Sample) -> Value:
        """By the same judge for every system."""
        judged = sample.turn.judged
        if sample.turn.abstained or judged is None:
            return without("abstained" if sample.turn.abstained else "not judged")
        return Value(getattr(judged, self.score), _why(judged))


@dataclass(frozen=True, slots=True)
class Each:
    """What can be said of every turn, by a function of the sample."""

    name: str
    measure: Callable[[Sample], Value]


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
    Right(),
    Each("answered", lambda sample: Value(float(not sample.turn.abstained), sample.turn.stop_reason)),
    Containment(),
    F1,
    EXACT_MATCH,
    # S0's quality: 0.4 grounding + 0.4 completeness + 0.2 accuracy. Read it beside ``answered``.
    StudyJudge("quality", "overall"),
    # S0's grounding: how far the answer rests on what the turn looked at.
    StudyJudge("grounding", "grounding"),
    # What the loop went by: ``overall`` of the turn's own evaluation. None for presets that do not judge.
    Each("own_quality", _own_quality),
    # S3's: ``overall`` of the second pass's draft by the turn's own judge, where there was one.
    Each("second_pass_quality", _second_pass_quality),
    RetrievalPrecision(),
    RetrievalRecall(),
    RetrievalPrecision("second_pass_precision", 1),
    RetrievalRecall("second_pass_recall", 1),
    TargetedRetrievalRate(),
    TargetedRetrievalRate("targeted_retrieval_new", only_new=True),
    CitationPrecision(),
    # S0's iterations: passes retrieve → … → evaluate; at least one.
    Each("iterations", _iterations),
    # S0's LLM calls: all calls of the turn; those of the study's judge are not among them.
    Each("llm_calls", lambda sample: Value(float(sample.turn.llm_calls), "degraded" if sample.turn.degraded else "")),
    # Tokens in and out, as the provider counts them.
    Each("tokens", _tokens),
    # Wall time of the turn; with several workers on a busy machine more than it would take alone.
    Each("seconds", lambda sample: Value(sample.turn.seconds, "")),
    # S0's: 1 for a turn that made more passes than ``max_refine_iterations`` allows.
    Each("infinite_loop_rate", _infinite_loop),
    # 1 for a turn that wanted another pass and was stopped by the limit, the budget or the deadline.
    Each("cut_short", _cut_short),
    # S2's saving: 1 for a turn that was answered without a single search, from the model or the conversation.
    Each("retrieval_avoided", _retrieval_avoided),
)

_LESS_IS_BETTER = ("iterations", "llm_calls", "tokens", "seconds", "infinite_loop_rate", "cut_short")
BETTER: Mapping[str, bool] = MappingProxyType({metric.name: metric.name not in _LESS_IS_BETTER for metric in STANDARD})
"""Whether more of a metric is better."""
