"""A study in the terminal: tables on stdout, what became of each question, and where the files are."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfright.entrypoints.advice import of_study

if TYPE_CHECKING:
    from selfright.evals.results import Comparison, Funnel, RunResult, Study

_ANSWERS = (
    "right", "answered", "containment", "f1", "quality", "grounding", "iterations", "llm_calls", "tokens", "seconds",
)  # fmt: skip
_NAMED = (
    "quality", "grounding", "iterations", "llm_calls", "infinite_loop_rate", "retrieval_precision", "retrieval_recall",
    "targeted_retrieval_rate", "second_pass_quality", "retrieval_avoided",
)  # fmt: skip
"""The metrics of S0 §7 and S3 §10, and S2's saving."""

_LONGEST = 40
_STEPS = {
    "found": "in the ten best hits",
    "looked": "looked at",
    "strips": "in the strips",
    "draft": "in a draft",
    "final": "in the final answer",
    "right": "said and right",
}
_MOST_IDS = 12


def tell(study: "Study", files: Sequence[Path]) -> None:
    """What was measured, for people."""
    names = list(study.runs[0].summary) if study.kind == "retrieval" else list(_ANSWERS)
    click.echo(_head(study))
    width = min(_LONGEST, max(len(run.system) for run in study.runs))
    click.secho("\n" + " " * width + "".join(f"{name:>{_column(name)}}" for name in names), bold=True)
    for run in study.runs:
        click.echo(f"{run.system[:width]:{width}}" + "".join(_cell(run, name) for name in names))
    click.echo("95 % intervals are in the files" if files else "95 % intervals: with --json, or in files with --out")
    if study.kind == "ablation":
        _tell_improvements(study)
    _tell_comparisons(study)
    if study.kind != "retrieval":
        _tell_runs(study)
    for file in files:
        click.echo(f"wrote {file}")
    click.echo(of_study(study))


def failures(study: "Study") -> int:
    """Says on stderr what could not be measured; 1 when anything could not, else 0."""
    code = 0
    for run in study.runs:
        failed = [row for row in run.rows if row.error]
        if failed:
            first = f"'{failed[0].question_id}': {failed[0].error}"
            click.echo(f"selfright: {run.system}: {len(failed)} questions failed, the first of them {first}", err=True)
        missing = study.data.questions - len(run.rows)
        if missing:
            click.echo(
                f"selfright: {run.system}: {missing} questions were not asked, for the budget of calls is spent; "
                "run again with a larger --budget-calls, and the rows that are there are kept",
                err=True,
            )
        code = 1 if failed or missing else code
    return code


def figures(study: "Study", files: Sequence[Path]) -> dict[str, Any]:
    """What ``--json`` says: the study without its rows."""
    import json

    from selfright.evals.results import dumped

    whole = json.loads(dumped(study))
    runs = [{**run, "rows": len(run["rows"])} for run in whole["runs"]]
    return {**whole, "runs": runs, "files": [str(file) for file in files]}


def _head(study: "Study") -> str:
    data, index = study.data, study.index
    part = "" if data.questions == data.of else f" of {data.of:,}"
    judge = "" if study.judge == "none" else f"; judge: {study.judge}"
    return (
        f"{data.name} ({data.format}): {data.questions:,}{part} questions; index: {index.documents:,} documents, "
        f"{index.passages:,} passages, embedder {index.embedder}{judge}; seed {study.seed}"
    )


def _column(name: str) -> int:
    return max(9, len(name) + 2)


def _cell(run: "RunResult", name: str) -> str:
    found = run.summary.get(name)
    shown = (
        "–" if found is None or found.mean is None else f"{found.mean:.3f}" if found.mean < 100 else f"{found.mean:.0f}"
    )
    return f"{shown:>{_column(name)}}"


def _tell_improvements(study: "Study") -> None:
    """Every metric that the papers behind this name, and what each system changes of it against the first one."""
    click.secho(f"\nby metric, and the change against {study.runs[0].system}", bold=True)
    for number, run in enumerate(study.runs, 1):
        click.echo(f"  [{number}] {run.system}")
    click.echo(f"  {'':24}" + "".join(f"{f'[{number}]':>16}" for number in range(1, len(study.runs) + 1)))
    for name in _NAMED:
        means = [found.mean if (found := run.summary.get(name)) else None for run in study.runs]
        cells = [_changed(mean, means[0]) if n else _plain(mean) for n, mean in enumerate(means)]
        click.echo(f"  {name:24}" + "".join(f"{cell:>16}" for cell in cells))


def _changed(mean: float | None, base: float | None) -> str:
    """``0.780 (+50 %)``; without a share where there is nothing to divide by."""
    if mean is None or not base:
        return _plain(mean)
    return f"{mean:.3f} ({(mean - base) / base:+.0%})"


def _plain(mean: float | None) -> str:
    return "–" if mean is None else f"{mean:.3f}"


def _tell_comparisons(study: "Study") -> None:
    lead = next(iter(study.runs[0].summary)) if study.kind == "retrieval" else "right"
    told = [line for comparison in study.comparisons for line in _comparison(comparison, lead)]
    if told:
        click.secho(f"\ndifferences in {lead} (95 % interval; p after Holm's correction)", bold=True)
        for line in told:
            click.echo(line)


def _comparison(one: "Comparison", lead: str) -> list[str]:
    found = one.differences.get(lead)
    if found is None:
        return []
    line = (
        f"  {one.other} − {one.base}: {found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}], p = {found.p_holm:.3f}"
    )
    moves = one.moves
    if moves is None:
        return [line]
    return [
        line,
        f"    right→right {moves.right_right}, wrong→right {moves.wrong_right}, right→wrong {moves.right_wrong}, "
        f"wrong→wrong {moves.wrong_wrong}" + (f", not known {moves.unknown}" if moves.unknown else ""),
    ]


def _tell_runs(study: "Study") -> None:
    for run in study.runs:
        click.secho(f"\n{run.system}", bold=True)
        click.echo(f"  verdicts: {_counts(run.verdicts)}; stopped: {_counts(run.stop_reasons)}")
        known = run.abstention
        if known is not None:
            click.echo(
                f"  answered right {known.answered_right}, wrong {known.answered_wrong}; refused rightly "
                f"{known.refused_rightly}, wrongly {known.refused_wrongly}; risk {_share(known.risk)} at coverage "
                f"{_share(known.coverage)}, AURC {_number(known.aurc)}"
            )
        if times := run.quantiles.get("seconds"):
            click.echo(f"  seconds a turn: median {times.p50:.2f}, 95th percentile {times.p95:.2f}")
        for funnel in run.funnels:
            _tell_funnel(funnel)


def _tell_funnel(one: "Funnel") -> None:
    click.echo(
        f"  {one.language}: answered right {one.answered_right}, wrong {one.answered_wrong}; refused rightly "
        f"{one.refused_rightly}, wrongly {one.refused_wrongly}"
    )
    if not one.asked:
        return
    click.echo(f"    {'with a gold answer':22}{one.asked:>5}")
    for step, name in _STEPS.items():
        lost = one.lost[step]
        more = f" and {len(lost) - _MOST_IDS} more" if len(lost) > _MOST_IDS else ""
        shown = f"  lost here: {', '.join(lost[:_MOST_IDS])}{more}" if lost else ""
        click.echo(f"    {name:22}{one.kept[step]:>5}{shown}")


def _counts(counts: "Any") -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
