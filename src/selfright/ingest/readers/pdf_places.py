"""Tables on a PDF page that only the places of their cells show, and that the library has as text, or in part."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from math import inf
from statistics import median
from typing import Any

from selfright.ingest.readers.pdf_lines import Line, Piece, downwards, key_of, lines_of
from selfright.ingest.readers.pdf_page import Part
from selfright.ingest.readers.tables import Cell

_APART = 2.4  # heights of a line, from one line to the next
_BLANK, _MORE = 0.45, 0.1  # of a line's height, between two cells, and more than between words
_LARGER = 1.2  # than most letters
_TIGHT = 1.0  # points
_NEAR = 3.0  # points
_FEWEST_ROWS = 3
_FILLED = 0.5  # of the cells
_SHORT = 12  # letters
_FULL, _WIDE = 0.75, 10  # of the width of a paragraph; heights of a line
_FEW, _SOME = 0.1, 0.3  # of the lines
_MOST_LETTERS = 3  # beside the digits of a value

_Columns = list[tuple[float, float]]


def with_tables(parts: Sequence[Part], rules: Sequence[Any]) -> list[Part]:
    """The parts of a page, with a table in place of those that make one: lines of several cells below one another."""
    is_single = all(len(line.pieces) == 1 for part in parts for line in part.lines)
    if is_single and all(above.bottom < below.top + _NEAR for above, below in pairwise(parts)):  # one column of prose
        return list(parts)
    homes: dict[int, int] = {}
    pool: list[Piece] = []
    for n, part in enumerate(parts):
        if _may_be(part):
            own = [piece for line in part.lines for piece in line.pieces if not piece.turn]
            pool += own
            homes |= dict.fromkeys(map(id, own), n)
    found: dict[int, list[Part]] = {}
    taken: set[int] = set()
    for run in _runs(lines_of(downwards(pool))):
        for lines, cut, columns in _fitting(_without_prose(run)):
            inside = {id(piece) for line in lines for piece in line.pieces}
            numbers = {homes[piece] for piece in inside}
            known = [parts[n] for n in numbers if parts[n].rows]
            is_known = not all(_are_in(part, inside) for part in known)
            is_list = len(columns) == 2 and all(parts[n].kind == "list" for n in numbers)
            table = None if is_known or is_list else _table(cut, columns, rules)
            if table and not any(len(part.columns) > len(columns) for part in known):
                found.setdefault(min(numbers), []).append(table)
                taken |= inside
    return [own for n, part in enumerate(parts) for own in _left(part, found.get(n, ()), taken)]


def _may_be(part: Part) -> bool:
    """Whether a part may be of such a table: no table between rules, no column of prose."""
    if part.rows:
        return not all(left[1] == right[0] for left, right in pairwise(part.columns))
    if not part.lines or part.kind == "code":
        return False
    left, right = min(line.left for line in part.lines), max(line.right for line in part.lines)
    is_full = all(line.right > left + _FULL * (right - left) for line in part.lines[:-1])
    is_wide = median(line.right - line.left for line in part.lines) > _WIDE * (part.lines[0].bottom - part.lines[0].top)
    is_single = all(len(line.pieces) == 1 for line in part.lines)
    return not (len(part.lines) >= _FEWEST_ROWS and is_full and is_wide and is_single)


def _are_in(part: Part, inside: set[int]) -> bool:
    """Whether all lines of a table are among these pieces, and say all that its cells do."""
    pieces = [piece for line in part.lines for piece in line.pieces]
    said = sum(len(key_of(cell.text)) for row in part.rows for cell in row)
    return all(id(piece) in inside for piece in pieces) and said <= sum(len(piece.key) for piece in pieces)


def _left(part: Part, tables: Sequence[Part], taken: set[int]) -> Iterator[Part]:
    """The part, or what these tables leave of it, with them where they stand."""
    own = [[piece for piece in line.pieces if id(piece) not in taken] for line in part.lines]
    if not tables and sum(map(len, own)) == sum(len(line.pieces) for line in part.lines):
        yield part
        return
    items: list[Line | Part] = [*(Line.of(pieces) for pieces in own if pieces), *tables]
    items.sort(key=lambda item: item.top)
    for is_table, run in groupby(items, lambda item: isinstance(item, Part)):
        if is_table:
            yield from (item for item in run if isinstance(item, Part))
            continue
        lines = [item for item in run if isinstance(item, Line)]
        text = "\n".join(line.text for line in lines).removeprefix(part.prefix)
        yield replace(part, lines=lines, text=text, top=lines[0].top, bottom=lines[-1].bottom)


def _runs(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Lines that follow one another, without a wide gap and without one in much larger letters, which is a heading."""
    usual = median(piece.size for line in lines for piece in line.pieces) if lines else 0.0
    begin = 0
    for n, line in enumerate(lines):
        height = line.bottom - line.top
        is_heading = len(line.pieces) == 1 and line.pieces[0].size > _LARGER * usual
        if n and (
            is_heading or line.top - lines[n - 1].top > _APART * max(height, lines[n - 1].bottom - lines[n - 1].top)
        ):
            yield lines[begin:n]
            begin = n + is_heading
    yield lines[begin:]


def _without_prose(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines without the columns that are prose beside a table: long lines, of which most are full.

    In a column of long cells the lines stand beside those of the others, or alone.
    """
    prose: set[int] = set()
    for column in _columns(lines):
        own = [(piece, len(line.pieces)) for line in lines for piece in line.pieces if _is_of(piece, column)]
        count, width = len(own), column[1] - column[0]
        values = sum(_is_value(piece.text) for piece, _ in own)
        if count <= _FEWEST_ROWS or 2 * values > count or width < _WIDE * own[0][0].height:
            continue
        full = sum(piece.right > column[0] + _FULL * width for piece, _ in own) / count
        alone = sum(size == 1 for _, size in own) / count
        missed = 1 - (1 - alone) * count / max(1, sum(len(line.pieces) > 1 for line in lines))
        if (full > _FULL and (missed > _FEW or alone < _SOME)) or (full > _FILLED and missed > _SOME):
            prose.update(id(piece) for piece, _ in own)
    pieces = (piece for line in lines for piece in line.pieces if id(piece) not in prose)
    return lines_of(pieces) if prose else lines


def _fitting(lines: Sequence[Line]) -> Iterator[tuple[list[Line], list[Line], _Columns]]:
    """The lines that stand in columns, from the first one with several cells on; as they are, and cut into cells."""
    columns = _columns(lines)
    run: list[tuple[Line, Line]] = []
    for line in [*lines, None] if columns else ():
        fit = line and _fit(line, columns)
        if line and fit:
            cut, columns = fit
            run.append((line, cut))
            continue
        while run and len(run[0][1].pieces) == 1 and run[0][0].left < columns[1][0] - _NEAR:
            del run[0]
        while len(run) > 1 and len(run[-1][1].pieces) == 1 and not _is_tight(run[-2][0], run[-1][0]):
            del run[-1]
        if run:
            yield [line for line, _ in run], [cut for _, cut in run], columns
        run = []


def _is_tight(line: Line, below: Line) -> bool:
    return below.top - line.bottom < _NEAR


def _columns(lines: Sequence[Line]) -> _Columns:
    """Where the pieces stand in those lines that have the most, as at least two of them do; none for one column."""
    counts = Counter(len(line.pieces) for line in lines)
    for count in sorted((n for n in counts if n > 1), reverse=True):
        spans = sorted((p.left, p.right) for line in lines if len(line.pieces) == count for p in line.pieces)
        merged: _Columns = []
        for left, right in spans:
            if merged and left < merged[-1][1] + _NEAR:
                merged[-1] = merged[-1][0], max(merged[-1][1], right)
            else:
                merged.append((left, right))
        if counts[count] > 1 and len(merged) == count:
            return merged
    return []


def _fit(line: Line, columns: _Columns) -> tuple[Line, _Columns] | None:
    """The line with its pieces cut where columns end, and the columns as wide as it needs; None if it does not fit."""
    wider = list(columns)
    cut: list[Piece] = []
    taken: set[int] = set()
    for piece in line.pieces:
        for part in _cut(piece, columns):
            over = [n for n, (left, right) in enumerate(columns) if left < part.right and part.left < right]
            if len(over) > 1:
                return None
            n = over[0] if over else min(range(len(columns)), key=lambda n: _distance(part, columns[n]))
            if n in taken:
                return None
            taken.add(n)
            wider[n] = min(wider[n][0], part.left), max(wider[n][1], part.right)
            cut.append(part)
    if any(left[1] > right[0] for left, right in pairwise(wider)):
        return None
    return Line.of(cut), wider


def _distance(piece: Piece, column: tuple[float, float]) -> float:
    return max(column[0] - piece.right, piece.left - column[1])


def _cut(piece: Piece, columns: _Columns) -> list[Piece]:
    """The piece, or its parts where it reaches over columns of which each begins or ends with a word."""
    over = [column for column in columns if column[0] < piece.right and piece.left < column[1]]
    if len(over) < 2 or not piece.words:
        return [piece]
    walls = [(left[1] + right[0]) / 2 for left, right in pairwise(over)]
    groups = [list(of) for _, of in groupby(piece.words, lambda word: sum(word.x + word.width / 2 > x for x in walls))]
    parts = [piece.of(group) for group in groups]
    gaps = [after.left - before.right for before, after in pairwise(parts)]
    blanks = [b.x - a.x - a.width for part in parts for a, b in pairwise(part.words)]
    least = min(_BLANK * piece.height, median(blanks) + _MORE * piece.height) if blanks else _BLANK * piece.height
    is_level = (
        len(parts) == len(over)
        and min(gaps) > least
        and all(
            abs(part.left - left) < _NEAR or abs(part.right - right) < _NEAR
            for part, (left, right) in zip(parts[1:], over[1:], strict=True)
        )
    )
    return parts if is_level else [piece]


def _table(lines: Sequence[Line], columns: _Columns, rules: Sequence[Any]) -> Part | None:
    """The table that lines make; None where they look like text beside text."""
    texts = [
        [next((p.text or p.key for p in line.pieces if _is_of(p, column)), "") for column in columns] for line in lines
    ]
    is_whole = sum(cell != "" for row in texts for cell in row) == sum(len(line.pieces) for line in lines)
    if not is_whole or sum(sum(map(bool, row)) > 1 for row in texts) < _FEWEST_ROWS:
        return None
    rows = _rows(lines, texts, _walls(rules, columns))
    several = [sum(map(bool, row)) for row in rows if sum(map(bool, row)) > 1]
    values = [[row[n] for row in rows if row[n]] for n in range(1, len(columns))]
    is_short = any(of and (median(map(len, of)) <= _SHORT or 2 * sum(map(_is_value, of)) > len(of)) for of in values)
    is_filled = sum(several) >= _FILLED * len(several) * len(columns) and len(several) >= _SOME * len(rows)
    if not is_filled or not is_short:
        return None
    cells = [list(map(Cell, row)) for row in rows]
    return Part("table", "", lines[0].top, lines[-1].bottom, lines=lines, rows=cells, columns=columns)


def _is_of(piece: Piece, column: tuple[float, float]) -> bool:
    return column[0] <= piece.left and piece.right <= column[1]


def _is_value(text: str) -> bool:
    return any(map(str.isdigit, text)) and sum(map(str.isalpha, text)) <= _MOST_LETTERS


def _walls(rules: Sequence[Any], columns: _Columns) -> list[float]:
    """The heights of the rules that reach over most of the columns."""
    width = columns[-1][1] - columns[0][0]
    return [rule.y1 for rule in rules if abs(rule.y1 - rule.y2) < 1 and abs(rule.x1 - rule.x2) > _FULL * width]


def _rows(lines: Sequence[Line], texts: Sequence[list[str]], walls: Iterable[float]) -> list[list[str]]:
    """Lines put together where one goes on with the cells of the one above, or begins those below; no rule parts them.

    Told by the gaps, and by the first column that most lines have a cell in.
    """
    places = [wall for wall in walls if lines[0].middle < wall < lines[-1].middle]
    steps = [
        inf if any(line.middle < wall < below.middle for wall in places) else below.top - line.top
        for line, below in pairwise(lines)
    ]
    key = next((n for n, column in enumerate(zip(*texts, strict=True)) if 2 * sum(map(bool, column)) >= len(texts)), 0)
    rows: list[list[str]] = []
    begun = [""] * len(texts[0])
    for n, (row, above, below) in enumerate(zip(texts, [median(steps), *steps], [*steps, inf], strict=True)):
        is_whole = any(map(_is_value, row)) or all(row)
        is_alone = sum(map(bool, row)) == 1
        is_next = above < below - _TIGHT or (not row[key] and is_alone and above < below + _TIGHT)
        are_few = is_alone or (rows and 2 * sum(map(bool, row)) <= sum(map(bool, rows[-1])))
        goes_on = rows and are_few and all(over for over, cell in zip(rows[-1], row, strict=True) if cell)
        if not is_whole and n and above < inf and is_next and goes_on and not any(begun):
            rows[-1] = _joined(rows[-1], row)
        elif not is_whole and not row[key] and below < above - _TIGHT and texts[n + 1][key]:
            begun = _joined(begun, row)
        else:
            rows.append(_joined(begun, row))
            begun = [""] * len(row)
    return rows


def _joined(row: Sequence[str], other: Sequence[str]) -> list[str]:
    return [f"{cell}\n{more}".strip() for cell, more in zip(row, other, strict=True)]
