"""How good probabilities are: whether they rank (AUC), are sharp (Brier), mean what they say (ECE), and risk when sure.

All take arrays of one dimension: probabilities or scores, and labels 0 or 1 of the same length. A figure that needs
what the examples do not have (both labels, any row) is NaN. Coverage and risk are of answering only when sure: what
share is still answered, and what share of that is wrong. Rows with equal scores are answered or left out together, for
no threshold can tell them apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Bins = Literal["mass", "width"]

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The rows whose probability lies between ``low`` and ``high``: the mean said, the share that came true."""

    low: float
    high: float
    rows: int
    said: float
    came_true: float


@dataclass(frozen=True, slots=True)
class Quality:
    """The figures of one set of probabilities."""

    rows: int
    positives: int
    auc: float
    brier: float
    ece_mass: float
    ece_width: float


def quality(probabilities: ArrayLike, labels: ArrayLike) -> Quality:
    """All figures at once; raises ``ValueError`` as ``checked`` does."""
    p, y = check_arrays(probabilities, labels)
    return Quality(
        len(y), int(y.sum()), auc(p, y), brier(p, y), calibration_error(p, y, "mass"), calibration_error(p, y, "width")
    )


def auc(scores: ArrayLike, labels: ArrayLike) -> float:
    """The chance that a positive scores above a negative, ties counting half (Mann–Whitney U over its maximum)."""
    s, y = check_arrays(scores, labels)
    return float(np.mean(placements(s, y)[y == 1])) if 0 < y.sum() < len(y) else float("nan")


def placements(s: Array, y: Array) -> Array:
    """For each row the share of rows of the other label that are below it (of a negative: above), ties half."""
    found = np.empty(len(s))
    for label in (0.0, 1.0):
        others = np.sort(s[y != label])
        below, above = np.searchsorted(others, s[y == label], "left"), np.searchsorted(others, s[y == label], "right")
        share = (below + above) / (2 * max(len(others), 1))
        found[y == label] = share if label else 1 - share
    return found


def brier(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Mean squared difference of probability and label (Brier 1950): 0 is perfect, always saying 0.5 gives 0.25."""
    p, y = check_arrays(probabilities, labels)
    return float(np.mean((p - y) ** 2)) if len(p) else float("nan")


def calibration_error(probabilities: ArrayLike, labels: ArrayLike, bins: Bins = "mass", count: int = BINS) -> float:
    """Expected calibration error: the mean over rows of |said − came true| of the row's bin.

    ``mass`` makes bins of equal size, ``width`` of equal width (Naeini et al. 2015); the second is the better known,
    the first does not depend on bins that hardly anything falls into.
    """
    table = reliability(probabilities, labels, bins, count)
    rows = sum(each.rows for each in table)
    return sum(each.rows * abs(each.said - each.came_true) for each in table) / rows if rows else float("nan")


def reliability(
    probabilities: ArrayLike, labels: ArrayLike, bins: Bins = "width", count: int = BINS
) -> tuple[Bin, ...]:
    """The bins that hold rows, in rising order. Equal probabilities always share a bin."""
    p, y = check_arrays(probabilities, labels)
    if count < 1:
        raise ValueError(f"at least one bin is needed, but count is {count}")
    return tuple(
        Bin(float(p[rows].min()), float(p[rows].max()), len(rows), float(p[rows].mean()), float(y[rows].mean()))
        for rows in (_by_mass(p, count) if bins == "mass" else _by_width(p, count))
    )


def check_arrays(scores: ArrayLike, labels: ArrayLike) -> tuple[Array, Array]:
    """Both as arrays of floats. Raises ``ValueError`` for other shapes, scores not finite, labels not 0 or 1."""
    s, y = np.asarray(scores, dtype=float), np.asarray(labels, dtype=float)
    if s.ndim != 1 or s.shape != y.shape:
        raise ValueError(f"scores and labels must be two rows of one length, but have shapes {s.shape} and {y.shape}")
    if not np.isfinite(s).all():
        raise ValueError("scores must be finite numbers, but some are NaN or infinite")
    if not np.isin(y, (0.0, 1.0)).all():
        raise ValueError("labels must be 0 or 1, but some are not")
    return s, y


def _by_mass(p: Array, count: int) -> Iterator[NDArray[Any]]:
    """Cuts at every n/count-th row, moved down to where the probability changes."""
    order = np.argsort(p, kind="stable")
    cuts = [int(len(p) * i / count) for i in range(1, count)]
    starts = sorted({0, *(int(np.searchsorted(p[order], p[order][cut], side="left")) for cut in cuts if len(p))})
    for start, end in zip(starts, [*starts[1:], len(p)], strict=True):
        if end > start:
            yield order[start:end]


def _by_width(p: Array, count: int) -> Iterator[NDArray[Any]]:
    place = np.clip((p * count).astype(int), 0, count - 1)
    for i in range(count):
        rows = np.flatnonzero(place == i)
        if len(rows):
            yield rows


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
    s, w = check_arrays(scores, wrong)
    thresholds, answered, errors = _steps(s, w)
    return tuple(
        Point(float(t), float(n / len(s)), float(e / n)) for t, n, e in zip(thresholds, answered, errors, strict=True)
    )


def aurc(scores: ArrayLike, wrong: ArrayLike) -> float:
    """The area under the risk–coverage curve: the mean, over all n coverages, of the risk at that coverage.

    Inside a tie the expectation over its orders is taken, so that no order of the rows matters. NaN without rows.
    """
    s, w = check_arrays(scores, wrong)
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


def _steps(s: Array, w: Array) -> tuple[Array, Array, Array]:
    """The different scores from the highest down, with the number of rows and of errors down to each."""
    values, place = np.unique(-s, return_inverse=True)
    rows = np.bincount(place, minlength=len(values)).astype(float)
    errors = np.bincount(place, weights=w, minlength=len(values))
    return -values, np.cumsum(rows), np.cumsum(errors)
