"""A study → one self-contained page: it runs no script, fetches nothing, and shows all text as text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from selfright.domain.errors import MissingExtra
from selfright.evals.report import findings
from selfright.evals.report.charts import charts
from selfright.evals.report.findings import main_metric, outcome
from selfright.evals.results import Comparison, Row, Study
from selfright.evals.systems import EXPECTED, TARGETED_GAIN
from selfright.storage.files import write_atomically

BESIDE = ("study.json", "summary.csv", "rows.csv")
MOST_CASES = 25
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def write_report(study: Study, folder: Path) -> Path:
    """Writes ``report.html`` into the folder, which is made; gives back its path.

    The page links to those of ``study.json``, ``summary.csv`` and ``rows.csv`` that lie beside it. Raises
    ``MissingExtra`` without Jinja2 or Matplotlib.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.html"
    write_atomically(path, page(study, [name for name in BESIDE if (folder / name).is_file()]).encode())
    return path


def page(study: Study, files: Sequence[str] = ()) -> str:
    """The page as text, to be written as UTF-8; ``files`` are names of files beside it, that it links to.

    Raises ``MissingExtra`` without Jinja2 or Matplotlib.
    """
    MissingExtra.check("Jinja2, which writes reports,", "eval", "jinja2")
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    shown = (findings.value, findings.interval, findings.format_signed, findings.chance, findings.share)
    environment.filters.update({each.__name__: each for each in shown}, cut=_cut)
    source = resources("selfright.evals.report").joinpath("report.html.j2").read_text(encoding="utf-8")
    drawn = environment.from_string(source).render(study=study, files=files, **_contents(study))
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", drawn)


def _contents(study: Study) -> dict[str, Any]:
    rows = {run.system: {row.question_id: row for row in run.rows} for run in study.runs}
    return {
        "main": main_metric(study),
        "metrics": list(dict.fromkeys(name for run in study.runs for name, found in run.summary.items() if found.n)),
        "outcome": outcome,
        "rows": rows,
        "flags": _differing(study),
        "expected": list(_expectations(study)),
        "cases": list(_cases(study, rows)),
        "charts": charts(study) if study.runs else [],
    }


def _differing(study: Study) -> list[str]:
    names = dict.fromkeys(name for run in study.runs for name in run.flags)
    return [name for name in names if len({str(run.flags.get(name)) for run in study.runs}) > 1]


def _expectations(study: Study) -> Iterator[tuple[str, str, str, str, str]]:
    """The seeds' numbers beside those of the runs of the same name: system, metric, expected, measured, source."""
    runs = {run.system: run for run in study.runs}
    for profile, (source, values) in EXPECTED.items():
        for metric, value in values.items():
            if profile in runs and metric in runs[profile].summary:
                measured = findings.value(metric, runs[profile].mean(metric))
                yield profile, metric, findings.value(metric, value), measured, source
    metric, before, after = "targeted_retrieval_rate", "self_refine_llm_quality", "self_refine_dynamic_query"
    means = [runs[name].mean(metric) if name in runs else None for name in (before, after)]
    if means[0] and means[1] is not None:
        gained = findings.minus(f"{100 * (means[1] / means[0] - 1):+.0f} %")
        yield after, f"{metric} against {before}", f"+{100 * TARGETED_GAIN:.0f} %", gained, "S3 section 10"


def _cases(
    study: Study, rows: Mapping[str, Mapping[str, Row]]
) -> Iterator[tuple[str, Comparison, int, list[tuple[Row, Row]]]]:
    """Questions that the last system broke and rescued against the first, with the rows of both; 25 of each."""
    last, first = study.runs[-1].system if study.runs else "", study.runs[0].system if study.runs else ""
    for one in study.comparisons:
        if (one.base, one.other) == (first, last):
            for title, names in (("broken", one.broken), ("rescued", one.rescued)):
                known = [name for name in names if name in rows[first] and name in rows[last]]
                if known:
                    yield title, one, len(known), [(rows[first][n], rows[last][n]) for n in known[:MOST_CASES]]


def _cut(value: object, most: int) -> str:
    text = str(value)
    return text if len(text) <= most else text[: most - 1] + "…"
