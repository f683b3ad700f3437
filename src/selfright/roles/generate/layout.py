"""Units of the evidence → a draft: how each reads outside of its document, and what it cites."""

import re
from collections.abc import Sequence

from selfright.domain.answers import Draft, Sentence
from selfright.domain.blocks import LABELLED, LEAD_IN
from selfright.domain.codes import codes_in, is_named
from selfright.domain.composing import cite, compose
from selfright.domain.passages import Passage
from selfright.roles.answer_units import AnswerUnit
from selfright.roles.visible_text import headings_above

_SENTENCE_END = re.compile(r"[.!?。]\W*$")
_IDENTIFIER = re.compile(r"[A-Za-z]\w*_\w+|\A[A-Za-z]*[a-z][A-Z][A-Za-z]*\Z")  # max_size, or GzipReader all alone
NUMBERED = re.compile(r"^(?:\(?\d{1,3}[.)]\s|[①-⑳]|[가-하][.)]\s)")


def draft_of(groups: Sequence[Sequence[AnswerUnit]]) -> Draft:
    """The draft that says ``groups`` in this order; a group is one sentence or the entries of one list or table.

    Units of one strip share one citation, whose span reaches from the first to the last of them.
    """
    numbers: dict[int, int] = {}
    spans: dict[int, tuple[Passage, int, int]] = {}
    sentences: list[Sentence] = []
    topics: set[str] = set()
    for group in groups:
        for unit, text in zip(group, _layout_group(group, topics), strict=True):
            key = id(unit.strip)
            n = numbers.setdefault(key, len(numbers) + 1)
            passage, start, end = spans.get(key, (unit.strip.passage, unit.start, unit.end))
            led = unit.lead_start if unit is group[0] and unit.lead_start >= 0 else unit.start
            spans[key] = (passage, min(start, unit.start, led), max(end, unit.end))
            sentences.append(Sentence(text, (n,)))
    citations = tuple(cite(numbers[key], *span) for key, span in spans.items())
    return Draft(compose(sentences), tuple(sentences), citations)


def _layout_group(group: Sequence[AnswerUnit], topics: set[str]) -> list[str]:
    """How each unit of a group reads; the first one carries the lead-in. ``topics`` are those named before."""
    first = group[0]
    if first.kind == "sentence":
        if first.under.endswith(("?", "？")):  # an answer may say little without its question ("Yes.")
            return [f"{unit.under} {unit.text}" if unit is first else unit.text for unit in group]
        topic = _naming_heading(first)
        leads = topic and topic not in topics
        topics.add(topic)
        return [f"{topic}: {unit.text}" if leads and unit is first else unit.text for unit in group]
    if first.kind == "code":
        return [f"{_lead(unit)}\n{unit.text}" if unit.lead else unit.text for unit in group]
    if len(group) == 1 and first.kind == "item":
        return [_alone(first)]
    lead = _lead(first) or _topic(first)
    entries = _entries([unit.text for unit in group])
    return [f"{lead}\n{entries[0]}" if lead else entries[0], *entries[1:]]


def _naming_heading(unit: AnswerUnit) -> str:
    """The nearest heading above it that names a code or an identifier that it leaves out ("4.1.3"); may be empty."""
    names = map(_bare, headings_above(unit.strip.passage, unit.start))
    return next((name for name in names if _names_more(name, unit.text)), "")


def _names_more(topic: str, text: str) -> bool:
    identifiers = _IDENTIFIER.findall(topic)
    return any(not is_named(code, text) for code in codes_in(topic)) or any(name not in text for name in identifiers)


def _entries(texts: Sequence[str]) -> list[str]:
    """With their numbers where these differ: Markdown may write 1. before each of a list."""
    marks = [mark.group() if (mark := NUMBERED.match(text)) else "" for text in texts]
    if all(marks) and len(set(marks)) == len(marks):
        return list(texts)
    return [f"- {text[len(mark) :]}" for text, mark in zip(texts, marks, strict=True)]


def _alone(item: AnswerUnit) -> str:
    """An item told outside of its list: without its number, and with what introduces it unless it is a sentence."""
    text = NUMBERED.sub("", item.text, count=1).lstrip()
    is_whole = _SENTENCE_END.search(text) is not None
    named = _naming_heading(item) if is_whole else ""
    lead = _lead(item) or (f"{named}:" if named else "" if is_whole else _topic(item))
    return f"{lead} {text}" if lead else text


def _lead(unit: AnswerUnit) -> str:
    """What introduces it, with a colon where it is a line alone ("Version 3.2")."""
    return unit.lead if not unit.lead or LEAD_IN.search(unit.lead) else f"{unit.lead}:"


def _topic(unit: AnswerUnit) -> str:
    """The heading a list stands under, as its lead-in: "Side effects:"."""
    title = "" if LABELLED.match(unit.text) else unit.strip.passage.title.rstrip(":?!. ")
    heading = _bare(unit.under or unit.strip.passage.section.rpartition(">")[2]) or title
    above = _naming_heading(unit)
    return f"{' › '.join(dict.fromkeys(filter(None, (above, heading))))}:" if heading else ""


def _bare(heading: str) -> str:
    return NUMBERED.sub("", heading.strip()).strip().rstrip(":?!. ")
