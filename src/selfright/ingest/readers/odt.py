"""OpenDocument texts (LibreOffice): headings, paragraphs, lists, tables and notes in reading order."""

import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup, packed

if TYPE_CHECKING:
    from lxml.etree import _Element

_KIND = packed.Kind("OpenDocument text", ".odt", ".sxw")
_MEDIA_TYPE = "application/vnd.oasis.opendocument.text"
_OPEN = "urn:oasis:names:tc:opendocument:xmlns"
_TEXT, _TABLE, _OFFICE, _DRAW = (f"{{{_OPEN}:{name}:1.0}}" for name in ("text", "table", "office", "drawing"))
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_HEADING, _PARAGRAPH, _LIST, _ITEM = f"{_TEXT}h", f"{_TEXT}p", f"{_TEXT}list", f"{_TEXT}list-item"
_TABLE_TAG, _ROW, _CELL = f"{_TABLE}table", f"{_TABLE}table-row", f"{_TABLE}table-cell"
_SAID_OF_PICTURES = tuple(f"{{{_OPEN}:svg-compatible:1.0}}{name}" for name in ("title", "desc"))
_BLOCKS = frozenset((_HEADING, _PARAGRAPH, _LIST, _TABLE_TAG, *_SAID_OF_PICTURES))
_NOT_SHOWN = frozenset((f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}table-of-content"))
_SHAPES = ("frame", "custom-shape", "rect", "ellipse", "circle", "polygon", "polyline", "path", "line", "caption")
_APART = frozenset((f"{_TEXT}note", *(f"{_DRAW}{shape}" for shape in _SHAPES), *_NOT_SHOWN))
_MOST_REPEATS = 100


def read(file: SourceFile) -> Iterator[Document]:
    """One document; its title is the one in its properties, else its first heading."""
    archive = packed.archive_of(file, _KIND)
    try:
        with zipfile.ZipFile(archive) as parts:
            body = packed.parsed(parts.read("content.xml")).find(f"{_OFFICE}body/{_OFFICE}text")
            title = _title(parts)
        text = markup.joined(_blocks(body, 0)) if body is not None else ""
    except Exception as error:  # hostile files make the libraries fail in more ways than can be named
        raise packed.unreadable(file, _KIND, error) from error
    yield file.document(text, title or markup.first_heading(text), _MEDIA_TYPE)


def _title(parts: zipfile.ZipFile) -> str:
    if "meta.xml" not in parts.namelist():
        return ""
    found = packed.parsed(parts.read("meta.xml")).find(f".//{_TITLE}")
    return (found.text or "") if found is not None else ""


def _blocks(parent: "_Element", depth: int) -> Iterator[markup.Block]:
    """The blocks of ``parent``; ``depth`` counts the lists around them."""
    for child in _nearest(parent, _BLOCKS):
        if child.tag == _TABLE_TAG:
            yield from _tables(child)
        elif child.tag == _LIST:
            yield from _blocks(child, depth + 1)
        else:
            yield _paragraph(child, depth)
            yield from (block for apart in _apart(child) for block in _blocks(apart, 0))


def _paragraph(paragraph: "_Element", depth: int) -> markup.Block:
    text = "\n".join(filter(None, map(markup.one_blank, _visible(paragraph).split("\n"))))
    if text and paragraph.tag == _HEADING:
        level = paragraph.get(f"{_TEXT}outline-level") or "1"
        return "heading", markup.heading(int(level) if level.isdecimal() else 1, text)
    if text and depth:
        return "list", markup.item(text, depth - 1)
    return "paragraph", text


def _tables(table: "_Element") -> Iterator[markup.Block]:
    """A table, and behind it the notes, boxes and tables that stand in its cells."""
    rows = [list(_nearest(row, frozenset((_CELL,)))) for row in _nearest(table, frozenset((_ROW,)))]
    yield "table", markup.table([text for cell in row for text in _cell(cell)] for row in rows)
    for cell in (cell for row in rows for cell in row):
        for paragraph in _in_cell(cell):
            yield from (block for apart in _apart(paragraph) for block in _blocks(apart, 0))
        for inner in _nearest(cell, frozenset((_TABLE_TAG,))):
            yield from _tables(inner)


def _cell(cell: "_Element") -> list[str]:
    """The cell's text, as often as it is repeated."""
    times = cell.get(f"{_TABLE}number-columns-repeated") or "1"
    text = " ".join(map(_visible, _in_cell(cell)))
    return [text] * (min(int(times), _MOST_REPEATS) if times.isdecimal() and text else 1)


def _in_cell(parent: "_Element") -> Iterator["_Element"]:
    """The paragraphs of a cell and of its lists."""
    for child in parent:
        if child.tag in (_PARAGRAPH, _HEADING):
            yield child
        elif child.tag != _TABLE_TAG and child.tag not in _NOT_SHOWN:
            yield from _in_cell(child)


def _nearest(parent: "_Element", tags: frozenset[str]) -> Iterator["_Element"]:
    """What has one of the tags and belongs to ``parent`` itself, not to a block within it."""
    for child in parent:
        if child.tag in tags:
            yield child
        elif child.tag not in _BLOCKS and child.tag not in _NOT_SHOWN:
            yield from _nearest(child, tags)


def _apart(paragraph: "_Element") -> Iterator["_Element"]:
    """Notes and boxes that hang on a paragraph."""
    for child in paragraph:
        if child.tag in _APART:
            if child.tag not in _NOT_SHOWN:
                yield child
        else:
            yield from _apart(child)


def _visible(element: "_Element") -> str:
    """What is written in a paragraph itself."""
    pieces = [element.text or ""]
    for child in element:
        if child.tag in (f"{_TEXT}s", f"{_TEXT}tab"):
            pieces.append(" ")
        elif child.tag == f"{_TEXT}line-break":
            pieces.append("\n")
        elif child.tag not in _APART and child.tag not in _BLOCKS:
            pieces.append(_visible(child))
        pieces.append(child.tail or "")
    return "".join(pieces)
