"""Plots with a row for each system: intervals, boxes, and one sorted bar for each question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selfright.evals.report.markup import Html, tag
from selfright.evals.report.plots.canvas import WIDE, Axis, Scale, mark, path, svg, words

_LEFT, _RIGHT, _TOP, _BOTTOM = 14, 14, 6, 44
_ROW = 44
_MOST_BARS = 1_000
_BARS_HEIGHT = 220


@dataclass(frozen=True, slots=True)
class Spread:
    """One row: a line from ``low`` to ``high``, a mark at ``middle``, ``box`` around it, ``far`` a dot outside.

    ``shown`` is written at the row's right end.
    """

    name: str
    place: int
    low: float
    middle: float
    high: float
    shown: str
    box: tuple[float, float] | None = None
    far: float | None = None


def rows(label: str, axis: Axis, spreads: Sequence[Spread], zero: bool = False) -> Html:
    """Rows under one another over one axis; ``zero`` draws a line there."""
    height = _TOP + _ROW * len(spreads) + _BOTTOM
    across = Scale(axis.low, axis.high, _LEFT, WIDE - _RIGHT, axis.log)
    bottom = height - _BOTTOM
    line = tag("path", d=f"M{across(0)} {_TOP}V{bottom}", class_="zero") if zero else ""
    return svg(label, WIDE, height, _axis(axis, across, bottom), line, [
        _row(each, across, _TOP + _ROW * number) for number, each in enumerate(spreads)
    ])  # fmt: skip


def bars(label: str, axis: Axis, values: Sequence[float]) -> Html:
    """A bar for each value, in the order given; of more than 1,000 values, every so many-th."""
    step = max(1, -(-len(values) // _MOST_BARS))
    shown = values[::step]
    up = Scale(axis.low, axis.high, _BARS_HEIGHT - 10, 10)
    left, wide = 52, WIDE - _RIGHT - 52
    each = wide / max(1, len(shown))
    parts: list[Html] = []
    for tick in up.ticks():
        parts.append(tag("path", d=f"M{left} {up(tick)}H{WIDE - _RIGHT}", class_="grid"))
        parts.append(words(left - 7, up(tick) + 4, axis.shown(tick), "end", "soft"))
    for style, kept in (("gain", [max(0.0, value) for value in shown]), ("loss", [min(0.0, value) for value in shown])):
        tops = " ".join(f"V{up(value)}H{left + each * (number + 1):.1f}" for number, value in enumerate(kept))
        parts.append(tag("path", d=f"M{left} {up(0)} {tops} V{up(0)}Z", class_=style))
    parts.append(tag("path", d=f"M{left} {up(0)}H{WIDE - _RIGHT}", class_="axis"))
    return svg(label, WIDE, _BARS_HEIGHT, parts)


def _axis(axis: Axis, across: Scale, bottom: float) -> Iterable[Html]:
    for tick in across.ticks():
        x = across(tick)
        anchor = "start" if x < _LEFT + 8 else "end" if x > WIDE - _RIGHT - 8 else "middle"
        yield tag("path", d=f"M{x} {_TOP}V{bottom}", class_="grid")
        yield words(x, bottom + 17, axis.shown(tick), anchor, "soft")
    yield words(WIDE / 2, bottom + 37, axis.title, "middle")


def _row(spread: Spread, across: Scale, top: float) -> Iterable[Html]:
    y = top + 29
    style = f"s{spread.place % 8}"
    yield words(_LEFT, top + 15, spread.name, class_="label halo", most=34)
    yield words(WIDE - _RIGHT, top + 15, spread.shown, "end", "soft halo")
    yield path([(across(spread.low), y), (across(spread.high), y)], f"bar {style}")
    if spread.box:
        left, right = across(spread.box[0]), across(spread.box[1])
        yield tag("rect", x=left, y=y - 7, width=max(1.0, round(right - left, 1)), height=14, class_=f"box {style}")
        yield path([(across(spread.middle), y - 8), (across(spread.middle), y + 8)], f"median {style}")
    else:
        yield mark(across(spread.middle), y, spread.place, 5)
    if spread.far is not None:
        yield mark(across(spread.far), y, spread.place, 2.5)
