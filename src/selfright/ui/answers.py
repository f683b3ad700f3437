"""A turn as HTML: live while it runs, then the answer with its marks, its evidence and how it came about."""

import re
from collections.abc import Callable, Iterator, Sequence

from selfright.schemas import AnswerReply, Citation, Iteration, RowList, format_outcome, split_row_lists
from selfright.ui import evidence
from selfright.ui.markup import figure_bars, items, pairs, prose, table, tag, text
from selfright.ui.state import Step, Turn, WithdrawnDraft
from selfright.ui.words import NODES, OUTCOMES, STOPPED, VERDICTS, WITHDRAWN, WORDS, Language, Words, plural_text
from selfright.wire.answers import VerdictReached
from selfright.wire.user_data import TurnLine

_MARK = re.compile(r"\[(\d{1,3})\]|\[(?:Source|출처): ([^\[\]\n]{1,300})\]")
MOST_COPIED = 50
MOST_MISSING = 20
_SIGNS = {"supported": "✓", "unsupported": "✗"}


def live(turn: Turn, language: Language) -> str:
    """What is known of a turn that is still running.

    When its reader stops it nothing more can be sent to the page, so that it was stopped is in it, unseen till then.
    """
    words = WORDS[language]
    said = turn.without_urgent(turn.draft)
    draft = tag("p", text(words["draft"]), cls="quiet") + tag("div", prose(said), cls="prose") if said else ""
    working = tag("p", f"{text(words['working'])} …", cls="quiet working", role="status")
    stopped = tag("div", _notice("failed", "✗", words["broken_off"], words), cls="stopped")
    inner = _urgent(turn.urgent, words) + working + _path(turn.steps, language) + draft + stopped
    return tag("section", inner, cls="selfright live", lang=language, aria_busy="true")


def whole(turn: Turn, name: str, language: Language) -> str:
    """A turn that is over; ``name`` is its place in the page."""
    words = WORDS[language]
    if turn.earlier is not None:
        return _earlier(turn, turn.earlier, name, language)
    if turn.answer is None:
        said = turn.trouble or words["broken_off"]
        shown = _urgent(turn.urgent, words) + _notice("failed", "✗", said, words)
        return tag("section", shown, cls="selfright", lang=language)
    answer = turn.answer
    others = answer.notes[bool(answer.uncovered) :]  # what is not covered has a list of its own
    said = link_citations(turn.without_urgent(answer.answer), answer.citations, name, words)
    parts = [
        _urgent(turn.urgent, words),
        *_notices(answer, words),
        tag("div", said, cls="prose answer", id=f"{name}-answer", lang=answer.language),
        _uncovered_list(answer, words),
        _section(words["removed"], items(tag("del", text(claim)) for claim in answer.removed_claims), cls="removed"),
        _section(words["notes"], items(map(text, others)), cls="notes", lang=answer.language),
        _in_short(answer, language),
    ]
    title = "nearest" if answer.abstained else "evidence"
    sources = evidence.section(name, turn.evidence, answer.citations, words, title)
    beside = tag("aside", sources, cls="beside", aria_label=words["sources"]) if sources else ""
    sides = tag("div", tag("div", "".join(parts), cls="said") + beside, cls="sides" if sources else "")
    inner = sides + _account(turn, answer, language)
    return tag("section", inner, cls="selfright weak" if weakness(answer) else "selfright", lang=language)


def _section(title: str, inner: str, **attributes: str | None) -> str:
    return tag("section", tag("h2", text(title)) + inner, **attributes) if inner else ""


def copy_button(turn: Turn, words: Words) -> str:
    """An answer with its sources as plain text, to be put elsewhere."""
    if turn.answer is None:
        return turn.earlier.answer if turn.earlier else ""
    cited = [f"[{each.n}] {each.title or each.document_id}: {each.url or each.document_id}"
             for each in turn.answer.citations[:MOST_COPIED]]  # fmt: skip
    listed = "\n".join(["", "", f"{words['sources']}:", *cited]) if cited else ""
    return turn.answer.answer + listed


def weakness(answer: AnswerReply) -> str:
    """``none`` where the search found no answer and one was given, ``part`` where something asked is missing."""
    if answer.abstained:
        return ""
    if answer.verdict == "incorrect" and not any(c.from_web for c in answer.citations):
        return "none"
    judged = answer.evaluation
    short = judged is not None and (bool(judged.missing_info) or judged.answer_quality != "adequate")
    return "part" if short and answer.verdict == "ambiguous" else ""


def link_citations(said: str, citations: Sequence[Citation], name: str, words: Words) -> str:
    """An answer as markup, its markers as links to what they cite; a marker of nothing stays text."""
    by_number = {str(citation.n): citation.n for citation in citations}
    by_source: dict[str, int] = {}
    for each in reversed(citations):
        file_name = each.document_id.replace("\\", "/").rpartition("/")[2]
        names = filter(None, (each.url, file_name, each.title, each.document_id))
        by_source |= dict.fromkeys(map(text, names), each.n)

    def link(found: re.Match[str]) -> str:
        n = by_number.get(found[1]) if found[1] else by_source.get(found[2])
        if n is None:
            return found[0]
        label = words["to_source"].format(n=n)
        return tag("a", found[0], href=f"#{evidence.anchor(name, n)}", cls="cite", title=label)

    def marked(part: str) -> str:
        return prose(part, lambda escaped: _MARK.sub(link, escaped))

    parts = split_row_lists(said)
    return "".join(marked(part) if isinstance(part, str) else _rows(part, marked) for part in parts)


def _rows(found: RowList, marked: Callable[[str], str]) -> str:
    """Rows of a table, each with its citations behind it."""
    head = "".join(tag("th", text(name), scope="col") for name in found.head) + tag("td")
    body = "".join(
        tag("tr", "".join(tag("td", marked(cell)) for cell in [*found.cells(row), row.marks])) for row in found.rows
    )
    return tag("div", tag("table", tag("thead", tag("tr", head)) + tag("tbody", body)), cls="wide", tabindex="0")


def _notices(answer: AnswerReply, words: Words) -> Iterator[str]:
    judged_by_stand_in = answer.evaluation is not None and answer.evaluation.source == "heuristic"
    if answer.abstained:
        yield _notice("abstained", "∅", words["abstained_more"], words)
    if answer.degraded:
        yield _notice("degraded", "⚠", words["degraded_more"], words)
    if (judged_by_stand_in or answer.stop_reason == "degraded") and not answer.abstained:
        yield _notice("unverified", "?", words["unverified_more"], words)
    if how := weakness(answer):
        yield _notice("weak", "◐", words[f"weak_{how}"], words)


def _notice(kind: str, sign: str, said: str, words: Words) -> str:
    head = tag("strong", f"{tag('span', sign, aria_hidden='true')} {text(words[kind])}:")
    return tag("p", f"{head} {text(said)}", cls=f"notice {kind}", role="note")


def _urgent(said: str, words: Words) -> str:
    if not said:
        return ""
    head = tag("strong", f"{tag('span', '⚠', aria_hidden='true')} {text(words['urgent'])}")
    return tag("div", head + tag("div", text(said), cls="prose"), cls="urgent", role="alert")


def _uncovered_list(answer: AnswerReply, words: Words) -> str:
    if not answer.uncovered:
        return ""
    lines = items(text(each) for each in answer.uncovered[:MOST_MISSING])
    head = tag("strong", text(words["uncovered"]))
    return tag("div", head + lines, cls="notice uncovered", role="note")


def _in_short(answer: AnswerReply, language: Language) -> str:
    words = WORDS[language]
    if not answer.verdict:
        return ""
    found = plural_text(VERDICTS, language, answer.verdict)
    count = len({citation.document_id for citation in answer.citations})
    cited = words["cited_one"] if count == 1 else words["cited_many"].format(count=count)
    said = f"{words['search']}: {found}" + (f" · {cited}" if count else "")
    return tag("p", text(said), cls="quiet in-short")


def _earlier(turn: Turn, line: TurnLine, name: str, language: Language) -> str:
    words, why = WORDS[language], plural_text(STOPPED, language, line.stop_reason)
    notice = _notice("abstained", "∅", why, words) if line.stop_reason == "abstained" else ""
    answer = tag("div", prose(turn.without_urgent(line.answer)), cls="prose answer", id=f"{name}-answer")
    facts = [pairs([(text(words["sources"]), text(" · ".join(line.documents)))])]
    facts += [pairs([(text(words["stopped"]), text(why))])]
    inner = "".join([_urgent(turn.urgent, words), notice, answer, *facts])
    return tag("section", inner, cls="selfright", lang=language, id=name)


def _account(turn: Turn, answer: AnswerReply, language: Language) -> str:
    words, cost = WORDS[language], answer.cost
    tokens = cost.prompt_tokens + cost.completion_tokens
    spent = words["spent"].format(seconds=cost.seconds, calls=cost.llm_calls, tokens=tokens, web=cost.web_requests)
    stopped = plural_text(STOPPED, language, answer.stop_reason)
    sure = "" if answer.verdict_confidence is None else f" · {answer.verdict_confidence:.2f}"
    facts = pairs(
        [
            (text(words["stopped"]), text(stopped)),
            (text(words["verdict"]), text(plural_text(VERDICTS, language, answer.verdict or "") + sure)),
            (text(words["preset"]), text(answer.preset)),
            (text(words["cost"]), text(spent)),
            (text(words["trace"]), tag("code", text(answer.trace_id))),
        ]
    )
    parts = [facts, _scores(answer.iterations, language), _judgement(answer, words), _path(turn.steps, language)]
    # A chat keeps to its end while it grows: what is unfolded there may not be taller than the window.
    inner = tag("div", "".join(parts), cls="inner", tabindex="0", role="region", aria_label=words["account"])
    summary = tag("summary", f"{text(words['account'])} · {text(stopped)}")
    return tag("details", summary + inner, cls="account")


def _scores(iterations: Sequence[Iteration], language: Language) -> str:
    if not iterations:
        return ""
    words = WORDS[language]
    names = [words["pass"].format(n=n) for n in range(1, len(iterations) + 1)]
    bars = {name: each.overall for name, each in zip(names, iterations, strict=True)}
    head = [text(words[f"column_{each}"]) for each in ("pass", "verdict", "quality", "gain", "same")]
    rows = []
    for name, each in zip(names, iterations, strict=True):
        quality = words["unjudged"] if each.overall is None else f"{each.overall:.2f}"
        gain = "" if each.improvement is None else f"{each.improvement:+.2f}"
        same = "" if each.duplicate_share is None else f"{each.duplicate_share:.0%}"
        verdict = plural_text(VERDICTS, language, each.verdict or "")
        rows.append([text(cell) for cell in (name, verdict, quality, gain, same, each.query)])
    plot = figure_bars(words["threshold"], bars, words["unjudged"])
    listed = table(text(words["scores"]), [*head, text(words["query"])], rows)
    return _section(words["scores"], plot + listed, cls="scores listed")


def _judgement(answer: AnswerReply, words: Words) -> str:
    judged = answer.evaluation
    if judged is None:
        return ""
    names = ("overall", "grounding", "completeness", "accuracy")
    scores = [(text(words[name]), f"{getattr(judged, name):.2f}") for name in names]
    judge = words.get(f"judge_{judged.source}", judged.source)
    missing = (text(words["missing"]), items(map(text, judged.missing_info)))
    facts = pairs([(text(words["judge"]), text(judge)), *scores, missing])
    signs = (
        tag("b", f"{_SIGNS.get(one.status, '?')} {text(words.get(one.status, one.status))}") for one in judged.claims
    )
    said = zip(signs, judged.claims, strict=True)
    claims = items((f"{sign}: {text(claim.text)}" for sign, claim in said), cls="claims")
    listed = tag("h3", text(words["claims"])) + claims if claims else ""
    return _section(words["judgement"], facts + listed, cls="judgement")


def _path(steps: Sequence[Step], language: Language) -> str:
    withdrawn, lines = 0, []
    for step in steps:
        withdrawn += isinstance(step, WithdrawnDraft)
        lines.append(tag("li", _step(step, withdrawn, language)))
    return _section(WORDS[language]["path"], tag("ol", "".join(lines), cls="path") if lines else "")


def _step(step: Step, withdrawn: int, language: Language) -> str:
    words = WORDS[language]
    match step:
        case WithdrawnDraft(draft=draft, reason=reason):
            head = words["withdrawn"].format(n=withdrawn, reason=plural_text(WITHDRAWN, language, reason))
            return tag("b", text(f"↩ {head}"), cls="back-step") + (f" {tag('del', text(draft[:500]))}" if draft else "")
        case VerdictReached(verdict=verdict):
            return f"{text(words['verdict'])}: {tag('b', text(plural_text(VERDICTS, language, verdict)))}"
    said = format_outcome(step.outcome, OUTCOMES[language])
    shown = f": {tag('span', text(said), cls='quiet')}" if said else ""
    return text(plural_text(NODES, language, step.node)) + shown
