"""Fitting a rising curve from scores to probabilities: Platt's sigmoid for few rows, isotonic for many.

Scores are probabilities already (0…1), those of a judge that has not seen these rows. Both kinds of curve are kept as
points to interpolate, so that reading one needs no more than ``roles.scoring.Curve``.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from selfright.roles.calibration.measures import Array, brier, checked
from selfright.roles.scoring import Curve

_LEAST, _MOST = 0.002, 0.998  # nobody is surer than a few hundred rows can show
_KNOTS = 24
_FEWEST_FOR_ISOTONIC = 200
_FOLDS = 5
_ROUNDS = 100

Fit = Callable[[Array, Array], Curve]


def platt(scores: ArrayLike, labels: ArrayLike) -> Curve:
    """``sigmoid(a · logit(score) + b)`` with a ≥ 0, by Newton's method on Platt's smoothed targets (Platt 1999).

    A score that ranks the rows the wrong way round gets a flat curve: it tells nothing.
    """
    s, y = checked(scores, labels)
    positives = y.sum()
    target = np.where(y == 1, (positives + 1) / (positives + 2), 1 / (len(y) - positives + 2))
    slope, base = _logistic(_logit(s), target)
    if slope <= 0:
        slope, base = 0.0, float(_logit(target.mean()))
    grid = np.linspace(-6.5, 6.5, _KNOTS)
    return _curve(_sigmoid(grid), _sigmoid(slope * grid + base))


def isotonic(scores: ArrayLike, labels: ArrayLike) -> Curve:
    """The rising step curve nearest to the labels in squares (pool adjacent violators), as at most 24 points.

    Equal scores are one point from the start, so the curve is a function of the score.
    """
    s, y = checked(scores, labels)
    values, place = np.unique(s, return_inverse=True)
    blocks: list[tuple[float, float, float]] = []  # rows, positives, sum of scores
    for value, rows, positives in zip(
        values, np.bincount(place), np.bincount(place, weights=y, minlength=len(values)), strict=True
    ):
        blocks.append((float(rows), float(positives), float(rows * value)))
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][0] >= blocks[-1][1] * blocks[-2][0]:
            upper, lower = blocks.pop(), blocks.pop()
            blocks.append((lower[0] + upper[0], lower[1] + upper[1], lower[2] + upper[2]))
    rows_of, positives_of, sums = (np.array(column) for column in zip(*blocks, strict=True))
    kept = _thinned(rows_of)
    # Shrunk to the middle as by one row more of each label: a block of three is no proof of certainty.
    return _curve((sums / rows_of)[kept], ((positives_of + 0.5) / (rows_of + 1))[kept])


def fitted(scores: ArrayLike, labels: ArrayLike, groups: Sequence[object]) -> tuple[Curve, str, Array]:
    """The better of the two, by Brier score on groups that the curve has not seen, with its name.

    The third value are those probabilities for unseen groups, one per row: what to judge the curve by. Under 200 rows
    the sigmoid is taken unseen, for steps need rows.
    """
    s, y = checked(scores, labels)
    kinds: dict[str, Fit] = {"platt": platt}
    if len(s) >= _FEWEST_FOR_ISOTONIC:
        kinds["isotonic"] = isotonic
    unseen = {name: _unseen(fit, s, y, groups) for name, fit in kinds.items()}
    best = min(kinds, key=lambda name: brier(unseen[name], y))
    return kinds[best](s, y), best, unseen[best]


def mapped(curve: Curve, scores: ArrayLike) -> Array:
    """The curve's probability for each score."""
    return np.array([curve(float(score)) for score in np.asarray(scores, dtype=float)], dtype=float)


def _unseen(fit: Fit, s: Array, y: Array, groups: Sequence[object]) -> Array:
    """Each row's probability under a curve fitted without the row's group; groups go to folds in turn, by size."""
    names, place, sizes = np.unique(np.array([str(g) for g in groups]), return_inverse=True, return_counts=True)
    fold_of = np.empty(len(names), dtype=int)
    fold_of[np.argsort(-sizes, kind="stable")] = np.arange(len(names)) % _FOLDS
    fold = fold_of[place]
    found = np.empty(len(s))
    for held_out in np.unique(fold):
        here = fold == held_out
        found[here] = mapped(fit(s[~here], y[~here]), s[here]) if (~here).any() else y.mean()
    return found


def _curve(scores: Array, probabilities: Array) -> Curve:
    rising = np.maximum.accumulate(np.clip(probabilities, _LEAST, _MOST))
    points = [(float(scores[0]), float(rising[0]))]
    for (left, _), (right, value) in pairwise(zip(scores, rising, strict=True)):
        if right > left:
            points.append((float(right), float(value)))
    xs, ys = zip(*points, strict=True)
    return Curve(tuple(xs), tuple(ys))


def _thinned(rows: Array) -> list[int]:
    """At most 24 blocks, spread evenly over the rows, the first and the last among them."""
    middle = (np.cumsum(rows) - rows / 2) / rows.sum()
    cuts = np.linspace(0, 1, _KNOTS)
    return sorted({int(np.abs(middle - cut).argmin()) for cut in cuts} | {0, len(rows) - 1})[: _KNOTS + 2]


def _logistic(x: Array, target: Array) -> tuple[float, float]:
    design = np.column_stack([x, np.ones(len(x))])
    w = np.zeros(2)
    for _ in range(_ROUNDS):
        p = _sigmoid(design @ w)
        curvature = (design * np.maximum(p * (1 - p), 1e-9)[:, None]).T @ design + 1e-6 * np.eye(2)
        step = np.linalg.solve(curvature, design.T @ (p - target) + 1e-6 * w)
        w -= np.clip(step, -4, 4)
        if np.abs(step).max() < 1e-9:
            break
    return float(w[0]), float(w[1])


def _logit(p: ArrayLike) -> Array:
    inside = np.clip(np.asarray(p, dtype=float), 1e-4, 1 - 1e-4)
    return np.asarray(np.log(inside / (1 - inside)))


def _sigmoid(z: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * z)))
