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
  .s0 { stroke: #b35900 } .f0 { fill: #b35900 } .s1 { stroke: #0a5cc2 } .f1 { fill: #0a5cc2 }
  .s2 { stroke: #00735c } .f2 { fill: #00735c } .s3 { stroke: #93357f } .f3 { fill: #93357f }
  .s4 { stroke: #8a6400 } .f4 { fill: #8a6400 } .s5 { stroke: #4a5263 } .f5 { fill: #4a5263 }
  .s6 { stroke: #2b8fc4 } .f6 { fill: #2b8fc4 } .s7 { stroke: #6f4bd8 } .f7 { fill: #6f4bd8 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } text { fill: #e6edf3 } text.soft { fill: #9aa4ae } .grid { stroke: #2b323a }
    .axis { stroke: #9aa4ae }
    .s0 { stroke: #ffab5c } .f0 { fill: #ffab5c } .s1 { stroke: #6cb0ff } .f1 { fill: #6cb0ff }
    .s2 { stroke: #45cfb0 } .f2 { fill: #45cfb0 } .s3 { stroke: #e59ad3 } .f3 { fill: #e59ad3 }
    .s4 { stroke: #e2bd4e } .f4 { fill: #e2bd4e } .s5 { stroke: #b4bccb } .f5 { fill: #b4bccb }
    .s6 { stroke: #8ed4f7 } .f6 { fill: #8ed4f7 } .s7 { stroke: #b39cff } .f7 { fill: #b39cff }
  }
"""


def picture(
    title: str, across: str | Axis, up: str | Axis, series: Sequence[Series], guide: Sequence[Spot] = ()
) -> str:
    """An SVG with a legend and a dashed ``guide``. An axis that is only named goes from 0 to 1.

    The title and all numbers are in the text of the picture, so a screen reader has them too.
    """
    height = _HEIGHT - _TOP - _BOTTOM
    across, up = (Axis(axis, 0, 1) if isinstance(axis, str) else axis for axis in (across, up))
    plot = chart(title, across, up, series, guide, _WIDTH, height)
    placed = plot.replace("<svg", f'<svg y="{_TOP}" width="{_WIDTH}" height="{height}"', 1)
    legend, bottom = _legend(series)
    size = {"viewBox": f"0 0 {_WIDTH} {bottom:g}", "width": _WIDTH, "xmlns": "http://www.w3.org/2000/svg"}
    parts = (
        tag("title", title),
        tag("style", Html(_STYLE)),
        tag("rect", width=_WIDTH, height=f"{bottom:g}", class_="paper"),
        words(60, 24, title, class_="title", most=80),
        Html(placed),
        legend,
    )
    return tag("svg", *parts, role="img", aria_label=title, **size) + "\n"


def _legend(series: Sequence[Series]) -> tuple[list[Html], float]:
    """The names under the plot, in as many rows as they need, and where the picture ends."""
    parts: list[Html] = []
    x, y = 60.0, _HEIGHT - 14.0
    for one in series:
        wide = 52 + 7.5 * len(one.name)
        if x > 60 and x + wide > _WIDTH:
            x, y = 60.0, y + 20
        parts += [path([(x, y - 4), (x + 22, y - 4)], "line", one.place), mark(x + 11, y - 4, one.place)]
        parts.append(words(x + 28, y, one.name))
        x += wide
    return parts, y + 14
