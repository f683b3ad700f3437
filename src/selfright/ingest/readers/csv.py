"""Tables as text: rows that are documents, or one document that is a table."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, groupby, islice

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup
from selfright.ingest.readers.rows import ROWS, Row, documents, in_parts
from selfright.ingest.readers.tables import Cell, as_lines, plain_rows, sheet_blocks, split_header, tables

_END = "\0end"  # a row of its own behind the file, unless a quote is open
_SEEN_ROWS = 50  # by which it is told what parts the cells, and what stands above the header
_SEEN_CHARACTERS = 100_000
_KNOWN = {"_id", "id", "title", "text", "url"}
_SAID = re.compile(r'"?sep=(.)"?[ \t]*\r?\n', re.IGNORECASE)


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document a row where there is a column ``text``, with ``_id`` or ``id``, ``title`` and the rest as metadata.

    Any other file becomes a Markdown table, a long one several, each of 5,000 rows under the header.
    """
    text = file.read_text()
    csv.field_size_limit(file.limits.file_bytes)  # the module's own limit is 128 KiB for all who use it
    said = _SAID.match(text)
    delimiter = said[1] if said else _delimiter(text)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        _check_quotes(file, text, delimiter)
        if said:
            next(lines)
        header = next(filter(_fill, lines), None)
        if header is None:
            raise file.refuse("there is no text in it; nothing to index")
        yield from table_documents(file, header, lines, "text/csv")
    except csv.Error as error:
        raise file.refuse(f"line {lines.line_num} is no CSV ({error}); mend it, or save the table again") from error


def _check_quotes(file: SourceFile, text: str, delimiter: str) -> None:
    """Refuses a file in which a quote is never closed: all that follows would be one cell."""
    start, read, last = 0, 0, [_END]
    rows = csv.reader(chain(io.StringIO(text, newline=""), [_END]), delimiter=delimiter)
    for row in rows:
        start, read, last = read + 1, rows.line_num, row
    if last != [_END]:
        raise file.refuse(f"the row in line {start} opens a quote that is never closed; close it")


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
    """The tables of a file; a long one is several, each of 5,000 rows under the header."""
    rows = iter(rows)
    first = list(islice(rows, ROWS + 1))
    following = list(islice(rows, 1))
    if not following:
        yield from sheet_blocks(plain_rows(first))
        return
    for is_filled, group in groupby(chain(first, following, rows), key=lambda row: bool(_fill(row))):
        if is_filled:
            above, header, seen = split_header(plain_rows(islice(group, _SEEN_ROWS)))
            yield from as_lines([cell.text for cell in row] for row in above)
            body = chain(seen, ([Cell(cell) for cell in row] for row in group))
            while part := list(islice(body, ROWS)):
                yield from tables([*header, *part], len(header) or -1)


def _fill(row: Sequence[str]) -> list[str]:
    return [cell for cell in map(str.strip, row) if cell]


def _delimiter(text: str) -> str:
    """What parts most of the first rows into equally many cells; a comma only when nothing else does it as well.

    The comma of a decimal number parts every row, too, but not the header.
    """

    def count_alike(sign: str) -> int:
        lines = csv.reader(io.StringIO(text[:_SEEN_CHARACTERS], newline=""), delimiter=sign)
        widths: Counter[int] = Counter()
        with suppress(csv.Error):  # of the rows before it counts what was seen
            widths.update(map(len, islice(lines, _SEEN_ROWS)))
        return max((count for width, count in widths.items() if width > 1), default=0)

    return max(",;\t|", key=lambda sign: (count_alike(sign), sign != ","))


def _rows(names: list[str], lines: Iterable[list[str]]) -> Iterator[Row]:
    for number, cells in enumerate(lines, start=2):
        if _fill(cells):
            row = dict(zip(names, cells, strict=False))
            line = getattr(lines, "line_num", number)  # a row of a CSV file may take several lines
            own = {name: row.pop(name) for name in _KNOWN & row.keys()}
            yield line, {**own, "metadata": {name: cell for name, cell in row.items() if name and cell}}
