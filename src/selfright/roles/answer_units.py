"""What an extractive answer is made of: the sentences, list items and table rows inside the strips.

Whether one of them states what is asked, or only speaks of it, is told by its form, not by its wording.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from itertools import zip_longest
from typing import Literal

from selfright.domain.blocks import LEAD_IN, Block, blocks, leads_in, list_entries
from selfright.domain.markup import plain
from selfright.domain.passages import Passage, Strip
from selfright.domain.text import has_hangul, sentence_spans
from selfright.roles.questions import AnswerType, answer_type, answer_type_match
from selfright.roles.visible_text import visible
from selfright.roles.words import content_words

UnitKind = Literal["sentence", "item", "row", "code"]

_RULE = re.compile(r":?-+:?")  # a cell of the line between a table's head and its rows
_CELL = re.compile(r"(?<!\\)\|")
_EDGE = re.compile(r"^\||(?<!\\)\|$")
_QUESTION_MARK = re.compile(r"^(?:Q|Question|질문)[ \t]?\d{0,3}[ \t]?[.:)：][ \t]*")
_ANSWER_MARK = re.compile(r"(?:A|Answer|답변?)[ \t]?\d{0,3}[ \t]?[.:)：][ \t]+")
_WHOLE_ANSWER = 280  # characters of an answer below its question that is said whole
_LONGEST = 700
_MOST = 400


@dataclass(frozen=True, slots=True)
class AnswerUnit:
    """One thing that can be said: ``text`` is how it reads, ``start`` and ``end`` are positions in the document.

    ``lead`` introduces it (a list's lead-in sentence, ``lead_start`` its position); items and rows of one list or
    table share ``group``, which is its position in the document (-1 for sentences). ``before`` is the sentence
    that stands before it in the same paragraph; ``under``, of all units without one, the heading of their section.
    ``leads``: it is a line that introduces the list right below it.
    """

    strip: Strip
    start: int
    end: int
    text: str
    kind: UnitKind
    lead: str = ""
    lead_start: int = -1
    group: int = -1
    before: "AnswerUnit | None" = None
    under: str = ""
    leads: bool = False


def answer_units(strips: Iterable[Strip]) -> list[AnswerUnit]:
    """The units of all strips, in their order; what overlapping strips share is taken once. At most 400."""
    seen: set[tuple[str, int, int]] = set()
    texts: set[str] = set()
    found: list[AnswerUnit] = []
    for strip in strips:
        for unit in _units_of(strip):
            place = (strip.passage.document_id, unit.start, unit.end)
            key = unit.text.casefold()
            if place in seen or (key in texts and unit.kind == "sentence") or len(found) >= _MOST:
                continue
            seen.add(place)
            texts.add(key)
            found.append(unit)
    return found


@lru_cache(maxsize=256)
def _units_of(strip: Strip) -> tuple[AnswerUnit, ...]:
    """Several roles of a turn read the same strips."""
    return tuple(_units(strip))


def _units(strip: Strip) -> Iterator[AnswerUnit]:
    passage = strip.passage
    start, end = strip.start - passage.start, strip.end - passage.start
    lead: AnswerUnit | None = None
    under, asks = "", False
    parts = list(blocks(visible(passage)))
    for block, following in zip_longest(parts, parts[1:]):
        if block.kind == "heading":
            lead = None
            under = _QUESTION_MARK.sub("", plain(visible(passage)[block.start : block.end]))
        elif asks and _answers_whole(visible(passage), block, following):
            mark = _ANSWER_MARK.match(visible(passage), block.start, block.end)
            if block.end > start and block.start < end:
                yield replace(_unit(strip, mark.end() if mark else block.start, block.end, "sentence"), under=under)
        elif block.kind == "paragraph":
            lead = yield from _sentences(strip, block, start, end, under, leads_in(visible(passage), block, following))
        elif block.end > start and block.start < end:
            inside = Block(block.kind, max(block.start, start), min(block.end, end))
            found = [replace(unit, under=under) for unit in _READERS[block.kind](strip, block, inside, lead)]
            # The last item of a list introduces the code that stands in it.
            before_code = block.kind == "list" and following is not None and following.kind == "code"
            leads = before_code and found and LEAD_IN.search(visible(passage)[inside.start : inside.end])
            lead = found.pop() if leads else None
            yield from found
        asks = block.kind == "heading" and under.endswith(("?", "？"))


def _answers_whole(text: str, block: Block, following: Block | None) -> bool:
    """Whether what stands below a question is short, and all of the answer's prose."""
    is_short = block.kind == "paragraph" and block.end - block.start <= _WHOLE_ANSWER
    return is_short and not leads_in(text, block, following)


def _sentences(
    strip: Strip, block: Block, start: int, end: int, under: str, leads: bool
) -> Generator[AnswerUnit, None, AnswerUnit | None]:
    """Yields the sentences of a paragraph that lie in the strip, without those that end with a colon or the like;
    gives back its last one if it ``leads`` in to what follows."""
    text = visible(strip.passage)
    before: AnswerUnit | None = None
    for first, last in sentence_spans(text, block.start, block.end):
        unit = _unit(strip, first, min(last, first + _LONGEST), "sentence", before=before)
        unit = unit if before else replace(unit, under=under)
        before = unit
        if unit.text and last > start and first < end and not LEAD_IN.search(text[first:last]):
            yield replace(unit, leads=True) if leads and last == block.end else unit
    return before if leads else None


def _items(strip: Strip, block: Block, inside: Block, lead: AnswerUnit | None) -> Iterator[AnswerUnit]:
    for first, last in list_entries(visible(strip.passage), inside):
        unit = _unit(strip, first, min(last, first + _LONGEST), "item", lead=lead, group=block.start)
        if unit.text:
            yield unit


def _rows(strip: Strip, block: Block, inside: Block, lead: AnswerUnit | None) -> Iterator[AnswerUnit]:
    text = visible(strip.passage)
    lines = list(sentence_spans(text, block.start, block.end))
    ruled = len(lines) > 1 and all(_RULE.fullmatch(cell.strip()) for cell in _raw_cells(text[slice(*lines[1])]))
    names = _cells(text[slice(*lines[0])] if ruled else strip.passage.head)
    for first, last in lines[2 if ruled else 0 :]:
        shown = _row(names, _cells(text[first : min(last, first + _LONGEST)]))
        if shown and last > inside.start and first < inside.end:
            yield _unit(strip, first, last, "row", shown=shown, lead=lead, group=block.start)


def _code(strip: Strip, block: Block, _: Block, lead: AnswerUnit | None) -> Iterator[AnswerUnit]:
    shown = visible(strip.passage)[block.start : block.end]
    if len(shown) <= _LONGEST:
        yield _unit(strip, block.start, block.end, "code", shown=shown, lead=lead, group=block.start)


_READERS = {"list": _items, "table": _rows, "code": _code}


def _unit(
    strip: Strip,
    first: int,
    last: int,
    kind: UnitKind,
    shown: str = "",
    lead: AnswerUnit | None = None,
    group: int = -1,
    before: AnswerUnit | None = None,
) -> AnswerUnit:
    passage: Passage = strip.passage
    at = passage.start
    return AnswerUnit(
        strip=strip,
        start=at + first,
        end=at + last,
        text=shown or plain(visible(passage)[first:last]),
        kind=kind,
        lead=lead.text if lead else "",
        lead_start=lead.start if lead else -1,
        group=at + group if group >= 0 else -1,
        before=before,
    )


def _cells(line: str) -> list[str]:
    return [plain(cell.replace("\\|", "|")) for cell in _raw_cells(line)]


def _raw_cells(line: str) -> list[str]:
    return _CELL.split(_EDGE.sub("", line.strip()))


def _row(names: list[str], cells: list[str]) -> str:
    """``name: cell; …``; a cell that was merged over columns is said once, and a long one alone is a remark."""
    if len(cells) > 2 and len(cells[0]) > _REMARK and not any(cells[1:]):
        return cells[0]
    if len(names) != len(cells):
        names = [""] * len(cells)
    said: list[str] = []
    for name, cell, before in zip(names, cells, [("", ""), *zip(names, cells, strict=True)], strict=False):
        is_merged = cell == before[1] and (len(cell) > _SHORT_CELL or (name and name == before[0]))
        if cell and not is_merged:
            said.append(f"{name}: {cell}" if name else cell)
    return "; ".join(said)


_REMARK = 40  # characters
_SHORT_CELL = 20  # characters: a number may stand in two columns with reason


# Kinds of things that can be told by their look.
VISIBLE = (AnswerType.NUMBER, AnswerType.TIME, AnswerType.VERSION, AnswerType.PERSON)
_ASKING = re.compile(
    r"\b(?:who|whom|whose|which|what|when|where|why|how)\b"
    r"|누구|누가|무엇|무슨|어느|어떤|어디|언제|얼마|(?<![가-힣])(?:몇|왜)(?![가-힣])",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|‘[^’\n]{1,300}’|「[^」\n]{1,300}」|(?<![\w])'[^'\n]{1,300}'(?![\w])"
)
_DEMANDS = re.compile(r"(?:라|세요|시오|십시오)[.!\"”'’)\]\s]*$")


def outside_quotes(text: str) -> str:
    """The text without what stands between quotation marks."""
    return _QUOTED.sub(" ", text)


class StatementType(IntEnum):
    """How a sentence stands to what is asked."""

    STATES = 0
    MAY_STATE = 1  # it quotes something, or has nothing of the kind that is asked for, as far as that can be seen
    SPEAKS_OF = 2  # it repeats the question, is code, demands something, or has what is asked for in quotation marks


_QUESTION = re.compile(r"[^.;!?。\n]*[?？][\s\"'”’)\]»]*;?")


def beyond_questions(text: str) -> str:
    """What ``text`` says beside questions; all of it where it says nothing else."""
    if "?" not in text and "？" not in text:  # else every sentence is looked through from each of its letters on
        return text
    rest = _QUESTION.sub(" ", text)
    return rest if rest.strip(" ;:") else text


@lru_cache(maxsize=1024)
def statement_type(question: str, text: str, kind: UnitKind = "sentence") -> StatementType:
    """How ``text`` stands to ``question``. A question that it answers itself (a pair of question and answer in one row)
    does not count, nor does a word that asks in a row: it is part of a column's name ("What to do").

    A pass asks this of the same sentences before grading, after refinement and when it writes: 1,024 answers are kept.
    """
    asked = _read_question(question)
    said = beyond_questions(text)
    is_pair, text = said != text, said
    visible = asked.kind in VISIBLE or (asked.kind is AnswerType.PLACE and not has_hangul(text))
    quotes = _QUOTED.search(text) is not None
    asks = kind != "row" and not _interrogatives(text).isdisjoint(asked.interrogatives)
    if kind == "code" or asks or content_words(text) <= asked.words:
        return StatementType.SPEAKS_OF
    if visible and (
        _DEMANDS.search(text) or (quotes and not answer_type_match(asked.kind, question, outside_quotes(text)))
    ):
        return StatementType.SPEAKS_OF
    unseen = visible and not is_pair and not answer_type_match(asked.kind, question, text)
    return StatementType.MAY_STATE if quotes or unseen else StatementType.STATES


@dataclass(frozen=True, slots=True)
class _Asked:
    kind: AnswerType
    words: frozenset[str]
    interrogatives: frozenset[str]


@lru_cache(maxsize=64)
def _read_question(question: str) -> _Asked:
    asking = _ASKING.search(question)
    return _Asked(
        answer_type(question), content_words(question), frozenset({asking.group().casefold()} if asking else ())
    )


def _interrogatives(text: str) -> frozenset[str]:
    return frozenset(match.group().casefold() for match in _ASKING.finditer(text))
