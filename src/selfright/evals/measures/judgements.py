"""Metrics of what judges say: the study's judge, the same for every system, and the turn's own."""

from dataclasses import dataclass

from selfright.evals.metrics import Sample, Value, without
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
        """By whoever judges in that preset."""
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
