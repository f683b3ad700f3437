"""What a fit does to probabilities: whether it makes them worse beyond chance, and whether labels look swapped.

Rows of one question belong together, so the intervals are over questions: that of DeLong (1988) for the AUC, as
Obuchowski (1997) has it for such groups, and the usual one for a mean.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from selfright.roles.calibration.measures import Array, auc, check_arrays, placements

_QUANTILE = 1.96  # of the normal distribution, for 95 %
# A curve does not change the order of rows, but five folds have five curves, so the pooled AUC moves a little.
_AUC_LOST, _BRIER_GAINED = 0.02, 0.01
_SWAPPED = 0.4


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; NaN where the rows do not yield it."""

    value: float
    low: float
    high: float

    def within(self, least: float, most: float) -> "Estimate":
        """The same with an interval that ends where the figure can."""
        return Estimate(self.value, float(np.clip(self.low, least, most)), float(np.clip(self.high, least, most)))

    def __str__(self) -> str:
        return f"{self.value:.3f}, 95 % interval {self.low:.3f} to {self.high:.3f}"


@dataclass(frozen=True, slots=True)
class Effect:
    """The AUC before the fit, and what AUC and Brier score gain by it."""

    auc: Estimate
    auc_change: Estimate
    brier_change: Estimate

    @classmethod
    def of(cls, before: Array, after: Array, labels: Array, groups: Sequence[str]) -> "Effect":
        """Of rows of which each group belongs together; ``after`` is what was said without them."""
        (p, y), (q, _) = check_arrays(before, labels), check_arrays(after, labels)
        (first, parts), (second, others) = _auc_parts(p, y), _auc_parts(q, y)
        gains = (q - y) ** 2 - (p - y) ** 2
        mean = float(np.mean(gains))
        return cls(
            _estimate(first, parts, groups).within(0.0, 1.0),
            _estimate(second - first, others - parts, groups),
            _estimate(mean, (gains - mean) / len(y), groups),
        )

    @property
    def looks_swapped(self) -> bool:
        """Whether label 0 stands where the judge sees what helps."""
        return self.auc.value < _SWAPPED and self.auc.high < 0.5  # comparisons with NaN are false

    def harms(self, of: str) -> tuple[str, ...]:
        """What speaks against using it, a sentence each."""
        return tuple(self._harms(of))

    def _harms(self, of: str) -> Iterator[str]:
        if self.looks_swapped:
            yield f"the labels look swapped: the AUC of {of} is {self.auc}"
        if self.auc_change.value < -_AUC_LOST and self.auc_change.high < 0:
            yield f"the AUC of {of} changes by {self.auc_change}"
        if self.brier_change.value > _BRIER_GAINED and self.brier_change.low > 0:
            yield f"the Brier score of {of} rises by {self.brier_change}"


def _auc_parts(s: Array, y: Array) -> tuple[float, Array]:
    """The AUC, and what each row adds to its deviation."""
    value, of_label = auc(s, y), np.where(y == 1, y.sum(), len(y) - y.sum())
    return value, (placements(s, y) - value) / of_label


def _estimate(value: float, parts: Array, groups: Sequence[str]) -> Estimate:
    """``value`` and its interval, from what each row adds to its deviation."""
    _, of_row = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    sums = np.bincount(of_row, weights=parts)
    if len(sums) < 2:
        return Estimate(value, float("nan"), float("nan"))
    half = _QUANTILE * math.sqrt(float((sums**2).sum()) * len(sums) / (len(sums) - 1))
    return Estimate(value, value - half, value + half)
