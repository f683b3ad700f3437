"""Plots with two axes: lines, dots with intervals, a guide behind them.

And plots with a row for each system: intervals, boxes, and one sorted bar for each question.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selfright.evals.report.markup import Html, tag
from selfright.evals.report.plots.canvas import WIDE, Axis, Scale, mark, path, svg, words

_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 16, 12, 46
_HEIGHT = 300
_MOST_SPOTS = 400

Spot = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Series:
    """One system of a plot.

    ``sizes`` make the dots' areas, ``rises`` and ``reaches`` are intervals up and across for each spot. ``joined``
    draws the line, ``dotted`` the dots. ``label`` is written beside the last spot.
    """

    name: str
    place: int
    spots: Sequence[Spot]
    sizes: Sequence[float] = ()
    rises: Sequence[Spot] = ()
    reaches: Sequence[Spot] = ()
    joined: bool = True
    dotted: bool = True
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Plane:
    across: Scale
    up: Scale
    height: int

    def at(self, spot: Spot) -> Spot:
        return self.across(spot[0]), self.up(spot[1])


def chart(
    label: str,
    across: Axis,
    up: Axis,
    series: Sequence[Series],
    guide: Sequence[Spot] = (),
    width: int = WIDE,
    height: int = _HEIGHT,
) -> Html:
    """The plot as SVG; spots outside of the axes are put on their edge."""
    plane = _Plane(
        Scale(across.low, across.high, _LEFT, width - _RIGHT, across.log),
        Scale(up.low, up.high, height - _BOTTOM, _TOP, up.log),
        height,
    )
    guided = [path([plane.at(spot) for spot in guide], "guide")] if guide else []
    return svg(
        label, width, height, _axes(across, up, plane, width), guided, [_drawn(each, plane, width) for each in series]
    )


def _axes(across: Axis, up: Axis, plane: _Plane, width: int) -> Iterable[Html]:
    bottom, right = plane.height - _BOTTOM, width - _RIGHT
    for tick in plane.up.ticks():
        y = plane.up(tick)
        yield tag("path", d=f"M{_LEFT} {y}H{right}", class_="grid")
        yield words(_LEFT - 7, y + 4, up.shown(tick), "end", "soft")
    for tick in plane.across.ticks():
        x = plane.across(tick)
        yield tag("path", d=f"M{x} {bottom}v5", class_="axis")
        yield words(x, bottom + 19, across.shown(tick), "middle", "soft")
    yield tag("path", d=f"M{_LEFT} {_TOP}V{bottom}H{right}", class_="axis")
    yield words((_LEFT + right) / 2, plane.height - 7, across.title, "middle")
    middle = (_TOP + bottom) / 2
    yield tag("text", up.title, transform=f"translate(13 {middle:g}) rotate(-90)", text_anchor="middle")


def _drawn(series: Series, plane: _Plane, width: int) -> Iterable[Html]:
    spots = [plane.at(spot) for spot in series.spots]
    if series.joined and len(spots) > 1:
        yield path(_thinned(spots), "line", series.place)
    for (x, _), (low, high) in zip(spots, series.rises, strict=False):
        yield path([(x, plane.up(low)), (x, plane.up(high))], f"bar s{series.place % 8}")
    for (_, y), (low, high) in zip(spots, series.reaches, strict=False):
        yield path([(plane.across(low), y), (plane.across(high), y)], f"bar s{series.place % 8}")
    if series.dotted:
        yield from _dots(series, spots)
    if series.label and spots:
        yield _label(series.label, spots[-1], width)


def _dots(series: Series, spots: Sequence[Spot]) -> Iterable[Html]:
    most = max(series.sizes, default=1.0) or 1.0
    for number, (x, y) in enumerate(spots):
        across, up = series.spots[number]
        size = 2.5 + 4.5 * (series.sizes[number] / most) ** 0.5 if series.sizes else 4.5
        count = f" (n = {series.sizes[number]:g})" if series.sizes else ""
        yield mark(x, y, series.place, round(size, 1), f"{series.name}: {across:.3g} → {up:.3g}{count}")


def _label(label: str, spot: Spot, width: int) -> Html:
    """Beside the spot, on the side that has room."""
    x, y = spot
    if x > width * 0.6:
        return words(x - 9, y - 8, label, "end", "label", 26)
    return words(x + 9, y - 8, label, "start", "label", 26)


def _thinned(spots: Sequence[Spot]) -> Sequence[Spot]:
    """At most 400 spots, evenly taken; first and last stay."""
    if len(spots) <= _MOST_SPOTS:
        return spots
    step = (len(spots) - 1) / (_MOST_SPOTS - 1)
    return [spots[round(number * step)] for number in range(_MOST_SPOTS)]


_ROWS_LEFT, _ROWS_RIGHT, _ROWS_TOP, _ROWS_BOTTOM = 14, 14, 6, 44
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
    height = _ROWS_TOP + _ROW * len(spreads) + _ROWS_BOTTOM
    across = Scale(axis.low, axis.high, _ROWS_LEFT, WIDE - _ROWS_RIGHT, axis.log)
    bottom = height - _ROWS_BOTTOM
    line = tag("path", d=f"M{across(0)} {_ROWS_TOP}V{bottom}", class_="zero") if zero else ""
    return svg(label, WIDE, height, _axis(axis, across, bottom), line, [
        _row(each, across, _ROWS_TOP + _ROW * number) for number, each in enumerate(spreads)
    ])  # fmt: skip


def bars(label: str, axis: Axis, values: Sequence[float]) -> Html:
    """A bar for each value, in the order given; of more than 1,000 values, every so many-th."""
    step = max(1, -(-len(values) // _MOST_BARS))
    shown = values[::step]
    up = Scale(axis.low, axis.high, _BARS_HEIGHT - 10, 10)
    left, wide = 52, WIDE - _ROWS_RIGHT - 52
    each = wide / max(1, len(shown))
    parts: list[Html] = []
    for tick in up.ticks():
        parts.append(tag("path", d=f"M{left} {up(tick)}H{WIDE - _ROWS_RIGHT}", class_="grid"))
        parts.append(words(left - 7, up(tick) + 4, axis.shown(tick), "end", "soft"))
    for style, kept in (("gain", [max(0.0, value) for value in shown]), ("loss", [min(0.0, value) for value in shown])):
        tops = " ".join(f"V{up(value)}H{left + each * (number + 1):.1f}" for number, value in enumerate(kept))
        parts.append(tag("path", d=f"M{left} {up(0)} {tops} V{up(0)}Z", class_=style))
    parts.append(tag("path", d=f"M{left} {up(0)}H{WIDE - _ROWS_RIGHT}", class_="axis"))
    return svg(label, WIDE, _BARS_HEIGHT, parts)


def _axis(axis: Axis, across: Scale, bottom: float) -> Iterable[Html]:
    for tick in across.ticks():
        x = across(tick)
        anchor = "start" if x < _ROWS_LEFT + 8 else "end" if x > WIDE - _ROWS_RIGHT - 8 else "middle"
        yield tag("path", d=f"M{x} {_ROWS_TOP}V{bottom}", class_="grid")
        yield words(x, bottom + 17, axis.shown(tick), anchor, "soft")
    yield words(WIDE / 2, bottom + 37, axis.title, "middle")


def _row(spread: Spread, across: Scale, top: float) -> Iterable[Html]:
    y = top + 29
    style = f"s{spread.place % 8}"
    yield words(_ROWS_LEFT, top + 15, spread.name, class_="label halo", most=34)
    yield words(WIDE - _ROWS_RIGHT, top + 15, spread.shown, "end", "soft halo")
    yield path([(across(spread.low), y), (across(spread.high), y)], f"bar {style}")
    if spread.box:
        left, right = across(spread.box[0]), across(spread.box[1])
        yield tag("rect", x=left, y=y - 7, width=max(1.0, round(right - left, 1)), height=14, class_=f"box {style}")
        yield path([(across(spread.middle), y - 8), (across(spread.middle), y + 8)], f"median {style}")
    else:
        yield mark(across(spread.middle), y, spread.place, 5)
    if spread.far is not None:
        yield mark(across(spread.far), y, spread.place, 2.5)
