"""How turns went: what they cost, how long they took, and which way they took through the loop."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from selfright.evals.report import figures, series
from selfright.evals.report.charts.drawing import Drawing, in_words, mean_of, room
from selfright.evals.report.findings import main_metric
from selfright.evals.report.markup import Html, tag
from selfright.evals.report.phrases import Phrases
from selfright.evals.report.plots.canvas import Axis
from selfright.evals.report.plots.lines import Series, chart
from selfright.evals.report.plots.rows import Spread, rows
from selfright.evals.report.plots.sankey import Dress, sankey
from selfright.evals.report.tables import scrolling, table
from selfright.evals.results import RunResult

_VERDICTS = {"correct": "v-correct", "ambiguous": "v-ambiguous", "incorrect": "v-incorrect", "unknown": "v-unknown",
             "none": "v-none"}  # fmt: skip
_OUTCOMES = {"right": "v-correct", "answered": "v-none", "rightly refused": "v-refused", "refused": "v-refused",
             "wrongly refused": "v-ambiguous", "wrong": "v-incorrect"}  # fmt: skip


def cost(drawing: Drawing) -> Iterable[Html]:
    """Calls (or seconds, where no model is called) against the main metric, and the systems that none beats in both."""
    phrases, metric = drawing.phrases, main_metric(drawing.study)
    cost = "llm_calls" if any(mean_of(run, "llm_calls") for _, run in drawing.shown) else "seconds"
    known = [(place, run, x, y) for place, run in drawing.shown
             if (x := mean_of(run, cost)) is not None and (y := mean_of(run, metric)) is not None]  # fmt: skip
    if len(known) < 2:
        return
    best = [known[place] for place in series.front([(x, y) for _, _, x, y in known])]
    dots = [
        Series(run.system, place, [(x, y)], rises=_bounds(run, metric), reaches=_bounds(run, cost), joined=False)
        for place, run, x, y in known
    ]
    widest = max(max((high for _, high in dot.reaches), default=0.0) for dot in dots) or max(x for _, _, x, _ in known)
    heights = [bound for dot in dots for pair in dot.rises for bound in pair] + [y for *_, y in known]
    low, high = room(min(heights), max(heights), least=0.1)
    across = Axis(phrases("axis_calls" if cost == "llm_calls" else "axis_seconds"), 0, 1.08 * (widest or 1.0))
    up = Axis(metric, max(0.0, low), min(1.0, high), "{:g}".format)
    title = phrases("plot_cost")
    cells = [[run.system, figures.value(cost, x), figures.value(metric, y)] for _, run, x, y in known]
    steps = [spot for before, after in pairwise(best)
             for spot in ((before[2], before[3]), (after[2], before[3]))] + [(best[-1][2], best[-1][3])]  # fmt: skip
    drawn = [
        chart(in_words(title, cells), across, up, dots, guide=steps),
        drawing.legend([place for place, *_ in known]),
    ]
    note = phrases("plot_cost_note", front=", ".join(run.system for _, run, _, _ in best))
    yield drawing.figure(title, note, drawn, table(title, [phrases("system"), cost, metric], cells, phrases))


def times(drawing: Drawing) -> Iterable[Html]:
    """Quantiles of the time of a turn."""
    phrases = drawing.phrases
    known = [(place, run, found) for place, run in drawing.shown if (found := series.times(run))]
    if not known:
        return
    floor = 0.001  # a logarithm needs something
    spreads = [
        Spread(run.system, place, max(floor, found[0]), max(floor, found[2]), max(floor, found[4]),
               figures.seconds(found[2]), (max(floor, found[1]), max(floor, found[3])), max(floor, found[5]))
        for place, run, found in known
    ]  # fmt: skip
    low, high = min(one.low for one in spreads), max(one.far or one.high for one in spreads)
    axis = Axis(phrases("axis_seconds"), low * 0.85, high * 1.15, log=True)
    title = phrases("plot_time")
    cells = [[run.system, *(figures.seconds(one) for one in found)] for _, run, found in known]
    heads = [phrases("system"), "5 %", "25 %", "50 %", "75 %", "95 %", "100 %"]
    drawn = rows(in_words(title, cells), axis, spreads)
    yield drawing.figure(title, phrases("plot_time_note"), drawn, table(title, heads, cells, phrases))


def flows(drawing: Drawing) -> Iterable[Html]:
    """Verdicts by pass, stop reason and outcome, for each system; the last one unfolded."""
    phrases = drawing.phrases
    graded = [run for _, run in drawing.shown if any(row.turn for row in run.rows)]
    if not graded:
        return
    title = phrases("plot_flow")
    drawn = [_flow(run, phrases, opened=run is graded[-1]) for run in reversed(graded)]
    yield drawing.figure(title, phrases("plot_flow_note"), drawn, wide=True)


def _flow(run: RunResult, phrases: Phrases, *, opened: bool) -> Html:
    passes = series.passes_shown([run])
    paths = series.flows(run, passes)
    cut = series.cut_passes(run)
    heads = [phrases("column_pass", n=number) for number in range(1, passes + 1)]
    if cut:
        heads[-1] = phrases("column_last")
    titles = [*heads, phrases("column_stop"), phrases("column_outcome")]
    stops = dict.fromkeys(run.stop_reasons, "v-stop")
    styles = {**_VERDICTS, **stops, **_OUTCOMES}
    dress = Dress(styles, {state: phrases.word(state) for state in styles}, plain=("v-stop",))
    told = "; ".join(
        f"{' → '.join(phrases.word(state) for state in path if state)} {count}"
        for path, count in sorted(paths.items(), key=lambda item: -item[1])[:12]
    )
    drawn = scrolling(sankey(f"{run.system}: {told}", titles, paths, dress), phrases)
    count = phrases("questions_count", n=f"{sum(paths.values()):,}")
    note = tag("p", phrases("flow_cut", first=passes - 1), class_="note") if cut else ""
    return tag(
        "details", tag("summary", tag("b", run.system), f" ({count})"), drawn, note, open="open" if opened else None
    )


def _bounds(run: RunResult, metric: str) -> Sequence[tuple[float, float]]:
    found = run.summary[metric]
    return [(found.low, found.high)] if found.low is not None and found.high is not None else []
