"""What the plots of one report share: the systems shown, each with its mark, and the frame around a plot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selfright.evals.report.markup import Content, Html, tag
from selfright.evals.report.phrases import Phrases
from selfright.evals.report.plots.canvas import STYLES, legend
from selfright.evals.results import RunResult, Study


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a plot needs: the study, the systems shown with their marks, the sentences."""

    study: Study
    shown: Sequence[tuple[int, RunResult]]
    phrases: Phrases

    def figure(self, title: str, note: str, drawn: Content, figures_of: Html | None = None, wide: bool = False) -> Html:
        """A plot under its title, with its note and its figures."""
        details = tag("details", tag("summary", self.phrases("plot_figures")), figures_of) if figures_of else ""
        return tag("figure", tag("h3", title), drawn, tag("figcaption", note), details, class_="wide" if wide else None)

    def legend(self, places: Sequence[int] | None = None) -> Html:
        """The systems, or those of some places."""
        return legend([(place, run.system) for place, run in self.shown if places is None or place in places])


def chosen(study: Study, metric: str) -> Sequence[tuple[int, RunResult]]:
    """The first system and the best of the others, in the study's order; each keeps its mark in every plot."""

    def height(place: int) -> float:
        found = study.runs[place].summary.get(metric)
        return -(found.mean or 0.0) if found else 0.0

    best = sorted(range(1, len(study.runs)), key=height)[: STYLES - 1]
    kept = sorted({0, *best}) if study.runs else []
    return [(number, study.runs[place]) for number, place in enumerate(kept)]


def in_words(title: str, cells: Iterable[Sequence[Content]]) -> str:
    """A plot in words, for those who do not see it."""
    return f"{title}: " + "; ".join(" ".join(str(cell) for cell in row) for row in cells)


def room(low: float, high: float, least: float = 0.0) -> tuple[float, float]:
    """A little more than from ``low`` to ``high``, and at least ``least`` wide."""
    missing = max(0.0, least - (high - low)) / 2
    margin = 0.06 * (high - low + 2 * missing) or 0.01
    return low - missing - margin, high + missing + margin
