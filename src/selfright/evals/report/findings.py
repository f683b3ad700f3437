"""What may be said of a difference: the rules by which the report calls something better, worse or not told.

A difference counts only when its 95 % interval leaves out zero *and* its p, corrected for all comparisons of the study,
is under 0.05. With fewer than 20 questions nothing is concluded, whatever the interval says.

Caveats tell what is counted as right, who judged, what is missing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from selfright.evals.measures.standard import BETTER
from selfright.evals.report.phrases import Phrases
from selfright.evals.results import Comparison, Difference, Row, RunResult, Study

FEW = 20
LEVEL = 0.05
_NEUTRAL = ("answered",)  # more answers are good where they are right, and bad where nothing can be known


class Outcome(StrEnum):
    """What a difference amounts to."""

    BETTER = "better"
    WORSE = "worse"
    DIFFERENT = "different"
    HINT = "hint"
    CHANCE = "chance"
    SAME = "same"
    FEW = "few"


@dataclass(frozen=True)
class Pair:
    """A comparison with the two systems and the rows that both have."""

    comparison: Comparison
    base: RunResult
    other: RunResult

    @cached_property
    def rows(self) -> Mapping[str, tuple[Row, Row]]:
        """Rows of both by question."""
        theirs = {row.question_id: row for row in self.other.rows}
        return {row.question_id: (row, theirs[row.question_id]) for row in self.base.rows if row.question_id in theirs}

    def by_refusing(self, names: Iterable[str]) -> int:
        """Of these questions, those that ``other`` refused to answer."""
        rows = (self.rows[name][1] for name in names if name in self.rows)
        return sum(row.turn is not None and row.turn.abstained for row in rows)


def outcome(metric: str, found: Difference) -> Outcome:
    """What the difference amounts to; ``better`` knows of each metric whether more of it is good."""
    if found.n < FEW:
        return Outcome.FEW
    if found.mean == found.low == found.high == 0:
        return Outcome.SAME
    if found.low <= 0 <= found.high:
        return Outcome.CHANCE
    if found.p_holm >= LEVEL:
        return Outcome.HINT
    good = more_is_better(metric)
    if good is None:
        return Outcome.DIFFERENT
    return Outcome.BETTER if (found.mean > 0) == good else Outcome.WORSE


def more_is_better(metric: str) -> bool | None:
    """Whether more of a metric is better; None where that depends, or nobody said."""
    if metric in _NEUTRAL:
        return None
    if metric in BETTER:
        return BETTER[metric]
    return True if _of_retrieval(metric) else None


def main_metric(study: Study) -> str:
    """What systems are told apart by: ``right`` where gold answers exist, else ``quality``; of rankings, the first."""
    if study.kind != "retrieval":
        for name in ("right", "quality"):
            if any(found.n for run in study.runs if (found := run.summary.get(name))):
                return name
    return next((name for run in study.runs for name in run.summary), "right")


def pairs(study: Study) -> Sequence[Pair]:
    """The comparisons whose systems the study holds."""
    runs = {run.system: run for run in study.runs}
    return [
        Pair(one, runs[one.base], runs[one.other])
        for one in study.comparisons
        if one.base in runs and one.other in runs
    ]


def against_first(study: Study) -> Sequence[Pair]:
    """Each system against the first one."""
    return [pair for pair in pairs(study) if pair.comparison.base == study.runs[0].system]


def with_last(study: Study) -> Sequence[Pair]:
    """The last system against each other one."""
    return [pair for pair in pairs(study) if pair.comparison.other == study.runs[-1].system]


def steps(study: Study) -> Sequence[Pair]:
    """Each system against the one before it, the second against the first among them; none for two systems."""
    order = {run.system: place for place, run in enumerate(study.runs)}
    found = [pair for pair in pairs(study) if order[pair.comparison.other] - order[pair.comparison.base] == 1]
    return found if len(found) > 1 else []


def headline(study: Study) -> Pair | None:
    """The comparison that the report is about: the last system against the first."""
    return next((pair for pair in against_first(study) if pair.comparison.other == study.runs[-1].system), None)


def _of_retrieval(metric: str) -> bool:
    return metric.split("@", maxsplit=1)[0] in ("nDCG", "R", "P", "RR", "AP", "Success", "Judged", "MRR", "MAP")


def caveats_of(study: Study, phrases: Phrases) -> Iterator[str]:
    """One sentence each, the most important first."""
    if study.kind != "retrieval":
        yield from _of_judging(study, phrases)
    if study.data.questions < study.data.of:
        yield phrases("mind_sample", questions=f"{study.data.questions:,}", of=f"{study.data.of:,}")
    for run in study.runs:
        yield from _of_run(study, run, phrases)
    if len(study.comparisons) > 1:
        yield phrases("mind_many", count=len(study.comparisons))
    if study.kind != "retrieval":
        yield phrases("mind_seconds")
    if not has_text(study):
        yield phrases("mind_redacted")


def has_text(study: Study) -> bool:
    """Whether the study holds the words of its data."""
    return any(row.question for run in study.runs for row in run.rows)


def _of_judging(study: Study, phrases: Phrases) -> Iterator[str]:
    if main_metric(study) == "right":
        yield phrases("mind_right")
        unknown = max((one.moves.unknown for one in study.comparisons if one.moves), default=0)
        if unknown:
            yield phrases("mind_unknown", unknown=unknown)
    else:
        yield phrases("mind_no_gold")
    if study.judge in ("local", "model"):
        yield phrases(f"mind_judge_{study.judge}")


def _of_run(study: Study, run: RunResult, phrases: Phrases) -> Iterator[str]:
    failed = sum(row.error is not None for row in run.rows)
    if failed:
        yield phrases("mind_failed", system=run.system, failed=failed)
    missing = study.data.questions - len(run.rows)
    if missing > 0:
        yield phrases("mind_missing", system=run.system, missing=missing)
    degraded = sum(row.turn is not None and row.turn.degraded for row in run.rows)
    if degraded:
        yield phrases("mind_degraded", system=run.system, degraded=degraded)
