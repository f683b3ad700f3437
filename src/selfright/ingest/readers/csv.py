"""Tables as text: rows that are documents, or one document that is a table."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup
from selfright.ingest.readers.rows import Row, documents

_ROWS = 100


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document a row where there is a column ``text``, with ``_id`` or ``id``, ``title`` and the rest as metadata.

    Any other table becomes a Markdown table, a long one several, each of 100 rows under the header.
    """
    text = file.read_text()
    csv.field_size_limit(file.limits.file_bytes)  # the module's own limit is 128 KiB for all who use it
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        yield from table_documents(file, next(lines), lines, "text/csv")
    except csv.Error as error:
        raise file.refuse(f"line {lines.line_num} is no CSV ({error}); mend it, or save the table again") from error


def table_documents(
    file: SourceFile, header: list[str], lines: Iterable[list[str]], media_type: str, name: str = "", title: str = ""
) -> Iterator[Document | UnreadableFile]:
    """A document a row where there is a column ``text``, else the table.

    ``name`` is the table's own where a file has several. Rows are numbered as they come, the header being the first.
    """
    own = replace(file, name=f"{file.name}:{name}") if name else file
    names = [cell.strip().lower() for cell in header]
    if "text" in names:
        yield from documents(own, _rows(names, lines))
    else:
        yield from _tables(own, [cell.strip() for cell in header], lines, media_type, title or file.stem)


def _tables(
    file: SourceFile, header: list[str], lines: Iterable[list[str]], media_type: str, title: str
) -> Iterator[Document]:
    """A table as one document, or as one for each 100 rows called by their numbers: ``table.csv:101``."""
    first, rows = 1, iter(lines)
    part = list(islice(rows, _ROWS + 1))
    if len(part) <= _ROWS:
        yield file.document(markup.table([header, *part]), title, media_type)
        return
    while part:
        shown, part = part[:_ROWS], part[_ROWS:]
        document = file.document(markup.table([header, *shown]), title, media_type)
        last = first + len(shown) - 1
        yield replace(document, id=f"{file.name}:{first}", title=f"{document.title} ({first:,}–{last:,})")
        first = last + 1
        part += islice(rows, _ROWS + 1 - len(part))


def _delimiter(text: str) -> str:
    """The commonest of the usual ones in the header; a comma when none is there."""
    header = text.lstrip().partition("\n")[0]
    return max(",;\t|", key=header.count)


def _rows(names: list[str], lines: Iterable[list[str]]) -> Iterator[Row]:
    known = {"_id", "id", "title", "text", "url"}
    for number, cells in enumerate(lines, start=2):
        if any(cell.strip() for cell in cells):
            row = dict(zip(names, cells, strict=False))
            rest = {name: cell for name, cell in row.items() if name not in known and name and cell}
            line = getattr(lines, "line_num", number)  # a row of a CSV file may take several lines
            yield line, {**{name: cell for name, cell in row.items() if name in known}, "metadata": rest}
