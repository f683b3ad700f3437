"""Word documents: headings, paragraphs, lists and tables in reading order."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup, packed

if TYPE_CHECKING:
    from lxml.etree import _Element

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PARAGRAPH, _TABLE, _MOVED_AWAY = f"{_W}p", f"{_W}tbl", f"{_W}moveFrom"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NOTES = {
    "footnotes": (f"{_W}footnote", f"{_W}footnoteReference"),
    "endnotes": (f"{_W}endnote", f"{_W}endnoteReference"),
}
_REFERENCES = tuple(reference for _, reference in _NOTES.values())
_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_KIND = packed.Kind("Word document", ".docx", ".doc")
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_SIGNS = {f"{_W}tab": " ", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_NO_TITLE = "Word Document"  # what the library says when there is none


def read(file: SourceFile) -> Iterator[Document]:
    """One document; its title is the one in its properties, else its first heading."""
    try:
        import docx
    except ImportError as error:
        raise file.refuse('Word files need: pip install "selfright[office]"') from error
    archive = packed.archive_of(file, _KIND)
    try:
        word = docx.Document(archive)
        notes = _notes(word.part)
        text = markup.joined(_blocks(word.element.body, _style_names(word.styles.element), notes))
        title = word.core_properties.title
    except Exception as error:  # hostile files make the library fail in more ways than can be named
        raise packed.unreadable(file, _KIND, error) from error
    yield file.document(text, title if title not in ("", _NO_TITLE) else markup.first_heading(text), _MEDIA_TYPE)


def _style_names(styles: "_Element") -> dict[str, str]:
    # Ids are translated in localised Word, names of built-in styles are not.
    names = ((style.get(f"{_W}styleId"), style.find(f"{_W}name")) for style in styles.iterchildren(f"{_W}style"))
    return {key: name.get(f"{_W}val") or "" for key, name in names if key and name is not None}


def _notes(part: Any) -> dict[tuple[str, str], str]:
    """Footnotes and endnotes, by the tag that refers to them and their number."""
    notes: dict[tuple[str, str], str] = {}
    for relation in part.rels.values():
        kind = relation.reltype.rpartition("/")[2]
        if kind in _NOTES and not relation.is_external:
            tag, reference = _NOTES[kind]
            for note in packed.parsed(relation.target_part.blob).iterchildren(tag):
                notes[reference, note.get(f"{_W}id") or ""] = markup.one_blank(_visible(note))
    return notes


def _blocks(
    parent: "_Element", styles: Mapping[str, str], notes: Mapping[tuple[str, str], str]
) -> Iterator[markup.Block]:
    for child in _nearest(parent, _PARAGRAPH, _TABLE):
        if child.tag == _PARAGRAPH:
            yield _paragraph(child, styles)
        else:
            yield from _tables(child)
        for reference in child.iter(*_REFERENCES):
            yield "paragraph", notes.get((str(reference.tag), reference.get(f"{_W}id") or ""), "")


def _tables(table: "_Element") -> Iterator[markup.Block]:
    """A table, and behind it those that stand in its cells."""
    cells = [list(_nearest(row, f"{_W}tc")) for row in _nearest(table, f"{_W}tr")]
    yield "table", markup.table([" ".join(map(_visible, _nearest(cell, _PARAGRAPH))) for cell in row] for row in cells)
    for inner in (inner for row in cells for cell in row for inner in _nearest(cell, _TABLE)):
        yield from _tables(inner)


def _nearest(parent: "_Element", *tags: str) -> Iterator["_Element"]:
    """What has one of the tags and belongs to ``parent`` itself, not to a paragraph or table within it.

    Content controls and tracked changes wrap what they hold.
    """
    for child in parent:
        if child.tag in tags:
            yield child
        elif child.tag not in (_PARAGRAPH, _TABLE, _MOVED_AWAY):
            yield from _nearest(child, *tags)


def _paragraph(paragraph: "_Element", styles: Mapping[str, str]) -> markup.Block:
    text = "\n".join(filter(None, map(markup.one_blank, _visible(paragraph).split("\n"))))
    style = styles.get(_value(paragraph, "pStyle"), "")
    heading = _HEADING.fullmatch(style)
    if text and (heading or style == "Title"):
        return "heading", markup.heading(int(heading.group(1)) if heading else 1, text)
    if text and (style.startswith("List") or paragraph.find(f"{_W}pPr/{_W}numPr") is not None):
        return "list", markup.item(text, _depth(paragraph, style))
    return "paragraph", text


def _depth(paragraph: "_Element", style: str) -> int:
    level = _value(paragraph, "numPr", "ilvl")
    if level.isdigit():
        return int(level)
    return int(style[-1]) - 1 if style[-1:].isdigit() else 0  # "List Bullet 2"


def _value(paragraph: "_Element", *names: str) -> str:
    found = paragraph.find("/".join(f"{_W}{name}" for name in ("pPr", *names)))
    return (found.get(f"{_W}val") or "") if found is not None else ""


def _visible(paragraph: "_Element") -> str:
    """A paragraph's text; what was deleted is marked up as something else, and drawings and moves say all twice.

    The paragraphs of a box that hangs on it are lines of their own.
    """
    from lxml import etree

    pieces = []
    walker = etree.iterwalk(paragraph, events=("start", "end"))
    for event, node in walker:
        if node.tag == _PARAGRAPH and node is not paragraph:
            pieces.append("\n")
        if event == "end":
            continue
        if node.tag in (_FALLBACK, _MOVED_AWAY):
            walker.skip_subtree()
        pieces.append(node.text or "" if node.tag == f"{_W}t" else _SIGNS.get(str(node.tag), ""))
    return "".join(pieces)
