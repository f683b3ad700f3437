"""Plots with two axes: lines, dots with intervals, a guide behind them."""

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
