"""The parts of the grader's fit: scorers with held-out scores, sets as rows, and the two thresholds."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright.roles.calibration.thresholds import binomial_tail
from selfright.roles.grade.features import AGAINST, FOR
from selfright.roles.grade.model import set_signals
from training.fit_grader_reader_data import NAMES, compared_anew, joined, on_their_own, pick
from training.fitting import Array, isotonic, signed_logistic
from training.grader_rows import Rows

ANSWERING = (
    "sentence_coverage",
    "adjacent",
    "names_missing",
    "numbers_missing",
    "type_asked",
    "type_novel",
    "negation_differs",
    "cosine",
    "sentence_cosine",
    "reader",
    "reader_logit",
)
SIZES = (1, 3, 8)
RIDGE = 1.0
PER_SET = 2_000.0
LOWER_RISK, UPPER_RISK, DOUBT = 0.10, 0.20, 0.10


def equal_sets(dataset: NDArray[np.str_]) -> Array:
    """Row weights that give every set the same say."""
    names, counts = np.unique(dataset, return_counts=True)
    share = dict(zip(names, PER_SET / counts, strict=True))
    return np.array([share[name] for name in dataset])


def sign(name: str) -> int:
    """Which way a signal may count: 1 for, -1 against, 0 either."""
    if name.startswith(("most_", "spread_")) or name in ("best_logit", "any", "lead"):
        return 1
    return (name in FOR or name in ("reader", "reader_logit")) - (name in AGAINST or name == "behind_reader")


def score(x: Array, w: Array) -> Array:
    """Log-odds of rows under weights whose last is the intercept."""
    return x @ w[:-1] + float(w[-1])


def stored_curve(curve: tuple[list[float], list[float]]) -> dict[str, list[float]]:
    """The JSON form of a curve."""
    scores, probabilities = ([round(v, 4) for v in values] for values in curve)
    return {"scores": scores, "probabilities": probabilities}


class Fitted:
    """Weights on all rows, and held-out log-odds by fold; ``curve`` is fitted on the held-out ones."""

    def __init__(self, x: Array, y: Array, fold: NDArray[np.int64], weight: Array, names: tuple[str, ...]) -> None:
        self.names = names
        signs = np.array([sign(name) for name in names], float)
        self.by_fold = [signed_logistic(x[fold != k], y[fold != k], weight[fold != k], RIDGE, signs) for k in range(5)]
        self.weights = signed_logistic(x, y, weight, RIDGE, signs)
        self.held_out = self.score_held_out(x, fold)
        self.curve = isotonic(self.held_out, y, weight)

    def score_held_out(self, x: Array, fold: NDArray[np.int64]) -> Array:
        """Log-odds, for each row under the weights that have not seen its fold."""
        scores = np.zeros(len(x))
        for k, w in enumerate(self.by_fold):
            scores[fold == k] = score(x[fold == k], w)
        return scores

    def calibrated(self, scores: Array) -> Array:
        """Probabilities."""
        return np.interp(scores, *self.curve)

    def stored(self) -> dict[str, Any]:
        """The JSON form of a scorer."""
        rounded = [round(float(w), 4) for w in self.weights]
        return {
            "weights": dict(zip(self.names, rounded[:-1], strict=True)),
            "intercept": rounded[-1],
            "calibration": stored_curve(self.curve),
        }


class Steps:
    """A scorer of passages in two steps, with held-out joint log-odds; ``curve`` is fitted on those.

    The first step learns what is about the question (what answers, and squad2's own paragraphs, whatever is asked of
    them), the second what of this answers, from squad2's own paragraphs alone: nobody else labels such pairs.
    """

    def __init__(self, rows: Rows, names: tuple[str, ...]) -> None:
        y, own = rows.y.astype(float), (rows.dataset == "squad2") & (rows.kind == "own")
        self.names = names
        self.second = tuple(name for name in names if name in ANSWERING)
        weight = equal_sets(rows.dataset)
        self.about = Fitted(pick(rows, names), np.maximum(y, own), rows.fold, weight, names)
        self.about.curve = isotonic(self.about.held_out, y, weight)
        self.answers = self._answers(rows.only(own)) if own.any() else None
        self.held_out = self.score_held_out(rows)
        self.curve = isotonic(self.held_out, y, weight)

    def _answers(self, asked: Rows) -> Fitted:
        return Fitted(pick(asked, self.second), asked.y.astype(float), asked.fold, np.ones(len(asked.y)), self.second)

    def score_held_out(self, rows: Rows) -> Array:
        """Joint log-odds, each row under weights that have not seen its fold; of the only step where there is one."""
        about = self.about.score_held_out(pick(rows, self.names), rows.fold)
        if self.answers is None:
            return about
        answers = self.answers.score_held_out(pick(rows, self.second), rows.fold)
        low, high = np.minimum(about, answers), np.maximum(about, answers)
        return low - np.log1p(np.exp(low - high) + np.exp(-high))

    def calibrated(self, scores: Array) -> Array:
        """Probabilities."""
        return np.interp(scores, *self.curve)

    def stored(self) -> dict[str, Any]:
        """The JSON form."""
        if self.answers is None:
            return self.about.stored()
        answers = {name: value for name, value in self.answers.stored().items() if name != "calibration"}
        return {**self.about.stored(), "answers": answers, "joint": stored_curve(self.curve)}


def fit_passages(rows: Rows, names: tuple[str, ...]) -> Steps:
    """A scorer of passages, fitted on each once within its set and once on its own."""
    return Steps(joined([rows, on_their_own(rows)]), names)


class Sets:
    """Retrieved sets as rows: the first 1, 3 and 8 passages, once as retrieved, once with what helps taken out."""

    def __init__(self, rows: Rows, fitted: Steps, names: tuple[str, ...]) -> None:
        self.names = names
        self._x: list[list[float]] = []
        self._origin: list[tuple[int, str, int, int]] = []
        retrieved = rows.only(rows.kind != "positive")
        helped = np.isin(retrieved.case, np.unique(retrieved.case[retrieved.y == 1]))
        for part in (retrieved, retrieved.only(helped & (retrieved.y == 0))):
            for size in SIZES:
                self._add(compared_anew(part.only(place_in_set(part) < size)), fitted, size)
        y, dataset, fold, sizes = (np.array(column) for column in zip(*self._origin, strict=True))
        self.x, self.y, self.dataset, self.fold, self.size = np.array(self._x), y.astype(float), dataset, fold, sizes

    def _add(self, rows: Rows, fitted: Steps, size: int) -> None:
        p = fitted.calibrated(fitted.score_held_out(rows))
        for case in np.unique(rows.case):
            at = np.flatnonzero(rows.case == case)
            members = [dict(zip(NAMES, values, strict=True)) for values in rows.x[at].tolist()]
            signals = set_signals(p[at].tolist(), members)
            self._x.append([signals[name] for name in self.names])
            self._origin.append((int(rows.y[at].any()), str(rows.dataset[at[0]]), int(rows.fold[at[0]]), size))


def place_in_set(rows: Rows) -> NDArray[np.int64]:
    """0 for the first passage of each set, 1 for the second, …; the rows of a set stand together."""
    starts = np.flatnonzero(np.r_[True, rows.case[1:] != rows.case[:-1]])
    return np.arange(len(rows.case)) - np.repeat(starts, np.diff(np.r_[starts, len(rows.case)]))


def thresholds(p: Array, y: Array, weight: Array) -> tuple[float, float]:
    """(lower, upper): of sets below ``lower`` at most a tenth can answer, of those from ``upper`` on a fifth cannot.

    Fixed-sequence testing of the selective risk ("learn then test", arXiv 2110.01052): from the safe end inwards each
    candidate threshold is tested, and the last before the first that fails is taken, so that the risk holds with a
    confidence of 90 %. Rows count by ``weight``; the test uses Kish's effective number of them.
    """
    lower = _last_safe(p, y, weight, LOWER_RISK)
    upper = 1 - _last_safe(1 - p, 1 - y, weight, UPPER_RISK)
    return round(lower, 3), round(max(upper, lower), 3)


def _last_safe(p: Array, wrong: Array, weight: Array, risk: float) -> float:
    """The highest threshold below which the share of ``wrong`` is at most ``risk``, tested from the bottom up."""
    order = np.argsort(p, kind="stable")
    p, wrong, weight = p[order], wrong[order], weight[order]
    total, squares = np.cumsum(weight), np.cumsum(weight**2)
    share, effective = np.cumsum(weight * wrong) / total, total**2 / squares
    safe = float(p[0])
    # Every fifth percentile: the more often is tested, the likelier it is that one unlucky row ends the walk.
    for at in np.unique(np.linspace(0.1, 1, 19) * (len(p) - 1)).astype(int):
        if (1 - risk) ** effective[at] > DOUBT:
            continue  # too few for any outcome to pass, which does not depend on the labels
        rows = int(effective[at])
        if binomial_tail(math.floor(share[at] * rows + 1e-9), rows, risk) > DOUBT:
            break
        safe = float(p[at])
    return safe
