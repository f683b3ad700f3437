"""The metrics that every study of answers has, in the order of its tables: of judges, and of what a turn took.

The study's judge is the same for every system; the turn's own judge is measured beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from selfright.evals.measures.retrieval import (
    CitationPrecision,
    RetrievalPrecision,
    RetrievalRecall,
    TargetedRetrievalRate,
)
from selfright.evals.measures.words import F1, Containment, ExactMatch, Right
from selfright.evals.metrics import Metric, Sample, Value, without
from selfright.evals.results import Judgement


@dataclass(frozen=True, slots=True)
class Quality:
    """S0's quality: ``overall`` (0.4 grounding + 0.4 completeness + 0.2 accuracy) by the study's judge.

    Abstentions are left out: there is nothing to judge. Read it beside ``answered``.
    """

    name: str = "quality"

    def measure(self, sample: Sample) -> Value:
        """By the same judge for every system."""
        judged = sample.turn.judged
        if sample.turn.abstained or judged is None:
            return without("abstained" if sample.turn.abstained else "not judged")
        return Value(judged.overall, _why(judged))


@dataclass(frozen=True, slots=True)
class Grounding:
    """S0's grounding: how far the answer rests on what the turn looked at, by the study's judge."""

    name: str = "grounding"

    def measure(self, sample: Sample) -> Value:
        """By the same judge for every system."""
        judged = sample.turn.judged
        if sample.turn.abstained or judged is None:
            return without("abstained" if sample.turn.abstained else "not judged")
        return Value(judged.grounding, _why(judged))


@dataclass(frozen=True, slots=True)
class OwnQuality:
    """``overall`` of the turn's own evaluation: what the loop went by. None for presets that do not judge."""

    name: str = "own_quality"

    def measure(self, sample: Sample) -> Value:
        """By the judge of that preset."""
        evaluation = sample.turn.evaluation
        return Value(evaluation.overall, _why(evaluation)) if evaluation else without("the preset does not judge")


@dataclass(frozen=True, slots=True)
class SecondPassQuality:
    """S3's quality of the second pass: ``overall`` of its draft by the turn's own judge, where there was one."""

    name: str = "second_pass_quality"

    def measure(self, sample: Sample) -> Value:
        """None for turns of one pass."""
        passes = sample.turn.passes
        if len(passes) < 2:
            return without("one pass was enough, or all there is")
        if passes[1].overall is None:
            return without("the second pass was not judged")
        first = passes[0].overall
        return Value(passes[1].overall, f"after {first:.2f}" if first is not None else "the first was not judged")


@dataclass(frozen=True, slots=True)
class Answered:
    """1 when the turn answered, 0 when it abstained."""

    name: str = "answered"

    def measure(self, sample: Sample) -> Value:
        """Of every turn."""
        return Value(float(not sample.turn.abstained), sample.turn.stop_reason)


def _why(judgement: Judgement) -> str:
    return (
        f"{judgement.source}: {judgement.answer_quality}, grounding {judgement.grounding:.2f}, completeness "
        f"{judgement.completeness:.2f}, accuracy {judgement.accuracy:.2f}"
    )


@dataclass(frozen=True, slots=True)
class Iterations:
    """S0's iterations: passes retrieve → … → evaluate."""

    name: str = "iterations"

    def measure(self, sample: Sample) -> Value:
        """At least one; also of a turn that retrieved nothing."""
        return Value(float(max(1, len(sample.turn.passes))), f"stopped: {sample.turn.stop_reason}")


@dataclass(frozen=True, slots=True)
class LLMCalls:
    """S0's LLM calls: all calls of the turn; those of the study's judge are not among them."""

    name: str = "llm_calls"

    def measure(self, sample: Sample) -> Value:
        """0 offline."""
        return Value(float(sample.turn.llm_calls), "degraded" if sample.turn.degraded else "")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens in and out, as the provider counts them."""

    name: str = "tokens"

    def measure(self, sample: Sample) -> Value:
        """Prompt and completion together."""
        turn = sample.turn
        total = turn.prompt_tokens + turn.completion_tokens
        return Value(float(total), f"{turn.prompt_tokens} in, {turn.completion_tokens} out")


@dataclass(frozen=True, slots=True)
class Seconds:
    """Wall time of the turn; with several workers on a busy machine more than it would take alone."""

    name: str = "seconds"

    def measure(self, sample: Sample) -> Value:
        """As the turn's own meter has it."""
        return Value(sample.turn.seconds, "")


@dataclass(frozen=True, slots=True)
class InfiniteLoop:
    """S0's infinite-loop rate: 1 for a turn that made more passes than ``max_refine_iterations`` allows.

    Such a turn would have gone on if nothing from outside had stopped it.
    """

    name: str = "infinite_loop_rate"

    def measure(self, sample: Sample) -> Value:
        """The bound is the flag's, plus the first pass."""
        most = 1 + int(sample.flags["max_refine_iterations"])
        passes = len(sample.turn.passes)
        return Value(float(passes > most), f"{passes} of at most {most} passes")


@dataclass(frozen=True, slots=True)
class RetrievalAvoided:
    """S2's saving: 1 for a turn that was answered without a single search, from the model or the conversation."""

    name: str = "retrieval_avoided"

    def measure(self, sample: Sample) -> Value:
        """By the nodes that ran."""
        searches = sum(visit.node == "retrieve" for visit in sample.turn.path)
        return Value(float(not searches), f"{searches} searches")


@dataclass(frozen=True, slots=True)
class CutShort:
    """1 for a turn that wanted another pass and was stopped by the limit, the budget or the deadline."""

    name: str = "cut_short"

    def measure(self, sample: Sample) -> Value:
        """By the stop reason; of one that abstained, by what stopped the loop before."""
        limits = ("max_iterations", "budget", "deadline")
        reason = next((visit.stop for visit in sample.turn.path if visit.stop), sample.turn.stop_reason)
        return Value(float(reason in limits), reason)


STANDARD: Sequence[Metric] = (
    Right(),
    Answered(),
    Containment(),
    F1(),
    ExactMatch(),
    Quality(),
    Grounding(),
    OwnQuality(),
    SecondPassQuality(),
    RetrievalPrecision(),
    RetrievalRecall(),
    RetrievalPrecision("second_pass_precision", 1),
    RetrievalRecall("second_pass_recall", 1),
    TargetedRetrievalRate(),
    TargetedRetrievalRate("targeted_retrieval_new", only_new=True),
    CitationPrecision(),
    Iterations(),
    LLMCalls(),
    Tokens(),
    Seconds(),
    InfiniteLoop(),
    CutShort(),
    RetrievalAvoided(),
)

BETTER: Mapping[str, bool] = MappingProxyType(
    {
        metric.name: metric.name
        not in ("iterations", "llm_calls", "tokens", "seconds", "infinite_loop_rate", "cut_short")
        for metric in STANDARD
    }
)
"""Whether more of a metric is better."""
