"""How sure a mean is: bootstrap intervals over questions, paired randomisation tests, Holm's correction. All seeded.

And how two systems compare: what became of each question (right→right, wrong→right, …) and of each metric.
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from selfright.evals.results import Comparison, Difference, Estimate, Moves, Row, RunResult

T = TypeVar("T")
SAMPLES = 2_000
LEVEL = 0.95
_AT_ONCE = 4_000_000  # cells of a table of draws


def estimate(values: Sequence[float], seed: int, name: str) -> Estimate:
    """The mean with its percentile bootstrap interval (Efron 1979), 2,000 draws; ``name`` parts the random streams."""
    if not values:
        return Estimate(None, None, None, 0)
    low, high = _interval(np.asarray(values, dtype=float), _generator(seed, name))
    return Estimate(_mean(values), low, high, len(values))


def difference(base: Sequence[float], other: Sequence[float], seed: int, name: str) -> Difference | None:
    """The mean of ``other − base`` over pairs; ``p_holm`` is still ``p``. None without pairs.

    ``p`` is two-sided, of a randomisation test that flips the sign of each difference at random (Fisher; Smucker et al.
    2007), ``(1 + as extreme) / (1 + draws)``.
    """
    if not base:
        return None
    gain = np.asarray(other, dtype=float) - np.asarray(base, dtype=float)
    generator = _generator(seed, name)
    low, high = _interval(gain, generator)
    p = _flip_test(gain, generator)
    return Difference(_mean(gain.tolist()), low, high, len(gain), p, p)


def holm(p_values: Mapping[T, float]) -> dict[T, float]:
    """Holm's (1979) correction of a family of tests: by name, never under the p it came from, at most 1."""
    corrected: dict[T, float] = {}
    highest = 0.0
    for place, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p))
        corrected[name] = highest
    return corrected


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _interval(values: "NDArray[np.float64]", generator: np.random.Generator) -> tuple[float, float]:
    step = max(1, _AT_ONCE // len(values))
    means = [
        values[generator.integers(0, len(values), (min(step, SAMPLES - done), len(values)))].mean(axis=1)
        for done in range(0, SAMPLES, step)
    ]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(np.concatenate(means), (tail, 1 - tail))
    return float(low), float(high)


def _flip_test(gain: "NDArray[np.float64]", generator: np.random.Generator) -> float:
    moved = gain[gain != 0]  # a difference of nothing has no sign
    if not len(moved):
        return 1.0
    step = max(1, _AT_ONCE // len(moved))
    seen, extreme = abs(moved.sum()), 0
    for done in range(0, SAMPLES, step):
        signs = generator.integers(0, 2, (min(step, SAMPLES - done), len(moved))) * 2 - 1
        extreme += int((np.abs(signs @ moved) >= seen - 1e-12).sum())
    return (1 + extreme) / (1 + SAMPLES)


def _generator(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def quantiles(values: ArrayLike) -> tuple[float, float, float]:
    """The median, the 95th percentile and the largest of some values."""
    p50, p95, most = np.quantile(np.asarray(values, dtype=float), (0.5, 0.95, 1.0))
    return float(p50), float(p95), float(most)


RIGHT = "right"


def compare(runs: Sequence[RunResult], pairs: Sequence[tuple[str, str]], seed: int) -> tuple[Comparison, ...]:
    """The pairs ``(base, other)`` of systems, each metric's p corrected over all pairs (Holm)."""
    by_name = {run.system: run for run in runs}
    found = [_comparison(by_name[base], by_name[other], seed) for base, other in pairs]
    corrected: list[dict[str, Difference]] = [{} for _ in found]
    for name in {name for one in found for name in one.differences}:
        tested = {place: one.differences[name] for place, one in enumerate(found) if name in one.differences}
        for place, p in holm({place: difference.p for place, difference in tested.items()}).items():
            corrected[place][name] = replace(tested[place], p_holm=p)
    return tuple(
        replace(one, differences={name: better[name] for name in one.differences})
        for one, better in zip(found, corrected, strict=True)
    )


def ladder(names: Sequence[str]) -> list[tuple[str, str]]:
    """Each system against the first, and against the one before it: what all did, and what the last step did."""
    return [*((names[0], name) for name in names[1:]), *pairwise(names[1:])]


def _comparison(base: RunResult, other: RunResult, seed: int) -> Comparison:
    theirs = {row.question_id: row for row in other.rows}
    shared = [(row, theirs[row.question_id]) for row in base.rows if row.question_id in theirs]
    moves, rescued, broken = _moves(shared)
    names = [name for name in base.summary if name in other.summary]
    differences = {name: _difference(name, shared, seed, base.system, other.system) for name in names}
    known = {name: found for name, found in differences.items() if found is not None}
    return Comparison(base.system, other.system, len(shared), moves, rescued, broken, known)


def _moves(shared: Sequence[tuple[Row, Row]]) -> tuple[Moves | None, tuple[str, ...], tuple[str, ...]]:
    told = [(row.question_id, row.value(RIGHT), other.value(RIGHT)) for row, other in shared]
    known = [(name, bool(before), bool(after)) for name, before, after in told if None not in (before, after)]
    if not known:
        return None, (), ()
    rescued = tuple(name for name, before, after in known if after and not before)
    broken = tuple(name for name, before, after in known if before and not after)
    kept = sum(before and after for _, before, after in known)
    lost = len(known) - kept - len(rescued) - len(broken)
    return Moves(kept, len(rescued), len(broken), lost, len(told) - len(known)), rescued, broken


def _difference(name: str, shared: Sequence[tuple[Row, Row]], seed: int, base: str, other: str) -> Difference | None:
    pairs = [(before, after) for one, two in shared if (before := one.value(name)) is not None
             and (after := two.value(name)) is not None]  # fmt: skip
    return difference([before for before, _ in pairs], [after for _, after in pairs], seed, f"{name} {base} {other}")
