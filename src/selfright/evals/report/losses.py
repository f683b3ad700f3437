"""Where answers get lost on their way through a turn: the funnel of each system and language, and the questions."""

from collections.abc import Iterable, Mapping, Sequence

from selfright.evals.funnel import STEPS
from selfright.evals.report.markup import Content, Html, data, join, named, tag
from selfright.evals.report.phrases import Phrases
from selfright.evals.report.tables import table
from selfright.evals.results import Funnel, Row, RunResult, Study

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
        table(phrases("funnel_caption"), heads, [_counts(run, one) for run, one in watched], phrases),
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


def _counts(run: RunResult, funnel: Funnel) -> Sequence[Content]:
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
