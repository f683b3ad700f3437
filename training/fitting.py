"""Logistic regression, isotonic calibration and the figures that judge them; numpy only, no chance involved."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def logistic(x: Array, y: Array, weight: Array, ridge: float, rounds: int = 50) -> Array:
    """Weights (features + 1, the intercept last) by Newton's method with an L2 penalty on all but the intercept."""
    x = np.column_stack([x, np.ones(len(x))])
    penalty = np.full(x.shape[1], ridge)
    penalty[-1] = 1e-9
    w = np.zeros(x.shape[1])
    for _ in range(rounds):
        p = sigmoid(x @ w)
        gradient = x.T @ (weight * (p - y)) + penalty * w
        hessian = (x * (weight * np.maximum(p * (1 - p), 1e-9))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        w -= step
        if np.abs(step).max() < 1e-8:
            break
    return w


def signed_logistic(x: Array, y: Array, weight: Array, ridge: float, signs: Array) -> Array:
    """As ``logistic``, but a weight whose sign is not the wanted one (+1, -1; 0 for any) becomes 0.

    Columns with wrong signs are left out and the rest fitted again, until none is wrong.
    """
    kept = np.arange(x.shape[1])
    while True:
        w = logistic(x[:, kept], y, weight, ridge)
        right = w[:-1] * signs[kept] >= 0
        if right.all():
            full = np.zeros(x.shape[1] + 1)
            full[kept], full[-1] = w[:-1], w[-1]
            return full
        kept = kept[right]


def sigmoid(z: Array) -> Array:
    """1 / (1 + e^-z), without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * z))


def isotonic(score: Array, y: Array, weight: Array, knots: int = 12) -> tuple[list[float], list[float]]:
    """The best rising step curve (pool adjacent violators), thinned to at most ``knots`` points to interpolate."""
    order = np.argsort(score, kind="stable")
    blocks: list[list[float]] = []  # [sum of w·y, sum of w, sum of w·score]
    for s, label, w in zip(score[order], y[order], weight[order], strict=True):
        blocks.append([w * label, w, w * s])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    at, value, mass = (np.array(c) for c in zip(*((b[2] / b[1], b[0] / b[1], b[1]) for b in blocks), strict=True))
    cuts = np.linspace(0, 1, knots)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    kept = sorted({int(np.abs(middle - cut).argmin()) for cut in cuts} | {0, len(at) - 1})
    return [float(at[i]) for i in kept], [float(np.clip(value[i], 0.002, 0.998)) for i in kept]


def auc(score: Array, y: Array) -> float:
    """Area under the ROC curve, ties counting half; NaN when a class is missing."""
    positives = int(y.sum())
    negatives = len(y) - positives
    if not positives or not negatives:
        return float("nan")
    _, rank_of, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[rank_of]
    return float((ranks[y == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def calibration_error(p: Array, y: Array, bins: int = 10) -> float:
    """Expected calibration error over bins of equal size."""
    order = np.argsort(p, kind="stable")
    parts: Sequence[NDArray[np.int64]] = np.array_split(order, bins)
    return float(sum(abs(p[i].mean() - y[i].mean()) * len(i) for i in parts if len(i)) / len(p))
