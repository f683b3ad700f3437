"""Rows → what a system did on the whole, and how two compare: means, intervals, tests, what became of each question.

Intervals are bootstraps over questions, tests are paired and randomised, with Holm's correction. All are seeded.
"""

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from selfright.evals.measures import Metric, Sample
from selfright.evals.reading import Question
from selfright.evals.results import (
    Abstention,
    Comparison,
    CurvePoint,
    Difference,
    Estimate,
    Moves,
    Quantiles,
    Row,
    RunResult,
)

T = TypeVar("T")
RIGHT = "right"
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


_SPREAD = ("seconds", "tokens", "llm_calls")
_MOST_POINTS = 200


def measure_row(row: Row, question: Question, flags: Mapping[str, Any], metrics: Sequence[Metric]) -> Row:
    """The row with the values of all metrics. Raises ``ValueError`` for a metric that gives no finite number."""
    if row.turn is None:
        return row
    sample = Sample(question, row.turn, flags)
    found = {metric.name: metric.measure(sample) for metric in metrics}
    for name, value in found.items():
        if value.value is not None and not math.isfinite(value.value):
            raise ValueError(f"a metric gives a finite number or None, but '{name}' gave {value.value!r}")
    return replace(row, metrics=found)


def aggregate(run: RunResult, names: Sequence[str], seed: int) -> RunResult:
    """The run with all that follows from its rows."""
    turns = [row.turn for row in run.rows if row.turn is not None]
    values = {name: [v for row in run.rows if (v := row.value(name)) is not None] for name in names}
    spread = {name: values[name] for name in _SPREAD if values.get(name)}
    return replace(
        run,
        summary={name: estimate(found, seed, f"{name} {run.system}") for name, found in values.items()},
        verdicts=_count(turn.verdict or "none" for turn in turns),
        stop_reasons=_count(turn.stop_reason for turn in turns),
        qualities=_count(turn.judged.answer_quality if turn.judged else "not judged" for turn in turns),
        quantiles={name: Quantiles(*quantiles(found)) for name, found in spread.items()},
        abstention=abstention(run.rows),
    )


def abstention(rows: Sequence[Row]) -> Abstention | None:
    """How well a system knew what it could not answer; None where nothing can be right or wrong."""
    told = [row for row in rows if row.turn and row.value(RIGHT) is not None]
    if not told:
        return None
    turns = [(row.turn, row.value(RIGHT) == 1.0) for row in told if row.turn and not row.turn.abstained]
    answered = [(turn.judged.overall if turn.judged else None, right) for turn, right in turns]
    risk = sum(not right for _, right in answered) / len(answered) if answered else None
    area, curve = _curve(answered, len(told))
    counts = Counter((row.turn.abstained, row.value(RIGHT) == 1.0) for row in told if row.turn)
    return Abstention(
        answered_right=counts[False, True],
        answered_wrong=counts[False, False],
        refused_rightly=counts[True, True],
        refused_wrongly=counts[True, False],
        coverage=len(answered) / len(told),
        risk=risk,
        aurc=area,
        aurc_ratio=area / risk if area is not None and risk else None,
        curve=curve,
    )


def _curve(answered: Sequence[tuple[float | None, bool]], of: int) -> tuple[float | None, tuple[CurvePoint, ...]]:
    from selfright.roles.calibration.measures import aurc, risk_coverage

    sure = [(surety, right) for surety, right in answered if surety is not None]
    if not sure or len(sure) < len(answered):  # without a judge there is no order
        return None, ()
    scores, wrong = [surety for surety, _ in sure], [float(not right) for _, right in sure]
    share, curve = len(answered) / of, risk_coverage(scores, wrong)
    points = [CurvePoint(round(point.coverage * share, 6), round(point.risk, 6)) for point in curve]
    step = math.ceil(len(points) / _MOST_POINTS)
    return aurc(scores, wrong), (*points[:-1:step], points[-1])


def _count(items: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(items).items(), key=lambda item: (-item[1], item[0])))
