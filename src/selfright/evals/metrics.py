"""What a metric is: a small frozen dataclass with one method, which gives a value with its reason.

A metric of one's own needs no more than this:

>>> @dataclass(frozen=True)
... class Short:
...     name: str = "short"
...     limit: int = 200
...
...     def measure(self, sample: Sample) -> Value:
...         length = len(sample.turn.answer)
...         return Value(float(length <= self.limit), f"{length} characters")
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from selfright.evals.reading import Question
from selfright.evals.results import Turn, Value

__all__ = ["Metric", "Sample", "Value", "without"]


@dataclass(frozen=True, slots=True)
class Sample:
    """What a metric may look at: the question with its gold, the turn as it went, the flags it ran under."""

    question: Question
    turn: Turn
    flags: Mapping[str, Any]


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
