"""All plots of a report, in their order."""

from collections.abc import Callable, Iterable, Sequence

from selfright.evals.report.charts.differences import forest, measure, queries
from selfright.evals.report.charts.drawing import Drawing, chosen
from selfright.evals.report.charts.judging import passes, reliability, risk
from selfright.evals.report.charts.running import cost, flows, times
from selfright.evals.report.findings import main_metric
from selfright.evals.report.markup import Html, tag
from selfright.evals.report.phrases import Phrases
from selfright.evals.results import Study

_ANSWERS = (forest, passes, risk, cost, times, reliability, flows)
_RETRIEVAL = (measure, queries)


def plots(study: Study, phrases: Phrases) -> Iterable[Html]:
    """All plots for which the study has figures."""
    metric = main_metric(study)
    shown = chosen(study, metric)
    drawing = Drawing(study, shown, phrases)
    if len(shown) < len(study.runs):
        yield tag("p", phrases("plots_cut", shown=len(shown), all=len(study.runs), metric=metric), class_="note")
    drawers: Sequence[Callable[[Drawing], Iterable[Html]]] = _RETRIEVAL if study.kind == "retrieval" else _ANSWERS
    for drawer in drawers:
        yield from drawer(drawing)
