"""A study in the terminal: tables on stdout, what became of each question, where the files are, what to do next."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from selfright.evals.results import Abstention, Comparison, Funnel, RunResult, Study
    from selfright.roles.calibration.refit import CalibrationReport, ClaimReport

_FEW_QUESTIONS = 50
_WEAK_AUC = 0.7
_OFF_BY = 0.1
_MOST_OF = 0.75
# Where a gold answer can be lost: in words, and what to do when most are lost there.
_STEPS = {
    "found": (
        "in the ten best hits",
        "search does not find them: look at the documents, the tokenizer or the embedder ('selfright search')",
    ),
    "looked": ("looked at", "they are found too far down: raise top_k or name collections"),
    "strips": ("in the strips", "grading drops them: label some passages and run 'selfright calibrate'"),
    "draft": ("in a draft", "they are at hand but not said: try a model that writes (llm=…)"),
    "final": ("in the final answer", "they are drafted and not kept: look at such a turn with 'selfright trace show'"),
    "right": (
        "said and right",
        "they are said and count as wrong: look at the gold answers, or add patterns",
    ),
}
# Not "raise top_k": it brings more of the other language, too.
_FOREIGN = (
    "they are found too far down, most of them in {language}: ask in the language of the documents, or add some in that"
)


def of_study(study: "Study") -> str:
    """What to do after an evaluation or an ablation."""
    lead = next(iter(study.runs[0].summary)) if study.kind == "retrieval" else "right"
    told = _comparison_line(study, lead)
    loss = "" if study.kind == "retrieval" else _largest_loss(study)
    questions = study.data.questions
    few = f" ({questions} questions are few: the intervals are wide)" if questions < _FEW_QUESTIONS else ""
    return f"advice: {told}{few}{f'; most right answers are lost where {loss}' if loss else ''}"


def of_calibration(report: "CalibrationReport | ClaimReport") -> str:
    """What to do after a calibration."""
    from selfright.roles.calibration.refit import CalibrationReport

    origin = report.calibration.origin
    graded = isinstance(report, CalibrationReport)
    if report.effect.looks_swapped:
        return "advice: look at the labels: 1 is for what helps to answer, or bears the claim out, and 0 for the rest"
    if report.after.auc == report.after.auc and report.after.auc < _WEAK_AUC:  # not where it is no number
        weak = "passages that help from others" if graded else "supported claims from others"
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


def _comparison_line(study: "Study", lead: str) -> str:
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


def _largest_loss(study: "Study") -> str:
    funnels = study.runs[-1].funnels
    lost = {step: [len(funnel.lost.get(step, ())) for funnel in funnels] for step in _STEPS}
    step = max(lost, key=lambda name: sum(lost[name]))
    if not sum(lost[step]):
        return ""
    if len(funnels) < 2 or max(lost[step]) < _MOST_OF * sum(lost[step]):
        return _STEPS[step][1]
    language = funnels[lost[step].index(max(lost[step]))].language
    return _FOREIGN.format(language=language) if step == "looked" else f"{_STEPS[step][1]} (most of them in {language})"


_ANSWERS = (
    "right", "answered", "containment", "f1", "quality", "grounding", "iterations", "llm_calls", "tokens", "seconds",
)  # fmt: skip
_NAMED = (
    "quality", "grounding", "iterations", "llm_calls", "infinite_loop_rate", "retrieval_precision", "retrieval_recall",
    "targeted_retrieval_rate", "second_pass_quality", "retrieval_avoided",
)  # fmt: skip
"""The metrics of S0 §7 and S3 §10, and S2's saving."""

_LONGEST = 40
_MOST_IDS = 12


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
    yield of_study(study)


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
            why = "the budget of calls is spent; run again with a larger --budget-calls, and the rows that are there"
            click.echo(f"selfright: {run.system}: {missing} questions were not asked, for {why} are kept", err=True)
        code = 1 if failed or missing else code
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
        yield f"  {_outcomes(known)}; risk {risk} at coverage {coverage}, AURC {_format(known.aurc)}"
    if times := run.quantiles.get("seconds"):
        yield f"  seconds a turn: median {times.p50:.2f}, 95th percentile {times.p95:.2f}"
    for funnel in run.funnels:
        yield from _funnel(funnel)


def _outcomes(known: "Abstention | Funnel") -> str:
    return (
        f"answered right {known.answered_right}, wrong {known.answered_wrong}; refused rightly "
        f"{known.refused_rightly}, wrongly {known.refused_wrongly}"
    )


def _funnel(one: "Funnel") -> Iterator[str]:
    yield f"  {one.language}: {_outcomes(one)}"
    if not one.asked:
        return
    yield f"    {'with a gold answer':22}{one.asked:>5}"
    for step, (name, _) in _STEPS.items():
        lost = one.lost[step]
        more = f" and {len(lost) - _MOST_IDS} more" if len(lost) > _MOST_IDS else ""
        shown = f"  lost here: {', '.join(lost[:_MOST_IDS])}{more}" if lost else ""
        yield f"    {name:22}{one.kept[step]:>5}{shown}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _format(value: float | None, form: str = ".3f") -> str:
    return "–" if value is None else format(value, form)
