"""Weighing opinions against each other on labelled rows: logistic regression that starts from weights it knows.

With few rows the weights stay near those that they had, with many the rows decide.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from selfright.roles.calibration.measures import Array
from selfright.roles.scoring import Blend

_SUREST = 10.0
_HOLD = 2.0  # how much the weights known before count, in rows
_ROUNDS = 100


def blended(rows: Sequence[Mapping[str, float]], labels: Sequence[int], start: Blend) -> Blend:
    """The blend under which the labels are most probable, held to ``start`` as by a few rows more (MAP, normal prior).

    ``rows`` are opinions by name, log-odds. No opinion may count against itself: a weight that would is 0, positive
    for opinions that speak for, negative for ``behind``, which speaks against.
    """
    names = tuple(start.weights)
    raw = np.array([[row[name] for name in names] for row in rows], dtype=float)
    y = np.array(labels, dtype=float)
    x = np.column_stack([np.clip(raw, -_SUREST, _SUREST), np.ones(len(y))])
    first = np.array([*start.weights.values(), start.intercept])
    # A judge's log-odds may lie on any scale, and around any middle: weights are held, the intercept is all but free.
    hold = np.append(_HOLD * np.maximum(x[:, :-1].std(axis=0), 1e-3) ** 2, 1e-3)
    free = np.ones(len(first), dtype=bool)
    while True:
        w = _most_probable(x, y, first, hold, free)
        wrong = [i for i, name in enumerate(names) if free[i] and w[i] * (-1.0 if name == "behind" else 1.0) < 0]
        if not wrong:
            return Blend({name: round(float(w[i]), 6) for i, name in enumerate(names)}, round(float(w[-1]), 6))
        free[wrong] = False


def _most_probable(x: Array, y: Array, first: Array, hold: Array, free: NDArray[np.bool_]) -> Array:
    """Newton's method; weights that are not free are 0."""
    w = np.where(free, first, 0.0)
    columns = x[:, free]
    for _ in range(_ROUNDS):
        p = 0.5 * (1 + np.tanh(0.5 * np.clip(x @ w, -30, 30)))
        slope = columns.T @ (p - y) + (hold * (w - first))[free]
        curvature = (columns * np.maximum(p * (1 - p), 1e-6)[:, None]).T @ columns + np.diag(hold[free])
        step = np.clip(np.linalg.solve(curvature, slope), -2, 2)
        w[free] -= step
        if np.abs(step).max() < 1e-8:
            break
    return w
