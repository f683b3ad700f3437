"""The sheets of a workbook as documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import anydoc

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import language_of
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import csv, markup
from selfright.ingest.readers.office_text import cells
from selfright.ingest.readers.rows import in_parts
from selfright.ingest.readers.tables import Cell, sheet_blocks

_Rows = Sequence[Sequence[Cell | None]]


def documents(
    file: SourceFile, blocks: Sequence[anydoc.Block], missing: Mapping[str, int], media_type: str
) -> Iterator[Document | UnreadableFile]:
    """A document for each sheet (``prices.xlsx:Parts``), or for the only one; what ``csv`` makes of rows with a text.

    A longer one is several, of 5,000 rows each, called by their first row. ``missing`` has by the names of sheets how
    many formulas have no value; the sheet says so, and the file is named for it.
    """
    found = False
    for name, rows in _sheets(blocks):
        found = True
        title = f"{file.stem}: {name}" if name else file.stem
        own = replace(file, name=f"{file.name}:{name}") if name else file
        header, *lines = [[cell.text if cell else "" for cell in row] for row in rows if _says_anything(row)]
        if "text" in (text.lower() for text in header):
            yield from csv.table_documents(own, header, lines, media_type)
            continue
        laid_out = list(sheet_blocks(rows))
        if count := missing.get(name, 0) if name else sum(missing.values()):
            is_korean = language_of(markup.join_blocks(laid_out)) == "ko"
            told = "저장된 값이 없는 수식" if is_korean else "formulas without a value"
            laid_out.append(("paragraph", f"[{told}: {count:,}]"))
        yield from in_parts(own, laid_out, title, media_type)
    if not found:
        raise file.refuse("there is no text in it; nothing to index")
    if missing:
        why = f"formulas without a stored value: {sum(missing.values()):,}"
        yield file.refuse(f"{why}; open it in its program, save it, and add it again")


def _sheets(blocks: Sequence[anydoc.Block]) -> Iterator[tuple[str, _Rows]]:
    """The cells of the sheets that say anything, None where one is merged into another; the only sheet has no name."""
    name = ""
    for block in blocks:
        if block.kind == "heading":
            name = markup.one_blank("".join(inline.text or "" for inline in block.content or ()))
        elif block.table is not None:
            rows = list(cells(block.table))
            if any(map(_says_anything, rows)):
                yield name, rows


def _says_anything(row: Sequence[Cell | None]) -> bool:
    return any(cell is None or cell.text for cell in row)
