"""``selfright calibrate``: fits the grader to labelled rows, shows what that does, and stores it."""

import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfright.cli.commands.options import index_option, json_option, opening, set_option, tell

if TYPE_CHECKING:
    from selfright.api.selfright import Selfright
    from selfright.roles.calibration.measures import Point
    from selfright.roles.calibration.refit import CalibrationReport, Opinions

_PATH = click.Path(path_type=Path)
_COVERAGES = tuple(i / 10 for i in range(1, 11))
_FIGURES = (("AUC", "auc"), ("Brier", "brier"), ("ECE (equal mass)", "ece_mass"), ("ECE (equal width)", "ece_width"))


@click.command()
@click.argument("labelled", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="LABELLED.jsonl")
@opening(
    index_option,
    click.option(
        "--out", type=_PATH, metavar="DIR", help="Folder for the figures (JSON) and plots (SVG; extra 'eval')."
    ),
    click.option(
        "--risk",
        type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
        default=0.1,
        show_default=True,
        help="Allowed share of wrong sets among those called correct, and of helpful sets lost.",
    ),
    click.option("--yes", is_flag=True, help="Store it even if judging gets worse, without asking."),
    set_option,
)
@json_option
def calibrate(selfright: "Selfright", labelled: Path, out: Path | None, risk: float, yes: bool, as_json: bool) -> None:
    """Fit grading to your documents, from rows {"question", "passage", "label": 0|1}.

    A custom judge (setting passage_judge) is weighted against the built-in signals. The result is stored in the index
    and used from then on, also by a running service. If a figure gets worse on rows left out of the fit, the labels
    look swapped, or every question would get the same verdict, it is stored only after a question. Label the passages
    that a search returns, several for each question, so that the figures reflect real use.
    """
    from selfright.cli.progress import bar
    from selfright.domain.errors import InputError, MissingExtra
    from selfright.roles.calibration.refit import harms

    if out is not None:
        MissingExtra.check("what plots need", "eval", "matplotlib")
    with bar("Grading") as progress:
        report, path = selfright.calibrate(labelled, risk=risk, progress=progress, accept=yes or _confirm)
    figures = _figures(report)
    files = _write_files(out, report, figures) if out else []
    stored = {"stored": str(path) if path else None, "harms": harms(report)}
    form = {**figures, **stored, "files": [str(file) for file in files]}
    told = [f"stored in {path}" if path else "not stored", *(f"wrote {file}" for file in files)]
    tell(form, [*_lines(report), *told], as_json=as_json)
    if path is None:
        raise InputError(
            f"the calibration would make judging worse: {'; '.join(harms(report))}; look at the labels and add rows, "
            "or store it all the same with --yes"
        )


def _confirm(found: Sequence[str]) -> bool:
    """On a terminal the user decides; elsewhere nobody is there to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    for sentence in found:
        click.echo(sentence, err=True)
    return click.confirm("store it all the same?", default=False, err=True)


def _lines(report: "CalibrationReport") -> Iterator[str]:
    origin = report.calibration.origin
    yield f"{origin.rows:,} passages of {origin.questions:,} questions; curve: {report.method}"
    if report.opinions:
        yield from _judge_lines(report.opinions)
    yield click.style(f"{'':18} {'before':>8} {'after':>8}", bold=True)
    for name, field in _FIGURES:
        yield f"{name:18} {getattr(report.before, field):8.3f} {getattr(report.after, field):8.3f}"
    yield "'after' is measured on questions that the curve had not seen"
    yield from _set_lines(report)


def _judge_lines(found: "Opinions") -> Iterator[str]:
    yield (
        f"your judge read {found.rows:,} of the rows below: AUC of the signals {found.without:.3f}, "
        f"of the judge {found.judge:.3f}, of both {found.together:.3f}"
    )
    if found.weighed_on:
        yield f"they were weighed against each other on {found.weighed_on:,} others, which count no further"
    else:
        yield "too few rows to weigh them against each other: each counts half"


def _set_lines(report: "CalibrationReport") -> Iterator[str]:
    found = report.calibration
    yield click.style("\nanswering only the surest questions, by the grader's sufficiency", bold=True)
    for point in _sample(report):
        yield f"  {point.coverage:4.0%} answered: {point.risk:4.0%} without a passage that helps"
    yield f"  area under the curve: {report.aurc:.3f}"
    if not report.thresholds_fitted:
        yield "\nthresholds stay: they need 5 questions with a passage that helps, and 5 without one"
        return
    proof = "certified at 90 %" if found.certified else "by the curve: too few rows for a proof"
    yield f"\nthresholds for a risk of {found.origin.risk:.0%}: {found.lower:.3f}, {found.upper:.3f} ({proof})"
    for shares in report.verdicts:
        helping = "" if math.isnan(shares.help) else f", of which {shares.help:.0%} have a passage that helps"
        yield f"  {shares.verdict:<10} {shares.share:5.0%} of the questions{helping}"


def _figures(report: "CalibrationReport") -> dict[str, Any]:
    """What ``--json`` says. JSON knows no NaN: a figure that the rows do not yield is null."""
    from pydantic import TypeAdapter

    found: dict[str, Any] = {
        "passages": {"before": report.before, "after": report.after},
        "method": report.method,
        "reliability": {"before": report.reliability_before, "after": report.reliability_after},
        "calibration": report.calibration.as_json(),
        "sets": {"before": report.sets_before, "after": report.sets_after},
        "risk_coverage": {"aurc": report.aurc, "points": _sample(report)},
        "verdicts": report.verdicts,
        "thresholds_fitted": report.thresholds_fitted,
    }
    if report.opinions:
        found["judge"] = report.opinions
    plain: dict[str, Any] = json.loads(TypeAdapter(dict[str, Any]).dump_json(found))
    return plain


def _sample(report: "CalibrationReport") -> list["Point"]:
    """The points of the curve at or just above each tenth of the questions, each once."""
    points = [next(p for p in report.curve if p.coverage >= share - 1e-9) for share in _COVERAGES]
    return list(dict.fromkeys(points))


def _write_files(out: Path, report: "CalibrationReport", figures: dict[str, Any]) -> list[Path]:
    from selfright.evals.report.charts import line_plot

    tables = {"before": report.reliability_before, "after": report.reliability_after}
    risk = report.calibration.origin.risk
    contents = {
        "calibration.json": json.dumps(figures, indent=1) + "\n",
        "reliability.svg": line_plot(
            "Reliability: what was said and what came true",
            "probability given to a passage",
            "share that really helps",
            {name: [(bin_.said, bin_.came_true) for bin_ in table] for name, table in tables.items()},
            guide=((0, 0), (1, 1)),
        ),
        "risk-coverage.svg": line_plot(
            "Risk and coverage",
            "share of questions answered",
            "share of them without help",
            {"risk of what is answered": [(point.coverage, point.risk) for point in report.curve]},
            guide=((0, risk), (1, risk)),
            marks="-",
        ),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (out / name).write_text(content, encoding="utf-8")
    return [out / name for name in contents]
