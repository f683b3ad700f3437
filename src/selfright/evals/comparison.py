"""What correcting did to each question: right→right, wrong→right, right→wrong, wrong→wrong; and to each metric."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from selfright.evals.intervals import difference, holm
from selfright.evals.results import Comparison, Difference, Moves, Row, RunResult

RIGHT = "right"


def compare(runs: Sequence[RunResult], pairs: Sequence[tuple[str, str]], seed: int) -> tuple[Comparison, ...]:
    """The pairs ``(base, other)`` of systems, each metric's p corrected over all pairs (Holm)."""
    by_name = {run.system: run for run in runs}
    found = [_comparison(by_name[base], by_name[other], seed) for base, other in pairs]
    return _corrected(found)


def ladder(names: Sequence[str]) -> list[tuple[str, str]]:
    """Each system against the first, and against the one before it: what all did, and what the last step did."""
    against_first = [(names[0], name) for name in names[1:]]
    steps = list(pairwise(names[1:]))
    return against_first + steps


def _comparison(base: RunResult, other: RunResult, seed: int) -> Comparison:
    theirs = {row.question_id: row for row in other.rows}
    shared = [(row, theirs[row.question_id]) for row in base.rows if row.question_id in theirs]
    moves, rescued, broken = _moves(shared)
    names = [name for name in base.summary if name in other.summary]
    differences = {name: _difference(name, shared, seed, base.system, other.system) for name in names}
    return Comparison(
        base=base.system,
        other=other.system,
        questions=len(shared),
        moves=moves,
        rescued=rescued,
        broken=broken,
        differences={name: found for name, found in differences.items() if found is not None},
    )


def _moves(shared: Sequence[tuple[Row, Row]]) -> tuple[Moves | None, tuple[str, ...], tuple[str, ...]]:
    told = [(row.question_id, _value(row, RIGHT), _value(other, RIGHT)) for row, other in shared]
    known = [(name, bool(before), bool(after)) for name, before, after in told if None not in (before, after)]
    if not known:
        return None, (), ()
    rescued = tuple(name for name, before, after in known if after and not before)
    broken = tuple(name for name, before, after in known if before and not after)
    kept = sum(before and after for _, before, after in known)
    lost = len(known) - kept - len(rescued) - len(broken)
    return Moves(kept, len(rescued), len(broken), lost, len(told) - len(known)), rescued, broken


def _difference(name: str, shared: Sequence[tuple[Row, Row]], seed: int, base: str, other: str) -> Difference | None:
    pairs = [(before, after) for one, two in shared if (before := _value(one, name)) is not None
             and (after := _value(two, name)) is not None]  # fmt: skip
    return difference([before for before, _ in pairs], [after for _, after in pairs], seed, f"{name} {base} {other}")


def _value(row: Row, name: str) -> float | None:
    found = row.metrics.get(name)
    return found.value if found else None


def _corrected(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    names = {name for one in comparisons for name in one.differences}
    holms: Mapping[str, Mapping[str, float]] = {
        name: holm({_key(one): one.differences[name].p for one in comparisons if name in one.differences})
        for name in names
    }
    return tuple(
        replace(
            one,
            differences={
                name: replace(found, p_holm=holms[name][_key(one)]) for name, found in one.differences.items()
            },
        )
        for one in comparisons
    )


def _key(comparison: Comparison) -> str:
    return f"{comparison.base}\0{comparison.other}"
