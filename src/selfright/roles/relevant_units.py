"""The units that may answer a question: none that only names something, none about other codes than are asked for.

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
    pieces = _of_named_codes(question, answer_units(strips))
    if _ASKS_FOR_TITLE.search(question):
        return pieces
    headings = {strip.passage.document_id: set[str]() for strip in strips}
    for strip in strips:
        headings[strip.passage.document_id].update(_headings(strip.passage))
    asked, kind = content_words(question), answer_type(question)

    def tells(piece: AnswerUnit) -> bool:
        if piece.leads and not (kind in VISIBLE and answer_type_match(kind, question, piece.text)):
            return False
        return not asked.isdisjoint(_list(piece)) or not _is_title(piece, headings[piece.strip.passage.document_id])

    return [piece for piece in pieces if tells(piece)]


def _of_named_codes(question: str, pieces: list[AnswerUnit]) -> list[AnswerUnit]:
    """Without the pieces on other codes of the kinds that the question names, where any is on one of its own."""
    asked = codes_in(question) | codes_in(question.upper())  # people type codes in small letters
    own = [any(is_named(code, _said(piece)) for code in asked) for piece in pieces]
    if not any(own):
        return pieces
    kinds = {code.family for code in asked}
    others = [any(code.family in kinds for code in codes_in(_said(piece))) for piece in pieces]
    return [piece for piece, is_own, is_other in zip(pieces, own, others, strict=True) if is_own or not is_other]


def _said(piece: AnswerUnit) -> str:
    """The piece after what introduces it."""
    return f"{piece.lead or piece.under} {piece.text}"


def _list(piece: AnswerUnit) -> frozenset[str]:
    """The words of what introduces the list that an item stands in."""
    return content_words(piece.lead or piece.under) if piece.kind == "item" else frozenset()


def _is_title(piece: AnswerUnit, headings: Iterable[str]) -> bool:
    """Whether it is a heading once more, or a line of its own above prose that looks like one."""
    if piece.kind not in ("item", "sentence"):
        return False
    return _bare(piece.text) in headings or (piece.kind == "sentence" and _heads_prose(piece))


def _heads_prose(piece: AnswerUnit) -> bool:
    text, bare = visible(piece.strip.passage), _bare(piece.text)
    start, end = piece.start - piece.strip.passage.start, piece.end - piece.strip.passage.start
    is_line = not text[:start].rpartition("\n")[2].strip() and not text[end:].partition("\n")[0].strip()
    is_first = piece.strip.passage.start + start == 0
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
    """Without a number, in small letters."""
    return " ".join(_NUMBER.sub("", text).casefold().split())
