"""Fitting to labelled rows: curves from scores to probabilities, weights of opinions, thresholds with a stated risk.

The curve is Platt's sigmoid for few rows, isotonic for many. Its scores are probabilities already (0…1), those of a
judge that has not seen these rows. Both kinds of curve are kept as points to interpolate, so that reading one needs no
more than ``roles.scoring.Curve``. Opinions are weighed by logistic regression that starts from weights it knows: with
few rows the weights stay near those that they had, with many the rows decide.

Thresholds are good for new rows like those they were found on, however wrong the scores are. Two promises, both for
exchangeable rows and any number of them (derivations in docs/calibration.md):

* ``certified`` (Learn then Test, Angelopoulos et al. 2021): with probability 1 − delta over the rows it was found on,
  at most the share ``risk`` of what scores at least the threshold is wrong.
* ``keeping`` (conformal risk control, Angelopoulos et al. 2022): on average over the rows it was found on, at most the
  share ``risk`` of the positives scores under the threshold.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from selfright.roles.calibration.measures import Array, brier, check_arrays
from selfright.roles.scoring import Blend, Curve

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
    s, y = check_arrays(scores, labels)
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
    s, y = check_arrays(scores, labels)
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
    kept = _thin(rows_of)
    # Shrunk to the middle as by one row more of each label: a block of three is no proof of certainty.
    return _curve((sums / rows_of)[kept], ((positives_of + 0.5) / (rows_of + 1))[kept])


def fit_curve(scores: ArrayLike, labels: ArrayLike, groups: Sequence[object]) -> tuple[Curve, str, Array]:
    """The better of the two, by Brier score on groups that the curve has not seen, with its name.

    The third value are those probabilities for unseen groups, one per row: what to judge the curve by. Under 200 rows
    the sigmoid is taken unseen, for steps need rows.
    """
    s, y = check_arrays(scores, labels)
    kinds: dict[str, Fit] = {"platt": platt}
    if len(s) >= _FEWEST_FOR_ISOTONIC:
        kinds["isotonic"] = isotonic
    unseen = {name: _unseen(fit, s, y, groups) for name, fit in kinds.items()}
    best = min(kinds, key=lambda name: brier(unseen[name], y))
    return kinds[best](s, y), best, unseen[best]


def apply_curve(curve: Curve, scores: ArrayLike) -> Array:
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
        found[here] = apply_curve(fit(s[~here], y[~here]), s[here]) if (~here).any() else y.mean()
    return found


def _curve(scores: Array, probabilities: Array) -> Curve:
    rising = np.maximum.accumulate(np.clip(probabilities, _LEAST, _MOST))
    points = [(float(scores[0]), float(rising[0]))]
    for (left, _), (right, value) in pairwise(zip(scores, rising, strict=True)):
        if right > left:
            points.append((float(right), float(value)))
    xs, ys = zip(*points, strict=True)
    return Curve(tuple(xs), tuple(ys))


def _thin(rows: Array) -> list[int]:
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


_SUREST = 10.0
_HOLD = 2.0  # how much the weights known before count, in rows
_MOST_STEPS = 100


def fit_blend(rows: Sequence[Mapping[str, float]], labels: Sequence[int], start: Blend) -> Blend:
    """The blend under which the labels are most probable, held to ``start`` as by a few rows more (MAP, normal prior).

    ``rows`` are opinions by name, log-odds. No opinion may count against itself: a weight that would is 0, positive
    for opinions that raise the probability, negative for ``behind``, which lowers it.
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
    for _ in range(_MOST_STEPS):
        p = 0.5 * (1 + np.tanh(0.5 * np.clip(x @ w, -30, 30)))
        slope = columns.T @ (p - y) + (hold * (w - first))[free]
        curvature = (columns * np.maximum(p * (1 - p), 1e-6)[:, None]).T @ columns + np.diag(hold[free])
        step = np.clip(np.linalg.solve(curvature, slope), -2, 2)
        w[free] -= step
        if np.abs(step).max() < 1e-8:
            break
    return w


DELTA = 0.1
_STARTS = 4
_STEPS = 200


def certify_threshold(scores: ArrayLike, wrong: ArrayLike, risk: float, delta: float = DELTA) -> float | None:
    """The lowest threshold above which, certified at 1 − ``delta``, at most the share ``risk`` is wrong; None if none.

    Thresholds are tested from the highest down, and the first that is not proven ends the walk (fixed-sequence
    testing), so all of them together err with at most ``delta``. As one unlucky row at the top would end a single walk
    at once, four start at different depths, each with a quarter of ``delta``.
    """
    _check(risk, delta)
    s, w = check_arrays(scores, wrong)
    ordered, errors = np.sort(s)[::-1], w[np.argsort(-s, kind="stable")].cumsum()
    least = fewest_to_certify(risk, delta / _STARTS)
    best: float | None = None
    for start in _starts(len(s), least):
        for count in _counts(start, ordered.tolist()):
            if binomial_tail(int(errors[count - 1]), count, risk) > delta / _STARTS:
                break
            best = min(best, float(ordered[count - 1])) if best is not None else float(ordered[count - 1])
    return best


def keeping(scores: ArrayLike, positive: ArrayLike, risk: float) -> float | None:
    """The highest threshold under which, on average, at most the share ``risk`` of the positives falls; None if none.

    With n positives it is the ⌊risk · (n + 1)⌋-th lowest of their scores: a further positive is as likely to take any
    of the n + 1 places among them, so it lies under that one with probability at most ``risk``.
    """
    _check(risk, 0.5)
    s, y = check_arrays(scores, positive)
    of_positives = np.sort(s[y == 1])
    place = math.floor(risk * (len(of_positives) + 1))
    return float(of_positives[place - 1]) if place >= 1 else None


def fewest_to_certify(risk: float, delta: float) -> int:
    """How many rows without an error prove that at most the share ``risk`` is wrong: (1 − risk)ⁿ ≤ delta."""
    return math.ceil(math.log(delta) / math.log1p(-risk))


def binomial_tail(errors: int, rows: int, risk: float) -> float:
    """The chance of at most ``errors`` wrong ones among ``rows`` if each were wrong with probability ``risk``.

    It is a p-value for "more than ``risk`` is wrong". Summed in logarithms, exact for any number of rows.
    """
    if errors >= rows:
        return 1.0
    log_odds = math.log(risk) - math.log1p(-risk)
    log_term = rows * math.log1p(-risk)
    total = math.exp(log_term)
    for k in range(1, errors + 1):
        log_term += math.log((rows - k + 1) / k) + log_odds
        total += math.exp(log_term)
    return min(1.0, total)


def _starts(rows: int, least: int) -> Iterator[int]:
    """Four depths to start at: as few rows as can prove anything, and on to a half of all."""
    if rows >= least:
        deepest = max(least, rows // 2)
        yield from (round(least * (deepest / least) ** (i / (_STARTS - 1))) for i in range(_STARTS))


def _counts(start: int, ordered: list[float]) -> Iterator[int]:
    """Numbers of rows to test, rising from ``start``; only where a threshold falls: after the last of equal scores.

    They depend on the scores alone, never on a label, as the test demands.
    """
    step = max(1, len(ordered) // _STEPS)
    ends = [i + 1 for i, score in enumerate(ordered) if i + 1 == len(ordered) or ordered[i + 1] < score]
    last = 0
    for end in ends:
        if end >= start and (end - last >= step or last == 0 or end == len(ordered)):
            last = end
            yield end


def _check(risk: float, delta: float) -> None:
    if not (0 < risk < 1 and 0 < delta < 1):
        raise ValueError(f"risk and delta must lie between 0 and 1, but are {risk} and {delta}")
