"""Conditional logit: of the things that one question offers, which comes first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.fitting import Array

ROUNDS = 30


@dataclass(frozen=True)
class Choice:
    """What one question offers: ``x`` (things, signals), and which of them are right."""

    dataset: str
    fold: int
    x: Array
    right: NDArray[np.bool_]


def conditional_logit(found: Sequence[Choice], columns: NDArray[np.int64], ridge: float) -> Array:
    """Weights of the columns, by Newton's method with halved steps.

    Every set counts the same; the right things of one question share its weight.
    """
    counts = {name: sum(choice.dataset == name for choice in found) for name in {c.dataset for c in found}}
    mass = np.array([1_000 / counts[choice.dataset] for choice in found])
    x = np.vstack([choice.x[:, columns] for choice in found])
    target = np.concatenate([choice.right / choice.right.sum() for choice in found])
    starts = np.cumsum([0, *(len(choice.right) for choice in found[:-1])])
    of = np.repeat(np.arange(len(found)), [len(choice.right) for choice in found])

    def loss(score: Array, weights: Array) -> float:
        top = np.maximum.reduceat(score, starts)
        total = top + np.log(np.add.reduceat(np.exp(score - top[of]), starts))
        return float(mass @ total - (mass[of] * target) @ score + ridge / 2 * (weights @ weights))

    weights = np.zeros(len(columns))
    for _ in range(ROUNDS):
        score = x @ weights
        odds = np.exp(score - np.maximum.reduceat(score, starts)[of])
        chance = odds / np.add.reduceat(odds, starts)[of]
        gradient = x.T @ (mass[of] * (chance - target)) + ridge * weights
        mean = np.add.reduceat(x * chance[:, None], starts)
        spread = (x * (mass[of] * chance)[:, None]).T @ x - (mean * mass[:, None]).T @ mean
        step = np.linalg.solve(spread + ridge * np.eye(len(columns)), gradient)
        best, size = loss(score, weights), 1.0
        while size > 1e-4 and loss(x @ (weights - size * step), weights - size * step) > best:
            size /= 2  # far from the optimum a whole step may go beyond it, and further each time
        weights = weights - size * step
        if np.abs(size * step).max() < 1e-8:
            break
    return weights
