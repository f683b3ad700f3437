"""PDF: its text in reading order, with headings, lists, tables, forms and comments; scanned pages are recognised.

``liteparse`` (PDFium) finds the blocks of each page; it sees nothing but the bytes of a PDF.
"""

import codecs
import functools
import html
import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest import ocr
from selfright.ingest.files import SourceFile, one_line
from selfright.ingest.readers import markup
from selfright.ingest.readers.pdf_flow import Page, text_of
from selfright.ingest.readers.pdf_fonts import object_of, with_fonts
from selfright.ingest.readers.pdf_page import Part, parts, turn
from selfright.ingest.readers.pdf_places import with_tables

_OPTIONS: dict[str, Any] = {
    "output_format": "markdown",
    "ocr_enabled": False,
    "keep_headers_footers": True,
    "extract_blocks": True,
    "extract_links": False,
    "extract_form_fields": True,
    "extract_annotations": True,
    "extract_vector_graphics": True,
    "extract_document_metadata": True,
    "preserve_very_small_text": True,
    "emit_word_boxes": True,
    "continue_on_page_error": True,
    "image_mode": "off",
    "quiet": True,
}
liteparse: Any = importlib.import_module("liteparse")  # its own types do not know all of these
_START = 1_024  # bytes, in which a PDF says what it is
_PAGES = 10_000
_AT_ONCE = 50  # pages
_NAMED = 20
_PICTURE_SHARE = 0.2
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
_UNSPOKEN = frozenset(("link", "widget", "popup", "pushbutton", "signature"))
_XMP = re.compile(r"<dc:title>.{0,200}?<rdf:li[^>]*>([^<]*)</rdf:li>", re.DOTALL)
_INFORMATION = re.compile(rb"/Info\s+(\d+)\s+(\d+)\s+R")
_TITLE_ENTRY = re.compile(rb"/Title\s*(?:\(((?:[^\\()]|\\.|\((?:[^\\()]|\\.)*\))*)\)|<([0-9A-Fa-f\s]*)>)", re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"", b"f": b"", b"\n": b"", b"\r": b"", b"\r\n": b""}


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """One document; its title is the one in its properties if that says anything, else its first heading.

    Pages that are pictures without a text are recognised where the extra ``ocr`` is installed; the metadata says which
    (``recognised_pages``). The others come as an error beside the document, with their numbers.
    """
    data = file.read_bytes()
    start = data.find(b"%PDF", 0, _START)
    if start < 0:
        raise file.refuse(_reason("it does not begin as one"))
    # From there on, or the library would take it for what it begins as.
    data = with_fonts(data[start:])
    try:
        pages, title, lost = _pages(data, file)
        scanned = _pictures(data, pages)
    except liteparse.ParseError as error:
        raise file.refuse(_reason(str(error))) from error
    recognised = ocr.recognise(file, scanned) if scanned else ocr.Recognised()
    for number, paragraphs in recognised.pages.items():
        pages[number - 1].parts += [Part("paragraph", text, 0.0, 0.0) for text in paragraphs]
    text = _UNPRINTABLE.sub("", text_of(pages))
    if not text.strip():
        raise file.refuse(
            f"it has no text layer (scanned pages?); {recognised.why}" if scanned else "no page has a text"
        )
    document = file.document(text, markup.title(one_line(title), text), "application/pdf")
    if recognised.pages:
        document = replace(document, metadata={"recognised_pages": _ranges(sorted(recognised.pages))})
    yield document
    left_out = [number for number in scanned if number not in recognised.pages]
    if left_out:
        yield file.refuse(f"pages without a text layer were left out: {_ranges(left_out)}; {recognised.why}")
    if lost:
        yield file.refuse(f"damaged pages were left out: {_ranges(lost)}; save it again, or export its text")


@functools.cache
def _parser() -> Any:
    """One for all files: it takes as long to make as a page to read."""
    return liteparse.LiteParse(**_OPTIONS, max_pages=_PAGES)


def _pages(data: bytes, file: SourceFile) -> tuple[list[Page], str, list[int]]:
    """The pages, the title that the file has, and the numbers of pages that cannot be read."""
    pages: list[Page] = []
    title = ""
    lost: list[int] = []
    for batch in _parser().parse_batches(data, _AT_ONCE):
        if batch.total_pages > _PAGES:
            raise file.refuse(f"more than {_PAGES:,} pages; split it")
        title = title if pages else _own_title(data, batch.result.doc_meta)
        lost += [error.page_num for error in batch.result.page_errors]
        found = {page.page_num: page for page in batch.result.pages}
        if turned := [(number, degrees) for number, page in found.items() if (degrees := turn(page))]:
            numbers = ",".join(str(number) for number, _ in turned)
            parser = liteparse.LiteParse(**_OPTIONS, target_pages=numbers, page_orientation_corrections=turned)
            found |= {page.page_num: page for page in parser.parse(data).pages}
        for number in range(batch.start_page, batch.end_page + 1):
            page = found.get(number)
            if page is None:
                pages.append(Page(number, 0.0, []))
                continue
            middle = page.height / 2
            notes = (Part("list", note, middle, middle, "- ") for note in dict.fromkeys(_notes(page)))
            rules = page.vector_graphics.lines if page.vector_graphics else ()
            pages.append(
                Page(number, page.height, [*with_tables([*parts(page)], rules), *notes], page.page_label or "")
            )
    return pages, title, lost


def _pictures(data: bytes, pages: Sequence[Page]) -> list[int]:
    """The numbers of the pages without a text that are pictures for a good part, not for a mark in a corner.

    Where no page has a text: of those with anything, since letters may be drawn as shapes.
    """
    empty = [page.number for page in pages if not page.parts]
    if not empty:
        return []
    options = {"ocr_enabled": False, "quiet": True, "extract_content_bounds": True, "include_complexity": True}
    parser = liteparse.LiteParse(**options, continue_on_page_error=True, target_pages=",".join(map(str, empty)))
    found = [(page.page_num, page.content_bounds, page.complexity) for page in parser.parse(data).pages]
    if len(empty) == len(pages):
        return [number for number, bounds, _ in found if bounds]
    return [n for n, _, of in found if of and (of.full_page_image or of.largest_image_coverage >= _PICTURE_SHARE)]


def _notes(page: Any) -> Iterator[str]:
    """``Name: value`` of each form field that is filled in, and what each comment says."""
    for field in page.form_fields or ():
        value = field.value or ", ".join(field.selected_options)
        if field.checked is not None:
            export = field.export_value or value
            value = ("✓" if export in ("", "Yes", "On", "1") else export) if field.checked else ""
        if value.strip() and field.type not in _UNSPOKEN:
            yield f"{markup.one_blank(field.alternate_name or field.name or '')}: {markup.one_blank(value)}"
    for note in page.annotations or ():
        if note.subtype not in _UNSPOKEN and note.contents:
            yield markup.one_blank(note.contents)


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in short: ``1-3, 7``."""
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), lambda at: at[1] - at[0])]
    said = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return ", ".join(said[:_NAMED]) + (f" and {len(said) - _NAMED:,} more" if len(said) > _NAMED else "")


def _reason(error: str) -> str:
    if "password" in error.lower():
        return "it is protected by a password; save a copy without one"
    return f"no PDF that can be read ({error}); save it again, or export its text"


def _own_title(data: bytes, properties: Any) -> str:
    """The title, empty where there is none in plain sight; ``properties`` are the library's, if it has any."""
    packet = _XMP.search(getattr(properties, "xmp", None) or "")
    if packet:
        return html.unescape(packet[1])
    references = _INFORMATION.findall(data)
    if not references or getattr(properties, "is_encrypted", True):
        return ""
    found = _TITLE_ENTRY.search(object_of(data, references[-1]))
    if not found:
        return ""
    digits = b"".join((found[2] or b"").split())
    raw = bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode()) or _ESCAPE.sub(_unescape, found[1] or b"")
    if raw.startswith(codecs.BOM_UTF16_BE):
        return raw[2:].decode("utf-16-be", "replace").rstrip("\0")
    return raw.decode("utf-8-sig" if raw.startswith(codecs.BOM_UTF8) else "cp1252", "replace")


def _unescape(match: re.Match[bytes]) -> bytes:
    sign = match[1]
    return bytes([int(sign, 8) % 256]) if sign.isdigit() and sign < b"8" else _ESCAPES.get(sign, sign)
