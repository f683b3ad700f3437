"""``selfright calibrate``."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfright.entrypoints.commands.options import index_option, json_option, print_json, set_option, values_of

if TYPE_CHECKING:
    from selfright.roles.calibration.refit import CalibrationReport

_PATH = click.Path(path_type=Path)
_COVERAGES = tuple(i / 10 for i in range(1, 11))
_FIGURES = (("AUC", "auc"), ("Brier", "brier"), ("ECE (equal mass)", "ece_mass"), ("ECE (equal width)", "ece_width"))


@click.command()
@click.argument("labelled", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="LABELLED.jsonl")
@index_option
@click.option("--out", type=_PATH, metavar="DIR", help="Folder for the figures (JSON) and pictures (SVG).")
@click.option(
    "--risk",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    help="The share that may be wrong of what is called correct, and lost of what helps.",
)
@set_option
@json_option
def calibrate(
    labelled: Path, index: str | None, out: Path | None, risk: float, assignments: tuple[str, ...], as_json: bool
) -> None:
    """Fit grading to your documents, from rows {"question", "passage", "label": 0|1}.

    The result is kept in the index and used from then on. Label the passages that a search brings, several for each
    question: then the figures are those of real use.
    """
    from selfright.api import Selfright
    from selfright.entrypoints.progress import bar

    with Selfright.open(**values_of(assignments, index=index)) as selfright, bar("Grading") as progress:
        report, path = selfright.calibrate(labelled, risk=risk, progress=progress)
    figures = _figures(report)
    files = _written(out, report, figures) if out else []
    if as_json:
        print_json({**figures, "stored": str(path), "files": [str(file) for file in files]})
        return
    _print(report)
    click.echo(f"stored in {path}")
    for file in files:
        click.echo(f"wrote {file}")


def _print(report: "CalibrationReport") -> None:
    origin, found = report.calibration.origin, report.calibration
    click.echo(f"{origin.rows:,} passages of {origin.questions:,} questions; curve: {report.method}")
    click.secho(f"{'':18} {'before':>8} {'after':>8}", bold=True)
    for name, field in _FIGURES:
        before, after = getattr(report.before, field), getattr(report.after, field)
        click.echo(f"{name:18} {before:8.3f} {after:8.3f}")
    click.echo("'after' is measured on questions that the curve had not seen")
    click.secho("\nanswering only the surest questions, by the grader's sufficiency", bold=True)
    for point in _sampled(report):
        click.echo(f"  {point['coverage']:4.0%} answered: {point['risk']:4.0%} without a passage that helps")
    click.echo(f"  area under the curve: {report.aurc:.3f}")
    proof = "certified at 90 %" if found.certified else "by the curve: too few rows for a proof"
    click.echo(f"\nthresholds for a risk of {origin.risk:.0%}: {found.lower:.3f}, {found.upper:.3f} ({proof})")
    for shares in report.verdicts:
        helping = "" if math.isnan(shares.help) else f", of which {shares.help:.0%} have a passage that helps"
        click.echo(f"  {shares.verdict:<10} {shares.share:5.0%} of the questions{helping}")


def _figures(report: "CalibrationReport") -> dict[str, Any]:
    found: dict[str, Any] = _plain(
        {
            "passages": {"before": asdict(report.before), "after": asdict(report.after)},
            "sets": {"before": asdict(report.sets_before), "after": asdict(report.sets_after)},
            "method": report.method,
            "reliability": {
                "before": [asdict(bin_) for bin_ in report.reliability_before],
                "after": [asdict(bin_) for bin_ in report.reliability_after],
            },
            "risk_coverage": {"aurc": report.aurc, "points": _sampled(report)},
            "verdicts": [asdict(shares) for shares in report.verdicts],
            "calibration": report.calibration.stored(),
        }
    )
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


def _written(out: Path, report: "CalibrationReport", figures: dict[str, Any]) -> list[Path]:
    from selfright.entrypoints.pictures import Series, picture

    before, after = (
        Series(name, [(bin_.said, bin_.came_true) for bin_ in table], [bin_.rows for bin_ in table])
        for name, table in (("before", report.reliability_before), ("after", report.reliability_after))
    )
    curve = Series("risk of what is answered", [(point.coverage, point.risk) for point in report.curve])
    risk = report.calibration.origin.risk
    contents = {
        "calibration.json": json.dumps(figures, indent=1) + "\n",
        "reliability.svg": picture(
            "Reliability: what was said and what came true",
            "probability given to a passage",
            "share that really helps",
            (before, after),
            ((0, 0), (1, 1)),
        ),
        "risk-coverage.svg": picture(
            "Risk and coverage",
            "share of questions answered",
            "share of them without help",
            (curve,),
            ((0, risk), (1, risk)),
        ),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (out / name).write_text(content, encoding="utf-8")
    return [out / name for name in contents]
