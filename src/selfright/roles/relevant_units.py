"""Chooses the units that may answer a question: no titles, and none about other codes than are asked for.

A title, or an item of an agenda that a section takes up, shares many words with a question about its subject, and
states nothing.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from selfright.domain.blocks import blocks
from selfright.domain.codes import codes_in, is_named
from selfright.domain.markup import plain
from selfright.domain.passages import Passage, Strip
from selfright.roles.answer_units import VISIBLE, AnswerUnit, answer_units
from selfright.roles.questions import answer_type, answer_type_match
from selfright.roles.visible_text import visible
from selfright.roles.words import content_words

_NUMBER = re.compile(r"^\W*(?:(?:\w+ )?\d{1,3}(?:\.\d{1,3})*\s*[.):]?\s+)?")
_LONGEST = 80
_VALUE = re.compile(r"[:：;|\d]")
_ENDS = re.compile(r"[.!?…。][\s\"'”’)\]]*$")
_STATES = re.compile(r"(?:[다요음함됨임까죠]|것)$")
_ASKS_FOR_TITLE = re.compile(r"\b(?:titles?|titled|headings?|named?|called)\b|제목|이름|명칭", re.IGNORECASE)


def units_for(question: str, strips: Sequence[Strip]) -> list[AnswerUnit]:
    """The units of the strips that may answer ``question``. Titles are left out unless the question asks for a title or
    for the list they stand in; a line above a list unless it shows what is asked for (a date)."""
    units = _of_named_codes(question, answer_units(strips))
    if _ASKS_FOR_TITLE.search(question):
        return units
    headings = {strip.passage.document_id: set[str]() for strip in strips}
    for strip in strips:
        headings[strip.passage.document_id].update(_headings(strip.passage))
    asked, kind = content_words(question), answer_type(question)

    def tells(unit: AnswerUnit) -> bool:
        if unit.leads and not (kind in VISIBLE and answer_type_match(kind, question, unit.text)):
            return False
        return not asked.isdisjoint(_list_words(unit)) or not _is_title(unit, headings[unit.strip.passage.document_id])

    return [unit for unit in units if tells(unit)]


def _of_named_codes(question: str, units: list[AnswerUnit]) -> list[AnswerUnit]:
    """Without the units on other codes of the kinds that the question names, where any is on one of its own."""
    asked = codes_in(question) | codes_in(question.upper())  # people type codes in small letters
    own = [any(is_named(code, _said(unit)) for code in asked) for unit in units]
    if not any(own):
        return units
    kinds = {code.family for code in asked}
    others = [any(code.family in kinds for code in codes_in(_said(unit))) for unit in units]
    return [unit for unit, is_own, is_other in zip(units, own, others, strict=True) if is_own or not is_other]


def _said(unit: AnswerUnit) -> str:
    """Its text, with what introduces it in front."""
    return f"{unit.lead or unit.under} {unit.text}"


def _list_words(unit: AnswerUnit) -> frozenset[str]:
    """The words of what introduces the list that an item stands in."""
    return content_words(unit.lead or unit.under) if unit.kind == "item" else frozenset()


def _is_title(unit: AnswerUnit, headings: Iterable[str]) -> bool:
    """Whether it repeats a heading, or looks like one and stands on a line of its own above prose."""
    if unit.kind not in ("item", "sentence"):
        return False
    return _bare(unit.text) in headings or (unit.kind == "sentence" and _heads_prose(unit))


def _heads_prose(unit: AnswerUnit) -> bool:
    text, bare = visible(unit.strip.passage), _bare(unit.text)
    start, end = unit.start - unit.strip.passage.start, unit.end - unit.strip.passage.start
    is_line = not text[:start].rpartition("\n")[2].strip() and not text[end:].partition("\n")[0].strip()
    is_first = unit.strip.passage.start + start == 0
    forms = (_ENDS, _STATES) if is_first else (_ENDS, _STATES, _VALUE)
    if not is_line or len(bare) > _LONGEST or any(form.search(bare) for form in forms):
        return False
    if is_first and text[end:].strip() and "\n\n" in text[end : end + 4]:
        return True
    following = text[end:].lstrip().partition("\n")[0].rstrip()
    return bool(_ENDS.search(following)) or len(following) > _LONGEST


@lru_cache(maxsize=512)
def _headings(passage: Passage) -> frozenset[str]:
    text = visible(passage)
    inside = (plain(text[block.start : block.end]) for block in blocks(text) if block.kind == "heading")
    return frozenset(filter(None, map(_bare, (passage.title, *passage.section.split(">"), *inside))))


def _bare(text: str) -> str:
    """The text in small letters, without a number in front."""
    return " ".join(_NUMBER.sub("", text).casefold().split())
