"""What is changed in an Excel file before it is read: dates, numbers of days, become what is shown."""

import datetime
import re
from collections.abc import Mapping, Sequence

from lxml.etree import _Element

from selfright.ingest.readers import packed

_X = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_REFERENCE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_CELL, _VALUE, _FORMULA = f"{_X}c", f"{_X}v", f"{_X}f"
_CURRENCY = {  # that workbooks name by number, too
    **{"5": '"$"#,##0_);("$"#,##0)', "6": '"$"#,##0_);("$"#,##0)', "41": '#,##0_);(#,##0);"-"'},
    **{"7": '"$"#,##0.00_);("$"#,##0.00)', "8": '"$"#,##0.00_);("$"#,##0.00)', "43": '#,##0.00_);(#,##0.00);"-"'},
    **{"42": '"$"#,##0_);"$"(#,##0);"$-"', "44": '"$"#,##0.00_);"$"(#,##0.00);"$-"'},
}
_Piece = tuple[str, str]
_BUILT_IN = {  # formats of dates that workbooks name by number only
    # Where the date of the reader's country is meant, the one that every country reads.
    **dict.fromkeys([*("14", "27", "28", "29", "30", "31", "34", "35", "36"), *map(str, range(50, 59))], "yyyy-mm-dd"),
    **{"15": "d-mmm-yy", "16": "d-mmm", "17": "mmm-yy", "18": "h:mm AM/PM", "19": "h:mm:ss AM/PM", "20": "h:mm"},
    **{"21": "h:mm:ss", "22": "yyyy-mm-dd h:mm", "32": "h:mm", "33": "h:mm:ss", "45": "mm:ss"},
}
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|(?P<left>\[(?:[hms]+|\$-(?:f[48]00|x-sys\w+))\]|[0#?@])'
    r"|\[\$(?P<sign>[^-\]]*)-?(?P<place>[^\]]*)\]|\[[^\]]*\]|(?P<half>AM/PM|A/P|오전/오후)"
    r"|(?P<part>y+|m+|d+|h+|s+|a{3,4})|(?P<other>.)",
    re.IGNORECASE,
)
_LAST_DAY = 2_958_466
_DAYS = "월화수목금토일"
_PARTS = {
    **{"y": "%y", "yy": "%y", "yyy": "%Y", "yyyy": "%Y", "mm": "%m", "mmm": "%b", "mmmm": "%B", "dd": "%d"},
    **{"ddd": "%a", "dddd": "%A", "hh": "%H", "ii": "%I", "nn": "%M", "ss": "%S"},
}
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
    targets = {key: (kind, target) for key, kind, target in related}
    for entry in parts[main].iter(f"{_X}sheet"):
        if entry.get("state") in ("hidden", "veryHidden"):
            continue
        name = entry.get("name") or ""
        kind, target = targets.get(entry.get(_REFERENCE) or "", ("", ""))
        if target not in parts:
            raise ValueError(f"the sheet {name} is missing")
        if kind != "worksheet":
            continue
        sheet = parts[target]
        for line in sheet.iter(f"{_X}col", f"{_X}row"):
            if line.get("width") == "0" or line.get("ht") == "0":
                line.set("hidden", "1")
        if dates:
            _write_dates(sheet, dates, general, since_1904)
        missing[name] = sum(map(_has_no_value, sheet.iter(_FORMULA)))
    return {name: count for name, count in missing.items() if count}


def _formats(styles: _Element) -> tuple[dict[str, Sequence[_Piece]], str]:
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
        if pieces := _date_format(codes.get(of) or _BUILT_IN.get(of, "")):
            found[str(number)] = pieces
    general = str(sum(1 for _ in cells.iterchildren(f"{_X}xf")))
    cells.append(cells.makeelement(f"{_X}xf", {"numFmtId": "0"}))
    return found, general


def _write_dates(sheet: _Element, dates: Mapping[str, Sequence[_Piece]], general: str, since_1904: bool) -> None:
    for cell in sheet.iter(_CELL):
        pieces = dates.get(cell.get("s") or "0")
        value = cell.find(_VALUE) if pieces and cell.get("t", "n") == "n" else None
        text = _format_date(pieces, value.text or "", since_1904) if pieces and value is not None else ""
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


def _date_format(code: str) -> Sequence[_Piece] | None:
    """The pieces of a number format for dates, kinds and letters; None where it is for something else.

    None also for what the library shows well: elapsed hours, parts of seconds, and dates as each country writes them.
    """
    pieces: list[_Piece] = []
    is_korean = False
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or ""
        if match["left"]:
            return None
        if match["other"] == ";":
            break
        if kind in ("half", "part"):
            pieces.append((kind, match[kind].lower()))
        elif kind == "place":
            is_korean |= match["place"].lower().endswith("412") or match["place"].lower().startswith("ko")
            pieces.append(("text", match["sign"]))
        elif kind:
            pieces.append(("text", match[kind]))
    if all(kind == "text" for kind, _ in pieces):
        return None
    has_half = any(kind == "half" for kind, _ in pieces)
    return [_settle(pieces, number, is_korean, has_half) for number in range(len(pieces))]


def _settle(pieces: Sequence[_Piece], number: int, is_korean: bool, has_half: bool) -> _Piece:
    """A piece whose letters mean one thing: ``n`` minutes, ``i`` hours to twelve, ``a`` days in Korean."""
    kind, letters = pieces[number]
    timed = [of[0] if of_kind == "part" else "" for of_kind, of in pieces]
    if letters in ("m", "mm") and ("".join(timed[:number])[-1:] == "h" or "".join(timed[number + 1 :])[:1] == "s"):
        letters = letters.replace("m", "n")
    elif kind == "part" and letters[0] == "h" and has_half:
        letters = letters.replace("h", "i")
    elif is_korean:
        letters = {"ddd": "aaa", "dddd": "aaaa", "mmm": "m", "mmmm": "m월", "am/pm": "오전/오후"}.get(letters, letters)
    return kind, letters


def _format_date(pieces: Sequence[_Piece], value: str, since_1904: bool) -> str:
    """What is shown for a number of days; empty when it is no date, and for the first two months of 1900."""
    try:
        days = float(value) + (1_462 if since_1904 else 0)
    except ValueError:
        return ""
    if not (0 <= days < 1 or 61 <= days < _LAST_DAY):
        return ""
    moment = datetime.datetime(1899, 12, 30) + datetime.timedelta(seconds=round(days * 86_400))
    return "".join(_format_part(kind, letters, moment) for kind, letters in pieces).strip()


def _format_part(kind: str, letters: str, moment: datetime.datetime) -> str:
    if kind == "text":
        return letters
    if kind == "half":
        return letters.upper().split("/")[moment.hour >= 12]
    if letters[0] == "a":
        return _DAYS[moment.weekday()] + "요일" * (len(letters) > 3)
    if letters in ("m", "m월", "d", "h", "i", "n", "s"):
        return (f"{moment:{_PARTS[letters[0] * 2]}}".lstrip("0") or "0") + letters[1:]
    return f"{moment:{_PARTS.get(letters, _PARTS[letters[0] * 2])}}"
