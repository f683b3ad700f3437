"""Hangul documents: headings, paragraphs, tables, boxes and notes in reading order.

HWPX (KS X 6101) is read here, what Hangul wrote before (version 5, ``.hwp``) by an optional library.
"""

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from lxml import etree
from lxml.etree import _Element

from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup, packed
from selfright.ingest.readers.tables import Cell, plain_rows, tables

if TYPE_CHECKING:
    from hwp2md import Block

_KIND = ("Hangul document", ".hwpx")
_HWP, _HWPX = "application/x-hwp", "application/hwp+zip"
_SECTION = re.compile(r"Contents/section(\d+)\.xml")
_LISTED = re.compile(r"(?:^|/)section(\d+)\.xml$")
_OUTLINE = re.compile(r"(?:개요|outline)\s*(\d+)", re.IGNORECASE)
_TITLE_STYLES = ("제목", "title")
_HEADING_LENGTH = 200
_SIGNS = {"tab": " ", "lineBreak": "\n", "nbSpace": " ", "fwSpace": " ", "hyphen": "-"}
_APART = frozenset(("p", "tbl"))
_MOST_PLACES = 1_000  # that a cell is away from the first one, or reaches over
_SHADED = "shaded"
_BLANK = (None, "none", "#FFFFFF")
_NOT_SHOWN = frozenset(("header", "footer", "hiddenComment", "pageNum", "memo"))


def read(file: SourceFile) -> Iterator[Document]:
    """One document; its title is the one in its properties, else its first heading."""
    yield _read_older(file) if file.path.suffix.lower() == ".hwp" else _read_newer(file)


def _read_newer(file: SourceFile) -> Document:
    with packed.naming(file, _KIND), zipfile.ZipFile(packed.archive_of(file)) as parts:
        names = parts.namelist()
        header, package = (
            packed.parse_xml(parts.read(name)) if name in names else etree.Element("none")
            for name in ("Contents/header.xml", "Contents/content.hpf")
        )
        styles = _styles(header)
        sections = sorted((int(found[1]), name) for name in names if (found := _SECTION.fullmatch(name)))
        listed = (
            f"Contents/section{found[1]}.xml"
            for of in package.iter()
            if (found := _LISTED.search(of.get("href") or ""))
        )
        if missing := [name for name in listed if name not in names]:
            raise ValueError(f"its part {missing[0]} is missing")
        if not sections:
            raise ValueError("there are no sections in it")
        roots = [packed.parse_xml(parts.read(name)) for _, name in sections]
        _mark_shaded(header, roots)
        text = markup.join_blocks(block for root in roots for block in _blocks(root, styles))
        titles = (markup.one_blank(node.text or "") for node in package.iter() if _name(node) == "title")
        title = next(titles, "")
    return file.document(text, markup.title(title, text), _HWPX)


def _name(element: _Element) -> str:
    """The tag without its namespace, which differs between versions of the format."""
    return str(element.tag).rpartition("}")[2]


def _styles(header: _Element) -> Mapping[str, int]:
    """The level of a heading by a style's number."""
    levels: dict[str, int] = {}
    for style in (node for node in header.iter() if _name(node) == "style"):
        for name in (style.get("name") or "", style.get("engName") or ""):
            if found := _OUTLINE.fullmatch(name.strip()):
                levels[style.get("id") or ""] = int(found[1])
            elif name.strip().lower() in _TITLE_STYLES:
                levels[style.get("id") or ""] = 1
    return levels


def _mark_shaded(header: _Element, roots: Iterable[_Element]) -> None:
    """Marks the cells with a ground of their own: what is shaded is a label, or the name of a column."""
    brushes = (node for node in header.iter() if _name(node) == "winBrush" and node.get("faceColor") not in _BLANK)
    fills = {of.get("id") for node in brushes for of in node.iterancestors() if _name(of) == "borderFill"}
    for cell in (node for root in roots for node in root.iter() if _name(node) == "tc"):
        if cell.get("borderFillIDRef") in fills:
            cell.set(_SHADED, "1")


def _blocks(parent: _Element, styles: Mapping[str, int]) -> Iterator[markup.Block]:
    for child in _nearest(parent, _APART):
        if _name(child) == "p":
            text = markup.clean_lines(_visible(child))
            level = styles.get(child.get("styleIDRef") or "", 0)
            is_heading = text and level and len(text) <= _HEADING_LENGTH
            yield ("heading", markup.heading(level, text)) if is_heading else ("paragraph", text)
            yield from _blocks(child, styles)  # tables, boxes and notes that hang on it
        else:
            yield from _table(child, styles)


def _table(table: _Element, styles: Mapping[str, int]) -> Iterator[markup.Block]:
    """A table with its caption, and behind it the tables that stand in its cells."""
    for caption in (child for child in table if _name(child) == "caption"):
        yield from _blocks(caption, styles)
    rows = [list(_nearest(row, frozenset(("tc",)))) for row in _nearest(table, frozenset(("tr",)))]
    heads = max(_count_top(rows, "header"), _count_top(rows, _SHADED) % max(len(rows), 1))  # of all it says nothing
    yield from tables([list(map(_as_cell, row)) for row in rows], heads)
    for cell in (cell for row in rows for cell in row):
        for inner in _inner_tables(cell):
            yield from _table(inner, styles)


def _count_top(rows: Sequence[Sequence[_Element]], mark: str) -> int:
    """How many rows at the top have cells with a mark only."""
    return sum(1 for _ in takewhile(lambda row: row and all(cell.get(mark) == "1" for cell in row), rows))


def _as_cell(cell: _Element) -> Cell:
    wide, deep = (_number(cell, "cellSpan", key, 1) for key in ("colSpan", "rowSpan"))
    return Cell(" ".join(_cell(cell)), wide, deep, _number(cell, "cellAddr", "colAddr", 0), cell.get(_SHADED) == "1")


def _number(cell: _Element, name: str, key: str, least: int) -> int:
    """A number that belongs to a cell; the least where there is none."""
    said = next((child.get(key) or "" for child in cell if _name(child) == name), "")
    return min(max(int(said), least), _MOST_PLACES) if said.isdecimal() and len(said) < 9 else least


def _cell(cell: _Element) -> Iterator[str]:
    for paragraph in _nearest(cell, frozenset(("p",))):
        yield _visible(paragraph)
        yield from _cell(paragraph)


def _inner_tables(parent: _Element) -> Iterator[_Element]:
    for child in _nearest(parent, _APART):
        if _name(child) == "tbl":
            yield child
        else:
            yield from _inner_tables(child)


def _nearest(parent: _Element, names: frozenset[str]) -> Iterator[_Element]:
    """What has one of the names and belongs to ``parent`` itself, not to a paragraph or table within it."""
    for child in parent:
        name = _name(child)
        if name in names:
            yield child
        elif name not in _APART and name not in _NOT_SHOWN:
            yield from _nearest(child, names)


def _visible(paragraph: _Element) -> str:
    """The text of a paragraph's own runs; what hangs on it has paragraphs of its own."""
    pieces: list[str] = []
    for run in (child for child in paragraph if _name(child) == "run"):
        for text in (child for child in run if _name(child) == "t"):
            pieces.append(text.text or "")
            for sign in text:
                pieces += [_SIGNS.get(_name(sign), ""), sign.tail or ""]
    return "".join(pieces)


def _read_older(file: SourceFile) -> Document:
    """Called by its first heading; a note stands where the library puts it.

    A merged cell counts for one place only: the library does not say how far it reaches.
    """
    try:
        import hwp2md
        from hwp2md.convert import read_blocks
    except ImportError as error:
        raise file.refuse('Hangul files (.hwp) need: pip install "selfright[hwp]"; or save it as .hwpx') from error
    data = file.read_bytes()
    if data.startswith(b"PK"):  # of the newer kind under the older name, which Hangul opens as well
        return _read_newer(file)
    with packed.naming(file, _KIND):
        if not data.startswith(packed.OLD):
            raise ValueError("its content is of another kind")
        try:
            text = markup.join_blocks(block for found in read_blocks(data) for block in _read_block(found))
        except (hwp2md.EncryptedDocumentError, hwp2md.DrmProtectedError) as error:
            raise packed.Locked from error
    return file.document(text, markup.title("", text), _HWP)


def _read_block(block: "Block") -> Iterator[markup.Block]:
    from hwp2md import Note, Paragraph, Table

    if isinstance(block, Table):
        yield from tables(plain_rows(block.rows))
    elif isinstance(block, Note):
        for paragraph in block.paragraphs:
            yield from _read_block(paragraph)
    elif isinstance(block, Paragraph):
        if block.level:
            yield "heading", markup.heading(block.level, block.text)
        elif block.list_info is None:
            yield "paragraph", markup.clean_lines(block.text)
        else:
            yield "list", markup.number_item(block.list_info.label, block.text, block.list_info.depth)
