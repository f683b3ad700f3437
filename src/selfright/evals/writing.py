"""Studies as files: ``study.json`` with everything, ``rows.csv`` and ``summary.csv`` for spreadsheets.

A study may be written without the words of its data: ids, figures and decisions stay.
"""

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from selfright.evals.results import Estimate, Pass, Row, Study, Turn, Value, dumped
from selfright.retrieval.files import write_atomically

_TURN = ("answer", "abstained", "verdict", "stop_reason", "degraded", "language")
# What a spreadsheet would take for a formula, it shows as text behind an apostrophe.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write(study: Study, out: Path) -> list[Path]:
    """Writes the files into the folder, which is made; each file is replaced whole. Gives back their paths."""
    out.mkdir(parents=True, exist_ok=True)
    contents = {
        "study.json": dumped(study),
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
            yield [run.system, row.question_id, row.question, *_turn(row), *values, row.error]


def _turn(row: Row) -> list[Any]:
    return [getattr(row.turn, name) if row.turn else None for name in _TURN]


def _summary_lines(study: Study) -> Iterable[list[Any]]:
    yield ["system", "metric", "mean", "low", "high", "n"]
    for run in study.runs:
        for name, found in run.summary.items():
            yield [run.system, name, *_estimate(found)]


def _estimate(found: Estimate) -> list[Any]:
    return [found.mean, found.low, found.high, found.n]


def _csv(lines: Iterable[list[Any]]) -> bytes:
    """CSV in UTF-8 with a mark at its start, without which Excel takes Korean for something else."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_cell(value) for value in line] for line in lines)
    return text.getvalue().encode("utf-8-sig")


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return value


def redacted(study: Study) -> Study:
    """Questions, gold answers, answers, citations' texts, queries and reasons emptied; everything else as it was."""
    return replace(study, runs=tuple(replace(run, rows=tuple(map(_row_without_words, run.rows))) for run in study.runs))


def _row_without_words(row: Row) -> Row:
    metrics = {name: Value(value.value, "") for name, value in row.metrics.items()}
    return replace(row, question="", answers=(), metrics=metrics, turn=row.turn and _without_words(row.turn))


def _without_words(turn: Turn) -> Turn:
    return replace(
        turn,
        answer="",
        citations=tuple(replace(cited, text="") for cited in turn.citations),
        passes=tuple(map(_pass_without_words, turn.passes)),
        removed_claims=("",) * len(turn.removed_claims),
        notes=(),
    )


def _pass_without_words(one: Pass) -> Pass:
    missing, brought, new = (("",) * len(items) for items in (one.missing_info, one.brought, one.new))
    return replace(one, query="", missing_info=missing, brought=brought, new=new)
