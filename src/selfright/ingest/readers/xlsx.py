"""Excel workbooks: a table for each sheet, as its cells show it."""

import datetime
import importlib
import io
import zipfile
from collections.abc import Iterator
from typing import Any

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import packed
from selfright.ingest.readers.csv import table_documents

_KIND = packed.Kind("Excel workbook", ".xlsx", ".xls")
_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_SHEETS = 1_000


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """What ``csv`` makes of each sheet that can be seen: rows that are documents, or tables.

    Formulas come as the values that were last computed.
    """
    try:
        openpyxl: Any = importlib.import_module("openpyxl")
    except ImportError as error:
        raise file.refuse('Excel files need: pip install "selfright[office]"') from error
    archive = packed.archive_of(file, _KIND)
    try:
        workbook = openpyxl.load_workbook(archive, read_only=True, data_only=True)
        sheets = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"][:_SHEETS]
        found = False
        for sheet in sheets:
            # What a file says of its size may be anything: rows are as long as they are.
            sheet.reset_dimensions()
            rows = _rows(sheet)
            header = next(rows, None)
            if header is None:
                continue
            found = True
            alone = len(sheets) == 1
            title = file.stem if alone else f"{file.stem}: {sheet.title}"
            name = "" if alone else sheet.title
            yield from table_documents(file, header, rows, _MEDIA_TYPE, name=name, title=title)
    except UnreadableFile:
        raise
    except Exception as error:  # hostile files make the library fail in more ways than can be named
        raise packed.unreadable(file, _KIND, error) from error
    if not found and _is_strict(archive):
        raise packed.unreadable(file, _KIND, "it is a 'Strict Open XML Spreadsheet'")
    if not found:
        raise file.refuse("there is no text in it; nothing to index")


def _is_strict(archive: io.BytesIO) -> bool:
    """Whether it is of the variant in which the library sees no sheets."""
    with zipfile.ZipFile(archive) as parts:
        return "xl/workbook.xml" in parts.namelist() and b"purl.oclc.org/ooxml" in parts.read("xl/workbook.xml")


def _rows(sheet: Any) -> Iterator[list[str]]:
    """The rows that hold anything."""
    for cells in sheet.iter_rows():
        row = [_shown(cell.value, cell.number_format or "") if cell.value is not None else "" for cell in cells]
        if any(value.strip() for value in row):
            yield row


def _shown(value: Any, number_format: str) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ", "minutes")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, int | float):
        return f"{round(value * 100, 6):.15g}%" if number_format.rstrip().endswith("%") else f"{value:.15g}"
    return str(value)
