"""Tables of every format: a merged cell counts wherever it reaches, a header of several rows becomes one."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile
from operator import itemgetter
from typing import TypeVar

from selfright.ingest.readers import markup
from selfright.ingest.readers.headers import count_above, form_items, has_groups, has_header, spread_groups

_MOST_COLUMNS = 1_000  # that a cell reaches over, as in HTML
_MOST_COVERED = 1_000_000  # cells that are repeated in a table
_MOST_HEADER_ROWS = 4
_SEEN_ROWS = 20  # of a table, that tell what its columns hold
_BETWEEN = " – "
_SENTENCE = re.compile(r"[^\W\d_]{2}[.!?]$")
_Any = TypeVar("_Any")


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, how many columns and rows it reaches over, and the first column that it may stand in.

    ``is_label``: it looks like the name of what stands beside or below it.
    """

    text: str
    columns: int = 1
    rows: int = 1
    place: int = 0
    is_label: bool = False


@dataclass(slots=True)
class _Row:
    """The texts of a row, as many as there are columns; ``length`` is without those that were not given.

    ``labels``: whether each looks like a label, None where there is no cell. ``has_group``: a cell reaches over some
    columns, not over all of them, which is ``is_one``. ``is_under``: a cell from above reaches into it. ``is_parted``:
    the row below has several cells where this one has one. ``is_deep``: a cell reaches into the row below.
    """

    texts: list[str]
    labels: list[bool | None]
    length: int = 0
    has_group: bool = False
    is_one: bool = False
    is_under: bool = False
    is_parted: bool = False
    is_deep: bool = False

    @property
    def said(self) -> set[str]:
        return set(filter(None, self.texts))


def tables(rows: Sequence[Sequence[Cell]], header_rows: int = 0) -> Iterator[markup.Block]:
    """The Markdown tables in rows of cells, and what stands above them as paragraphs.

    A row has the cells that begin in it; a place that is covered from above or from the left has none. Blank rows part
    two tables. Rows at the top that say one thing over all columns are a caption, and so is a cell that stands alone.
    The header is of ``header_rows`` rows (0: not known, -1: there is none) and goes on for as long as its cells are
    merged; its parts are joined (``2025 – Units``). A row alone behind the last blank one (a total) belongs to the
    table above. Where each value has its label in front of it they are items.
    """
    grid = _grid(rows)
    if not header_rows and (items := _items(grid)):
        yield from items
        return
    for part in _bands(grid, lambda row: len(row.said)):
        yield from _table(part, header_rows)
        header_rows = 0


def sheet_blocks(rows: Sequence[Sequence[Cell | None]]) -> Iterator[markup.Block]:
    """The tables of a sheet, one under the other or side by side; None is a place that another cell covers.

    Words in a cell or two, line by line, are no table, nor are those in one column beside tables, or below a sentence.
    """
    bands: list[list[Sequence[Cell | None]]] = []
    for band in _bands(rows, _fill):
        if bands and _is_more(bands[-1][:_SEEN_ROWS], band):
            bands[-1] += band
        else:
            bands.append(band)
    for band in bands:
        said = [[cell.text for cell in row if cell and cell.text] for row in band]
        is_column = max(map(len, said)) < 2 and (len(bands) > 1 or _SENTENCE.search(said[0][0]) is not None)
        if is_column or [_fill(row) for row in band] in ([2], [1, 2], [1, 1, 2]):
            yield from as_lines(said)
            continue
        for part in _beside(band):
            yield from tables(part)


def _fill(row: Sequence[Cell | None]) -> int:
    return len(row) - sum(cell.columns for cell in row if cell and not cell.text)


def _is_more(above: Sequence[Sequence[Cell | None]], band: Sequence[Sequence[Cell | None]]) -> bool:
    """Whether rows behind a blank one are more of the table above: they have no columns and no names of their own.

    Their first row has a value as those below it, or one that comes in the rows above, or a number where there is none.
    """
    width = max(map(len, (*above, *band)))
    texts = [[cell.text if cell else "" for cell in row] + [""] * (width - len(row)) for row in band]
    own = [n for n in range(width) if any(row[n] for row in texts)]
    known = {n for row in above for n, cell in enumerate(row) if not _is_blank(cell)}
    said = {(n, cell.text) for row in above[1:] for n, cell in enumerate(row) if cell and cell.text}
    has_value = not has_header(texts) or not said.isdisjoint(enumerate(texts[0]))
    is_first = _has_number(texts[0]) and not any(_has_number([cell.text for cell in row if cell]) for row in above)
    return _fill(band[0]) > 1 and known.issuperset(own[1:]) and (has_value or is_first)


def _has_number(texts: Iterable[str]) -> bool:
    return any(text.strip("()+-%").replace(",", "").replace(".", "").isdecimal() for text in texts)


def _bands(rows: Iterable[_Any], fill: Callable[[_Any], int]) -> list[list[_Any]]:
    """The rows between blank ones; one alone at the end goes with those above it, as the line of a total does."""
    bands = [list(band) for filled, band in groupby(rows, lambda row: fill(row) > 0) if filled]
    if len(bands) > 1 and len(bands[-1]) == 1 and fill(bands[-1][0]) > 1 and len(bands[-2]) > 1:
        bands[-2:] = [[*bands[-2], *bands[-1]]]
    return bands


def _beside(rows: Sequence[Sequence[Cell | None]]) -> Iterator[list[list[Cell]]]:
    """The tables that lie side by side: those with rows of their own, or with a name of a column that another has.

    None is a place that another cell covers.
    """
    width = max(map(len, rows), default=0)
    blank = [True, *(all(n >= len(row) or _is_blank(row[n]) for row in rows) for n in range(width)), True]
    edges = [n for n, (before, here) in enumerate(pairwise(blank)) if before != here]
    runs = list(zip(edges[::2], edges[1::2], strict=True))
    parts = [[row[start:end] for row in rows] for start, end in runs]
    filled = [[n for n, row in enumerate(part) if not all(map(_is_blank, row))] for part in parts]
    heads = [[cell.text for cell in part[own[0]] if cell] for part, own in zip(parts, filled, strict=True)]
    has_own_rows = len({(own[0], own[-1]) for own in filled}) > 1
    is_parted = has_own_rows or len(set(map(tuple, heads))) < len(heads) or _share(heads, parts)
    if not is_parted or any(end - start < 2 for start, end in runs):
        parts, filled = [list(rows)], [[0, len(rows) - 1]]
    for part, own in zip(parts, filled, strict=True):
        yield [[cell for cell in row if cell] for row in part[own[0] : own[-1] + 1]]


def _share(heads: Sequence[Sequence[str]], parts: Sequence[Sequence[Sequence[Cell | None]]]) -> bool:
    """Whether parts have names of columns in common, and each begins with words, as what its rows are about."""
    names = [set(filter(None, head)) for head in heads]
    begins = [cell.text for part in parts for row in part for cell in row[:1] if cell]
    return sum(map(len, names)) > len(set().union(*names)) and not any(map(str.isdecimal, "".join(begins)))


def _is_blank(cell: Cell | None) -> bool:
    return cell is not None and not cell.text


def as_lines(rows: Iterable[Sequence[str]]) -> Iterator[markup.Block]:
    """Rows of texts that are no table, each as a paragraph, without the mark of a comment."""
    yield from (("paragraph", ", ".join(filter(None, row)).lstrip("# ")) for row in rows)


def plain_rows(rows: Iterable[Sequence[str]]) -> list[list[Cell]]:
    """Rows of texts as rows of cells, none of them merged."""
    return [[Cell(text) for text in row] for row in rows]


def split_header(rows: Sequence[Sequence[Cell]]) -> Iterator[Sequence[Sequence[Cell]]]:
    """What stands above the header, the header, and the rows below it, of rows without merged cells."""
    grid = _grid(rows)
    texts = [row.texts for row in grid]
    above = count_above(texts, [row.length for row in grid])
    below = above + (2 if has_groups(texts[above:]) else has_header(texts[above:]))
    yield from (rows[:above], rows[above:below], rows[below:])


def _items(rows: Sequence[_Row]) -> list[markup.Block]:
    """A table in which each value has its label in front of it, as items ``label: value``; nothing of another one."""
    blocks: list[markup.Block] = []
    for row in rows:
        places = [place for place in zip(row.labels, row.texts, strict=True) if place[0] is not None]
        runs = [
            (kind, list(dict.fromkeys(text for _, text in run if text))) for kind, run in groupby(places, itemgetter(0))
        ]
        if len(runs) == 1 and len(runs[0][1]) < 2:
            blocks += (("paragraph", text) for text in runs[0][1])
            continue
        is_paired = [kind for kind, _ in runs] == [True, False] * (len(runs) // 2)
        if not is_paired or any(len(said) > 1 for _, said in runs[1::2]):
            return []
        for (_, labels), (_, values) in zip(runs[::2], runs[1::2], strict=True):
            label = _BETWEEN.join(labels).rstrip(" :")
            blocks += (("list", markup.item(f"{label}: {value}" if label else value)) for value in values)
    return blocks if any(kind == "list" for kind, _ in blocks) else []


def _grid(rows: Sequence[Sequence[Cell]]) -> list[_Row]:
    """Every place of the table with the text of the cell that reaches it, in rows of one length."""
    if not any(cell.columns > 1 or cell.rows > 1 or cell.place for row in rows for cell in row):
        width = max(map(len, rows), default=0)
        return [
            _Row([*(markup.one_blank(cell.text) for cell in row), *[""] * blank],
                 [*(cell.is_label for cell in row), *[None] * blank], len(row))
            for row, blank in ((row, width - len(row)) for row in rows)
        ]  # fmt: skip
    found: list[dict[int, tuple[str, bool | None]]] = [{} for _ in rows]
    begun: list[set[int]] = [set() for _ in rows]
    grid = [_Row([], []) for _ in rows]
    groups: list[tuple[int, int, range]] = []
    covered = 0
    for number, row in enumerate(rows):
        column = 0
        for cell in row:
            while column in found[number] or column < min(cell.place, _MOST_COLUMNS):
                column += 1
            wide = min(max(cell.columns, 1), _MOST_COLUMNS)
            deep = min(max(cell.rows, 1), len(rows) - number)
            covered += wide * deep - 1
            if covered > _MOST_COVERED:
                wide = deep = 1
            said = markup.one_blank(cell.text), cell.is_label
            grid[number].is_deep |= deep > 1
            for below in range(number, number + deep):
                grid[below].is_under |= below > number
                for place in range(column, column + wide):
                    found[below].setdefault(place, said)
            begun[number].add(column)
            if wide > 1:
                groups.append((number, number + deep, range(column, column + wide)))
            column += wide
    columns = sorted(set().union(*begun))  # where none begins, two are merged in every row
    for first, end, group in groups:
        wide = bisect_left(columns, group.stop) - bisect_left(columns, group.start)
        grid[first].has_group |= 1 < wide < len(columns)
        grid[end - 1].is_parted |= end < len(rows) and len(begun[end].intersection(group)) > 1
        for reached in grid[first:end]:
            reached.is_one |= wide >= len(columns)
    for whole, texts in zip(grid, found, strict=True):
        whole.length = bisect_right(columns, max(texts, default=-1))
        places = [texts.get(place, ("", None)) for place in columns]
        whole.texts, whole.labels = [text for text, _ in places], [label for _, label in places]
    return grid


def _goes_on(header: Sequence[_Row], row: _Row, texts: Sequence[Sequence[str]]) -> bool:
    """Whether a row, the first of ``texts``, is of the header above it: it parts a cell of that, or both begin blank.

    A cell that reaches down beside cells that nothing parts is the name of rows, and so is one that begins in a row
    without groups.
    """
    is_unnamed = not (header[-1].texts[0] or row.texts[0] or _has_number(row.texts))
    is_part = header[-1].is_parted and (row.has_group or not row.is_deep)
    is_under = row.is_under and any(above.is_parted for above in header)
    return is_under or ((is_part or is_unnamed) and has_header(texts))


def _table(rows: Sequence[_Row], header_rows: int) -> Iterator[markup.Block]:
    wide = max((len(row.said) for row in rows), default=0)
    # One name alone is a title, but not over the second of two columns.
    while wide > 1 and len(rows) > 1 and len(rows[0].said) == 1 and (rows[0].texts[0] or len(rows[0].texts) > 2):
        yield from as_lines([[*rows[0].said]])
        rows, header_rows = rows[1:], header_rows - (header_rows > 0)
    if len(rows) == 1 and wide == 1:
        yield from as_lines([[*rows[0].said]])
        return
    is_named = len(rows) > 1 and all(rows[0].labels) and not any(rows[1].labels)
    is_known, is_merged = header_rows != 0 or is_named, any(row.has_group or row.is_under for row in rows)
    texts = [row.texts for row in rows]
    if not is_known and not is_merged:
        above = count_above(texts, [row.length for row in rows])
        yield from as_lines(texts[:above])
        rows, texts = rows[above:], texts[above:]
    columns = [n for n in range(len(rows[0].texts)) if any(row[n] for row in texts)]
    texts = [[row[n] for n in columns] for row in texts]
    notes = [row.said for row in takewhile(lambda row: row.is_one, reversed(rows[1:]))][::-1]  # over all columns
    of_form = len(rows) - len(notes)
    if not is_known and (items := form_items(texts[:of_form], [row.has_group for row in rows[:of_form]])):
        yield from (("list", markup.item(f"{label.rstrip(' :')}: {value}")) for label, value in items if value)
        yield from as_lines(map(list, notes))
        return
    end = min(max(header_rows, 1), len(rows))
    while end < min(len(rows) - 1, _MOST_HEADER_ROWS) and _goes_on(rows[:end], rows[end], texts[end:]):
        end += 1
    if header_rows in (0, 2) and not is_merged and has_groups(texts):
        texts[0], end = spread_groups(*texts[:2]), 2
    header = [_BETWEEN.join(dict.fromkeys(filter(None, names))) for names in zip(*texts[:end], strict=True)]
    body = texts[end:]
    for row, cells in zip(rows[end:], body, strict=True):
        if row.is_one and len(cells) > 2:
            cells[1:] = [""] * (len(cells) - 1)
    if header_rows < 0 or not (is_known or is_merged or has_header(texts)):
        yield "table", "\n".join(map(markup.row, (header, *body)))
    else:
        yield "table", markup.table([header, *body])
