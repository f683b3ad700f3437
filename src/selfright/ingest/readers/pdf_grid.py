"""A table on a PDF page: its cells as its rules part them, or as the library has them where there are no such rules."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, product, zip_longest
from math import inf
from typing import Any

from selfright.ingest.readers.pdf_lines import Line, Piece, downwards, in_order, lines_of, plain
from selfright.ingest.readers.tables import Cell

_NEAR = 2  # points
_MOST = 300  # rules each way
_ALIGNED = 3  # cells
_MOST_LINES = 12  # of a cell that is level with another by its middle
_AMOUNT = re.compile(r"\D{0,5}\d[\d.,]*\D{0,5}")

Place = tuple[int, int]
"""A row and a column."""

Column = tuple[float, float]
"""Its left and right end, in points."""


def rows_of(block: Any) -> list[Any]:
    """The rows of cells that the library has found in a block, its header first."""
    return [*([block.header] if block.header else []), *(block.rows or [])]


def rows_and_columns(
    block: Any, pieces: Sequence[Piece], rules: Sequence[Any]
) -> tuple[list[list[Cell]], list[Column], Sequence[Line]]:
    """The rows of a table that the library has found, with cells that reach over several columns or rows.

    A column reaches from rule to rule, or where none part the cells over what stands in it. The lines are those behind
    the last row that stand in no column, as a caption does.
    """
    found = rows_of(block)
    grid = _Grid(block.bbox, rules)
    if len(grid.xs) > max([2, *map(len, found)]) and 2 < len(grid.ys) < _MOST:
        return list(grid.rows(pieces)), list(pairwise(grid.xs)), ()
    boxes = ([cell.bbox for cell in column if cell and cell.bbox] for column in zip_longest(*found))
    ends = [(min(b.x for b in of), max(b.x + b.width for b in of)) if of else (0.0, 0.0) for of in boxes]
    lines = lines_of(downwards(pieces))
    behind = _behind(lines, found, ends)
    said = " ".join(line.text for line in behind)
    if level := _level_rows(_in_columns(lines[: len(lines) - len(behind)], ends)):
        return [list(map(Cell, row)) for row in level], ends, behind
    rows: list[list[Cell]] = []
    across: list[Line] = []
    for row, below in zip_longest(found, found[1:]):
        own = [line for line in lines if _is_over(line, row) and not (below and _is_over(line, below))]
        if not own:  # its cells have no places
            whole = " ".join(plain(cell.text) for cell in row if cell and cell.text)
            own = [line for line in lines if line.text == whole]
        if len(own) == 1 and _is_across(own[0], ends) and own[0] not in behind:  # a line of the caption, or of a note
            rows.append([Cell(own[0].text, len(ends))])
            across.append(own[0])
            continue
        across = []
        rows += _rows_in([_texts_in(line, ends) for line in own]) or [
            [Cell(_text(cell, pieces).removesuffix(said).rstrip()) for cell in row]
        ]
    count = len(rows) - len(across)  # those at the end are of no table
    return (rows[:count], ends, [*across, *behind]) if count else (rows, ends, behind)


def _in_columns(lines: Sequence[Line], columns: Sequence[Column]) -> list[list[Line]]:
    """The pieces of lines by the columns that they begin in, each as a line; nothing where one reaches into another."""
    found: list[list[Line]] = [[] for _ in columns]
    lefts = [left - _NEAR for left, _ in columns]
    for piece in (piece for line in lines for piece in line.pieces if columns):
        place = max(0, bisect_right(lefts, piece.left) - 1)
        if piece.right > next(iter(lefts[place + 1 :]), inf) + 2 * _NEAR:
            return []
        found[place].append(Line.of([piece]))
    return found


def _level_rows(columns: Sequence[Sequence[Line]]) -> list[list[str]]:
    """Rows whose cells may have several lines, though no rule parts them: each cell is level with one of the first
    column, by its top or its middle. Nothing where any is not, or where none has several lines.
    """
    first = columns[0] if columns else ()
    if not 1 < len(first) < max(map(len, columns)):
        return []
    tops = Counter(round(line.top / _NEAR) for lines in columns[1:] for line in lines)
    own = {round(line.top / _NEAR) + n for line in first for n in (-1, 0, 1)}
    if any(count > 1 for top, count in tops.items() if top not in own):  # a row without a first cell?
        return []
    for cells in (_by_top, _by_middle):
        found = [cells(first, lines) for lines in columns]
        if all(found):
            return [["\n".join(line.text for line in cell) for cell in row] for row in zip(*found, strict=True)]
    return []


def _by_top(first: Sequence[Line], lines: Sequence[Line]) -> list[list[Line]]:
    tops = [line.top - _NEAR for line in first]
    cells: list[list[Line]] = [[] for _ in first]
    for line in lines:
        cells[max(0, bisect_right(tops, line.top) - 1)].append(line)
    is_level = all(abs(cell[0].top - line.top) <= _NEAR for cell, line in zip(cells, first, strict=True) if cell)
    return cells if is_level else []


def _by_middle(first: Sequence[Line], lines: Sequence[Line]) -> list[list[Line]]:
    left = list(lines)
    cells: list[list[Line]] = []
    for line in first:
        middle = line.top + line.bottom
        off = [abs(left[0].top + left[n].bottom - middle) for n in range(min(len(left), _MOST_LINES))]
        count = off.index(min(off)) + 1 if off and min(off) <= 2 * _NEAR else 0
        cells.append(left[:count])
        del left[:count]
    return [] if left else cells


def _behind(lines: Sequence[Line], rows: Sequence[Any], columns: Sequence[Column]) -> Sequence[Line]:
    """The lines behind the last row, from one that stands across the columns on, which a cell of that row says."""
    across = (n for n, line in enumerate(lines) if rows and _is_over(line, rows[-1]) and _is_across(line, columns))
    behind = lines[next(across, len(lines)) :]
    said = " ".join(line.text for line in behind)
    is_one = (
        behind
        and all(len(line.pieces) == 1 for line in behind)
        and any(plain(cell.text).endswith(said) for cell in rows[-1] if cell)
    )
    return behind if is_one else ()


def _is_over(line: Line, row: Sequence[Any]) -> bool:
    """Whether a line is of a row or stands below it."""
    return line.bottom > min((cell.bbox.y + cell.bbox.height / 2 for cell in row if cell and cell.bbox), default=inf)


def _is_across(line: Line, columns: Sequence[Column]) -> bool:
    """Whether a line is one text that begins in one column and reaches over the next one."""
    return len(line.pieces) == 1 and any(line.left < left - _NEAR and left + _NEAR < line.right for left, _ in columns)


def _rows_in(rows: Sequence[list[str]]) -> list[list[Cell]]:
    """The rows of lines that the library or a lack of rules has as one, where the first cells are blank; else none.

    Each begins with a line of several cells, of which one is a number as the one above it is: no text goes on so.
    """
    for above, row in pairwise(rows):
        if sum(map(bool, row)) < 2 or not any(map(_are_numbers, zip(row, above, strict=True))):
            return []
    return [[Cell(text.strip()) for text in row] for row in rows] if len(rows) > 1 else []


def _texts_in(line: Line, columns: Sequence[Column]) -> list[str]:
    """A line's pieces by the columns that they begin in."""
    texts = [""] * len(columns)
    for piece in line.pieces:
        texts[max(0, bisect_right([left - _NEAR for left, _ in columns], piece.left) - 1)] += f" {piece.text}"
    return texts


def _are_numbers(texts: Sequence[str]) -> bool:
    return all(_AMOUNT.fullmatch(text) for text in texts)


def _text(cell: Any, pieces: Sequence[Piece]) -> str:
    said = plain(cell.text)
    own = [piece for piece in pieces if piece.is_in(cell.bbox)] if cell.bbox and " " in said else []
    return "\n".join(line.text for line in lines_of(in_order(said, own))) or said


class _Grid:
    """The rules within a box, ``xs`` from left to right and ``ys`` downwards, its own edges with them."""

    def __init__(self, box: Any, rules: Sequence[Any]) -> None:
        self._rules: dict[tuple[bool, int], list[tuple[float, float]]] = {}
        for rule in rules:
            upright = abs(rule.x1 - rule.x2) < 1
            place, *ends = (rule.x1, rule.y1, rule.y2) if upright else (rule.y1, rule.x1, rule.x2)
            low, high = (box.y, box.y + box.height) if upright else (box.x, box.x + box.width)
            if min(ends) < high - _NEAR and max(ends) > low + _NEAR:
                self._rules.setdefault((upright, round(place)), []).append((min(ends) - _NEAR, max(ends) + _NEAR))
        self.xs = self._places(True, box.x, box.x + box.width)
        self.ys = self._places(False, box.y, box.y + box.height)

    def _places(self, upright: bool, begin: float, end: float) -> list[float]:
        inner: list[float] = [begin]
        for place in sorted(place for way, place in self._rules if way == upright):
            if inner[-1] + 2 * _NEAR < place < end - 2 * _NEAR:
                inner.append(place)
        return [*inner, end]

    def _is_drawn(self, upright: bool, place: float, along: float) -> bool:
        near = range(round(place) - _NEAR, round(place) + _NEAR + 1)
        return any(low <= along <= high for at in near for low, high in self._rules.get((upright, at), ()))

    def rows(self, pieces: Sequence[Piece]) -> Iterator[list[Cell]]:
        """The cells, with the text that stands in each."""
        slots: dict[Place, list[Piece]] = {}
        for part in (part for piece in pieces for part in self._cut(piece)):
            slots.setdefault(self._slot(part), []).append(part)
        taken: set[Place] = set()
        found: dict[Place, list[Place]] = {}
        for place in product(range(len(self.ys) - 1), range(len(self.xs) - 1)):
            if place not in taken:
                found[place] = list(self._covered_places(*place, slots, taken))
                taken.update(found[place])
        # Where no text begins, the rules are those of frames, and part nothing.
        texts = {place: [p for at in covered for p in slots.get(at, ())] for place, covered in found.items()}
        real = [{place[way] for place in found if texts[place]} for way in (0, 1)]
        rows: dict[int, list[tuple[list[Piece], int, int]]] = {r: [] for r in sorted(real[0])}
        for place in sorted(found, key=lambda place: place[1]):
            deep, wide = ({at[way] for at in found[place]} & real[way] for way in (0, 1))
            if deep and wide:
                rows[min(deep)].append((texts[place], len(wide), len(deep)))
        for n, row in enumerate(rows.values()):
            yield from _split_row(row, is_first=n == 0)

    def _cut(self, piece: Piece) -> Iterator[Piece]:
        """The piece, or the parts that rules cut it into, between words."""
        across = (x for x in self.xs[1:-1] if piece.left < x < piece.right)
        walls = [x for x in across if self._is_drawn(True, x, piece.middle[1])]
        runs = [list(run) for _, run in groupby(piece.words, lambda word: bisect_right(walls, word.x + word.width / 2))]
        yield from map(piece.of, runs) if len(runs) > 1 else (piece,)

    def _slot(self, piece: Piece) -> Place:
        x, y = piece.middle
        row, column = bisect_right(self.ys, y) - 1, bisect_right(self.xs, x) - 1
        return min(max(row, 0), len(self.ys) - 2), min(max(column, 0), len(self.xs) - 2)

    def _covered_places(self, r: int, c: int, slots: dict[Place, list[Piece]], taken: set[Place]) -> Iterator[Place]:
        """The places of the cell that begins at ``r``, ``c``, row by row."""
        wide = deep = 1
        while c + wide < len(self.xs) - 1 and (r, c + wide) not in taken and self._is_open(r, c, c + wide, slots):
            wide += 1
        while r + deep < len(self.ys) - 1 and all(
            (r + deep, n) not in taken and self._goes_down(r + deep, n, slots) for n in range(c, c + wide)
        ):
            deep += 1
        yield from product(range(r, r + deep), range(c, c + wide))

    def _is_open(self, r: int, c: int, beside: int, slots: dict[Place, list[Piece]]) -> bool:
        """Whether no rule parts a place from those to its left, and no gap in a line of text."""
        if self._is_drawn(True, self.xs[beside], (self.ys[r] + self.ys[r + 1]) / 2):
            return False
        before = [piece for n in range(c, beside) for piece in slots.get((r, n), ())]
        return not any(
            abs(piece.middle[1] - other.middle[1]) < piece.height / 2
            for piece in slots.get((r, beside), ())
            for other in before
        )

    def _goes_down(self, r: int, c: int, slots: dict[Place, list[Piece]]) -> bool:
        """Whether no rule parts a place from the one above, and not each has a text in its middle."""
        if self._is_drawn(False, self.ys[r], (self.xs[c] + self.xs[c + 1]) / 2):
            return False
        return not all(self._is_centred(place, slots.get(place, [])) for place in ((r - 1, c), (r, c)))

    def _is_centred(self, place: Place, own: Sequence[Piece]) -> bool:
        top, bottom = min((p.top for p in own), default=0.0), max((p.bottom for p in own), default=0.0)
        return bool(own) and abs(top + bottom - self.ys[place[0]] - self.ys[place[0] + 1]) < 2 * _NEAR


def _side_by_side(columns: Sequence[Sequence[Line]]) -> list[list[str]]:
    """The lines of columns by their height, each a row of texts."""
    homes = {id(piece): n for n, lines in enumerate(columns) for line in lines for piece in line.pieces}
    lines = lines_of(downwards(piece for lines in columns for line in lines for piece in line.pieces))
    places = range(len(columns))
    return [[" ".join(p.text for p in line.pieces if homes[id(p)] == n) for n in places] for line in lines]


def _split_row(row: Sequence[tuple[list[Piece], int, int]], is_first: bool) -> Iterator[list[Cell]]:
    """A row; or several, where no rule parts them but all cells have as many lines, side by side."""
    texts = [lines_of(downwards(own)) for own, _, _ in row]
    filled = list(filter(None, texts))
    ends = [[line.bottom for line in lines] for lines in filled]
    is_several = (
        not is_first and len(filled) >= _ALIGNED and len(ends[0]) > 1
        and all(deep == 1 for _, _, deep in row)
        and all(len(own) == len(ends[0]) for own in ends)
        and all(max(at) - min(at) <= 2 * _NEAR for at in zip(*ends, strict=True))
    )  # fmt: skip
    is_plain = not is_first and len(filled) >= _ALIGNED and all((wide, deep) == (1, 1) for _, wide, deep in row)
    if not is_several and is_plain and (level := _level_rows(texts)):
        yield from (list(map(Cell, cells)) for cells in level)
        return
    if not is_several and is_plain and max(map(len, texts)) > 2 and (rows := _rows_in(_side_by_side(texts))):
        yield from rows
        return
    for n in range(len(ends[0]) if is_several else 1):
        yield [
            Cell("\n".join(line.text for line in (lines[n : n + 1] if is_several else lines)), wide, deep)
            for lines, (_, wide, deep) in zip(texts, row, strict=True)
        ]
