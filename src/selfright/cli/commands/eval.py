"""``selfright eval``: retrieval and answers, measured; and ``selfright ablate``."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfright.cli.commands.options import F, index_option, json_option, set_option, tell, values_of

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright
    from selfright.evals.beir import RetrievalSet
    from selfright.evals.results import Comparison, Kind, RunResult, Study
    from selfright.evals.systems import System

out_option = click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Folder for the report and its data."
)
limit_option = click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Ask at most N questions, chosen by the seed."
)
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
judge_option = click.option(
    "--judge",
    type=click.Choice(["local", "model", "none"]),
    default="local",
    show_default=True,
    help="Judge of all systems' answers: the offline judge, the configured model, or none.",
)
workers_option = click.option(
    "--workers", type=click.IntRange(1, 4), metavar="N", help="Number of processes [default: by the amount of work]."
)
no_texts_option = click.option("--no-texts", is_flag=True, help="Write ids and figures only, no text of the data.")


def asking_options(command: F) -> F:
    """What a command that asks questions takes, in the order of its help."""
    options = (
        index_option, out_option, judge_option, limit_option, seed_option, workers_option,
        no_texts_option, set_option, json_option,
    )  # fmt: skip
    return reduce(lambda made, option: option(made), reversed(options), command)


@click.group(name="eval")
def evaluate() -> None:
    """Measure retrieval on judged queries, and answers on question sets."""


@evaluate.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--split", default="dev", show_default=True, metavar="NAME", help="Which queries of the set.")
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="As nDCG@10, R@100, P@5; may be repeated.")
@index_option
@out_option
@limit_option
@seed_option
@set_option
@json_option
def retrieval(folder: Path, split: str, measures: tuple[str, ...], index: str | None, **options: Any) -> None:
    """Compare words, meaning and their fusions on FOLDER, a set in BEIR's layout.

    Its corpus is indexed once and cached, a few sets at a time; --index uses your own index over the same ids.
    """
    from selfright.cli.progress import bar
    from selfright.evals.beir import load
    from selfright.evals.retrieval import MEASURES, evaluate_retrieval, parse_measures, write_runs

    parse_measures(measures)  # a wrong name, or no library, should be heard of before anything is indexed
    out, seed = options["out"], options["seed"]
    data = load(folder, split).sample(options["limit"], seed)
    with _corpus(data, index, values_of(options["assignments"])) as selfright, bar("Searching") as progress:
        measured = evaluate_retrieval(selfright, data, measures=measures or MEASURES, seed=seed, progress=progress)
    files = [*_write_files(measured.study, out), *write_runs(measured, out)] if out else []
    tell(figures(measured.study, files), lines(measured.study, files), as_json=options["as_json"])


@evaluate.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--preset", "presets", metavar="NAME", multiple=True, help="May be repeated [default: basic, full].")
@asking_options
def answers(presets: tuple[str, ...], **options: Any) -> int:
    """Ask the questions of FILE under each preset; the presets are compared with the first one.

    FILE is JSONL as described in the documentation. With --out, an interrupted run resumes.
    """
    from selfright.evals.systems import of_presets

    return measure_answers("answers", of_presets(presets or ("basic", "full")), **options)


def measure_answers(kind: "Kind", systems: "Sequence[System]", *, file: Path, out: Path | None, **options: Any) -> int:
    """Asks, writes and tells, as the options of both commands say; gives back the exit code."""
    from selfright.cli.progress import bar
    from selfright.evals.reading import load
    from selfright.evals.running import Plan
    from selfright.evals.running import evaluate as run

    data = load(file).sample(options["limit"], options["seed"])
    values = values_of(options["assignments"]) | ({"index": options["index"]} if options["index"] else {})
    plan = Plan(kind, data, systems, values, options["judge"], options["seed"], options["workers"])
    with bar("Asking") as progress:
        study = run(plan, out, progress)
    files = _write_files(study, out, options["no_texts"]) if out else []
    tell(figures(study, files), lines(study, files), as_json=options["as_json"])
    return failures(study)


def _write_files(study: "Study", out: Path, no_texts: bool = False) -> list[Path]:
    from selfright.domain.errors import MissingExtra
    from selfright.evals.writing import redact, write, write_report

    kept = redact(study) if no_texts else study
    files = write(kept, out)
    try:
        return [*files, write_report(kept, out)]
    except MissingExtra as error:  # what was measured is written and told all the same
        click.echo(f"selfright: no report.html: {error}", err=True)
        return files


@contextmanager
def _corpus(data: "RetrievalSet", index: str | None, values: dict[str, Any]) -> "Iterator[Selfright]":
    from selfright.api.selfright import Selfright
    from selfright.cli.progress import bar
    from selfright.evals.beir import corpus_index

    if index:
        with Selfright.open(**values, index=index) as selfright:
            yield selfright
        return
    with bar("Indexing") as progress:
        opened = corpus_index(data.corpus, values, progress)
    with opened as selfright:
        yield selfright


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--profiles", metavar="NAMES", help="Presets, with commas between [default: the six of the ablation].")
@click.option("--grid", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE.toml",
              help="Your own systems, or all combinations of some flags, instead.")  # fmt: skip
@asking_options
def ablate(profiles: str | None, grid: Path | None, **options: Any) -> int:
    """Ask the questions of FILE under each profile, from the baseline up, and compare the steps.

    With --out, every answer is saved at once: run the same command again to resume.
    """
    from selfright.domain.errors import UsageError
    from selfright.evals.systems import PROFILES, from_grid, of_presets

    if profiles and grid:
        raise UsageError("--profiles names presets and --grid a file of systems; give one of them")
    names = [name.strip() for name in (profiles or "").split(",") if name.strip()]
    systems = from_grid(grid) if grid else of_presets(names or PROFILES)
    return measure_answers("ablation", systems, **options)


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
