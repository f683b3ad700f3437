"""Office files of all kinds: texts, presentations and workbooks, as their programs show them."""

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import anydoc
from anydoc import Format
from lxml.etree import _Element

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup, opendocument, packed, sheets, slides, word, workbook
from selfright.ingest.readers.office_text import blocks

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
    form = _form_of(file, head)
    try:
        data, title, missing = _prepare(file, form, head)
        document = anydoc.to_document(data, form.library)
        if form.library in ("xlsx", "ods"):
            yield from sheets.documents(file, document.blocks, missing, form.media_type)
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


def _form_of(file: SourceFile, head: bytes) -> _Form:
    """The form that the suffix names; older ones may hold the newer, or RTF, which their programs open as well."""
    suffix = file.path.suffix.lower()
    if head.startswith(b"PK"):
        return _NEWER.get(suffix, _FORMS[suffix])
    return _RTF if head.startswith(b"{\\rtf") and suffix == ".doc" else _FORMS[suffix]


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
