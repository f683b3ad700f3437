"""What stands on a PDF page beside its text: the values of a form, and comments."""

import ctypes
import importlib
from collections.abc import Iterator
from typing import Any

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
