"""Tables of every format: a merged cell counts wherever it reaches, a header of several rows becomes one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from selfright.ingest.readers import markup

_MOST_COLUMNS = 1_000  # that a cell reaches over, as in HTML
_MOST_COVERED = 1_000_000  # cells that are repeated in a table
_MOST_HEADER_ROWS = 4
_BETWEEN = " – "


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, how many columns and rows it reaches over, and the first column that it may stand in."""

    text: str
    columns: int = 1
    rows: int = 1
    place: int = 0


@dataclass(slots=True)
class _Row:
    """The texts of a row, as many as there are columns.

    ``has_group``: a cell reaches over some columns, not over all of them, which is ``is_one``. ``is_under``: a cell
    from above reaches into it.
    """

    texts: list[str]
    has_group: bool = False
    is_one: bool = False
    is_under: bool = False

    @property
    def said(self) -> set[str]:
        return set(filter(None, self.texts))


def tables(rows: Sequence[Sequence[Cell]], header_rows: int = 0) -> Iterator[markup.Block]:
    """The Markdown tables in rows of cells, and what stands above them as paragraphs.

    A row has the cells that begin in it; a place that is covered from above or from the left has none. Blank rows part
    two tables. Rows at the top that say one thing over all columns are a caption, and so is a cell that stands alone.
    The header is of ``header_rows`` rows (0: not known) and goes on for as long as its cells are merged; its parts are
    joined (``2025 – Units``).
    """
    grid = _grid(rows)
    begin = 0
    while begin < len(grid):
        end = next((n for n in range(begin, len(grid)) if not grid[n].said), len(grid))
        yield from _table(grid[begin:end], header_rows if begin == 0 else 0)
        begin = end + 1


def plain_rows(rows: Sequence[Sequence[str]]) -> list[list[Cell]]:
    """Rows of texts as rows of cells, none of them merged."""
    return [[Cell(text) for text in row] for row in rows]


def labels(rows: Sequence[Sequence[Cell]], kinds: Sequence[Sequence[Cell]]) -> list[markup.Block]:
    """A table in which each value has its label in front of it, as items ``label: value``; nothing of another one.

    ``kinds`` has a cell for each cell of the rows, with ``h`` for a header and ``d`` for another one.
    """
    blocks: list[markup.Block] = []
    for row, kind in zip(_grid(rows), _grid(kinds), strict=True):
        places = [(kind, text) for kind, text in zip(kind.texts, row.texts, strict=True) if kind]
        runs = [
            (kind, list(dict.fromkeys(text for _, text in run if text))) for kind, run in groupby(places, itemgetter(0))
        ]
        if len(runs) == 1 and len(runs[0][1]) < 2:
            blocks += (("paragraph", text) for text in runs[0][1])
            continue
        if [kind for kind, _ in runs] != ["h", "d"] * (len(runs) // 2) or any(len(said) > 1 for _, said in runs[1::2]):
            return []
        for (_, labels), (_, values) in zip(runs[::2], runs[1::2], strict=True):
            label = _BETWEEN.join(labels).rstrip(" :")
            blocks += (("list", markup.item(f"{label}: {value}" if label else value)) for value in values)
    return blocks if any(kind == "list" for kind, _ in blocks) else []


def _grid(rows: Sequence[Sequence[Cell]]) -> list[_Row]:
    """Every place of the table with the text of the cell that reaches it, in rows of one length."""
    found: list[dict[int, str]] = [{} for _ in rows]
    grid = [_Row([]) for _ in rows]
    groups: list[tuple[int, int, int]] = []
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
            text = markup.one_blank(cell.text)
            for below in range(number, number + deep):
                grid[below].is_under |= below > number
                for place in range(column, column + wide):
                    found[below].setdefault(place, text)
            if wide > 1:
                groups.append((number, wide, deep))
            column += wide
    width = max((max(row, default=-1) + 1 for row in found), default=0)
    for number, wide, deep in groups:
        grid[number].has_group |= wide < width
        for reached in grid[number : number + deep]:
            reached.is_one |= wide >= width
    for whole, texts in zip(grid, found, strict=True):
        whole.texts = [texts.get(place, "") for place in range(width)]
    return grid


def _table(rows: Sequence[_Row], header_rows: int) -> Iterator[markup.Block]:
    wide = max((len(row.said) for row in rows), default=0)
    # One name alone is a title, but not over the second of two columns.
    while wide > 1 and len(rows) > 1 and len(rows[0].said) == 1 and (rows[0].texts[0] or len(rows[0].texts) > 2):
        yield "paragraph", next(iter(rows[0].said))
        rows, header_rows = rows[1:], header_rows - 1
    if len(rows) == 1 and wide == 1:
        yield "paragraph", next(iter(rows[0].said))
        rows = []
    if not rows:
        return
    columns = [n for n in range(len(rows[0].texts)) if any(row.texts[n] for row in rows)]
    if not columns:
        return
    end = _header_end(rows, header_rows)
    header = [_BETWEEN.join(dict.fromkeys(filter(None, (row.texts[n] for row in rows[:end])))) for n in columns]
    body = [_once(row, [row.texts[n] for n in columns]) for row in rows[end:]]
    yield "table", markup.table([header, *body])


def _header_end(rows: Sequence[_Row], header_rows: int) -> int:
    end = min(max(header_rows, 1), len(rows))
    while end < min(len(rows) - 1, _MOST_HEADER_ROWS) and (rows[end - 1].has_group or rows[end].is_under):
        end += 1
    return end


def _once(row: _Row, texts: list[str]) -> list[str]:
    """A cell that reaches over all columns says once what it says."""
    return [texts[0], *[""] * (len(texts) - 1)] if row.is_one and len(texts) > 2 else texts
