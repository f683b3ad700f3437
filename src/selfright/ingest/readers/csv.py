"""Tables as text: rows that are documents, or one document that is a table."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from statistics import median_high

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup
from selfright.ingest.readers.rows import ROWS, Row, documents, in_parts
from selfright.ingest.readers.tables import plain_rows, tables

_SEEN_ROWS = 50  # by which it is told what parts the cells, and what stands above the header
_FEWEST_COLUMNS = 3  # of a header without a row; what has less are words between two tables
_SEEN_CHARACTERS = 100_000
_SAID = re.compile(r'"?sep=(.)"?[ \t]*\r?\n', re.IGNORECASE)


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document a row where there is a column ``text``, with ``_id`` or ``id``, ``title`` and the rest as metadata.

    Any other file becomes a Markdown table, a long one several, each of 5,000 rows under the header.
    """
    text = file.read_text()
    csv.field_size_limit(file.limits.file_bytes)  # the module's own limit is 128 KiB for all who use it
    said = _SAID.match(text)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=said[1] if said else _delimiter(text))
    try:
        if said:
            next(lines)
        header = next(filter(_fill, lines), None)
        if header is None:
            raise file.refuse("there is no text in it; nothing to index")
        yield from table_documents(file, header, lines, "text/csv")
    except csv.Error as error:
        raise file.refuse(f"line {lines.line_num} is no CSV ({error}); mend it, or save the table again") from error


def table_documents(
    file: SourceFile, header: list[str], lines: Iterable[list[str]], media_type: str
) -> Iterator[Document | UnreadableFile]:
    """A document a row where there is a column ``text``, else the table.

    Rows are numbered as they come, the header being the first.
    """
    names = [cell.strip().lower() for cell in header]
    if "text" in names:
        yield from documents(file, _rows(names, lines))
    else:
        yield from in_parts(file, _blocks(chain([header], lines)), file.stem, media_type)


def _blocks(rows: Iterable[list[str]]) -> Iterator[markup.Block]:
    """Tables of at most 5,000 rows, each under its header; what parts them are blank rows."""
    for is_filled, group in groupby(rows, key=lambda row: bool(_fill(row))):
        if is_filled:
            yield from _table(group)


def _table(rows: Iterator[list[str]]) -> Iterator[markup.Block]:
    seen = list(islice(rows, _SEEN_ROWS))
    above = _count_above(seen)
    header, body = seen[above], chain(seen[above + 1 :], rows)
    part = list(islice(body, ROWS))
    is_table = part or len(_fill(header)) >= _FEWEST_COLUMNS
    yield from (("paragraph", ", ".join(_fill(row))) for row in seen[: above + (not is_table)])
    if is_table:
        yield from tables(plain_rows([header, *part]), 1)
    while part := list(islice(body, ROWS)):
        yield from tables(plain_rows([header, *part]), 1)


def _count_above(rows: Sequence[list[str]]) -> int:
    """How many rows stand above the header: those that are far less filled than the table, and shorter."""
    filled = [len(_fill(row)) for row in rows]
    usual, length = median_high(filled), median_high([len(row) for row in rows])
    for n, row in enumerate(rows):
        is_short = filled[n] == 1 or 2 * filled[n] <= usual or (filled[n] < usual and len(row) < length)
        if not is_short or usual < 2:
            return n
    return 0


def _fill(row: Sequence[str]) -> list[str]:
    return [cell for cell in map(str.strip, row) if cell]


def _delimiter(text: str) -> str:
    """What parts most of the first rows into equally many cells; a comma only when nothing else does it as well.

    The comma of a decimal number parts every row, too, but not the header.
    """
    return max(",;\t|", key=lambda sign: (_alike(text[:_SEEN_CHARACTERS], sign), sign != ","))


def _alike(text: str, sign: str) -> int:
    """How many of the first rows have the most usual number of cells."""
    widths: Counter[int] = Counter()
    try:
        for row in islice(csv.reader(io.StringIO(text, newline=""), delimiter=sign), _SEEN_ROWS):
            widths[len(row)] += 1
    except csv.Error:  # of the rows before it counts what was seen
        pass
    return max((count for width, count in widths.items() if width > 1), default=0)


def _rows(names: list[str], lines: Iterable[list[str]]) -> Iterator[Row]:
    known = {"_id", "id", "title", "text", "url"}
    for number, cells in enumerate(lines, start=2):
        if _fill(cells):
            row = dict(zip(names, cells, strict=False))
            rest = {name: cell for name, cell in row.items() if name not in known and name and cell}
            line = getattr(lines, "line_num", number)  # a row of a CSV file may take several lines
            yield line, {**{name: cell for name, cell in row.items() if name in known}, "metadata": rest}
