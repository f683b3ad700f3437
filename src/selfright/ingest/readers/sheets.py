"""The sheets of a workbook as documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document, Language
from selfright.domain.text import language_of
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import csv, markup
from selfright.ingest.readers.office_text import cell_rows
from selfright.ingest.readers.tables import Cell, tables

if TYPE_CHECKING:
    import anydoc

_ROWS = 5_000


def documents(
    file: SourceFile, blocks: Sequence["anydoc.Block"], missing: Mapping[str, int], media_type: str
) -> Iterator[Document | UnreadableFile]:
    """A document for each sheet (``prices.xlsx:Parts``), or for the only one; what ``csv`` makes of rows with a text.

    A longer one is several, of 5,000 rows each, called by their first row. ``missing`` has by the names of sheets how
    many formulas have no value; the sheet says so, and the file is named for it.
    """
    found = list(_tables(blocks))
    for name, rows, header_rows in found:
        header = [cell.text for cell in rows[0]]
        own = replace(file, name=f"{file.name}:{name}") if name else file
        title = f"{file.stem}: {name}" if name else file.stem
        if "text" in (text.strip().lower() for text in header):
            lines = ([cell.text for cell in row] for row in rows[1:])
            yield from csv.table_documents(file, header, lines, media_type, name=name, title=title)
        else:
            count = missing.get(name, 0) if name else sum(missing.values())
            yield from _parts(own, list(tables(rows, header_rows)), count, title, media_type)
    if not found:
        raise file.refuse("there is no text in it; nothing to index")
    if missing:
        yield file.refuse(
            f"{_without_value(sum(missing.values()), 'en')}; open and save it in its program, add it again"
        )


def _tables(blocks: Sequence["anydoc.Block"]) -> Iterator[tuple[str, list[list[Cell]], int]]:
    """The rows that say anything, how many of them are the header (0: not known), by the name of the sheet.

    The only sheet has no name.
    """
    name = ""
    for block in blocks:
        if block.kind == "heading":
            name = markup.one_blank("".join(inline.text or "" for inline in block.content or ()))
        elif block.table is not None:
            rows = list(_rows(block.table))
            if rows:
                yield name, rows, block.table.header_rows


def _rows(table: "anydoc.Table") -> Iterator[list[Cell]]:
    """The rows, with one blank row where there are many."""
    is_blank = True
    for slots, row in zip(table.grid, cell_rows(table), strict=True):
        was_blank, is_blank = is_blank, len(row) == len(slots) and not any(cell.text for cell in row)
        if not (is_blank and was_blank):
            yield row


def _parts(
    file: SourceFile, blocks: Sequence[markup.Block], count: int, title: str, media_type: str
) -> Iterator[Document]:
    """The table as one document, or as one for each 5,000 rows; what stands beside it is in the first one."""
    told: list[markup.Block] = (
        [("paragraph", f"[{_without_value(count, language_of(markup.joined(blocks)))}]")] if count else []
    )
    parts: list[tuple[int, list[markup.Block]]] = [(1, [])]
    row = 1
    for kind, text in blocks:
        lines = text.split("\n")
        head, body = (lines[:2], lines[2:]) if kind == "table" else (lines, [])
        for start in range(0, max(len(body), 1), _ROWS):
            if start:
                parts.append((row, []))
            shown = body[start : start + _ROWS]
            parts[-1][1].append((kind, "\n".join([*head, *shown])))
            row += len(shown)
    parts[0][1].extend(told)
    if len(parts) == 1:
        yield file.document(markup.joined(parts[0][1]), title, media_type)
        return
    for (first, here), (following, _) in pairwise([*parts, (row, [])]):
        document = file.document(markup.joined(here), f"{title} ({first:,}–{following - 1:,})", media_type)
        yield replace(document, id=f"{file.name}:{first}")


def _without_value(count: int, language: Language) -> str:
    if language == "ko":
        return f"저장된 값이 없는 수식 {count:,}개"
    return f"{count:,} formula{'s' if count > 1 else ''} without a stored value"
