"""Office files of all kinds: texts, presentations and workbooks, as their programs show them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import anydoc
from anydoc import Format
from lxml.etree import _Element

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import language_of
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import csv, markup, opendocument, packed, word, workbook
from selfright.ingest.readers.office_text import blocks, cells
from selfright.ingest.readers.rows import in_parts
from selfright.ingest.readers.sign_fonts import as_shown
from selfright.ingest.readers.tables import Cell, sheet_blocks

_WORD, _SLIDES, _BOOK = ("Word document", ".docx"), ("PowerPoint presentation", ".pptx"), ("Excel workbook", ".xlsx")
_MICROSOFT = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
_HIDDEN_RTF = re.compile(
    rb"\{(?:[^{}\\]|\\(?!v[^a-z]|deleted|par\b|[{}]).){0,300}\\(?:v|deleted)(?![a-z0-9])"
    rb"(?:[^{}\\]|\\(?!v0|par\b).)*\}",
    re.DOTALL,
)
_Change = Callable[[dict[str, _Element]], dict[str, int] | None]


_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_REFERENCE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_TITLES, _MARGINS = ("title", "ctrTitle"), ("ftr", "dt", "sldNum")
_TITLE = (
    f'<p:sp xmlns:p="{_P[1:-1]}" xmlns:a="{_A[1:-1]}"><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr>'
    "<p:txBody><a:p><a:r><a:t>Slide {}</a:t></a:r></a:p></p:txBody></p:sp>"
)


def _change_slides(parts: dict[str, _Element]) -> None:
    """What is changed in a PowerPoint file before it is read.

    Takes out what is not shown, and puts the title of each slide first; one without a title is ``Slide 3``.

    Raises ``ValueError`` when a slide that is named is not there, and when all of them are hidden.
    """
    main = next((name for name, root in parts.items() if root.tag == f"{_P}presentation"), "")
    if not main:
        raise ValueError("there is no presentation in it")
    targets = {key: target for key, _, target in packed.relations(parts, main)}
    seen: set[str] = set()
    for number, entry in enumerate(list(parts[main].iter(f"{_P}sldId")), 1):
        name = targets.get(entry.get(_REFERENCE) or "", "")
        tree = parts[name].find(f"{_P}cSld/{_P}spTree") if name in parts else None
        if tree is None:
            raise ValueError(f"slide {number} is missing")
        if parts[name].get("show") in ("0", "false"):
            packed.remove(entry)
        else:
            _change_slide(tree, number, _has_notes(parts, name), seen)
    if next(parts[main].iter(f"{_P}sldId"), None) is None:
        raise ValueError("no slide of it is shown")


def _has_notes(parts: dict[str, _Element], name: str) -> bool:
    notes = (parts[to] for _, kind, to in packed.relations(parts, name) if kind == "notesSlide" and to in parts)
    shapes = (shape for root in notes for shape in root.iter(f"{_P}sp"))
    return any(_holds_anything(shape) for shape in shapes if _place(shape) in ("", "body"))


def _change_slide(tree: _Element, number: int, has_notes: bool, seen: set[str]) -> None:
    for properties in list(tree.iterfind(f".//*/*/{_P}cNvPr")):
        if properties.get("hidden") in ("1", "true") and (frame := properties.getparent()) is not None:
            packed.remove(frame.getparent())
    for footer in [shape for shape in tree.iter(f"{_P}sp") if _place(shape) == "ftr"]:
        said = "".join(text.text or "" for text in footer.iter(f"{_A}t"))
        if said not in seen:  # the library reads shapes in this place on no slide
            seen.add(said)
            packed.remove(footer.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph"))
    for looks in tree.iter(f"{_A}rPr"):
        text = looks.getnext()
        if text is None:
            continue
        for font in looks.iterchildren(f"{_A}latin", f"{_A}sym"):
            text.text = as_shown(text.text or "", font.get("typeface"), has_letters=font.tag == f"{_A}latin")
        if (looks.get("baseline") or "0")[0] not in "-0":
            text.text = markup.raised(text.text or "")
    titles = [shape for shape in tree.iterchildren(f"{_P}sp") if _place(shape) in _TITLES and _holds_anything(shape)]
    first = titles[0] if titles else None
    if first is None and (has_notes or any(_holds_anything(shape) for shape in tree if _place(shape) not in _MARGINS)):
        first = packed.parse_xml(_TITLE.format(number).encode())
    if first is not None:
        tree.insert(0, first)


def _place(shape: _Element) -> str:
    """Which place of the layout a shape fills; empty for none."""
    place = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return (place.get("type") or "body") if place is not None else ""


def _holds_anything(node: _Element) -> bool:
    return (
        any((text.text or "").strip() for text in node.iter(f"{_A}t")) or node.find(f".//{_P}graphicFrame") is not None
    )


@dataclass(frozen=True, slots=True)
class _Form:
    """A format: what people and the library call it; what is changed before it is read, where it is an archive."""

    kind: packed.Kind
    library: Format
    media_type: str
    change: _Change | None = None


_DOCX = _Form(_WORD, "docx", f"{_MICROSOFT}wordprocessingml.document", word.change)
_PPTX = _Form(_SLIDES, "pptx", f"{_MICROSOFT}presentationml.presentation", _change_slides)
_XLSX = _Form(_BOOK, "xlsx", f"{_MICROSOFT}spreadsheetml.sheet", workbook.change)
_RTF = _Form(_WORD, "rtf", "application/rtf")
_FORMS = {
    **dict.fromkeys((".docx", ".docm"), _DOCX),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx"), _PPTX),
    **dict.fromkeys((".xlsx", ".xlsm"), _XLSX),
    ".doc": _Form(_WORD, "doc", "application/msword"),
    ".ppt": _Form(_SLIDES, "ppt", "application/vnd.ms-powerpoint"),
    ".xls": _Form(_BOOK, "xlsx", "application/vnd.ms-excel"),
    ".rtf": _RTF,
    ".odt": _Form(("OpenDocument text", ".odt"), "odt", f"{_OPEN}text", opendocument.change),
    ".ods": _Form(("OpenDocument table", ".ods"), "ods", f"{_OPEN}spreadsheet", opendocument.change),
    ".odp": _Form(("OpenDocument presentation", ".odp"), "odp", f"{_OPEN}presentation", opendocument.change),
}
_NEWER = {".doc": _DOCX, ".ppt": _PPTX, ".xls": _XLSX}


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """One document, or one for each sheet that is shown; titles are in the properties, else the first heading.

    Hidden text, rows, columns, sheets and slides are left out. Formulas without a value are told of.
    """
    with file.open() as handle:
        head = handle.read(8)
    suffix = file.path.suffix.lower()
    form = _FORMS[suffix]  # older ones may hold the newer, or RTF, which their programs open as well
    if head.startswith(b"PK"):
        form = _NEWER.get(suffix, form)
    elif head.startswith(b"{\\rtf") and suffix == ".doc":
        form = _RTF
    with packed.naming(file, form.kind):
        try:
            data, title, missing = _prepare(file, form, head)
            document = anydoc.to_document(data, form.library)
        except anydoc.EncryptedError as error:
            raise packed.Locked from error
        except anydoc.ResourceLimitError as error:
            raise file.refuse(f"it is too much to read at once ({error}); split it") from error
        if form.library in ("xlsx", "ods"):
            yield from _sheet_documents(file, document.blocks, missing, form.media_type)
            return
        text = markup.join_blocks(blocks(document))
    yield file.document(text, markup.title(title, text), form.media_type)


def _prepare(file: SourceFile, form: _Form, head: bytes) -> tuple[bytes, str, Mapping[str, int]]:
    """The bytes for the library, the title in the properties, and how many formulas of each sheet have no value."""
    if form.change is None:
        data = file.read_bytes()
        if form is _RTF and not data.rstrip(b"\0 \t\r\n").endswith(b"}"):
            raise ValueError("it is cut off: expected } at its end")
        return (_HIDDEN_RTF.sub(b"", data) if form is _RTF else data), "", {}
    if head.startswith(packed.OLD):
        data = file.read_bytes()
        if anydoc.format_from_bytes(data) is None:
            anydoc.to_document(data, form.library)  # which says that it is locked, or damaged
        raise ValueError("it is of an older format under another name")
    archive = packed.archive_of(file)
    parts = packed.parts_of(archive)
    missing = form.change(parts) or {}
    return packed.repack(archive, parts), packed.title_of(archive), missing


def _sheet_documents(
    file: SourceFile, found: Sequence[anydoc.Block], missing: Mapping[str, int], media_type: str
) -> Iterator[Document | UnreadableFile]:
    """A document for each sheet (``prices.xlsx:Parts``), or for the only one; what ``csv`` makes of rows with a text.

    A longer one is several, of 5,000 rows each, called by their first row. ``missing`` has by the names of sheets how
    many formulas have no value; the sheet says so, and the file is named for it.
    """
    sheets = list(_sheets(found))
    for name, rows in sheets:
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
    if not sheets:
        raise file.refuse("there is no text in it; nothing to index")
    if missing:
        why = f"formulas without a stored value: {sum(missing.values()):,}"
        yield file.refuse(f"{why}; open it in its program, save it, and add it again")


def _sheets(found: Sequence[anydoc.Block]) -> Iterator[tuple[str, list[list[Cell | None]]]]:
    """The cells of the sheets that say anything, None where one is merged into another; the only sheet has no name."""
    name = ""
    for block in found:
        if block.kind == "heading":
            name = markup.one_blank("".join(inline.text or "" for inline in block.content or ()))
        elif block.table is not None:
            rows = list(cells(block.table))
            if any(map(_says_anything, rows)):
                yield name, rows


def _says_anything(row: Sequence[Cell | None]) -> bool:
    return any(cell is None or cell.text for cell in row)
