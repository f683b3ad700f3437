"""Lines with two axes as an SVG of their own, drawn by Matplotlib."""

import io
from collections.abc import Mapping, Sequence

from selfright.domain.errors import MissingExtra

NEEDS = ("what plots need", "eval", "matplotlib")
"""As ``MissingExtra.check`` takes it."""

Spot = tuple[float, float]
_NO_METADATA: dict[str, str | None] = dict.fromkeys(("Creator", "Date", "Format", "Type"))


def line_plot(
    title: str,
    across: str,
    up: str,
    lines: Mapping[str, Sequence[Spot]],
    *,
    guide: Sequence[Spot] = (),
    marks: str = "o-",
    scale: str = "linear",
) -> str:
    """The SVG: a line for each name, in the form ``marks`` (Matplotlib's), and a dashed ``guide`` behind them."""
    MissingExtra.check(*NEEDS)
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "selfright"}):
        figure = Figure(figsize=(5.8, 4.4), layout="constrained")
        axes = figure.subplots()
        if guide:
            axes.plot(*zip(*guide, strict=True), "--", color="gray")
        for name, spots in lines.items():
            axes.plot([x for x, _ in spots], [y for _, y in spots], marks, label=name)
        axes.set(title=title, xlabel=across, ylabel=up, xscale=scale, yscale=scale)
        if scale == "linear":
            axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        if lines:
            axes.legend()
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata=_NO_METADATA)
    return written.getvalue()
