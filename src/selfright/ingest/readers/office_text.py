"""The Markdown of what the office library read: headings, paragraphs, numbered lists, tables and notes, in order."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import anydoc

from selfright.ingest.readers import markup
from selfright.ingest.readers.tables import Cell, tables
from selfright.ingest.readers.word import NUMBERED
from selfright.ingest.readers.word_numbers import letters, roman
from selfright.ingest.readers.workbook import LABEL

_BLANK = Cell("")
_Block = Any  # the library's; its own types confuse the list with a field of that name
_Notes = Mapping[str, Sequence[_Block]]


def blocks(document: anydoc.Document) -> Iterator[markup.Block]:
    """The blocks of a document; a note stands behind the block that refers to it."""
    yield from _blocks(document.blocks, {note.id: note.blocks for note in document.notes})


def _blocks(found: Sequence[_Block], notes: _Notes) -> Iterator[markup.Block]:
    level = 0
    for block, following in zip_longest(found, found[1:]):
        if block.kind == "heading":
            level = block.level or 1
            yield "heading", markup.heading(level, _line(block.content))
            yield from _notes(block.content, notes)
        elif block.kind == "paragraph" and _is_name(block, following):
            yield "heading", markup.heading(level + 1, _line(block.content))
            yield from _notes(block.content, notes)
        elif block.kind == "paragraph":
            yield "paragraph", markup.clean_lines(_text(block.content).replace(NUMBERED, ""))
            yield from _notes(block.content, notes)
        elif block.kind == "list" and block.list is not None:
            yield from _items(block.list, notes, 0)
        elif block.kind == "table" and block.table is not None:
            yield from _table(block.table, notes)
        elif block.kind == "code_block":
            yield "code", f"```\n{block.text or ''}\n```"
        elif block.kind == "math":
            yield "paragraph", markup.one_blank(block.text or "")
        else:
            yield from _blocks(block.blocks or (), notes)


def _is_bold(block: _Block) -> bool:
    said = [inline for inline in block.content or () if (inline.text or "").strip()]
    return bool(said) and all(inline.style and inline.style.bold for inline in said)


def _is_name(block: _Block, following: _Block | None) -> bool:
    """Whether a paragraph is a heading by its look: a short line in bold letters over text that is not, no sentence."""
    said = _text(block.content).strip()
    is_over = following is not None and following.kind in ("paragraph", "list") and not _is_bold(following)
    return is_over and _is_bold(block) and markup.is_name(said)


def _notes(content: Sequence[anydoc.Inline] | None, notes: _Notes) -> Iterator[markup.Block]:
    for inline in content or ():
        if inline.kind == "note_ref":
            yield from _blocks(notes.get(inline.note_id or "", ()), {})
        elif inline.kind == "link":
            yield from _notes(inline.content, notes)


def _text(content: Sequence[anydoc.Inline] | None) -> str:
    pieces = []
    for inline in content or ():
        if inline.kind == "link":
            pieces.append(_text(inline.content))
        elif inline.kind == "line_break":
            pieces.append("\n")
        elif inline.kind == "checkbox":
            pieces.append("☑" if inline.checked else "☐")
        else:
            pieces.append(inline.text or "")
    return "".join(pieces)


def _line(content: Sequence[anydoc.Inline] | None) -> str:
    return markup.one_blank(_text(content).replace(NUMBERED, ""))


def _items(items: anydoc.List, notes: _Notes, depth: int) -> Iterator[markup.Block]:
    below = "  " * (depth + 1)
    for number, item in enumerate(items.items, items.start):
        label = "" if items.marker == "bullet" else item.marker_label or f"{_ordinal(items.marker, number)}."
        is_first = True
        for block in item.blocks:
            if block.kind == "list" and block.list is not None:
                yield from _items(block.list, notes, depth + 1)
            elif block.kind == "heading":  # a numbered one of OpenDocument
                yield "heading", markup.heading(block.level or 1, f"{label} {_line(block.content)}")
                label = ""
            elif block.kind == "paragraph":
                line = _line(block.content)
                if line and is_first:
                    before, mark, behind = _text(block.content).partition(NUMBERED)
                    # The gap behind the number, if there is any, is in the text.
                    said = (before + behind, "") if mark else (label, before)
                    yield "list", markup.number_item(*said, depth)
                elif line:
                    yield "list", f"{below}{line}"
                is_first &= not line
                yield from (("list", below + markup.one_blank(note)) for _, note in _notes(block.content, notes))
            else:
                yield from _blocks([block], notes)


def _ordinal(marker: str, number: int) -> str:
    sign = roman(number) if marker.endswith("roman") else letters(number) if marker.endswith("alpha") else str(number)
    return sign.upper() if marker.startswith("upper") else sign


def _table(table: anydoc.Table, notes: _Notes) -> Iterator[markup.Block]:
    """A table, and behind it the tables and notes of its cells; a table of one cell is a frame around what is in it."""
    held = [slot.cell for row in table.grid for slot in row if slot.cell is not None]
    if len(held) == 1:
        yield from _blocks(held[0].blocks, notes)
        return
    rows = [row for row in cells(table) if any(cell is None or cell.text for cell in row)]  # blank ones are but space
    known = table.header_rows if table.header_rows > 1 else 0  # the library says 1 where nothing says so
    yield from tables([[cell for cell in row if cell] for row in rows], known)
    for block in (block for cell in held for block in cell.blocks):
        if block.kind == "table" and block.table is not None:
            yield from _table(block.table, notes)
        else:
            yield from _notes_within(block, notes)


def _notes_within(block: _Block, notes: _Notes) -> Iterator[markup.Block]:
    yield from _notes(block.content, notes)
    inner = block.blocks or [of for item in (block.list.items if block.list else ()) for of in item.blocks]
    for of in inner:
        yield from _notes_within(of, notes)


def cells(table: anydoc.Table) -> Iterator[list[Cell | None]]:
    """The places of a table row by row: the cell that begins there, None where another one reaches."""
    for row in table.grid:
        held = (slot.cell for slot in row)
        yield [of and (_cell(of) if of.blocks or of.col_span > 1 or of.row_span > 1 else _BLANK) for of in held]


def _cell(cell: anydoc.Cell) -> Cell:
    said = [block for block in cell.blocks if _text(block.content).strip()]
    is_label = bool(said) and (_text(said[0].content).startswith(LABEL) or all(map(_is_bold, said)))
    return Cell(" ".join(_words(cell.blocks)), cell.col_span, cell.row_span, is_label=is_label)


def _words(found: Sequence[_Block]) -> Iterator[str]:
    """What a cell says but for the tables in it."""
    for block in found:
        if block.kind == "list" and block.list is not None:
            for _, line in _items(block.list, {}, 0):
                yield line.strip().removeprefix("- ")
        elif block.content is not None:
            yield _line(block.content)
        elif block.kind != "table":
            yield block.text or ""
            yield from _words(block.blocks or ())
