"""The report's plots: how far systems are apart, what judges said, what turns cost and which way they took.

Each shows in words what it is about, and its figures as a table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from selfright.evals.report import figures, series
from selfright.evals.report.findings import against_first, main_metric, with_last
from selfright.evals.report.markup import Content, Html, tag
from selfright.evals.report.phrases import Phrases
from selfright.evals.report.plots.canvas import STYLES, Axis, legend
from selfright.evals.report.plots.lines import Series, Spread, bars, chart, rows
from selfright.evals.report.plots.sankey import Dress, sankey
from selfright.evals.report.tables import scrolling, table
from selfright.evals.report.words import per_question
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


_VERDICTS = {"correct": "v-correct", "ambiguous": "v-ambiguous", "incorrect": "v-incorrect", "unknown": "v-unknown",
             "none": "v-none"}  # fmt: skip
_OUTCOMES = {"right": "v-correct", "answered": "v-none", "rightly refused": "v-refused", "refused": "v-refused",
             "wrongly refused": "v-ambiguous", "wrong": "v-incorrect"}  # fmt: skip


def cost(drawing: Drawing) -> Iterable[Html]:
    """Calls (or seconds, where no model is called) against the main metric, and the systems that none beats in both."""
    phrases, metric = drawing.phrases, main_metric(drawing.study)
    cost = "llm_calls" if any(run.mean("llm_calls") for _, run in drawing.shown) else "seconds"
    known = [(place, run, x, y) for place, run in drawing.shown
             if (x := run.mean(cost)) is not None and (y := run.mean(metric)) is not None]  # fmt: skip
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


def passes(drawing: Drawing) -> Iterable[Html]:
    """The loop's own score after each pass."""
    phrases = drawing.phrases
    found = {place: series.by_pass(run) for place, run in drawing.shown}
    longest = max((len(one) for one in found.values()), default=0)
    if longest < 2:
        return
    lines = [
        Series(run.system, place, [(number, mean) for number, (mean, _) in enumerate(found[place], start=1)])
        for place, run in drawing.shown
        if found[place]
    ]
    scores = [mean for one in found.values() for mean, _ in one]
    low, high = room(min(scores), max(scores), least=0.1)
    across = Axis(phrases("axis_pass"), 0.8, longest + 0.2, lambda value: f"{value:g}" if value == int(value) else "")
    up = Axis(phrases("axis_score"), max(0.0, low), min(1.0, high), "{:g}".format)
    cells = [
        [
            run.system,
            *(f"{mean:.3f} (n = {count:,})" for mean, count in found[place]),
            *[""] * (longest - len(found[place])),
        ]
        for place, run in drawing.shown
        if found[place]
    ]
    heads = [phrases("system"), *(phrases("column_pass", n=number) for number in range(1, longest + 1))]
    title = phrases("plot_passes")
    drawn = [chart(in_words(title, cells), across, up, lines), drawing.legend([line.place for line in lines])]
    yield drawing.figure(title, phrases("plot_passes_note"), drawn, table(title, heads, cells, phrases))


def risk(drawing: Drawing) -> Iterable[Html]:
    """How many answers are wrong when only the surest questions are answered."""
    phrases = drawing.phrases
    known = [(place, run, run.abstention) for place, run in drawing.shown if run.abstention and run.abstention.curve]
    if not known:
        return
    curves = [Series(run.system, place, [(point.coverage, point.risk) for point in found.curve], dotted=False)
              for place, run, found in known]  # fmt: skip
    ends = [Series(run.system, place, [curve.spots[-1]], joined=False)
            for (place, run, _), curve in zip(known, curves, strict=True)]  # fmt: skip
    across, up = Axis(phrases("axis_coverage"), 0, 1), Axis(phrases("axis_risk"), 0, 1)
    cells = [
        [run.system, figures.share(found.coverage), figures.share(found.risk), figures.value("", found.aurc),
         figures.value("", found.aurc_ratio)]
        for _, run, found in known
    ]  # fmt: skip
    heads = [phrases(name) for name in ("system", "coverage", "risk", "aurc", "aurc_ratio")]
    title = phrases("plot_risk")
    drawn = [
        chart(in_words(title, cells), across, up, [*curves, *ends]),
        drawing.legend([place for place, _, _ in known]),
    ]
    yield drawing.figure(title, phrases("plot_risk_note"), drawn, table(title, heads, cells, phrases))


def reliability(drawing: Drawing) -> Iterable[Html]:
    """Scores against how often answers of that score are right."""
    phrases = drawing.phrases
    panels: list[Html] = []
    cells: list[Sequence[Content]] = []
    for place, run in drawing.shown:
        bins = series.reliability(run)
        if not bins:
            continue
        error = figures.value("", series.calibration_error(run))
        dots = Series(
            run.system, place, [(one.said, one.right) for one in bins], sizes=[one.n for one in bins],
            rises=[(one.low, one.high) for one in bins],
        )  # fmt: skip
        across, up = Axis(phrases("axis_said"), 0, 1), Axis(phrases("axis_true"), 0, 1)
        label = phrases("calibration_of", system=run.system, ece=error)
        drawn = chart(label, across, up, [dots], guide=[(0, 0), (1, 1)], width=320, height=290)
        panels.append(tag("div", drawn, tag("p", label), class_="panel"))
        cells += [[run.system, f"{one.said:.3f}", f"{one.right:.3f}", f"{one.low:.2f} … {one.high:.2f}", f"{one.n:,}"]
                  for one in bins]  # fmt: skip
    if panels:
        title = phrases("plot_calibration")
        heads = [phrases("system"), phrases("axis_said"), phrases("axis_true"), phrases("interval"), "n"]
        drawn = tag("div", panels, class_="panels")
        figures_of = table(title, heads, cells, phrases)
        yield drawing.figure(title, phrases("plot_calibration_note"), drawn, figures_of, wide=True)


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
