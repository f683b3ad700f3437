"""A study in the terminal: tables on stdout, what became of each question, where the files are, what to do next."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from selfright.evals.results import Comparison, Funnel, RunResult, Study
    from selfright.roles.calibration.refit import CalibrationReport, ClaimReport

_FEW_QUESTIONS = 50
_WEAK_AUC = 0.7
_OFF_BY = 0.1
_REMEDIES = {
    "found": "search does not find them: look at the documents, the tokenizer or the embedder ('selfright search')",
    "looked": "they are found too far down: raise top_k, or name collections",
    "strips": "grading drops them: label some passages and run 'selfright calibrate'",
    "draft": "they are at hand but not said: try a model that writes (llm=…)",
    "final": "they are drafted and not kept: look at such a turn with 'selfright trace show'",
    "right": "they are said and count as wrong: look at the gold answers, or add patterns",
}


def of_study(study: "Study") -> str:
    """What to do after an evaluation or an ablation."""
    lead = next(iter(study.runs[0].summary)) if study.kind == "retrieval" else "right"
    told = _compared(study, lead)
    loss = "" if study.kind == "retrieval" else _largest_loss(study)
    few = f" ({study.data.questions} questions are few: the intervals are wide)" if _is_small(study) else ""
    return f"advice: {told}{few}{f'; most right answers are lost where {loss}' if loss else ''}"


def of_calibration(report: "CalibrationReport | ClaimReport") -> str:
    """What to do after a calibration."""
    from selfright.roles.calibration.refit import CalibrationReport

    origin = report.calibration.origin
    graded = isinstance(report, CalibrationReport)
    if report.after.auc == report.after.auc and report.after.auc < _WEAK_AUC:  # not where it is no number
        weak = "passages that help from others" if graded else "claims that are borne out from others"
        setting = "passage_judge" if graded else "claim_judge"
        return f"advice: the judge hardly tells {weak} (AUC under {_WEAK_AUC}): try one of your own ({setting}=…)"
    if origin.questions < _FEW_QUESTIONS:
        kind = "questions" if graded else "claims"
        return f"advice: {origin.questions} {kind} are few; label {_FEW_QUESTIONS} or more and calibrate again"
    if report.after.ece_mass > _OFF_BY:
        return "advice: probabilities are still off by more than 0.1; label passages as a search of yours brings them"
    if isinstance(report, CalibrationReport) and not report.calibration.certified:
        return "advice: this fits, but the risk is not proved; add rows, and see 'selfright eval answers'"
    return "advice: this fits; see what it changes in answers with 'selfright eval answers'"


def _compared(study: "Study", lead: str) -> str:
    known = [(one, one.differences[lead]) for one in study.comparisons if lead in one.differences]
    better = [one for one, found in known if found.low > 0]
    worse = [one for one, found in known if found.high < 0]
    if better:
        best: Comparison = max(better, key=lambda one: one.differences[lead].mean)
        return f"use '{best.other}': it is better than '{best.base}' here beyond chance"
    if known and len(worse) == len(known):
        return f"use '{known[0][0].base}': nothing else is as good here, beyond chance"
    if known:
        return f"no difference from '{known[0][0].base}' is beyond chance; take the cheaper one or ask more questions"
    return "compare two presets or more ('--preset basic --preset full') to see what correcting changes"


def _is_small(study: "Study") -> bool:
    return study.data.questions < _FEW_QUESTIONS


def _largest_loss(study: "Study") -> str:
    lost = dict.fromkeys(_REMEDIES, 0)
    for funnel in study.runs[-1].funnels:
        for name, ids in funnel.lost.items():
            lost[name] = lost.get(name, 0) + len(ids)
    name = max(lost, key=lambda step: lost[step])
    return _REMEDIES.get(name, "") if lost[name] else ""


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
