"""Tables of the report: figures, comparisons, refusals, expectations, and where answers get lost on their way."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from selfright.evals.aggregation import STEPS
from selfright.evals.measures.standard import STANDARD
from selfright.evals.report import figures
from selfright.evals.report.findings import Outcome, Pair, against_first, main_metric, outcome, pairs
from selfright.evals.report.markup import Content, Html, data, join, named, tag
from selfright.evals.report.phrases import Phrases
from selfright.evals.report.words import with_unit
from selfright.evals.results import Abstention, Comparison, Estimate, Funnel, Row, RunResult, Study
from selfright.evals.systems import EXPECTED, TARGETED_GAIN

_MARKS = {Outcome.BETTER: "▲", Outcome.WORSE: "▼", Outcome.DIFFERENT: "◆"}
_GROUPS: Mapping[str, Sequence[str]] = {
    "group_right": ("right", "answered", "containment", "f1", "exact_match"),
    "group_judged": ("quality", "grounding", "own_quality", "second_pass_quality"),
    "group_retrieval": (
        "retrieval_precision", "retrieval_recall", "second_pass_precision", "second_pass_recall",
        "targeted_retrieval_rate", "targeted_retrieval_new", "citation_precision",
    ),
    "group_cost": (
        "iterations", "llm_calls", "tokens", "seconds", "infinite_loop_rate", "cut_short", "retrieval_avoided",
    ),
}  # fmt: skip


def table(caption: str, heads: Sequence[Content], rows: Iterable[Sequence[Content]], phrases: Phrases) -> Html:
    """A table with a caption; the first cell of each row names it. It scrolls sideways where it is too wide."""
    head = tag("tr", [tag("th", _broken(one), scope="col") for one in heads])
    body = [tag("tr", tag("th", _broken(row[0]), scope="row"), [tag("td", cell) for cell in row[1:]]) for row in rows]
    return scrolling(tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body)), phrases)


def _broken(cell: Content) -> Content:
    return named(cell) if isinstance(cell, str) and not isinstance(cell, Html) else cell


def scrolling(content: Html, phrases: Phrases) -> Html:
    """Something wide, that scrolls sideways and can be reached by keyboard."""
    return tag("div", content, class_="scroll", tabindex="0", role="region", aria_label=phrases("scroll"))


def summary_table(study: Study, phrases: Phrases) -> Html:
    """Each metric's mean with its interval for each system, and what differs from the first one."""
    known = {(pair.comparison.other, name): found for pair in against_first(study)
             for name, found in pair.comparison.differences.items()}  # fmt: skip

    def cell(run: RunResult, name: str) -> Content:
        found = run.summary.get(name)
        if found is None or found.mean is None:
            return figures.NONE
        difference = known.get((run.system, name))
        mark = _MARKS.get(outcome(name, difference), "") if difference else ""
        return [
            tag("b", figures.value(name, found.mean)),
            f" {mark}" if mark else "",
            tag("small", _under(name, found, len(run.rows))),
        ]

    heads = tag(
        "tr",
        tag("th", phrases("metric"), scope="col"),
        [tag("th", named(run.system), scope="col") for run in study.runs],
    )
    bodies = [
        tag(
            "tbody",
            tag("tr", tag("th", phrases(group), scope="rowgroup", colspan=len(study.runs) + 1), class_="group"),
            [tag("tr", tag("th", named(name), scope="row"), [tag("td", cell(run, name)) for run in study.runs])
             for name in names],
        )
        for group, names in _grouped(study)
    ]  # fmt: skip
    note = phrases("figures_note", base=study.runs[0].system) if known else phrases("figures_note_one")
    drawn = tag("table", tag("caption", note), tag("thead", heads), bodies, class_="wide")
    return join(scrolling(drawn, phrases), _meanings(study, phrases))


def comparison_tables(study: Study, phrases: Phrases) -> Iterable[Html]:
    """Each comparison's difference in the main metric, and what became of the questions."""
    metric = main_metric(study)
    found = [pair for pair in pairs(study) if metric in pair.comparison.differences]
    if found:
        yield table(
            phrases("differences_caption", metric=metric),
            [phrases(name) for name in ("base", "other", "difference", "interval", "p_holm", "reading")],
            [_difference(pair, metric, phrases) for pair in found],
            phrases,
        )
    moved = [(pair.comparison, pair.comparison.moves) for pair in pairs(study) if pair.comparison.moves]
    if moved:
        names = ("right_right", "wrong_right", "right_wrong", "wrong_wrong", "unknown")
        heads = ("base", "other", "move_rr", "move_wr", "move_rw", "move_ww", "move_unknown")
        yield table(
            phrases("moves_caption"),
            [phrases(name) for name in heads],
            [[named(one.base), named(one.other), *(f"{getattr(moves, name):,}" for name in names)]
             for one, moves in moved],
            phrases,
        )  # fmt: skip


def count_tables(study: Study, phrases: Phrases) -> Iterable[Html]:
    """What was answered and refused; verdicts, stop reasons and labels."""
    known = [(run.system, run.abstention) for run in study.runs if run.abstention]
    if known:
        heads = ("system", "answered_right", "answered_wrong", "refused_rightly", "refused_wrongly", "coverage",
                 "risk", "aurc", "aurc_ratio")  # fmt: skip
        rows = [_abstention(system, found) for system, found in known]
        yield table(phrases("abstention_caption"), [phrases(name) for name in heads], rows, phrases)
    if any(run.verdicts for run in study.runs):
        kinds: Sequence[tuple[str, Callable[[RunResult], Mapping[str, int]]]] = (
            ("verdicts", lambda run: run.verdicts),
            ("stop_reasons", lambda run: run.stop_reasons),
            ("qualities", lambda run: run.qualities),
        )
        yield table(
            phrases("shares_caption"),
            [phrases("system"), *(phrases(name) for name, _ in kinds)],
            [[named(run.system), *(_counts(counts(run), phrases) for _, counts in kinds)] for run in study.runs],
            phrases,
        )


def expected_table(study: Study, phrases: Phrases) -> Html | None:
    """The numbers of the seeds beside those of the runs of the same name; None where there are none."""
    runs = {run.system: run for run in study.runs}
    rows: list[Sequence[Content]] = []
    for one in EXPECTED:
        run = runs.get(one.profile)
        found = run.summary.get(one.metric) if run else None
        if found is not None:
            measured = [tag("b", figures.value(one.metric, found.mean)), tag("small", _under(one.metric, found, 0))]
            wanted = figures.value(one.metric, one.value)
            rows.append([one.profile, named(one.metric), wanted, measured, _source(one.source)])
    rows += _targeted(runs, phrases)
    heads = ("system", "metric", "expected_value", "measured", "source")
    if not rows:
        return None
    return table(phrases("expected_note"), [phrases(name) for name in heads], rows, phrases)


def _targeted(runs: Mapping[str, RunResult], phrases: Phrases) -> Iterable[Sequence[Content]]:
    base, other, metric = "self_refine_llm_quality", "self_refine_dynamic_query", "targeted_retrieval_rate"
    found = [runs[name].summary.get(metric) if name in runs else None for name in (base, other)]
    before, after = (one.mean if one else None for one in found)
    if before and after is not None:
        gained = figures.minus(f"{100 * (after / before - 1):+.0f} %")
        what = phrases("targeted_gain", metric=metric, base=base)
        yield [other, what, f"+{100 * TARGETED_GAIN:.0f} %", tag("b", gained), _source("S3 section 10")]


def _difference(pair: Pair, metric: str, phrases: Phrases) -> Sequence[Content]:
    one: Comparison = pair.comparison
    found = one.differences[metric]
    kind = outcome(metric, found)
    return [
        named(one.base),
        named(one.other),
        tag("b", with_unit(metric, figures.signed(metric, found.mean), phrases), class_="count"),
        tag("span", figures.interval(metric, found), class_="count"),
        figures.chance(found.p_holm),
        tag("span", phrases(f"reading_{kind.value}"), class_=f"reading {kind.value}"),
    ]


def _abstention(system: str, found: Abstention) -> Sequence[Content]:
    counts = (found.answered_right, found.answered_wrong, found.refused_rightly, found.refused_wrongly)
    numbers = (found.aurc, found.aurc_ratio)
    return [
        named(system),
        *(f"{count:,}" for count in counts),
        figures.share(found.coverage),
        figures.share(found.risk),
        *(figures.value("", number) for number in numbers),
    ]


def _counts(counts: Mapping[str, int], phrases: Phrases) -> Content:
    """Each with its count; a count stays on the line of its name."""
    shown = [tag("span", f"{phrases.word(name)} {count:,}", class_="count") for name, count in counts.items()]
    return [[", " if number else "", one] for number, one in enumerate(shown)] or figures.NONE


def _grouped(study: Study) -> Iterable[tuple[str, Sequence[str]]]:
    names = list(dict.fromkeys(name for run in study.runs for name, found in run.summary.items() if found.n))
    grouped = {name for group in _GROUPS.values() for name in group}
    if study.kind == "retrieval":
        yield "group_retrieval", names
        return
    for group, wanted in _GROUPS.items():
        if shown := [name for name in wanted if name in names]:
            yield group, shown
    if others := [name for name in names if name not in grouped]:
        yield "group_other", others


def _meanings(study: Study, phrases: Phrases) -> Html:
    known = [metric.name for metric in STANDARD if any(metric.name in run.summary for run in study.runs)]
    if not known:
        return Html("")
    pairs_of = [[tag("dt", name), tag("dd", phrases.meaning(name))] for name in known]
    return tag("details", tag("summary", phrases("means")), tag("dl", pairs_of))


def _under(name: str, found: Estimate, rows: int) -> Content:
    """The interval, and the number of questions where it is not that of all rows."""
    count = ["" if found.n == rows else f"n = {found.n:,}"]
    return [[tag("span", one, class_="count"), " "] for one in (f"[{figures.interval(name, found)}]", *count) if one]


def _source(name: str) -> Html:
    return tag("span", name, class_="count")


MOST_LISTED = 40
_QUESTION, _ID = 300, 90


def losses(study: Study, phrases: Phrases) -> Html:
    """Two tables, and for each system and language the questions lost at each step; nothing without gold answers."""
    found = [(run, funnel) for run in study.runs for funnel in run.funnels]
    watched = [(run, funnel) for run, funnel in found if funnel.asked]
    if not watched:
        return Html("")
    heads = [phrases("system"), phrases("language"), phrases("with_gold"), *(phrases(f"step_{name}") for name in STEPS)]
    outcomes = ("answered_right", "answered_wrong", "refused_rightly", "refused_wrongly")
    return join(
        table(phrases("funnel_caption"), heads, [_lost_counts(run, one) for run, one in watched], phrases),
        table(
            phrases("outcomes_caption"),
            [phrases("system"), phrases("language"), *map(phrases, outcomes)],
            [
                [named(run.system), one.language, *(f"{getattr(one, name):,}" for name in outcomes)]
                for run, one in found
            ],
            phrases,
        ),
        [_lost(run, one, phrases) for run, one in watched],
    )


def _lost_counts(run: RunResult, funnel: Funnel) -> Sequence[Content]:
    """How many questions are left after each step, and how many went at it."""
    cells = [_cell(funnel.kept[step], len(funnel.lost[step])) for step in STEPS]
    return [named(run.system), funnel.language, f"{funnel.asked:,}", *cells]


def _cell(kept: int, lost: int) -> Content:
    return [tag("b", f"{kept:,}"), tag("small", f"−{lost:,}") if lost else ""]


def _lost(run: RunResult, funnel: Funnel, phrases: Phrases) -> Html:
    rows = {row.question_id: row for row in run.rows}
    steps = [(step, funnel.lost[step]) for step in STEPS if funnel.lost[step]]
    title = f"{phrases('funnel_lost')}: {run.system}, {funnel.language}"
    parts: list[Content] = []
    for step, names in steps:
        parts.append(tag("h4", phrases(f"step_{step}"), " ", tag("span", f"{len(names):,}", class_="count")))
        parts.append(_listed(names, rows, phrases))
    return tag("details", tag("summary", title), parts) if parts else Html("")


def _listed(names: Sequence[str], rows: Mapping[str, Row], phrases: Phrases) -> Html:
    shown: Iterable[Html] = (
        tag("li", tag("code", data(name, _ID)), " ", data(rows[name].question, _QUESTION))
        for name in names[:MOST_LISTED]
    )
    left = len(names) - MOST_LISTED
    return tag("ul", shown, tag("li", phrases("more", n=left)) if left > 0 else "", class_="said")
