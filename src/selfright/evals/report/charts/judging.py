"""What judges said: scores by pass, risk by coverage, and whether a score means what it says."""

from collections.abc import Iterable, Sequence

from selfright.evals.report import figures, series
from selfright.evals.report.charts.drawing import Drawing, in_words, room
from selfright.evals.report.markup import Content, Html, tag
from selfright.evals.report.plots.canvas import Axis
from selfright.evals.report.plots.lines import Series, chart
from selfright.evals.report.tables import table


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
