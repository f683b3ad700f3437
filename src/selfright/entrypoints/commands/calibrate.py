"""``selfright calibrate``."""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfright.entrypoints.commands.options import (
    index_option,
    json_option,
    print_json,
    set_option,
    values_of,
)
from selfright.entrypoints.studies import of_calibration

if TYPE_CHECKING:
    from selfright.roles.calibration.refit import CalibrationReport, ClaimReport, Opinions

_PATH = click.Path(path_type=Path)
_COVERAGES = tuple(i / 10 for i in range(1, 11))
_FIGURES = (("AUC", "auc"), ("Brier", "brier"), ("ECE (equal mass)", "ece_mass"), ("ECE (equal width)", "ece_width"))


@click.command()
@click.argument("labelled", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="LABELLED.jsonl")
@index_option
@click.option("--out", type=_PATH, metavar="DIR", help="Folder for the figures (JSON) and plots (SVG; extra 'eval').")
@click.option(
    "--risk",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    help="Allowed share of wrong sets among those called correct, and of helpful sets lost. Not used for claims.",
)
@click.option("--yes", is_flag=True, help="Store it even if judging gets worse, without asking.")
@set_option
@json_option
def calibrate(
    labelled: Path,
    index: str | None,
    out: Path | None,
    risk: float,
    yes: bool,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Fit grading to your documents, from rows {"question", "passage", "label": 0|1}.

    Rows {"claim", "passage", "label"} fit the judging of answers instead: 1 if the passage supports the claim. A
    custom judge (settings passage_judge, claim_judge) is weighted against the built-in signals. The result is stored
    in the index and used from then on. If a figure gets worse on rows left out of the fit, or every question would get
    the same verdict, it is stored only after a question. Label the passages that a search returns, several for each
    question, so that the figures reflect real use.
    """
    from selfright.api import Selfright
    from selfright.domain.errors import InputError
    from selfright.entrypoints.plots import check_installed
    from selfright.entrypoints.progress import bar
    from selfright.roles.calibration.refit import harms

    if out is not None:
        check_installed()

    with Selfright.open(**values_of(assignments, index=index)) as selfright, bar("Grading") as progress:
        report, path = selfright.calibrate(labelled, risk=risk, progress=progress, accept=yes or _asked)
    figures = _plain(_figures(report))
    files = _written(out, report, figures) if out else []
    if as_json:
        stored = {"stored": str(path) if path else None, "harms": list(harms(report))}
        print_json({**figures, **stored, "files": [str(file) for file in files]})
    else:
        _print(report)
        click.echo(f"stored in {path}" if path else "not stored")
        for file in files:
            click.echo(f"wrote {file}")
        click.echo(of_calibration(report))
    if path is None:
        raise InputError(
            f"the calibration would make judging worse: {'; '.join(harms(report))}; label more questions, with and "
            "without passages that help, or store it all the same with --yes"
        )


def _asked(found: Sequence[str]) -> bool:
    """On a terminal the user decides; elsewhere nobody is there to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    for sentence in found:
        click.echo(sentence, err=True)
    return click.confirm("store it all the same?", default=False, err=True)


def _print(report: "CalibrationReport | ClaimReport") -> None:
    from selfright.roles.calibration.refit import CalibrationReport

    origin = report.calibration.origin
    graded = isinstance(report, CalibrationReport)
    texts = f"passages of {origin.questions:,} questions" if graded else f"passages beside {origin.questions:,} claims"
    click.echo(f"{origin.rows:,} {texts}; curve: {report.method}")
    if report.opinions:
        _print_judge(report.opinions, "signals" if graded else "words")
    click.secho(f"{'':18} {'before':>8} {'after':>8}", bold=True)
    for name, field in _FIGURES:
        before, after = getattr(report.before, field), getattr(report.after, field)
        click.echo(f"{name:18} {before:8.3f} {after:8.3f}")
    click.echo(f"'after' is measured on {'questions' if graded else 'claims'} that the curve had not seen")
    if isinstance(report, CalibrationReport):
        _print_sets(report)


def _print_judge(found: "Opinions", others: str) -> None:
    click.echo(
        f"your judge read {found.rows:,} of the rows below: AUC of {others} {found.without:.3f}, "
        f"of the judge {found.judge:.3f}, of both {found.together:.3f}"
    )
    if found.weighed_on:
        click.echo(f"they were weighed against each other on {found.weighed_on:,} others, which count no further")
    else:
        click.echo("too few rows to weigh them against each other: each counts half")


def _print_sets(report: "CalibrationReport") -> None:
    found = report.calibration
    click.secho("\nanswering only the surest questions, by the grader's sufficiency", bold=True)
    for point in _sampled(report):
        click.echo(f"  {point['coverage']:4.0%} answered: {point['risk']:4.0%} without a passage that helps")
    click.echo(f"  area under the curve: {report.aurc:.3f}")
    proof = "certified at 90 %" if found.certified else "by the curve: too few rows for a proof"
    if not report.thresholds_fitted:
        click.echo("\nthresholds stay: they need questions with a passage that helps, and questions without one")
        return
    click.echo(f"\nthresholds for a risk of {found.origin.risk:.0%}: {found.lower:.3f}, {found.upper:.3f} ({proof})")
    for shares in report.verdicts:
        helping = "" if math.isnan(shares.help) else f", of which {shares.help:.0%} have a passage that helps"
        click.echo(f"  {shares.verdict:<10} {shares.share:5.0%} of the questions{helping}")


def _figures(report: "CalibrationReport | ClaimReport") -> dict[str, Any]:
    from selfright.roles.calibration.refit import CalibrationReport

    kind = "passages" if isinstance(report, CalibrationReport) else "claims"
    found: dict[str, Any] = {
        kind: {"before": asdict(report.before), "after": asdict(report.after)},
        "method": report.method,
        "reliability": {
            "before": [asdict(bin_) for bin_ in report.reliability_before],
            "after": [asdict(bin_) for bin_ in report.reliability_after],
        },
        "calibration": report.calibration.stored(),
    }
    if report.opinions:
        found["judge"] = asdict(report.opinions)
    if isinstance(report, CalibrationReport):
        found["sets"] = {"before": asdict(report.sets_before), "after": asdict(report.sets_after)}
        found["risk_coverage"] = {"aurc": report.aurc, "points": _sampled(report)}
        found["verdicts"] = [asdict(shares) for shares in report.verdicts]
        found["thresholds_fitted"] = report.thresholds_fitted
    return found


def _sampled(report: "CalibrationReport") -> list[dict[str, float]]:
    """The points of the curve at or just above each tenth of the questions, each once."""
    points = [next(p for p in report.curve if p.coverage >= share - 1e-9) for share in _COVERAGES]
    return [asdict(point) for point in dict.fromkeys(points)]


def _plain(value: Any) -> Any:
    """JSON knows no NaN: a figure that the rows do not yield is null."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _written(out: Path, report: "CalibrationReport | ClaimReport", figures: dict[str, Any]) -> list[Path]:
    from selfright.entrypoints.plots import line_plot
    from selfright.roles.calibration.refit import CalibrationReport

    tables = {"before": report.reliability_before, "after": report.reliability_after}
    graded = isinstance(report, CalibrationReport)
    contents = {
        report.calibration.file: json.dumps(figures, indent=1) + "\n",
        "reliability.svg" if graded else "claim-reliability.svg": line_plot(
            "Reliability: what was said and what came true",
            f"probability given to a {'passage' if graded else 'claim'}",
            f"share that really {'helps' if graded else 'is borne out'}",
            {name: [(bin_.said, bin_.came_true) for bin_ in table] for name, table in tables.items()},
            guide=((0, 0), (1, 1)),
        ),
    }
    if isinstance(report, CalibrationReport):
        risk = report.calibration.origin.risk or 0.0
        contents["risk-coverage.svg"] = line_plot(
            "Risk and coverage",
            "share of questions answered",
            "share of them without help",
            {"risk of what is answered": [(point.coverage, point.risk) for point in report.curve]},
            guide=((0, risk), (1, risk)),
            marks="-",
        )
    out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (out / name).write_text(content, encoding="utf-8")
    return [out / name for name in contents]
