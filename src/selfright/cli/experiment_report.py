"""A study in the terminal: tables on stdout, what became of each question, and where the files are."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from selfright.evals.results import Comparison, RunResult, Study

_ANSWERS = (
    "right", "answered", "containment", "f1", "quality", "grounding", "iterations", "llm_calls", "tokens", "seconds",
)  # fmt: skip
_NAMED = (
    "quality", "grounding", "iterations", "llm_calls", "infinite_loop_rate", "retrieval_precision", "retrieval_recall",
    "targeted_retrieval_rate", "second_pass_quality", "retrieval_avoided",
)  # fmt: skip
"""The metrics of S0 §7 and S3 §10, and S2's saving."""

_LONGEST = 40


def lines(study: "Study", files: Sequence[Path]) -> Iterator[str]:
    """What was measured, for people."""
    names = list(study.runs[0].summary) if study.kind == "retrieval" else list(_ANSWERS)
    yield _head(study)
    width = min(_LONGEST, max(len(run.system) for run in study.runs))
    yield click.style("\n" + " " * width + "".join(f"{name:>{_column(name)}}" for name in names), bold=True)
    for run in study.runs:
        means = {name: run.mean(name) for name in names}
        cells = (
            f"{_format(mean, '.3f' if (mean or 0) < 100 else '.0f'):>{_column(name)}}" for name, mean in means.items()
        )
        yield f"{run.system[:width]:{width}}" + "".join(cells)
    yield "95 % intervals are in the files" if files else "95 % intervals: with --json, or in files with --out"
    if study.kind == "ablation":
        yield from _improvements(study)
    yield from _comparisons(study)
    if study.kind != "retrieval":
        for run in study.runs:
            yield from _run(run)
    yield from (f"wrote {file}" for file in files)


def failures(study: "Study") -> int:
    """Says on stderr what could not be measured; 1 when anything could not, else 0."""
    code = 0
    for run in study.runs:
        failed = [row for row in run.rows if row.error]
        if failed:
            first = f"'{failed[0].question_id}': {failed[0].error}"
            click.echo(f"selfright: {run.system}: {len(failed)} questions failed, the first of them {first}", err=True)
            code = 1
    return code


def figures(study: "Study", files: Sequence[Path]) -> dict[str, Any]:
    """What ``--json`` says: the study without its rows."""
    import json

    from selfright.evals.results import dump_study

    whole = json.loads(dump_study(study))
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


def _improvements(study: "Study") -> Iterator[str]:
    """Every metric that the papers behind this name, and what each system changes of it against the first one."""
    yield click.style(f"\nby metric, and the change against {study.runs[0].system}", bold=True)
    yield from (f"  [{number}] {run.system}" for number, run in enumerate(study.runs, 1))
    yield f"  {'':24}" + "".join(f"{f'[{number}]':>16}" for number in range(1, len(study.runs) + 1))
    for name in _NAMED:
        base, *means = (run.mean(name) for run in study.runs)
        cells = [_format(base)]
        for mean in means:  # 0.780 (+50 %); without a share where there is nothing to divide by
            share = f" ({(mean - base) / base:+.0%})" if mean is not None and base else ""
            cells.append(f"{_format(mean)}{share}")
        yield f"  {name:24}" + "".join(f"{cell:>16}" for cell in cells)


def _comparisons(study: "Study") -> Iterator[str]:
    lead = next(iter(study.runs[0].summary)) if study.kind == "retrieval" else "right"
    told = [line for comparison in study.comparisons for line in _comparison(comparison, lead)]
    if told:
        yield click.style(f"\ndifferences in {lead} (95 % interval; p after Holm's correction)", bold=True)
        yield from told


def _comparison(one: "Comparison", lead: str) -> Iterator[str]:
    found, moves = one.differences.get(lead), one.moves
    if found is None:
        return
    interval = f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}], p = {found.p_holm:.3f}"
    yield f"  {one.other} − {one.base}: {interval}"
    if moves is not None:
        unknown = f", not known {moves.unknown}" if moves.unknown else ""
        yield (
            f"    right→right {moves.right_right}, wrong→right {moves.wrong_right}, right→wrong {moves.right_wrong}, "
            f"wrong→wrong {moves.wrong_wrong}{unknown}"
        )


def _run(run: "RunResult") -> Iterator[str]:
    yield click.style(f"\n{run.system}", bold=True)
    yield f"  verdicts: {_counts(run.verdicts)}; stopped: {_counts(run.stop_reasons)}"
    if (known := run.abstention) is not None:
        risk, coverage = _format(known.risk, ".0%"), _format(known.coverage, ".0%")
        yield (
            f"  answered right {known.answered_right}, wrong {known.answered_wrong}; refused rightly "
            f"{known.refused_rightly}, wrongly {known.refused_wrongly}; risk {risk} at coverage {coverage}, "
            f"AURC {_format(known.aurc)}"
        )
    if times := run.quantiles.get("seconds"):
        yield f"  seconds a turn: median {times.p50:.2f}, 95th percentile {times.p95:.2f}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _format(value: float | None, form: str = ".3f") -> str:
    return "–" if value is None else format(value, form)
