"""Dates and times of workbooks, which are numbers of days, as their number formats show them."""

import datetime
import re
from collections.abc import Mapping, Sequence

BUILT_IN: Mapping[str, str] = {
    # Where the date of the reader's country is meant, the one that every country reads.
    **dict.fromkeys([*("14", "27", "28", "29", "30", "31", "34", "35", "36"), *map(str, range(50, 59))], "yyyy-mm-dd"),
    **{"15": "d-mmm-yy", "16": "d-mmm", "17": "mmm-yy", "18": "h:mm AM/PM", "19": "h:mm:ss AM/PM", "20": "h:mm"},
    **{"21": "h:mm:ss", "22": "yyyy-mm-dd h:mm", "32": "h:mm", "33": "h:mm:ss", "45": "mm:ss"},
}
"""The formats of dates that workbooks name by number only."""

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
_Piece = tuple[str, str]


def date_format(code: str) -> Sequence[_Piece] | None:
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


def format_date(pieces: Sequence[_Piece], value: str, since_1904: bool) -> str:
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
