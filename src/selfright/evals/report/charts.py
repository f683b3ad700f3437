"""Charts as SVG, drawn by Matplotlib: a report's means, corrections, score by pass, risk and coverage; lines."""

import io
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from selfright.domain.errors import MissingExtra
from selfright.evals.report.findings import main_metric
from selfright.evals.results import RunResult, Study, Turn

_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "selfright", "text.parse_math": False, "font.size": 9}
_NO_METADATA: dict[str, str | None] = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_MOVES = {"right_right": "#7fb3d9", "wrong_right": "#00735c", "right_wrong": "#b84a00", "wrong_wrong": "#c3c9d4"}
MOST_LINES = 10
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with what it says: ``svg`` is markup, and the only text of the report that is not escaped again."""

    title: str
    note: str
    svg: str


def charts(study: Study) -> list[Chart]:
    """Those for which the study has figures. Raises ``MissingExtra`` where Matplotlib is not installed."""
    MissingExtra.check("Matplotlib, which draws the report's charts,", "eval", "matplotlib")
    import matplotlib

    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # The reader's browser has the letters that Matplotlib's own font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        return [
            Chart(title, note, _svg(draw, rows))
            for part in (_means, _corrections, _passes, _risk)
            for title, note, draw, rows in part(study)
        ]


Part = tuple[str, str, Callable[[Any], None], int]
"""A chart's title, its note, what draws it into axes, and how many rows it has (0 for one with two scales)."""


def _svg(draw: Callable[[Any], None], rows: int) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 1.3 + 0.34 * rows if rows else 3.6), layout="constrained")
    axes = figure.subplots()
    draw(axes)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.2 if not rows else -0.55 / rows - 0.12), ncols=2, frameon=False)
    return _saved(figure).partition("<svg")[2].join(("<svg", ""))


def _saved(figure: Any) -> str:
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata=_NO_METADATA)
    return written.getvalue()


def _means(study: Study) -> Iterator[Part]:
    main = main_metric(study)
    names = list(study.runs[0].summary) if study.kind == "retrieval" else list(dict.fromkeys((main, "quality")))

    def draw(axes: Any) -> None:
        for place, name in enumerate(names):
            known = [(row, one) for row, run in enumerate(study.runs) if (one := run.summary.get(name)) and one.n]
            means = np.array([[one.mean, one.low, one.high] for _, one in known], dtype=float).reshape(-1, 3).T
            heights = [row + 0.5 * (place - (len(names) - 1) / 2) / len(names) for row, _ in known]
            reach = np.maximum(0, [means[0] - means[1], means[2] - means[0]])
            axes.errorbar(means[0], heights, xerr=reach, fmt="o", capsize=3, label=name)
        _rows(axes, [run.system for run in study.runs])

    yield f"{' and '.join(names[:3])} by system", "means with 95 % intervals", draw, len(study.runs)


def _corrections(study: Study) -> Iterator[Part]:
    first = study.runs[0].system
    known = [(one.other, one.moves) for one in study.comparisons if one.base == first and one.moves]
    if not known:
        return

    def draw(axes: Any) -> None:
        rows, left = range(len(known)), [0] * len(known)
        for name, color in _MOVES.items():
            counts = [getattr(moves, name) for _, moves in known]
            axes.barh(rows, counts, left=left, color=color, label=name.replace("_", "→"))
            left = [before + count for before, count in zip(left, counts, strict=True)]
        _rows(axes, [name for name, _ in known])
        axes.set_xlabel("questions")

    yield (
        f"What became of each question, against {first}",
        "wrong→right was rescued, right→wrong broken",
        draw,
        len(known),
    )


def _passes(study: Study) -> Iterator[Part]:
    lines = [(run.system, found) for run in study.runs[:MOST_LINES] if len(found := by_pass(run)) > 1]
    if not lines:
        return

    def draw(axes: Any) -> None:
        for name, found in lines:
            axes.plot(range(1, len(found) + 1), found, "o-", label=_label(name))
        axes.set(xlabel="pass", ylabel="mean score", xticks=range(1, max(len(found) for _, found in lines) + 1))

    yield "Score by iteration", "the loop's own score, over turns of two passes or more; who starts low rises", draw, 0


def _risk(study: Study) -> Iterator[Part]:
    known = [(run.system, run.abstention.curve) for run in study.runs[:MOST_LINES]
             if run.abstention and run.abstention.curve]  # fmt: skip
    if not known:
        return

    def draw(axes: Any) -> None:
        for name, curve in known:
            axes.plot([point.coverage for point in curve], [point.risk for point in curve], label=_label(name))
        axes.set(xlabel="share of questions answered", ylabel="share of these that is wrong", xlim=(0, 1), ylim=(0, 1))

    yield "Risk and coverage", "from the surest question on; a line that rises knows what it does not know", draw, 0


def _rows(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [_label(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)


def _label(name: str) -> str:
    """A name as Matplotlib can draw it, which reads no control characters."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name[:_LONGEST])


def by_pass(run: RunResult) -> list[float]:
    """For each pass the mean score after it, over turns of two passes or more.

    A turn that has ended keeps its last score, so that every mean is over the same questions.
    """
    scores = [found for row in run.rows if row.turn and len(found := _scores(row.turn)) > 1]
    longest = max((len(found) for found in scores), default=0)
    return [
        math.fsum(found[min(number, len(found) - 1)] for found in scores) / len(scores) for number in range(longest)
    ]


def _scores(turn: Turn) -> list[float]:
    """The scores of a turn's passes; a pass that was not judged keeps the score before it."""
    found: list[float] = []
    for one in turn.passes:
        if one.overall is not None:
            found.append(one.overall)
        elif found:
            found.append(found[-1])
    return found


Spot = tuple[float, float]


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
    """An SVG of its own: a line for each name, in the form ``marks`` (Matplotlib's), a dashed ``guide`` behind them."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
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
        return _saved(figure)
