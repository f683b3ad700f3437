"""Caveats for the reader of the figures: what is counted as right, who judged, what is missing."""

from collections.abc import Iterator

from selfright.evals.report.findings import main_metric
from selfright.evals.report.phrases import Phrases
from selfright.evals.results import RunResult, Study


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
