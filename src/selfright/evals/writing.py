"""Studies as files: ``study.json`` with everything, ``rows.csv`` and ``summary.csv`` for spreadsheets, ``report.html``
as one self-contained page, which runs no script, fetches nothing, and shows all text as text.

A study may be written without the words of its data: ids, figures and decisions stay.

While a study is made, its rows are kept against a kill: one line each, appended. The first line says what was asked of
whom; a log of another plan is refused, for its rows would mix with these. What follows the last whole line is cut off
when the log is opened again.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from importlib.resources import files as resources
from pathlib import Path
from typing import IO, Any

from selfright.domain.errors import IndexBusy, MissingExtra, UsageError
from selfright.evals.report import findings
from selfright.evals.report.charts import charts
from selfright.evals.report.findings import main_metric, outcome
from selfright.evals.results import Comparison, Row, Study, Value, adapter, dump_study
from selfright.evals.systems import EXPECTED, TARGETED_GAIN
from selfright.storage.files import WriterLock, write_atomically

_TURN = ("answer", "abstained", "verdict", "stop_reason", "degraded", "language")
# What a spreadsheet would take for a formula, it shows as text behind an apostrophe.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write(study: Study, out: Path) -> list[Path]:
    """Writes the files into the folder, which is made; each file is replaced whole. Gives back their paths."""
    out.mkdir(parents=True, exist_ok=True)
    contents = {
        "study.json": dump_study(study),
        "rows.csv": _csv(_row_lines(study)),
        "summary.csv": _csv(_summary_lines(study)),
    }
    for name, content in contents.items():
        write_atomically(out / name, content)
    return [out / name for name in contents]


def _row_lines(study: Study) -> Iterable[list[Any]]:
    names = list(dict.fromkeys(name for run in study.runs for row in run.rows for name in row.metrics))
    yield ["system", "question_id", "question", *_TURN, *names, "error"]
    for run in study.runs:
        for row in run.rows:
            values = [row.metrics[name].value if name in row.metrics else None for name in names]
            turn = (getattr(row.turn, name) if row.turn else None for name in _TURN)
            yield [run.system, row.question_id, row.question, *turn, *values, row.error]


def _summary_lines(study: Study) -> Iterable[list[Any]]:
    yield ["system", "metric", "mean", "low", "high", "n"]
    for run in study.runs:
        for name, found in run.summary.items():
            yield [run.system, name, found.mean, found.low, found.high, found.n]


def _csv(lines: Iterable[list[Any]]) -> bytes:
    """CSV in UTF-8 with a mark at its start, without which Excel takes Korean for something else."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for line in lines:
        writer.writerow(f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell for cell in line)
    return text.getvalue().encode("utf-8-sig")


def redact(study: Study) -> Study:
    """Questions, gold answers, answers, citations' texts, queries and reasons emptied; everything else as it was."""
    return replace(study, runs=tuple(replace(run, rows=tuple(map(_without_words, run.rows))) for run in study.runs))


def _without_words(row: Row) -> Row:
    turn = row.turn
    if turn is not None:
        passes = []
        for one in turn.passes:
            missing, brought, new = (("",) * len(items) for items in (one.missing_info, one.brought, one.new))
            passes.append(replace(one, query="", missing_info=missing, brought=brought, new=new))
        cited = tuple(replace(each, title="", section="", text="") for each in turn.citations)
        removed = ("",) * len(turn.removed_claims)
        turn = replace(turn, answer="", citations=cited, passes=tuple(passes), removed_claims=removed, notes=())
    metrics = {name: Value(value.value, "") for name, value in row.metrics.items()}
    return replace(row, question="", answers=(), metrics=metrics, turn=turn)


FORM = "selfright.rows/2"

Key = tuple[str, str]
"""A system's name and a question's id."""


@dataclass(frozen=True, slots=True)
class RowLog:
    """The rows of one plan in one file; ``rows`` are those that were there."""

    file: IO[bytes]
    rows: dict[Key, Row] = field(default_factory=dict)

    def append(self, system: str, row: Row) -> None:
        """Keeps a row, whatever becomes of this process."""
        self.file.write(adapter(tuple[str, Row]).dump_json((system, row)) + b"\n")
        self.file.flush()

    def read(self) -> None:
        """Takes in the rows; what follows the last whole one is cut off."""
        end = self.file.tell()
        while (line := self.file.readline()).endswith(b"\n"):
            try:
                system, row = adapter(tuple[str, Row]).validate_json(line)
            except ValueError:
                break
            self.rows[system, row.question_id] = row
            end = self.file.tell()
        self.file.truncate(end)


@contextmanager
def open_rows(path: Path, plan: Mapping[str, Any]) -> Iterator[RowLog]:
    """The rows of a plan, for one process at a time. Raises ``UsageError`` for those of another plan."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = json.dumps({"form": FORM, "plan": plan}, sort_keys=True, ensure_ascii=False).encode() + b"\n"
    with ExitStack() as stack:
        try:
            stack.enter_context(WriterLock(path.with_name(f"{path.name}.lock")))
        except IndexBusy:
            raise UsageError(
                f"{path.parent} is being written by another run; wait for it, or choose another --out"
            ) from None
        log = RowLog(stack.enter_context(path.open("a+b")))
        log.file.seek(0)
        first = log.file.readline()
        if not first.endswith(b"\n"):  # new, or killed before anything was in it
            log.file.truncate(0)
            log.file.write(head)
            log.file.flush()
        elif first != head:
            raise UsageError(
                f"{path} holds rows of another plan (other questions, systems, index, model or version); "
                "choose another --out, or delete it to start anew"
            )
        log.read()
        yield log


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
