"""Thresholds with a stated risk, good for new rows like those they were found on, however wrong the scores are.

Two promises, both for exchangeable rows and any number of them (derivations in docs/calibration.md):

* ``certified`` (Learn then Test, Angelopoulos et al. 2021): with probability 1 − delta over the rows it was found on,
  at most the share ``risk`` of what scores at least the threshold is wrong.
* ``keeping`` (conformal risk control, Angelopoulos et al. 2022): on average over the rows it was found on, at most the
  share ``risk`` of the positives scores under the threshold.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from selfright.roles.calibration.measures import checked

DELTA = 0.1
_STARTS = 4
_STEPS = 200


def certified(scores: ArrayLike, wrong: ArrayLike, risk: float, delta: float = DELTA) -> float | None:
    """The lowest threshold above which, certified at 1 − ``delta``, at most the share ``risk`` is wrong; None if none.

    Thresholds are tested from the highest down, and the first that is not proven ends the walk (fixed-sequence
    testing), so all of them together err with at most ``delta``. As one unlucky row at the top would end a single walk
    at once, four start at different depths, each with a quarter of ``delta``.
    """
    _check(risk, delta)
    s, w = checked(scores, wrong)
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
    s, y = checked(scores, positive)
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
