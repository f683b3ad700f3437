"""What all plots share: scales and ticks, the marks by which systems are told apart, the frame around a drawing.

A system has a colour, a dash and a shape, so that no plot speaks by colour alone. The colours are in the page's style,
after Okabe and Ito's palette for the colour-blind, in a light and a dark version.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from selfright.evals.report.markup import Content, Html, cut, tag

STYLES = 8
"""Systems that can be told apart in one plot."""
WIDE = 480
_DASHES = (None, "7 4", "2 3", "9 3 2 3", "12 5", "4 2", "1 4", "14 3 2 3 2 3")


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from ``low`` to ``high`` onto places from ``start`` to ``end``; ``log`` needs values over 0."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; what lies outside is put on the edge."""
        low, high, at = self.low, self.high, min(self.high, max(self.low, value))
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(at)
        share = (at - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> Sequence[float]:
        """Round values within the scale, about five of them."""
        return _powers(self.low, self.high) if self.log else _round_steps(self.low, self.high)


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis is called, what it spans, and how its values are written."""

    title: str
    low: float
    high: float
    shown: Callable[[float], str] = "{:g}".format
    log: bool = False


def svg(label: str, width: float, height: float, *content: Content, class_: str = "plot") -> Html:
    """A drawing with what it shows in words."""
    return tag("svg", *content, class_=class_, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label)


def words(x: float, y: float, shown: str, anchor: str = "start", class_: str | None = None, most: int = 48) -> Html:
    """Text at a place."""
    anchored = None if anchor == "start" else anchor
    return tag("text", cut(shown, most), x=f"{x:g}", y=f"{y:g}", text_anchor=anchored, class_=class_)


def path(spots: Sequence[tuple[float, float]], class_: str, place: int | None = None) -> Html:
    """A line through places."""
    drawn = " ".join(f"{'L' if number else 'M'}{x:g} {y:g}" for number, (x, y) in enumerate(spots))
    if place is None:
        return tag("path", d=drawn, class_=class_)
    return tag("path", d=drawn, class_=f"{class_} s{place % STYLES}", stroke_dasharray=_DASHES[place % STYLES])


def mark(x: float, y: float, place: int, size: float = 4.5, title: str = "") -> Html:
    """A system's own shape; ``title`` shows when it is pointed at."""
    said = (tag("title", title),) if title else ()
    style = f"f{place % STYLES}"
    if place % STYLES == 0:
        return tag("circle", *said, cx=x, cy=y, r=size, class_=style)
    drawn = " ".join(f"{x + size * across:.1f},{y + size * down:.1f}" for across, down in _SHAPES[place % STYLES])
    return tag("polygon", *said, points=drawn, class_=style)


def swatch(place: int) -> Html:
    """A system's line and shape, for legends."""
    drawn = (path([(1, 8), (33, 8)], "line", place), mark(17, 8, place))
    return tag("svg", *drawn, class_="swatch", viewBox="0 0 34 16", aria_hidden="true")


def legend(names: Sequence[tuple[int, str]]) -> Html:
    """The systems of a plot by their marks."""
    return tag("ul", [tag("li", swatch(place), " ", cut(name, 60)) for place, name in names], class_="legend")


def _around(count: int, radius: float = 1.15, turned: float = -90.0) -> list[tuple[float, float]]:
    angles = [math.radians(turned + 360 * corner / count) for corner in range(count)]
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]


_PLUS = [(-0.4, -1.1), (0.4, -1.1), (0.4, -0.4), (1.1, -0.4), (1.1, 0.4), (0.4, 0.4),
         (0.4, 1.1), (-0.4, 1.1), (-0.4, 0.4), (-1.1, 0.4), (-1.1, -0.4), (-0.4, -0.4)]  # fmt: skip
_SHAPES: Sequence[Sequence[tuple[float, float]]] = (
    [],  # a circle
    _around(4, 1.2, -45),
    _around(3, 1.3),
    _around(4, 1.3),
    _around(3, 1.3, 90),
    _PLUS,
    _around(5),
    _around(6, 1.1, 0),
)


def _round_steps(low: float, high: float) -> list[float]:
    if high <= low:
        return [low]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def _powers(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        found = [value for power in powers for factor in factors if low <= (value := factor * 10.0**power) <= high]
        if len(found) > 2:
            return found
    return _round_steps(low, high)
