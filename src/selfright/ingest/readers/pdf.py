"""PDF: the text layer, with lines put back together and headings told by their size; forms and comments."""

import ctypes
import importlib
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import BlockKind
from selfright.ingest import ocr
from selfright.ingest.files import SourceFile, one_line
from selfright.ingest.readers import markup

_WIDGET = 20
_SPOKEN = frozenset(
    (1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
)  # text notes, free text, shapes, marked text, stamps
_HIDDEN = 2 | 32  # hidden, or not to be seen on a screen
_CHECK_BOX, _RADIO, _PUSH, _SIGNATURE = 2, 3, 1, 7
_MOST = 2_000  # of a page
_MOST_BYTES = 100_000


def notes_of(pdf: Any, page: Any) -> Iterator[str]:
    """List items: ``Name: value`` of each form field that is filled in, and what each comment says."""
    raw: Any = importlib.import_module("pypdfium2.raw")
    form = pdf.formenv.raw if pdf.formenv else None
    said: set[str] = set()
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST)):
        note = raw.FPDFPage_GetAnnot(page, index)
        if not note:
            continue
        try:
            text = "" if raw.FPDFAnnot_GetFlags(note) & _HIDDEN else _said(raw, form, note)
        finally:
            raw.FPDFPage_CloseAnnot(note)
        if text and text not in said:
            said.add(text)
            yield markup.item(text)


def _said(raw: Any, form: Any, note: Any) -> str:
    kind = raw.FPDFAnnot_GetSubtype(note)
    if kind == _WIDGET and form:
        return _field(raw, form, note)
    if kind not in _SPOKEN:
        return ""
    return markup.one_blank(_string(lambda buffer, size: raw.FPDFAnnot_GetStringValue(note, b"Contents", buffer, size)))


def _field(raw: Any, form: Any, note: Any) -> str:
    kind = raw.FPDFAnnot_GetFormFieldType(form, note)
    if kind in (_PUSH, _SIGNATURE):
        return ""
    name = _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldAlternateName(form, note, buffer, size)) or _string(
        lambda buffer, size: raw.FPDFAnnot_GetFormFieldName(form, note, buffer, size)
    )
    if kind in (_CHECK_BOX, _RADIO):
        if not raw.FPDFAnnot_IsChecked(form, note):
            return ""
        value = _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldExportValue(form, note, buffer, size))
        value = "✓" if value in ("", "Yes", "On", "1") else value
    else:
        value = _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldValue(form, note, buffer, size))
    return f"{markup.one_blank(name)}: {markup.one_blank(value)}" if value.strip() else ""


def _string(get: Any) -> str:
    """What a function of PDFium writes: UTF-16 with a zero at the end, whose length in bytes it says first."""
    size = min(get(None, 0), _MOST_BYTES)
    if size < 4:
        return ""
    buffer = ctypes.create_string_buffer(size)
    get(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw.decode("utf-16-le", "replace").split("\0", 1)[0].strip()


_PAGES = 10_000
_NAMED = 20
_PICTURE_SHARE = 0.2
_HEADING_SIZE = 1.15
_HEADING_LENGTH = 120
_LEVELS = 3
_FULL_LINE = 0.75
_BULLET = re.compile(r"\s*[-*•·▪◦●○]\s+")
_HYPHENS = ("\ufffe", "\x02")  # how PDFium tells a word that was divided at a line's end
_CJK_LETTER = re.compile(r"[\u3001-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60]")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_MEANINGLESS = re.compile(
    r"\W*(?:untitled|anonymous|unspecified)|document\d*$|microsoft (?:word|powerpoint)|제목\s*없음"
    r"|.*\.(?:docx?|pptx?|xlsx?|hwpx?|odt|rtf|pdf|txt|tex|dvi|indd|qx[dp])$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page, with its letters' size in points; ``vertical``: it was written downwards."""

    text: str
    size: float
    vertical: bool = False


@dataclass(frozen=True, slots=True)
class _Page:
    """A page's lines, and its form's values and comments as list items.

    ``is_picture``: it is one without a text; ``is_drawn``: without a text too, but with anything else.
    """

    lines: list[Line]
    notes: list[str]
    is_picture: bool
    is_drawn: bool

    @property
    def has_text(self) -> bool:
        return bool(self.notes) or any(line.text.strip() for line in self.lines)


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """One document; its title is the one in its properties if that says anything, else its first heading.

    Pages that are pictures without a text are recognised where the extra ``ocr`` is installed; the metadata says which
    (``recognised_pages``). The others come as an error beside the document, with their numbers.
    """
    pypdfium2: Any = importlib.import_module("pypdfium2")
    data = file.read_bytes()
    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise file.refuse(_reason(str(error))) from error
    try:
        pages = _pages(pdf, file)
        title = pdf.get_metadata_value("Title")
    except pypdfium2.PdfiumError as error:
        raise file.refuse(_reason(str(error))) from error
    finally:
        pdf.close()
    # Where no page has a text, letters may also be drawn as shapes.
    drawn = not any(page.has_text for page in pages)
    scanned = [number for number, page in enumerate(pages, 1) if page.is_picture or (drawn and page.is_drawn)]
    recognised = ocr.recognise(file, scanned) if scanned else ocr.Recognised()
    text = _text(pages, recognised.pages)
    if not text.strip():
        raise file.refuse(
            f"it has no text layer (scanned pages?); {recognised.why}" if scanned else "no page has a text"
        )
    document = file.document(text, _title(title, text), "application/pdf")
    if recognised.pages:
        document = replace(document, metadata={"recognised_pages": _ranges(sorted(recognised.pages))})
    yield document
    left_out = [number for number in scanned if number not in recognised.pages]
    if left_out:
        yield file.refuse(f"pages without a text layer were left out: {_ranges(left_out)}; {recognised.why}")


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in short: ``1-3, 7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    more = f" and {len(runs) - _NAMED:,} more" if len(runs) > _NAMED else ""
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs[:_NAMED]) + more


def _reason(error: str) -> str:
    if "password" in error.lower():
        return "it is protected by a password; save a copy without one"
    return f"no PDF that can be read ({error}); save it again, or export its text"


def _title(given: str, text: str) -> str:
    title = one_line(given)
    if len(title) >= 3 and not _MEANINGLESS.match(title):
        return title
    return markup.first_heading(text)


def _pages(pdf: Any, file: SourceFile) -> list[_Page]:
    if len(pdf) > _PAGES:
        raise file.refuse(f"more than {_PAGES:,} pages; split it")
    if pdf.get_formtype():
        # Of XFA forms it would tell the user how to compile PDFium.
        logging.getLogger("pypdfium2").setLevel(logging.ERROR)
        pdf.init_forms()
    return [_page(pdf, n) for n in range(len(pdf))]


def _text(pages: Sequence[_Page], recognised: Mapping[int, Sequence[str]]) -> str:
    """The text of all pages; ``recognised`` has paragraphs of some, by number (from 1)."""
    sizes: Counter[float] = Counter()
    for line in (line for page in pages for line in page.lines):
        sizes[line.size] += len(line.text)
    levels = _levels(sizes)
    blocks: list[markup.Block] = []
    for number, page in enumerate(pages, 1):
        blocks += _blocks(page.lines, levels)
        blocks += [("paragraph", text) for text in recognised.get(number, ())]
        blocks += [("list", note) for note in page.notes]
    return _UNPRINTABLE.sub("", markup.joined(blocks))


def _page(pdf: Any, number: int) -> _Page:
    page = pdf[number]
    try:
        lines = _upright(_lines(page))
        is_drawn = (
            not any(line.text.strip() for line in lines) and next(page.get_objects(max_depth=1), None) is not None
        )
        return _Page(lines, list(notes_of(pdf, page)), is_drawn and _has_picture(page), is_drawn)
    finally:
        page.close()


def _has_picture(page: Any) -> bool:
    """Whether there is a picture of a good part of the page, not a mark in its corner."""
    raw: Any = importlib.import_module("pypdfium2.raw")
    width, height = page.get_size()
    for found in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = found.get_bounds()
        if (right - left) * (top - bottom) >= _PICTURE_SHARE * width * height:
            return True
    return False


def _upright(lines: Sequence[Line]) -> list[Line]:
    """Letters that stand one under the other, put beside one another: vertical Korean, Chinese and Japanese."""
    upright: list[Line] = []
    for line in lines:
        letter = line.text.strip()
        before = upright[-1] if upright else None
        stands_under = before is not None and before.vertical and line.size == before.size
        if _CJK_LETTER.fullmatch(letter):
            text = before.text + letter if before is not None and stands_under else letter
            upright[len(upright) - stands_under :] = [Line(text, line.size, vertical=True)]
        else:
            upright.append(line)
    return upright


def _lines(page: Any) -> list[Line]:
    raw: Any = importlib.import_module("pypdfium2.raw")
    textpage = page.get_textpage()
    try:
        lines = []
        position = 0
        for text in textpage.get_text_range().split("\n"):
            first = position + len(text) - len(text.lstrip())
            size = raw.FPDFText_GetFontSize(textpage, first) if text.strip() else 0.0
            lines.append(Line(text.rstrip(), round(size * 2) / 2))
            position += len(text) + 1
        return lines
    finally:
        textpage.close()


def _levels(sizes: Counter[float]) -> dict[float, int]:
    """Letter sizes clearly above the commonest one, largest first, as heading levels."""
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    larger = sorted((size for size in sizes if size >= body * _HEADING_SIZE and body), reverse=True)
    return {size: min(rank, _LEVELS) for rank, size in enumerate(larger, start=1)}


def _blocks(lines: Sequence[Line], levels: dict[float, int]) -> Iterator[markup.Block]:
    """Headings, list items and paragraphs of a page; a line that fills the page's width goes on in the next one."""
    widths = sorted(len(line.text) for line in lines if line.text)
    full = widths[int(len(widths) * 0.9)] * _FULL_LINE if widths else 0
    kind: BlockKind = "paragraph"
    text, goes_on = "", False
    for line in lines:
        level = levels.get(line.size, 0) if line.text and len(line.text) <= _HEADING_LENGTH else 0
        bullet = _BULLET.match(line.text)
        if level or bullet or not goes_on:
            yield kind, text
            kind, text = "list" if bullet else "paragraph", ""
        if level:
            yield "heading", markup.heading(level, line.text)
        elif line.vertical and text and goes_on:
            text += line.text
        else:
            text = _joined(text, _BULLET.sub("- ", line.text, count=1))
        goes_on = not level and len(line.text) >= full
    yield kind, text


def _joined(paragraph: str, line: str) -> str:
    if paragraph.endswith(_HYPHENS):
        return paragraph[:-1] + line.lstrip()
    return f"{paragraph} {line.strip()}" if paragraph else line.strip()
