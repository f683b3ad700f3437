"""Office files of all kinds: texts, presentations and workbooks, as their programs show them."""

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import anydoc
from anydoc import Format
from lxml.etree import _Element

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import language_of
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import csv, markup, opendocument, packed, slides, word, workbook
from selfright.ingest.readers.office_text import blocks, cells
from selfright.ingest.readers.rows import in_parts
from selfright.ingest.readers.tables import Cell, sheet_blocks

_WORD, _SLIDES, _BOOK = ("Word document", ".docx"), ("PowerPoint presentation", ".pptx"), ("Excel workbook", ".xlsx")
_MICROSOFT = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
_NO_TITLE = frozenset(("Word Document", "PowerPoint Presentation", "PowerPoint 프레젠테이션", "Slide 1"))
_HIDDEN_RTF = re.compile(
    rb"\{(?:[^{}\\]|\\(?!v[^a-z]|par\b|[{}]).){0,300}\\v(?![a-z0-9])(?:[^{}\\]|\\(?!v0|par\b).)*\}", re.DOTALL
)
_Change = Callable[[dict[str, _Element]], dict[str, int] | None]


@dataclass(frozen=True, slots=True)
class _Form:
    """A format: what people and the library call it; what is changed before it is read, where it is an archive."""

    kind: packed.Kind
    library: Format
    media_type: str
    change: _Change | None = None
    is_archive: bool = True


_DOCX = _Form(_WORD, "docx", f"{_MICROSOFT}wordprocessingml.document", word.change)
_PPTX = _Form(_SLIDES, "pptx", f"{_MICROSOFT}presentationml.presentation", slides.change)
_XLSX = _Form(_BOOK, "xlsx", f"{_MICROSOFT}spreadsheetml.sheet", workbook.change)
_RTF = _Form(_WORD, "rtf", "application/rtf", is_archive=False)
_FORMS = {
    **dict.fromkeys((".docx", ".docm"), _DOCX),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx"), _PPTX),
    **dict.fromkeys((".xlsx", ".xlsm"), _XLSX),
    ".doc": _Form(_WORD, "doc", "application/msword", is_archive=False),
    ".ppt": _Form(_SLIDES, "ppt", "application/vnd.ms-powerpoint", is_archive=False),
    ".xls": _Form(_BOOK, "xlsx", "application/vnd.ms-excel", is_archive=False),
    ".rtf": _RTF,
    ".odt": _Form(("OpenDocument text", ".odt"), "odt", f"{_OPEN}text", opendocument.change),
    ".ods": _Form(("OpenDocument table", ".ods"), "ods", f"{_OPEN}spreadsheet", opendocument.change),
    ".odp": _Form(("OpenDocument presentation", ".odp"), "odp", f"{_OPEN}presentation", opendocument.change),
    ".epub": _Form(("EPUB book", ".epub"), "epub", "application/epub+zip"),
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
    try:
        data, title, missing = _prepare(file, form, head)
        document = anydoc.to_document(data, form.library)
        if form.library in ("xlsx", "ods"):
            yield from _sheet_documents(file, document.blocks, missing, form.media_type)
            return
        text = markup.join_blocks(blocks(document))
    except UnreadableFile:
        raise
    except (anydoc.EncryptedError, packed.Locked) as error:
        raise file.refuse("it is protected by a password; save it without one") from error
    except anydoc.ResourceLimitError as error:
        raise file.refuse(f"it is too much to read at once ({error}); split it") from error
    except Exception as error:  # hostile files make the libraries fail in more ways than can be named
        raise packed.unreadable(file, form.kind, error) from error
    heading = markup.first_heading(text)
    titles = (name for name in (title, heading) if name not in _NO_TITLE)
    yield file.document(text, next(filter(None, titles), ""), form.media_type)


def _prepare(file: SourceFile, form: _Form, head: bytes) -> tuple[bytes, str, Mapping[str, int]]:
    """The bytes for the library, the title in the properties, and how many formulas of each sheet have no value."""
    if not form.is_archive:
        data = file.read_bytes()
        return (_HIDDEN_RTF.sub(b"", data) if form is _RTF else data), "", {}
    if head.startswith(packed.OLD):
        data = file.read_bytes()
        if anydoc.format_from_bytes(data) is None:
            anydoc.to_document(data, form.library)  # which says that it is locked, or damaged
        raise packed.unreadable(file, form.kind, "it is of an older format under another name")
    archive = packed.archive_of(file, form.kind)
    if form.change is None:
        if damaged := zipfile.ZipFile(archive).testzip():
            raise ValueError(f"{damaged} is damaged")
        return archive.getvalue(), "", {}
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
