"""How far systems are apart: intervals of differences and means, and query by query."""

from collections.abc import Iterable

from selfright.evals.report import figures
from selfright.evals.report.charts.drawing import Drawing, room
from selfright.evals.report.findings import against_first, main_metric, with_last
from selfright.evals.report.markup import Html
from selfright.evals.report.plots.canvas import Axis
from selfright.evals.report.plots.rows import Spread, bars, rows
from selfright.evals.report.words import per_question


def forest(drawing: Drawing) -> Iterable[Html]:
    """Each system's difference to the first one, with its interval."""
    metric, phrases = main_metric(drawing.study), drawing.phrases
    places = {run.system: place for place, run in drawing.shown}
    spreads = [
        Spread(one.other, places[one.other], found.low, found.mean, found.high,
               f"{figures.signed(metric, found.mean)} [{figures.interval(metric, found)}]")
        for one in (pair.comparison for pair in against_first(drawing.study))
        if one.other in places and (found := one.differences.get(metric))
    ]  # fmt: skip
    if not spreads:
        return
    base = drawing.study.runs[0].system
    low, high = min(0.0, *(one.low for one in spreads)), max(0.0, *(one.high for one in spreads))
    title = phrases("plot_forest", metric=metric, base=base)
    axis = Axis(phrases("difference"), *room(low, high), lambda value: figures.signed(metric, value))
    told = "; ".join(f"{one.name} {one.shown}" for one in spreads)
    yield drawing.figure(title, phrases("plot_forest_note"), rows(f"{title}: {told}", axis, spreads, zero=True))


def measure(drawing: Drawing) -> Iterable[Html]:
    """Each measure's mean by system."""
    for metric in dict.fromkeys(name for _, run in drawing.shown for name in run.summary):
        title = drawing.phrases("plot_measure", metric=metric)
        spreads = [
            Spread(run.system, place, found.low or 0.0, found.mean, found.high or 0.0,
                   f"{figures.value(metric, found.mean)} [{figures.interval(metric, found)}]")
            for place, run in drawing.shown
            if (found := run.summary.get(metric)) and found.mean is not None
        ]  # fmt: skip
        if spreads:
            low, high = room(min(one.low for one in spreads), max(one.high for one in spreads))
            axis = Axis(metric, max(0.0, low), high, "{:.3g}".format)
            told = "; ".join(f"{one.name} {one.shown}" for one in spreads)
            yield drawing.figure(title, drawing.phrases("plot_measure_note"), rows(f"{title}: {told}", axis, spreads))


def queries(drawing: Drawing) -> Iterable[Html]:
    """The last system against each other one, a bar for each query."""
    metric, phrases = main_metric(drawing.study), drawing.phrases
    for pair in with_last(drawing.study):
        gains = [gain for _, gain in per_question(pair, metric)]
        if not any(gains):
            continue
        base, other = pair.comparison.base, pair.comparison.other
        title = phrases("plot_queries", metric=metric)
        reach = max(abs(gain) for gain in gains)
        wins, losses = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
        counts = {"n": len(gains), "wins": wins, "losses": losses, "ties": len(gains) - wins - losses}
        told = phrases("wins", base=base, other=other, **counts)
        axis = Axis("", -reach, reach, lambda value: figures.signed(metric, value))
        note = f"{phrases('plot_queries_note', base=base, other=other)} {told}"
        heading = f"{title}: {phrases('against', base=base, other=other)}"
        yield drawing.figure(heading, note, bars(f"{title}: {told}", axis, gains))
