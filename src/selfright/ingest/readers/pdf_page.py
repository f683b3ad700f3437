"""One PDF page: the blocks that ``liteparse`` finds on it as parts, with their lines or the cells of a table."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from selfright.domain.blocks import BlockKind
from selfright.ingest.readers.headers import form_items
from selfright.ingest.readers.pdf_grid import Column, rows_and_columns, rows_of
from selfright.ingest.readers.pdf_lines import (
    Line,
    Piece,
    downwards,
    in_order,
    key_of,
    lines_of,
    pieces_of,
    plain,
    turn_of,
)
from selfright.ingest.readers.tables import Cell

_LEADERS = re.compile(r"[.·…](?:\s?[.·…]){3,}")
_SPOKEN = re.compile(r"(?:Q|A|질문|답변?)\s?\d{0,3}\s?[.:)：]\s?\S")
_NEXT_LINE = 2.2  # heights of a line, from one to the next within a block
_SET_APART = 1.2  # of the smallest such step
_HEADING_LENGTH = 120
_SAID = 0.9
_THROUGH = 0.8  # of a block
_NEAR = 6.0  # points
_INDENT = 2.0
_SHARED, _CENTRED = 0.3, 0.1  # of the width
_MOST_BLOCKS = 500
_LABEL_WORDS = 3
_FEWEST_LETTERS = 3  # at the beginnings of lines of a block, to be signs
_NUMBERS = tuple("①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮"), tuple(f"{letter}." for letter in "가나다라마바사아자차카타파하")
_NOTE = "※"
_JAMO = frozenset("ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ")


@dataclass(slots=True, eq=False)
class Part:
    """A block of a page, ``top`` and ``bottom`` in points from the page's upper edge.

    ``text`` has a line break wherever the page has one; a table has ``rows`` and the left and right ends of its
    ``columns`` instead. ``page`` to ``end``: the pages that it is on. ``place``: 0 for a header, 2 for a footer.
    """

    kind: BlockKind
    text: str
    top: float
    bottom: float
    prefix: str = ""
    lines: Sequence[Line] = ()
    rows: list[list[Cell]] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    page: int = 0
    end: int = 0
    place: int = 1

    @property
    def said(self) -> str:
        """Its text, or that of its cells."""
        return self.text or " | ".join(cell.text for row in self.rows for cell in row)


def turn(page: Any) -> int:
    """By how many degrees, clockwise, most of a page's text is turned."""
    turns: Counter[int] = Counter()
    for item in page.text_items:
        turns[turn_of(item)] += len(item.text.strip())
    return max(turns, key=turns.__getitem__, default=0)


def parts(page: Any) -> Iterator[Part]:
    """The page's text, once each: its blocks in reading order, and behind them what stands in none of these."""
    blocks = [(block, _block_text(block)) for block in _in_order(page)]
    all_pieces = pieces_of(page)
    own, others = _assign(all_pieces, blocks)
    signs = _signs(all_pieces)
    rules = page.vector_graphics.lines if page.vector_graphics else ()
    filled_in = [field.rect for field in page.form_fields or () if field.rect and field.value]  # told of on their own
    found: list[Part] = []
    for (block, said), pieces in zip(blocks, own, strict=True):
        if said and not (filled_in and pieces and all(any(map(piece.is_in, filled_in)) for piece in pieces)):
            for part in _parts(block, said, pieces, rules, signs):
                found[-1:] = (_pairs(found[-1], part) if found else []) or [*found[-1:], part]
    yield from found
    for _, run in itertools.groupby(sorted(others, key=lambda piece: piece.turn), lambda piece: piece.turn):
        left = list(run)
        top, bottom = min(piece.top for piece in left), max(piece.bottom for piece in left)
        yield Part("paragraph", "\n".join(piece.text for piece in left), top, bottom)


def _in_order(page: Any) -> Iterator[Any]:
    """The blocks in the library's order, but none in front of one that it stands under, as happens at times."""
    left = [(block, *_reach(block, page.width)) for block in page.blocks or () if block.bbox]
    while left:
        most = len(left) if len(left) < _MOST_BLOCKS else 1
        free = (n for n in range(most) if not any(_is_under(left[n], other) for other in left))
        yield left.pop(next(free, 0))[0]


def _reach(block: Any, width: float) -> tuple[float, float]:
    """From where to where a block reaches; over the whole page where it is a table in the middle."""
    begin, end = block.bbox.x, block.bbox.x + block.bbox.width
    is_whole = block.kind == "table" and abs(begin + end - width) < _CENTRED * width
    return (0.0, width) if is_whole else (begin, end)


def _is_under(block: tuple[Any, float, float], other: tuple[Any, float, float]) -> bool:
    (own, begin, end), (above, from_, to) = block, other
    is_below: bool = above.bbox.y + above.bbox.height / 2 < own.bbox.y
    return is_below and min(end, to) - max(begin, from_) > _SHARED * min(end - begin, to - from_)


def _pairs(left: Part, right: Part) -> list[Part]:
    """A table of labels and what stands beside each of them, which the library takes for two columns of text; what
    follows below the labels behind it.
    """
    count = len(right.lines)
    if {left.kind, right.kind} - {"heading", "paragraph"} or not 1 < count <= len(left.lines):
        return []
    lines = list(zip(left.lines, right.lines, strict=False))
    is_level = all(abs(label.top - value.top) < _INDENT and label.right < value.left for label, value in lines)
    texts = [[label.text, value.text] for label, value in lines]
    if not is_level or not (form_items(texts, [False] * count) or _are_labelled(texts)):
        return []
    columns = [(min(line.left for line in of), max(line.right for line in of)) for of in zip(*lines, strict=True)]
    rows = [[Cell(label, is_label=True), Cell(value)] for label, value in texts]
    table = Part("table", "", left.top, lines[-1][0].bottom, rows=rows, columns=columns)
    below = left.lines[count:]
    text = "\n".join(line.text for line in below)
    return [table, *([Part("paragraph", text, below[0].top, left.bottom, lines=below)] if below else [])]


def _are_labelled(rows: Sequence[Sequence[str]]) -> bool:
    """Whether short names without digits stand in front of values, of which some have digits and others do not."""
    labels, values = zip(*rows, strict=True)
    are_names = all(len(of.split()) <= _LABEL_WORDS and of[0].isalpha() and not of[0].islower() for of in labels)
    has_digit = [any(map(str.isdigit, value)) for value in values]
    are_mixed = True in has_digit and has_digit.count(False) > (not has_digit[0])  # but for a name of the column
    return len(rows) > _LABEL_WORDS and are_names and are_mixed and not any(map(str.isdigit, "".join(labels)))


def _block_text(block: Any) -> str:
    said = plain(block.text or " ".join(cell.text for row in rows_of(block) for cell in row)).strip()
    return f"{block.marker or ''} {said or ' '.join(block.lines or ())}".strip()


def _assign(pieces: Sequence[Piece], blocks: Sequence[tuple[Any, str]]) -> tuple[list[list[Piece]], list[Piece]]:
    """The pieces of each block, and those of none. A piece is of the smallest block around it that says it."""
    own: list[list[Piece]] = [[] for _ in blocks]
    known = [(n, block.bbox, key_of(said)) for n, (block, said) in enumerate(blocks)]
    known.sort(key=lambda one: one[1].width * one[1].height)
    others: list[Piece] = []
    for piece in pieces:
        homes = (n for n, box, key in known if not piece.turn and piece.is_in(box) and _says(key, piece))
        home = next(homes, None)
        (others if home is None else own[home]).append(piece)
    for n, _, key in known:  # a block may also say what stands outside of its box
        if sum(len(piece.key) for piece in own[n]) < _SAID * len(key):
            if blocks[n][0].kind != "table":
                own[n] += [piece for piece in others if not piece.turn and piece.key in key]
            others = [piece for piece in others if piece.turn or piece.key not in key]
    return own, others


def _says(key: str, piece: Piece) -> bool:
    """Whether a text has the piece; a table may have its words in several cells."""
    return piece.key in key or (len(piece.words) > 1 and all(key_of(word.text) in key for word in piece.words))


def _is_ruled(block: Any, pieces: Sequence[Piece], rules: Sequence[Any]) -> bool:
    """Whether what the library took for text is a table: rules go through it, and most rows have several cells."""
    box = block.bbox
    is_cut = any(
        abs(rule.x1 - rule.x2) > _THROUGH * box.width and 0 < rule.y1 - box.y < box.height for rule in rules
    ) and any(abs(rule.y1 - rule.y2) > _THROUGH * box.height and 0 < rule.x1 - box.x < box.width for rule in rules)
    rows = rows_and_columns(block, pieces, rules)[0] if is_cut else []
    return 2 * sum(sum(cell.text != "" for cell in row) > 1 for row in rows) >= len(rows) > 1


def _parts(
    block: Any, said: str, pieces: Sequence[Piece], rules: Sequence[Any], signs: frozenset[str]
) -> Iterator[Part]:
    top, bottom = block.bbox.y, block.bbox.y + block.bbox.height
    lines = lines_of(downwards(pieces))
    if lines and 2 * sum(_LEADERS.search(line.text) is not None for line in lines) >= len(lines):
        # The lines of a contents list, whatever it was taken for.
        yield from (Part("list", _LEADERS.sub(" … ", line.text), line.top, line.bottom, "- ") for line in lines)
    elif block.kind == "table" or (len(lines) > 1 and _is_ruled(block, pieces, rules)):
        rows, columns, behind = rows_and_columns(block, pieces, rules)
        end = behind[0].top if behind else bottom
        own = lines[: len(lines) - len(behind)]
        yield Part("table", "", top, end, lines=own, rows=rows, columns=columns)
        if behind:
            yield Part("paragraph", "\n".join(line.text for line in behind), end, bottom, lines=behind)
    elif block.kind in ("code", "grid_fallback") and len(block.lines or ()) > 1:
        yield Part("code", "\n".join(block.lines), top, bottom)
    else:
        yield from _prose(block, said, lines_of(in_order(said, pieces)), signs)


def _prose(block: Any, said: str, lines: Sequence[Line], signs: frozenset[str]) -> Iterator[Part]:
    """A heading, a list item or a paragraph, and what paragraphs the library took for a part of it."""
    mark = (block.marker or "").strip()
    kind: BlockKind = "paragraph"
    prefix = ""
    if block.kind == "heading" and len(said) <= _HEADING_LENGTH:
        kind, prefix = "heading", "#" * min(max(block.level or 1, 1), 6) + " "
    elif block.kind == "list_item":
        kind, prefix = "list", "  " * min(block.level or 0, 8) + (mark if any(map(str.isalnum, mark)) else "-") + " "
    if not lines:
        yield Part(kind, said.removeprefix(mark).strip(), block.bbox.y, block.bbox.y + block.bbox.height, prefix)
    for run in _runs(lines, kind == "list"):
        for n, inner in enumerate([run] if kind == "list" else _around_items(run, signs)):
            if n:
                mark = _sign(inner[0])
                kind, prefix = "list", "- " if mark else ""
            if inner:
                text = "\n".join(line.text for line in inner).removeprefix(mark).strip()
                yield Part(kind, text, inner[0].top, inner[-1].bottom, prefix, inner)
        kind, prefix, mark = "paragraph", "", ""


def _around_items(lines: Sequence[Line], signs: frozenset[str]) -> list[Sequence[Line]]:
    """The lines in front of the first item (none, or all of them), and those of each: a sign in front, others indented.

    The library knows the usual signs; others, and the letters that a font of signs draws them with, are told by that.
    """
    letters = Counter(filter(str.isalnum, map(_sign, lines)))
    signs |= {letter for letter, count in letters.items() if count >= _FEWEST_LETTERS}
    begins = [n for n, line in enumerate(lines) if _sign(line) in signs or (n and _sign(line) == _NOTE)]
    if numbered := _in_turn(lines):
        begins = sorted({*numbered, *(n for n in begins if n > numbered[0])})
    behind = enumerate(lines[begins[0] :], begins[0]) if begins and not numbered else ()
    if not begins or any(n not in begins and line.left < lines[begins[0]].left + _INDENT for n, line in behind):
        return [lines]
    return [lines[: begins[0]], *(lines[n:end] for n, end in zip(begins, [*begins[1:], len(lines)], strict=True))]


def _in_turn(lines: Sequence[Line]) -> list[int]:
    """Which lines begin with the numbers that items have in Korea, from the first one on; two or more, or none."""
    for order in _NUMBERS:
        found: list[int] = []
        for n, line in enumerate(lines):
            if line.text.split(" ", 1)[0] == next(iter(order[len(found) :]), ""):
                found.append(n)
        if len(found) > 1:
            return found
    return []


def _signs(pieces: Sequence[Piece]) -> frozenset[str]:
    """The signs that several lines of a page have in front, at one place; letters are told within a block."""
    found = Counter((_sign(line), round(line.left)) for line in lines_of(downwards(pieces)))
    return frozenset(
        sign for (sign, _), count in found.items() if sign and count > 1 and (sign in _JAMO or not sign.isalnum())
    )


def _sign(line: Line) -> str:
    """A sign alone in front of a line; no digit."""
    words = line.pieces[0].words
    sign = words[0].text if words else ""
    return sign if len(sign) == 1 and len(line.text) > 1 and not sign.isdigit() else ""


def _runs(lines: Sequence[Line], is_item: bool) -> Iterator[Sequence[Line]]:
    """The lines of a block, parted at a wide gap, before ``Q:`` and ``A:``; an item ends at what is off it or left."""
    asks = any(_SPOKEN.match(line.text) and line.text[0] in "Q질" for line in lines)
    steps = [max(below.top - line.top, 1.0) for line, below in itertools.pairwise(lines)]
    begin = 0
    for n, step in enumerate(steps, 1):
        is_wide = step > _NEXT_LINE * max(lines[n].bottom - lines[n].top, 1.0)
        is_spoken = asks and _SPOKEN.match(lines[n].text)
        is_off = step > _SET_APART * min(steps) or lines[n].left < lines[0].left - _NEAR
        if is_wide or is_spoken or (is_item and begin == 0 and is_off):
            yield lines[begin:n]
            begin = n
    if lines:
        yield lines[begin:]
