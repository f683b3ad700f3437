"""Answering only when sure: what share is still answered (coverage), and what share of that is wrong (risk).

Rows with equal scores are answered or left out together, for no threshold can tell them apart.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from selfright.roles.calibration.measures import Array, checked


@dataclass(frozen=True, slots=True)
class Point:
    """Answering what scores at least ``threshold`` answers the share ``coverage``, of which ``risk`` is wrong."""

    threshold: float
    coverage: float
    risk: float


def risk_coverage(scores: ArrayLike, wrong: ArrayLike) -> tuple[Point, ...]:
    """A point for every different score, from the highest down; ``wrong`` is 1 where an answer would be wrong.

    El-Yaniv & Wiener (2010), Geifman & El-Yaniv (2017).
    """
    s, w = checked(scores, wrong)
    thresholds, answered, errors = _steps(s, w)
    return tuple(
        Point(float(t), float(n / len(s)), float(e / n)) for t, n, e in zip(thresholds, answered, errors, strict=True)
    )


def aurc(scores: ArrayLike, wrong: ArrayLike) -> float:
    """The area under the risk–coverage curve: the mean, over all n coverages, of the risk at that coverage.

    Inside a tie the expectation over its orders is taken, so that no order of the rows matters. NaN without rows.
    """
    s, w = checked(scores, wrong)
    if not len(s):
        return float("nan")
    _, answered, errors = _steps(s, w)
    total = before = errors_before = 0.0
    for n, e in zip(answered, errors, strict=True):
        steps = np.arange(1, int(n - before) + 1)
        rate = (e - errors_before) / (n - before)
        total += float(((errors_before + rate * steps) / (before + steps)).sum())
        before, errors_before = float(n), float(e)
    return total / len(s)


def coverage_at(scores: ArrayLike, wrong: ArrayLike, risk: float) -> Point | None:
    """The point of greatest coverage whose risk is at most ``risk``; None when there is none.

    It is chosen on the rows it is measured on and so flatters: a promise for new rows is ``thresholds.certified``.
    """
    allowed = [point for point in risk_coverage(scores, wrong) if point.risk <= risk]
    return max(allowed, key=lambda point: point.coverage, default=None)


def _steps(s: Array, w: Array) -> tuple[Array, Array, Array]:
    """The different scores from the highest down, with the number of rows and of errors down to each."""
    values, place = np.unique(-s, return_inverse=True)
    rows = np.bincount(place, minlength=len(values)).astype(float)
    errors = np.bincount(place, weights=w, minlength=len(values))
    return -values, np.cumsum(rows), np.cumsum(errors)
