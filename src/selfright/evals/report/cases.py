"""The questions that correction rescued and broke, with the turns of both systems side by side."""

from collections.abc import Iterable, Sequence

from selfright.evals.report import figures
from selfright.evals.report.findings import Pair, against_first, headline, main_metric, with_last
from selfright.evals.report.markup import Content, Html, data, tag
from selfright.evals.report.phrases import Phrases
from selfright.evals.report.tables import table
from selfright.evals.report.words import per_question
from selfright.evals.results import Pass, Row, Study, Turn

MOST_CASES = 50
MOST_OPEN = 6
_MOST_IDS = 40
_MOST_DOCUMENTS = 10
_MOST_PASSES = 8
_MOST_QUERIES = 10
_QUESTION, _ANSWER, _QUERY, _ID = 600, 1_500, 300, 90


def cases(study: Study, phrases: Phrases) -> Iterable[Html]:
    """Rescued and broken questions of the main comparison, at most 50; the ids of the others."""
    pair = headline(study)
    if pair is None or pair.comparison.moves is None:
        return
    rescued, broken = pair.comparison.rescued, pair.comparison.broken
    yield tag("p", phrases("cases_note", base=pair.comparison.base, other=pair.comparison.other))
    most = _rooms(len(broken), len(rescued))
    # What went wrong is the more instructive half.
    for title, names, room in (("broken", broken, most[0]), ("rescued", rescued, most[1])):
        yield tag("h3", phrases(title), " ", tag("span", f"{len(names):,}", class_="count"))
        yield from _listed(pair, names, room, phrases)
    others = [one for one in against_first(study) if one is not pair and one.comparison.moves]
    others = [one for one in others if one.comparison.other != pair.comparison.other]
    if others:
        yield _others(others, phrases)


def moved_queries(study: Study, phrases: Phrases) -> Iterable[Html]:
    """Of rankings: the queries that the last system moved most, against each other one."""
    metric = main_metric(study)
    for pair in with_last(study):
        gains = per_question(pair, metric)
        heads = [phrases("query"), pair.comparison.base, pair.comparison.other, phrases("difference")]
        for title, found in (("gains", gains), ("losses", gains[::-1])):
            moved = [item for item in found[:_MOST_QUERIES] if (item[1] > 0) == (title == "gains") and item[1]]
            if moved:
                names = phrases("against", base=pair.comparison.base, other=pair.comparison.other)
                rows = [_query(pair, name, gain, metric) for name, gain in moved]
                yield table(f"{phrases(title)}: {names}", heads, rows, phrases)


def _rooms(broken: int, rescued: int) -> tuple[int, int]:
    """How many of each are shown: half each, and what one does not need goes to the other."""
    half = MOST_CASES // 2
    first = min(broken, max(half, MOST_CASES - rescued))
    return first, min(rescued, MOST_CASES - first)


def _listed(pair: Pair, names: Sequence[str], room: int, phrases: Phrases) -> Iterable[Html]:
    shown = [name for name in names if name in pair.rows][:room]
    if not shown:
        yield tag("p", phrases("cases_none"))
        return
    if len(shown) < len(names):
        yield tag("p", phrases("cases_shown", shown=len(shown), all=len(names)), class_="note")
    for number, name in enumerate(shown):
        yield _case(name, *pair.rows[name], pair, phrases, opened=number < MOST_OPEN)


def _case(name: str, before: Row, after: Row, pair: Pair, phrases: Phrases, *, opened: bool) -> Html:
    asked = data(before.question, _QUESTION) if before.question else tag("i", phrases("text_left_out"))
    return tag(
        "details",
        tag("summary", tag("code", data(name, _ID)), " ", asked),
        _gold(before, phrases),
        tag(
            "div",
            _side(pair.comparison.base, before, phrases),
            _side(pair.comparison.other, after, phrases),
            class_="sides",
        ),
        class_="case",
        open="open" if opened else None,
    )


def _gold(row: Row, phrases: Phrases) -> Content:
    if row.answerable is False:
        return tag("p", tag("span", phrases("gold"), class_="key"), phrases("unanswerable"))
    golds = [gold for gold in row.answers if gold][:3]
    if not golds:
        return ""
    shown = [[data(gold, _QUERY), " / " if number < len(golds) - 1 else ""] for number, gold in enumerate(golds)]
    return tag("p", tag("span", phrases("gold"), class_="key"), shown)


def _side(system: str, row: Row, phrases: Phrases) -> Html:
    title = tag("h4", data(system, _ID))
    if row.turn is None:
        return tag("section", title, tag("p", data(row.error or "", _QUERY)))
    turn = row.turn
    answer = data(turn.answer, _ANSWER) if turn.answer else tag("i", phrases("text_left_out"))
    right = row.metrics.get("right")
    why = tag("p", data(right.reason, _QUERY), class_="note") if right and right.reason else ""
    return tag(
        "section",
        title,
        tag("p", tag("b", phrases("refused"), class_="chip") if turn.abstained else "", answer, class_="answer"),
        why,
        tag("p", _facts(turn, phrases), class_="facts"),
        _passes(turn.passes, row.relevant, phrases),
    )


def _facts(turn: Turn, phrases: Phrases) -> Content:
    judged = figures.value("quality", turn.judged.overall) if turn.judged else figures.NONE
    facts = [
        (phrases("verdict"), phrases.word(turn.verdict or "none")),
        (phrases("stopped"), phrases.word(turn.stop_reason)),
        (phrases("judged"), judged),
    ]
    return [[tag("span", key, class_="key"), value, " "] for key, value in facts]


def _passes(passes: Sequence[Pass], relevant: Sequence[str], phrases: Phrases) -> Content:
    rows: list[Html] = []
    for number, one in enumerate(passes[:_MOST_PASSES], start=1):
        query = data(one.query, _QUERY) if one.query else tag("i", phrases("text_left_out"))
        rows.append(
            tag(
                "li",
                tag("p", tag("span", f"{phrases('pass')} {number}", class_="key"), query),
                tag("p", _pass_facts(one, phrases), class_="facts"),
                _documents(one.documents, relevant, phrases),
            )
        )
    return tag("ol", rows, class_="passes") if rows else ""


def _pass_facts(one: Pass, phrases: Phrases) -> Content:
    verdict = one.verdict or "none"
    improved = "" if one.improvement is None else f" ({figures.signed('quality', one.improvement)})"
    score = figures.value("quality", one.overall) + improved
    return [
        tag("span", phrases("verdict"), class_="key"), tag("span", phrases.word(verdict), class_="chip"),
        " ", tag("span", phrases("score"), class_="key"), score,
    ]  # fmt: skip


def _documents(documents: Sequence[str], relevant: Sequence[str], phrases: Phrases) -> Content:
    if not documents:
        return ""
    good = set(relevant)
    shown = [
        tag("li", tag("code", data(name, _ID)), tag("b", f" ✓ {phrases('relevant')}") if name in good else "")
        for name in documents[:_MOST_DOCUMENTS]
    ]
    left = len(documents) - _MOST_DOCUMENTS
    return tag("ul", shown, tag("li", phrases("more", n=left)) if left > 0 else "", class_="documents")


def _others(others: Sequence[Pair], phrases: Phrases) -> Html:
    parts: list[Html] = []
    for pair in others:
        one = pair.comparison
        parts.append(tag("h4", phrases("against", base=one.base, other=one.other)))
        for title, names in (("broken", one.broken), ("rescued", one.rescued)):
            shown = [[tag("code", data(name, _ID)), " "] for name in names[:_MOST_IDS]]
            left = len(names) - _MOST_IDS
            more = phrases("more", n=left) if left > 0 else ""
            parts.append(tag("p", tag("span", f"{phrases(title)} {len(names)}", class_="key"), shown, more))
    return tag("details", tag("summary", phrases("cases_others")), parts)


def _query(pair: Pair, name: str, gain: float, metric: str) -> Sequence[Content]:
    before, after = pair.rows[name]
    asked: Content = [tag("code", data(name, _ID)), " ", data(before.question, _QUERY)]
    return [asked, *(figures.value(metric, row.metrics[metric].value) for row in (before, after)),
            figures.signed(metric, gain)]  # fmt: skip
