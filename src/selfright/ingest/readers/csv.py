"""Tables as text: rows that are documents, or one document that is a table."""

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup
from selfright.ingest.readers.rows import Row, documents

if TYPE_CHECKING:
    from _csv import Reader


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document a row where there is a column ``text``, with ``_id`` or ``id``, ``title`` and the rest as metadata.

    Any other table becomes one document, a Markdown table.
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
            yield file.document(markup.table([header, *lines]), file.stem, "text/csv")
    except csv.Error as error:
        raise file.refuse(f"line {lines.line_num} is no CSV ({error}); mend it, or save the table again") from error


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
