"""The table and the plot of what was measured, written between the marks of a page."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.peers.systems import SYSTEMS
from selfright.evals.report.charts import line_plot

Record = Mapping[str, Any]

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
OURS = "selfright"
_EMPTY = "–"
_COLUMNS = (
    "system",
    "build s",
    "p50 ms",
    "p99 ms",
    "p50 / ours",
    "memory MB",
    "building MB",
    "disk MB",
    "cold open s",
    "add 100 s",
    "recall@10",
    "overlap",
)


def page(text: str, records: Sequence[Record], plot_name: str) -> str:
    """``text`` with the tables and the plot between its two marks; at its end, where it has none."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        head, tail = text.rstrip() + "\n\n", "\n"
    plot = f"![Median time of a query by the number of passages]({plot_name})"
    compared = [(size, found) for size, found in _by_size(records) if any(r["system"] != OURS for r in found)]
    tables = [table(found, size) for size, found in compared]
    blocks = "\n\n".join([*tables, growth(records), plot, _fine_print(records)])
    return f"{head}{BEGIN}\n\n{blocks}\n\n{END}{tail}"


def table(records: Sequence[Record], passages: int) -> str:
    """One size in a table, the quickest first; why a measurement is missing stands below."""
    ours = next((record.get("p50_ms") for record in records if record["system"] == OURS), None)
    ordered = sorted(records, key=lambda record: record.get("p50_ms", math.inf))
    lines = _lines(_COLUMNS, [_row(record, ours) for record in ordered])
    missing = [f"{_title(record)}: {record['error']}." for record in ordered if record.get("error")]
    return "\n".join([f"### {passages:,} passages", "", *lines, *(f"\n{reason}" for reason in missing)])


def growth(records: Sequence[Record]) -> str:
    """Ours at every size in a table, the smallest first."""
    ours = sorted((r for r in records if r["system"] == OURS), key=lambda record: int(record["passages"]))
    left_out = _COLUMNS.index("p50 / ours")
    rows = [_without(_row(record, None), left_out) for record in ours]
    columns = ("passages", *_without(_COLUMNS, left_out)[1:])
    named = [(f"{record['passages']:,}", *row[1:]) for record, row in zip(ours, rows, strict=True)]
    return "\n".join(["### Growth", "", *_lines(columns, named)])


def plot(records: Sequence[Record]) -> str:
    """An SVG of the median time over the number of passages, both logarithmic."""
    known = [record for record in records if record.get("p50_ms")]
    curves = {
        system.title.strip("*"): spots
        for system in SYSTEMS
        if (spots := sorted((one["passages"], one["p50_ms"]) for one in known if one["system"] == system.name))
    }
    return line_plot("Median time of a query", "passages", "p50 in ms", curves, scale="log")


def _lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    marks = ("---",) + ("---:",) * (len(columns) - 1)
    return ["| " + " | ".join(row) + " |" for row in (columns, marks, *rows)]


def _without(row: tuple[str, ...], place: int) -> tuple[str, ...]:
    return row[:place] + row[place + 1 :]


def _row(record: Record, ours: float | None) -> tuple[str, ...]:
    p50 = record.get("p50_ms")
    return (
        _title(record),
        _sum(record.get("build_s"), record["save_s"] if record.get("saved") and record["save_s"] >= 0.1 else None),
        _number(p50),
        _number(record.get("p99_ms")),
        _number(p50 / ours, "×") if p50 and ours else _EMPTY,
        _memory(record),
        _number(record.get("building_mb")),
        _number(record.get("disk_mb")),
        _sum(record.get("import_s"), record.get("open_s")) if "open_s" in record else _EMPTY,
        _number(record.get("add_s")) + ("" if record.get("added_found", True) else " (not found)"),
        _share(record.get("recall")),
        _share(record.get("overlap")),
    )


def _title(record: Record) -> str:
    return next((system.title for system in SYSTEMS if system.name == record["system"]), str(record["system"]))


def _number(value: float | None, unit: str = "") -> str:
    """Three figures, or all that stand before the point."""
    if value is None:
        return _EMPTY
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}{unit}"


def _share(value: float | None) -> str:
    return _EMPTY if value is None else f"{value:.3f}"


def _sum(first: float | None, second: float | None) -> str:
    return " + ".join(_number(value) for value in (first, second) if value is not None) or _EMPTY


def _memory(record: Record) -> str:
    if "rss_mb" not in record:
        return _EMPTY
    return f"{_number(record['rss_mb'])} ({_number(record.get('anonymous_mb'))})"


def _by_size(records: Sequence[Record]) -> list[tuple[int, list[Record]]]:
    sizes = sorted({record["passages"] for record in records})
    return [(size, [record for record in records if record["passages"] == size]) for size in sizes]


def _fine_print(records: Sequence[Record]) -> str:
    """Machines, dates and versions of what stands in the tables."""
    machines = "; ".join(sorted({record["machine"] for record in records}))
    dates = sorted({record["date"] for record in records})
    versions = {(_title(record).strip("*"), record["versions"]) for record in records}
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    cut = [record for record in records if record.get("asked", math.inf) < record.get("queries", 0)]
    fewer = sorted((record["passages"], _title(record).strip("*"), record["asked"]) for record in cut)
    lines = [f"Measured {when} on: {machines}.", "", "Versions:", ""]
    lines += [f"- {title}: {what}" for title, what in sorted(versions)]
    if fewer:
        counts = "; ".join(f"{title} at {passages:,}: {asked}" for passages, title, asked in fewer)
        lines += ["", f"Fewer queries than for the others, to save time: {counts}."]
    return "\n".join(lines)
