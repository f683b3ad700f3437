"""What is changed in an Excel file before it is read: dates become what is shown, and labels are marked."""

import datetime
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import accumulate, islice, pairwise, takewhile

from lxml.etree import _Element

from selfright.ingest.readers import packed

_X = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
LABEL = "\u2063"
"""Stands in front of the text of a cell that looks like a label."""

_REFERENCE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_CELL, _VALUE, _FORMULA = f"{_X}c", f"{_X}v", f"{_X}f"
_FILLS = f"{_X}fills/{_X}fill"
_WHITE = {("rgb", "FFFFFFFF"), ("rgb", "00FFFFFF"), ("theme", "0"), ("indexed", "9"), ("indexed", "64")}
_CURRENCY = {  # that workbooks name by number, too
    **{"5": '"$"#,##0_);("$"#,##0)', "6": '"$"#,##0_);("$"#,##0)', "41": '#,##0_);(#,##0);"-"'},
    **{"7": '"$"#,##0.00_);("$"#,##0.00)', "8": '"$"#,##0.00_);("$"#,##0.00)', "43": '#,##0.00_);(#,##0.00);"-"'},
    **{"42": '"$"#,##0_);"$"(#,##0);"$-"', "44": '"$"#,##0.00_);"$"(#,##0.00);"$-"'},
}
_BUILT_IN = {  # formats of dates that workbooks name by number only
    # Where the date of the reader's country is meant, the one that every country reads.
    **dict.fromkeys([*("14", "27", "28", "29", "30", "31", "34", "35", "36"), *map(str, range(50, 59))], "yyyy-mm-dd"),
    **{"15": "d-mmm-yy", "16": "d-mmm", "17": "mmm-yy", "18": "h:mm AM/PM", "19": "h:mm:ss AM/PM", "20": "h:mm"},
    **{"21": "h:mm:ss", "22": "yyyy-mm-dd h:mm", "32": "h:mm", "33": "h:mm:ss", "45": "mm:ss"},
}
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|(?P<all>\[h+\])|(?P<left>\[(?:[ms]+|\$-(?:f[48]00|x-sys\w+))\]|[0#?@])'
    r"|\[\$(?P<sign>[^-\]]*)-?(?P<place>[^\]]*)\]|\[[^\]]*\]|(?P<half>AM/PM|A/P|오전/오후)"
    r"|(?P<part>y+|m+|d+|h+|s+|a{3,4})|(?P<other>.)",
    re.IGNORECASE,
)
_ROW_NUMBER = re.compile(r"\d+")
_DIGITS = 8  # of a row's number; seven are used
_LAST_ROW = 2**20
_MOST_BLANK = 1_000  # rows one after the other
_LAST_DAY = 2_958_466
_SHOWN = {  # ``n`` minutes, ``i`` hours to twelve, in brackets all hours
    **{"y": "{0:%y}", "yy": "{0:%y}", "yyy": "{0:%Y}", "yyyy": "{0:%Y}"},
    **{"m": "{0.month}", "m월": "{0.month}월", "mm": "{0:%m}", "mmm": "{0:%b}", "mmmm": "{0:%B}"},
    **{"d": "{0.day}", "dd": "{0:%d}", "ddd": "{0:%a}", "dddd": "{0:%A}", "aaa": "{day}", "aaaa": "{day}요일"},
    **{
        "h": "{0.hour}",
        "hh": "{0:%H}",
        "i": "{hour}",
        "ii": "{0:%I}",
        "[h]": "{all}",
        "[hh]": "{all:02}",
        "n": "{0.minute}",
        "nn": "{0:%M}",
    },
    **{"s": "{0.second}", "ss": "{0:%S}", "am/pm": "{0:%p}", "a/p": "{half}", "오전/오후": "{korean_half}"},
}
_KOREAN = {"ddd": "aaa", "dddd": "aaaa", "am/pm": "오전/오후", "mmm": "m", "mmmm": "m월"}
_BARE_SIGNS = re.compile(r'("[^"]*"|\[[^\]]*\]|\\.|_.|\*.)|([^\x00-\x7f]+)')


def change(parts: dict[str, _Element]) -> dict[str, int]:
    """Writes dates as their formats show them, and marks labels; how many formulas have no value, by sheet.

    Raises ``ValueError`` when a sheet that is shown is not there.
    """
    main = next((name for name, root in parts.items() if root.tag == f"{_X}workbook"), "")
    if not main:
        raise ValueError("there is no workbook in it")
    related = packed.relations(parts, main)
    styles = next((parts[target] for _, kind, target in related if kind == "styles" and target in parts), None)
    since_1904 = any(of.get("date1904") in ("1", "true") for of in parts[main].iter(f"{_X}workbookPr"))
    dates, general = _formats(styles) if styles is not None else ({}, "0")
    labels = _labels(styles) if styles is not None else frozenset()
    texts = [list(entry) for root in parts.values() if root.tag == f"{_X}sst" for entry in root.iterchildren(f"{_X}si")]
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
        _close_gaps(sheet)
        if dates:
            _write_dates(sheet, dates, general, since_1904)
        _mark_labels(sheet, labels, texts)
        missing[name] = sum(map(_has_no_value, sheet.iter(_FORMULA)))
    return {name: count for name, count in missing.items() if count}


def _formats(styles: _Element) -> tuple[dict[str, str], str]:
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
        if template := _template(codes.get(of) or _BUILT_IN.get(of, "")):
            found[str(number)] = template
    general = str(sum(1 for _ in cells.iterchildren(f"{_X}xf")))
    cells.append(cells.makeelement(f"{_X}xf", {"numFmtId": "0"}))
    return found, general


def _labels(styles: _Element) -> frozenset[str]:
    """The numbers of the styles of cells in bold letters, or with a ground of their own."""
    bold = [font.find(f"{_X}b") for font in styles.iterfind(f"{_X}fonts/{_X}font")]
    shaded = [fill.find(f"{_X}patternFill[@patternType='solid']/{_X}fgColor") for fill in styles.iterfind(_FILLS)]
    marks = {("fontId", str(n)) for n, of in enumerate(bold) if of is not None and of.get("val") not in ("0", "false")}
    marks |= {("fillId", str(n)) for n, of in enumerate(shaded) if of is not None and not _WHITE & set(of.items())}
    cells = enumerate(styles.iterfind(f"{_X}cellXfs/{_X}xf"))
    return frozenset(str(n) for n, style in cells if not marks.isdisjoint(style.items()))


def _mark_labels(sheet: _Element, labels: frozenset[str], texts: Sequence[Sequence[_Element]]) -> None:
    """Puts the sign of a label in front of the texts in cells of these styles."""
    for cell in [cell for cell in sheet.iter(_CELL) if cell.get("s") in labels]:
        value = cell.find(_VALUE)
        number = (value.text or "") if value is not None else ""
        if cell.get("t") == "s" and value is not None and number.isdecimal() and int(number) < len(texts):
            cell.set("t", "inlineStr")
            value.tag, value.text = f"{_X}is", None
            value.extend(map(deepcopy, texts[int(number)]))
        for text in islice(cell.iter(f"{_X}t"), 1):
            text.text = f"{LABEL}{text.text or ''}"


def _close_gaps(sheet: _Element) -> None:
    """Moves rows up that stand far below the others: the library holds each blank one in between.

    Raises ``ValueError`` when the numbers are none of rows, or not in order: the library leaves some out then.
    """
    rows = [row for row in sheet.iter(f"{_X}row") if any(map(len, row))]
    said = [row.get("r") or "" for row in rows]
    if not all(said):
        return  # they are counted
    numbers = [int(number) if number.isdecimal() and len(number) < _DIGITS else 0 for number in said]
    if not all(before < after <= _LAST_ROW for before, after in pairwise([0, *numbers])):
        raise ValueError("expected rows with ascending numbers up to 1,048,576")
    gaps = [max(0, after - before - _MOST_BLANK) for before, after in pairwise([0, *numbers])]
    if not any(gaps):
        return
    shifts = [0, *accumulate(gaps)]

    def move(place: re.Match[str]) -> str:
        return str(int(place[0]) - shifts[bisect_right(numbers, int(place[0]))])

    for row in rows:
        for node in (row, *row.iterchildren(_CELL)):
            if of := node.get("r"):
                node.set("r", _ROW_NUMBER.sub(move, of))
    for merged in sheet.iter(f"{_X}mergeCell"):
        merged.set("ref", _ROW_NUMBER.sub(move, merged.get("ref") or ""))
    for blank in [row for row in sheet.iter(f"{_X}row") if not any(map(len, row))]:
        packed.remove(blank)


def _write_dates(sheet: _Element, dates: Mapping[str, str], general: str, since_1904: bool) -> None:
    for cell in sheet.iter(_CELL):
        template, value = dates.get(cell.get("s") or "0"), cell.find(_VALUE)
        if template is None or value is None or cell.get("t", "n") != "n":
            continue
        if text := _format_date(template, value.text or "", since_1904):
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


def _template(code: str) -> str:
    """A number format for dates as one of Python's; empty where it is for something else.

    Empty also for what the library shows well: elapsed minutes, parts of seconds, dates as each country writes them.
    """
    tokens = list(takewhile(lambda token: token["other"] != ";", _TOKEN.finditer(code)))
    parts = [(token["part"] or token["half"] or token["all"] or "").lower() for token in tokens]
    places = [(token["place"] or "").lower() for token in tokens]
    if any(token["left"] for token in tokens) or not any(parts):
        return ""
    is_korean = any(place.endswith("412") or place.startswith("ko") for place in places)
    has_half = any("/" in part for part in parts)
    dates = ["" if "/" in part else part.strip("[]") for part in parts]
    template = ""
    for n, (token, part) in enumerate(zip(tokens, parts, strict=True)):
        if part in ("m", "mm") and ("".join(dates[:n])[-1:] == "h" or "".join(dates[n + 1 :])[:1] == "s"):
            letters = part.replace("m", "n")
        elif part[:1] == "h" and has_half:
            letters = part.replace("h", "i")
        else:
            letters = _KOREAN.get(part, part) if is_korean else part
        said = token["quoted"] or token["escaped"] or token["sign"] or token["other"] or ""
        template += _SHOWN.get(letters) or _SHOWN.get(letters[:1] * 2) or said.replace("{", "{{").replace("}", "}}")
    return template


def _format_date(template: str, value: str, since_1904: bool) -> str:
    """What is shown for a number of days; empty when it is no date, and for the first two months of 1900."""
    try:
        days = float(value) + (1_462 if since_1904 else 0)
    except ValueError:
        return ""
    if not (0 <= days < 1 or 61 <= days < _LAST_DAY or ("{all" in template and 0 <= days < 61)):
        return ""
    seconds = round(days * 86_400)
    moment = datetime.datetime(1899, 12, 30) + datetime.timedelta(seconds=seconds)
    is_late = moment.hour >= 12
    names = {"half": "AP"[is_late], "korean_half": ("오전", "오후")[is_late], "day": "월화수목금토일"[moment.weekday()]}
    return template.format(moment, hour=moment.hour % 12 or 12, all=seconds // 3_600, **names).strip()
