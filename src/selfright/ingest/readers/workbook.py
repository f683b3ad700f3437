"""What is changed in an Excel file before it is read: dates become what is shown; formulas are looked at."""

import re
from collections.abc import Iterator, Mapping, Sequence

from lxml.etree import _Element

from selfright.ingest.readers import packed
from selfright.ingest.readers.shown_dates import BUILT_IN, date_format, format_date

_X = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_REFERENCE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_CELL, _VALUE, _FORMULA = f"{_X}c", f"{_X}v", f"{_X}f"
_CURRENCY = {  # that workbooks name by number, too
    **{"5": '"$"#,##0_);("$"#,##0)', "6": '"$"#,##0_);("$"#,##0)', "41": '#,##0_);(#,##0);"-"'},
    **{"7": '"$"#,##0.00_);("$"#,##0.00)', "8": '"$"#,##0.00_);("$"#,##0.00)', "43": '#,##0.00_);(#,##0.00);"-"'},
    **{"42": '"$"#,##0_);"$"(#,##0);"$-"', "44": '"$"#,##0.00_);"$"(#,##0.00);"$-"'},
}
_DateFormat = Sequence[tuple[str, str]]
_BARE_SIGNS = re.compile(r'("[^"]*"|\[[^\]]*\]|\\.|_.|\*.)|([^\x00-\x7f]+)')


def change(parts: dict[str, _Element]) -> dict[str, int]:
    """Writes dates as their formats show them; how many formulas have no value, by the name of the sheet.

    Raises ``ValueError`` when a sheet that is shown is not there.
    """
    main = next((name for name, root in parts.items() if root.tag == f"{_X}workbook"), "")
    if not main:
        raise ValueError("there is no workbook in it")
    related = packed.relations(parts, main)
    styles = next((parts[target] for _, kind, target in related if kind == "styles" and target in parts), None)
    since_1904 = any(of.get("date1904") in ("1", "true") for of in parts[main].iter(f"{_X}workbookPr"))
    dates, general = _formats(styles) if styles is not None else ({}, "0")
    missing = {}
    for name, sheet in _visible_sheets(parts, main, related):
        for line in sheet.iter(f"{_X}col", f"{_X}row"):
            if line.get("width") == "0" or line.get("ht") == "0":
                line.set("hidden", "1")
        if dates:
            _write_dates(sheet, dates, general, since_1904)
        missing[name] = sum(1 for formula in sheet.iter(_FORMULA) if _has_no_value(formula))
    return {name: count for name, count in missing.items() if count}


def _visible_sheets(
    parts: Mapping[str, _Element], main: str, related: list[tuple[str, str, str]]
) -> Iterator[tuple[str, _Element]]:
    targets = {key: (kind, target) for key, kind, target in related}
    for entry in parts[main].iter(f"{_X}sheet"):
        if entry.get("state") in ("hidden", "veryHidden"):
            continue
        name = entry.get("name") or ""
        kind, target = targets.get(entry.get(_REFERENCE) or "", ("", ""))
        if target not in parts:
            raise ValueError(f"the sheet {name} is missing")
        if kind == "worksheet":
            yield name, parts[target]


def _formats(styles: _Element) -> tuple[dict[str, _DateFormat], str]:
    """The formats of dates by the number that cells name them with, and such a number for no format."""
    codes: dict[str, str] = {}
    for entry in styles.iter(f"{_X}numFmt"):
        code = entry.get("formatCode") or ""
        codes[entry.get("numFmtId") or ""] = code
        # The library knows letters of other scripts only in quotes, though Excel does not write them there always.
        entry.set("formatCode", _BARE_SIGNS.sub(lambda sign: sign[1] or f'"{sign[2]}"', code))
    usual = styles.makeelement(f"{_X}numFmts")
    for of, code in _CURRENCY.items():
        if of not in codes:
            usual.append(usual.makeelement(f"{_X}numFmt", {"numFmtId": of, "formatCode": code}))
    styles.append(usual)
    cells = styles.find(f"{_X}cellXfs")
    if cells is None:
        return {}, "0"
    found = {}
    for number, style in enumerate(cells.iterchildren(f"{_X}xf")):
        of = style.get("numFmtId") or ""
        if pieces := date_format(codes.get(of) or BUILT_IN.get(of, "")):
            found[str(number)] = pieces
    general = str(sum(1 for _ in cells.iterchildren(f"{_X}xf")))
    cells.append(cells.makeelement(f"{_X}xf", {"numFmtId": "0"}))
    return found, general


def _write_dates(sheet: _Element, dates: Mapping[str, _DateFormat], general: str, since_1904: bool) -> None:
    for cell in sheet.iter(_CELL):
        pieces = dates.get(cell.get("s") or "0")
        value = cell.find(_VALUE) if pieces and cell.get("t", "n") == "n" else None
        text = format_date(pieces, value.text or "", since_1904) if pieces and value is not None else ""
        if value is not None and text:
            value.text = text
            cell.set("t", "str")
            cell.set("s", general)


def _has_no_value(formula: _Element) -> bool:
    cell = formula.getparent()
    if cell is None or cell.get("t") == "str":  # an empty text is a value
        return False
    row = cell.getparent()
    value = cell.find(_VALUE)
    is_hidden = row is not None and row.get("hidden") in ("1", "true")
    return not is_hidden and (value is None or not (value.text or "").strip())
