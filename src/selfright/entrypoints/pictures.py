"""Plots as SVG files of their own: legible at any size, light or dark as the viewer prefers."""

from collections.abc import Sequence

from selfright.evals.report.markup import Html, tag
from selfright.evals.report.plots.canvas import Axis, mark, path, words
from selfright.evals.report.plots.lines import Series, Spot, chart

_WIDTH, _HEIGHT = 560, 420
_TOP, _BOTTOM = 36, 30
_STYLE = """
  .paper { fill: #ffffff } text { fill: #1f2328; font: 13px system-ui, sans-serif } text.soft { fill: #59636e }
  .title { font-weight: 600; font-size: 15px } .line, .guide, .axis, .grid { fill: none } .line { stroke-width: 2 }
  .grid { stroke: #d9dee3 } .axis { stroke: #59636e } .guide { stroke: #8b949e; stroke-dasharray: 4 4 }
  .s0 { stroke: #b35900 } .s1 { stroke: #0a5cc2 } .f0 { fill: #b35900 } .f1 { fill: #0a5cc2 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } text { fill: #e6edf3 } text.soft { fill: #9aa4ae } .grid { stroke: #2b323a }
    .axis { stroke: #9aa4ae } .s0 { stroke: #ffab5c } .s1 { stroke: #6cb0ff }
    .f0 { fill: #ffab5c } .f1 { fill: #6cb0ff }
  }
"""


def picture(title: str, across: str, up: str, series: Sequence[Series], guide: Sequence[Spot] = ()) -> str:
    """An SVG with both axes from 0 to 1, at most two lines, a legend, and a dashed ``guide``.

    The title and all numbers are in the text of the picture, so a screen reader has them too.
    """
    height = _HEIGHT - _TOP - _BOTTOM
    plot = chart(title, Axis(across, 0, 1), Axis(up, 0, 1), series, guide, _WIDTH, height)
    placed = plot.replace("<svg", f'<svg y="{_TOP}" width="{_WIDTH}" height="{height}"', 1)
    size = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "width": _WIDTH, "xmlns": "http://www.w3.org/2000/svg"}
    parts = (
        tag("title", title),
        tag("style", Html(_STYLE)),
        tag("rect", width=_WIDTH, height=_HEIGHT, class_="paper"),
        words(60, 24, title, class_="title", most=80),
        Html(placed),
        _legend(series),
    )
    return tag("svg", *parts, role="img", aria_label=title, **size) + "\n"


def _legend(series: Sequence[Series]) -> list[Html]:
    parts, x, y = [], 60.0, _HEIGHT - 14.0
    for one in series:
        parts += [path([(x, y - 4), (x + 22, y - 4)], "line", one.place), mark(x + 11, y - 4, one.place)]
        parts.append(words(x + 28, y, one.name))
        x += 52 + 7.5 * len(one.name)
    return parts
