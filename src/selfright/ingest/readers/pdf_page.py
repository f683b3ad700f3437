"""One PDF page: the blocks that ``liteparse`` finds on it as parts, with their lines or the cells of a table."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from selfright.domain.text import BlockKind
from selfright.ingest.readers.pdf_grid import cells, columns
from selfright.ingest.readers.pdf_lines import Line, Piece, downwards, in_order, key_of, lines_of, pieces_of, plain
from selfright.ingest.readers.tables import Cell

_LEADERS = re.compile(r"[.·…](?:\s?[.·…]){3,}")
_CJK_LETTER = re.compile(r"[\u3001-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60]")
_NEXT_LINE = 2.2  # heights of a line, from one to the next within a block
_SET_APART = 1.2  # of the smallest such step
_HEADING_LENGTH = 120
_SAID = 0.9
_READING: dict[int, Callable[[Piece], tuple[float, float]]] = {
    0: lambda piece: (piece.top, piece.left),
    90: lambda piece: (-piece.left, piece.top),
    180: lambda piece: (-piece.top, -piece.left),
    270: lambda piece: (piece.left, -piece.top),
}
"""How pieces that are turned by so many degrees follow one another."""


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
    columns: list[tuple[float, float]] = field(default_factory=list)
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
    for piece in pieces_of(page):
        turns[piece.turn] += len(piece.text)
    return turns.most_common(1)[0][0] if turns else 0


def parts(page: Any) -> Iterator[Part]:
    """The page's text, once each: its blocks in reading order, and behind them what stands in none of these."""
    blocks = [block for block in page.blocks or () if block.bbox and key_of(_said(block))]
    own, others = _assigned(pieces_of(page), blocks)
    rules = page.vector_graphics.lines if page.vector_graphics else ()
    filled_in = [field.rect for field in page.form_fields or () if field.rect and field.value]  # told of on their own
    standing: list[list[Piece]] = []  # columns of vertical text that follow one another
    for block, pieces in zip(blocks, own, strict=True):
        if filled_in and pieces and all(any(map(piece.is_in, filled_in)) for piece in pieces):
            continue
        upright = _columns_of_letters(pieces)
        standing += upright
        if not upright:
            yield from _from_right_to_left(standing)
            standing = []
            yield from _parts(block, pieces, rules)
    yield from _from_right_to_left(standing)
    for degrees, reading in _READING.items():
        left = sorted((piece for piece in others if piece.turn == degrees), key=reading)
        if left:
            text = "\n".join(Line((piece,)).text for piece in left)
            yield Part("paragraph", text, min(piece.top for piece in left), max(piece.bottom for piece in left))


def _said(block: Any) -> str:
    rows = [*([block.header] if block.header else []), *(block.rows or [])]
    said = plain(block.text or " ".join(cell.text for row in rows for cell in row)).strip()
    return f"{block.marker or ''} {said or ' '.join(block.lines or ())}".strip()


def _assigned(pieces: Sequence[Piece], blocks: Sequence[Any]) -> tuple[list[list[Piece]], list[Piece]]:
    """The pieces of each block, and those of none. A piece is of the smallest block around it that says it."""
    own: list[list[Piece]] = [[] for _ in blocks]
    keys = [key_of(_said(block)) for block in blocks]
    order = sorted(range(len(blocks)), key=lambda n: blocks[n].bbox.width * blocks[n].bbox.height)
    others: list[Piece] = []
    for piece in pieces:
        key = piece.key
        homes = (n for n in order if not piece.turn and piece.is_in(blocks[n].bbox) and key in keys[n])
        home = next(homes, None)
        (others if home is None else own[home]).append(piece)
    # A block may also say what stands outside of its box.
    short = "".join(
        key for key, found in zip(keys, own, strict=True) if sum(len(piece.key) for piece in found) < _SAID * len(key)
    )
    return own, [piece for piece in others if piece.turn or not short or piece.key not in short]


def _columns_of_letters(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Letters that stand one under the other (vertical Korean, Chinese, Japanese), by columns."""
    if len(pieces) < 2 or not all(_CJK_LETTER.fullmatch(piece.text) for piece in pieces):
        return []
    found: dict[int, list[Piece]] = {}
    for piece in downwards(pieces):
        found.setdefault(round(piece.middle[0]), []).append(piece)
    steps = [b.top - a.top for own in found.values() for a, b in itertools.pairwise(own)]
    places = sorted(found)
    beside = min((b - a for a, b in itertools.pairwise(places)), default=float("inf"))
    is_standing = steps and max(steps) <= min(beside, 2 * pieces[0].height)
    return list(found.values()) if is_standing else []


def _from_right_to_left(standing: list[list[Piece]]) -> Iterator[Part]:
    if standing:
        letters = [piece for own in sorted(standing, key=lambda own: -own[0].left) for piece in own]
        top, bottom = min(piece.top for piece in letters), max(piece.bottom for piece in letters)
        yield Part("paragraph", "".join(piece.text for piece in letters), top, bottom)


def _parts(block: Any, pieces: Sequence[Piece], rules: Sequence[Any]) -> Iterator[Part]:
    top, bottom = block.bbox.y, block.bbox.y + block.bbox.height
    lines = list(lines_of(downwards(pieces)))
    if lines and 2 * sum(_LEADERS.search(line.text) is not None for line in lines) >= len(lines):
        # The lines of a contents list, whatever it was taken for.
        yield from (Part("list", _LEADERS.sub(" … ", line.text), line.top, line.bottom, "- ") for line in lines)
    elif block.kind == "table":
        yield Part("table", "", top, bottom, rows=cells(block, pieces, rules), columns=columns(block))
    elif block.kind in ("code", "grid_fallback") and len(block.lines or ()) > 1:
        yield Part("code", "\n".join(block.lines), top, bottom)
    else:
        yield from _prose(block, list(lines_of(in_order(_said(block), pieces))))


def _prose(block: Any, lines: Sequence[Line]) -> Iterator[Part]:
    """A heading, a list item or a paragraph, and what paragraphs the library took for a part of it."""
    said, mark = _said(block), (block.marker or "").strip()
    kind: BlockKind = "paragraph"
    prefix = ""
    if block.kind == "heading" and len(said) <= _HEADING_LENGTH:
        kind, prefix = "heading", "#" * min(max(block.level or 1, 1), 6) + " "
    elif block.kind == "list_item":
        kind, prefix = "list", "  " * min(block.level or 0, 8) + (mark if any(map(str.isalnum, mark)) else "-") + " "
    if not lines:
        yield Part(kind, said.removeprefix(mark).strip(), block.bbox.y, block.bbox.y + block.bbox.height, prefix)
    for n, run in enumerate(_runs(lines, kind == "list")):
        text = "\n".join(line.text for line in run)
        if n == 0:
            yield Part(kind, text.removeprefix(mark).strip(), run[0].top, run[-1].bottom, prefix, run)
        else:
            yield Part("paragraph", text, run[0].top, run[-1].bottom, "", run)


def _runs(lines: Sequence[Line], is_item: bool) -> Iterator[Sequence[Line]]:
    """The lines of a block, parted at a wide gap; what is set apart from a list item is none."""
    steps = [max(below.top - line.top, 1.0) for line, below in itertools.pairwise(lines)]
    begin = 0
    for n, step in enumerate(steps, 1):
        is_wide = step > _NEXT_LINE * max(lines[n].bottom - lines[n].top, 1.0)
        if is_wide or (is_item and begin == 0 and step > _SET_APART * min(steps)):
            yield lines[begin:n]
            begin = n
    if lines:
        yield lines[begin:]
