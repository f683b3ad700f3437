"""Tables as text: rows that are documents, or one document that is a table."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup
from selfright.ingest.readers.rows import Row, documents

if TYPE_CHECKING:
    from _csv import Reader


_ROWS = 100


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document a row where there is a column ``text``, with ``_id`` or ``id``, ``title`` and the rest as metadata.

    Any other table becomes a Markdown table, a long one several, each of 100 rows under the header.
    """
    text = file.read_text()
    csv.field_size_limit(file.limits.file_bytes)  # the module's own limit is 128 KiB for all who use it
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        header = [name.strip() for name in next(lines)]
        names = [name.lower() for name in header]
        if "text" in names:
            yield from documents(file, _rows(names, lines))
        else:
            yield from tables(file, header, lines, "text/csv")
    except csv.Error as error:
        raise file.refuse(f"line {lines.line_num} is no CSV ({error}); mend it, or save the table again") from error


def tables(
    file: SourceFile, header: list[str], lines: Iterable[list[str]], media_type: str, name: str = "", title: str = ""
) -> Iterator[Document]:
    """A table as one document, or as one for each 100 rows called by their numbers: ``table.csv:101``.

    ``name`` is the table's own where a file has several.
    """
    own = replace(file, name=f"{file.name}:{name}") if name else file
    first, rows = 1, iter(lines)
    part = list(islice(rows, _ROWS + 1))
    if len(part) <= _ROWS:
        yield own.document(markup.table([header, *part]), title or file.stem, media_type)
        return
    while part:
        shown, part = part[:_ROWS], part[_ROWS:]
        document = own.document(markup.table([header, *shown]), title or file.stem, media_type)
        last = first + len(shown) - 1
        yield replace(document, id=f"{own.name}:{first}", title=f"{document.title} ({first:,}–{last:,})")
        first = last + 1
        part += islice(rows, _ROWS + 1 - len(part))


def _delimiter(text: str) -> str:
    """The commonest of the usual ones in the header; a comma when none is there."""
    header = text.lstrip().partition("\n")[0]
    return max(",;\t|", key=header.count)


def _rows(names: list[str], lines: "Reader") -> Iterator[Row]:
    known = {"_id", "id", "title", "text", "url"}
    for cells in lines:
        if any(cell.strip() for cell in cells):
            row = dict(zip(names, cells, strict=False))
            rest = {name: cell for name, cell in row.items() if name not in known and name and cell}
            yield lines.line_num, {**{name: cell for name, cell in row.items() if name in known}, "metadata": rest}
