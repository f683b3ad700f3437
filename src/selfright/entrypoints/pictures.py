"""Pictures of a calibration as SVG: self-contained, legible at any size, light or dark as the viewer prefers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

Spot = tuple[float, float]

_WIDTH, _HEIGHT = 560, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 46, 78
_MOST_POINTS = 400
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_STYLE = """
  .paper { fill: #ffffff } .ink { fill: #1f2328 } .soft { fill: #59636e } .grid { stroke: #d9dee3 }
  .axis { stroke: #59636e } .guide { stroke: #8b949e; stroke-dasharray: 4 4 } .line { fill: none; stroke-width: 2 }
  .s0 { stroke: #b35900 } .s1 { stroke: #0a5cc2 } .f0 { fill: #b35900 } .f1 { fill: #0a5cc2 }
  text { font: 13px system-ui, sans-serif } .title { font-weight: 600; font-size: 15px }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .soft { fill: #9aa4ae } .grid { stroke: #2b323a }
    .axis { stroke: #9aa4ae } .s0 { stroke: #ffab5c } .s1 { stroke: #6cb0ff }
    .f0 { fill: #ffab5c } .f1 { fill: #6cb0ff }
  }
"""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a picture: ``spots`` are (x, y), both 0…1, in the order they are joined; ``sizes`` make them dots."""

    name: str
    spots: Sequence[Spot]
    sizes: Sequence[float] = ()


def picture(title: str, across: str, up: str, series: Sequence[Series], guide: Sequence[Spot] = ()) -> str:
    """An SVG with both axes from 0 to 1, at most two lines, a legend, and a dashed ``guide``.

    The title and all numbers are in the text of the picture, so a screen reader has them too.
    """
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img"'
        f' aria-label="{escape(title)}"><title>{escape(title)}</title><style>{_STYLE}</style>',
        f'<rect class="paper" width="{_WIDTH}" height="{_HEIGHT}"/>',
        f'<text class="ink title" x="{_LEFT}" y="26">{escape(title)}</text>',
        *_axes(across, up),
    ]
    if guide:
        parts.append(f'<path class="line guide" d="{_path(guide)}"/>')
    for number, each in enumerate(series):
        parts += _drawn(each, number)
    return "\n".join([*parts, *_legend(series), "</svg>", ""])


def _axes(across: str, up: str) -> Iterable[str]:
    for tick in _TICKS:
        x, y = _x(tick), _y(tick)
        yield f'<path class="grid" d="M{x} {_y(0)}V{_y(1)}M{_x(0)} {y}H{_x(1)}"/>'
        yield f'<text class="soft" x="{x}" y="{_y(0) + 18}" text-anchor="middle">{tick:g}</text>'
        yield f'<text class="soft" x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{tick:g}</text>'
    yield f'<path class="axis" fill="none" d="M{_x(0)} {_y(1)}V{_y(0)}H{_x(1)}"/>'
    yield f'<text class="ink" x="{(_x(0) + _x(1)) / 2}" y="{_y(0) + 38}" text-anchor="middle">{escape(across)}</text>'
    middle = (_y(0) + _y(1)) / 2
    yield (f'<text class="ink" transform="translate(18 {middle}) rotate(-90)" text-anchor="middle">{escape(up)}</text>')


def _drawn(series: Series, number: int) -> list[str]:
    spots = _thinned(series.spots)
    drawn = [f'<path class="line s{number}" d="{_path(spots)}"/>'] if len(spots) > 1 else []
    most = max(series.sizes, default=1.0)
    for (x, y), size in zip(series.spots, series.sizes, strict=False):
        radius = round(2.5 + 5 * (size / most) ** 0.5, 1)
        drawn.append(
            f'<circle class="f{number}" cx="{_x(x)}" cy="{_y(y)}" r="{radius}">'
            f"<title>{escape(series.name)}: {x:.2f} → {y:.2f} ({size:g})</title></circle>"
        )
    return drawn


def _legend(series: Sequence[Series]) -> Iterable[str]:
    x = float(_LEFT)
    for number, each in enumerate(series):
        y = _HEIGHT - 14
        yield f'<path class="line s{number}" d="M{x} {y - 4}h22"/>'
        yield f'<text class="ink" x="{x + 28}" y="{y}">{escape(each.name)}</text>'
        x += 52 + 7.5 * len(each.name)


def _path(spots: Sequence[Spot]) -> str:
    return " ".join(f"{'L' if number else 'M'}{_x(x)} {_y(y)}" for number, (x, y) in enumerate(spots))


def _thinned(spots: Sequence[Spot]) -> Sequence[Spot]:
    """At most 400 spots, evenly taken; first and last stay."""
    if len(spots) <= _MOST_POINTS:
        return spots
    step = (len(spots) - 1) / (_MOST_POINTS - 1)
    places = sorted({round(i * step) for i in range(_MOST_POINTS)})
    assert all(a < b for a, b in pairwise(places))
    return [spots[place] for place in places]


def _x(value: float) -> float:
    return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * min(1.0, max(0.0, value)), 1)


def _y(value: float) -> float:
    return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * min(1.0, max(0.0, value)), 1)
