"""Rows → what plots show: scores by pass, calibration, cost, flows, times. Numbers only, nothing drawn."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selfright.evals.results import Row, RunResult, Turn

MOST_PASSES = 4


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of nearly the same score: their mean score, the share that is right with its interval, how many."""

    said: float
    right: float
    low: float
    high: float
    n: int


def by_pass(run: RunResult) -> list[tuple[float, int]]:
    """For each pass the mean score after it, and how many turns made that pass; over turns of two passes or more.

    A turn that has ended keeps its last score, so that every mean is over the same questions.
    """
    scores = [found for row in run.rows if row.turn and len(found := _scores(row.turn)) > 1]
    longest = max((len(found) for found in scores), default=0)
    return [
        (
            math.fsum(found[min(number, len(found) - 1)] for found in scores) / len(scores),
            sum(len(found) > number for found in scores),
        )
        for number in range(longest)
    ]


def reliability(run: RunResult) -> list[Bin]:
    """Answers by the judge's score in at most ten bins of equal width. Refusals have no score to mean anything."""
    from selfright.roles.calibration.measures import reliability as binned

    said, right = _judged(run)
    return [
        Bin(each.said, each.came_true, *wilson(each.came_true, each.rows), each.rows) for each in binned(said, right)
    ]


def calibration_error(run: RunResult) -> float | None:
    """The expected calibration error over the same bins; None without answers that were judged."""
    from selfright.roles.calibration.measures import calibration_error as error

    said, right = _judged(run)
    return error(said, right, "width") if said else None


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share of ``n`` (Wilson 1927)."""
    if not n:
        return 0.0, 1.0
    z = 1.959964
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, (middle - reach) / (1 + z * z / n)), min(1.0, (middle + reach) / (1 + z * z / n))


def front(spots: Sequence[tuple[float, float]]) -> list[int]:
    """The places of the spots that no other one beats in both, cost (less) and quality (more), by rising cost."""
    order = sorted(range(len(spots)), key=lambda place: (spots[place][0], -spots[place][1]))
    kept: list[int] = []
    for place in order:
        if not kept or spots[place][1] > spots[kept[-1]][1]:
            kept.append(place)
    return kept


def passes_shown(runs: Sequence[RunResult]) -> int:
    """How many passes a flow has room for: as many as there were, at most four."""
    return min(MOST_PASSES, max((len(row.turn.passes) for run in runs for row in run.rows if row.turn), default=1) or 1)


def cut_passes(run: RunResult) -> bool:
    """Whether turns made more passes than a flow shows."""
    return any(row.turn and len(row.turn.passes) > MOST_PASSES for row in run.rows)


def flows(run: RunResult, passes: int) -> dict[tuple[str | None, ...], int]:
    """How many turns took each way: verdict by pass (None once it has ended), stop reason, outcome."""
    return dict(Counter(_way(row, passes) for row in run.rows if row.turn))


def outcome_of(row: Row) -> str:
    """What came of a question, as far as anybody can tell."""
    right = row.value("right")
    refused = row.turn is not None and row.turn.abstained
    if right is None:
        return "refused" if refused else "answered"
    if refused:
        return "rightly refused" if right else "wrongly refused"
    return "right" if right else "wrong"


def times(run: RunResult) -> list[float]:
    """Quantiles of the seconds of the turns: 5, 25, 50, 75, 95, 100 %; empty without turns."""
    found = [row.turn.seconds for row in run.rows if row.turn]
    return [float(one) for one in np.quantile(found, (0.05, 0.25, 0.5, 0.75, 0.95, 1.0))] if found else []


def _scores(turn: Turn) -> list[float]:
    """The scores of a turn's passes; a pass that was not judged keeps the score before it."""
    found: list[float] = []
    for one in turn.passes:
        if one.overall is not None:
            found.append(one.overall)
        elif found:
            found.append(found[-1])
    return found


def _judged(run: RunResult) -> tuple[list[float], list[float]]:
    pairs = [
        (row.turn.judged.overall, right)
        for row in run.rows
        if row.turn and row.turn.judged and not row.turn.abstained and (right := row.value("right")) is not None
    ]
    return [said for said, _ in pairs], [right for _, right in pairs]


def _way(row: Row, passes: int) -> tuple[str | None, ...]:
    assert row.turn is not None
    verdicts: list[str | None] = [one.verdict or "none" for one in row.turn.passes] or ["none"]
    if len(verdicts) > passes:
        verdicts = [*verdicts[: passes - 1], verdicts[-1]]
    verdicts += [None] * (passes - len(verdicts))
    return (*verdicts, row.turn.stop_reason, outcome_of(row))
