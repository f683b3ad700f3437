"""Dates and times of workbooks, which are numbers of days, as their number formats show them."""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

BUILT_IN: Mapping[str, str] = {
    # Where the date of the reader's country is meant, the one that every country reads.
    **dict.fromkeys(("14", "27", "28", "29", "30", "31", "34", "35", "36"), "yyyy-mm-dd"),
    **{str(number): "yyyy-mm-dd" for number in range(50, 59)},
    **{"15": "d-mmm-yy", "16": "d-mmm", "17": "mmm-yy", "18": "h:mm AM/PM", "19": "h:mm:ss AM/PM", "20": "h:mm"},
    **{"21": "h:mm:ss", "22": "yyyy-mm-dd h:mm", "32": "h:mm", "33": "h:mm:ss", "45": "mm:ss", "46": "[h]:mm:ss"},
    "47": "mm:ss.0",
}
"""The formats of dates that workbooks name by number only."""

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|\[(?P<elapsed>h+|m+|s+)\]|\[\$(?P<sign>[^-\]]*)-?(?P<place>[^\]]*)\]'
    r"|\[[^\]]*\]|(?P<half>AM/PM|A/P|오전/오후)|(?P<part>y+|m+|d+|h+|s+|a{3,4})|(?P<fraction>\.0+)|(?P<other>.)",
    re.IGNORECASE,
)
_COUNTRY = {"[$-f800]": "yyyy-mm-dd", "[$-x-sysdate]": "yyyy-mm-dd", "[$-f400]": "h:mm:ss", "[$-x-systime]": "h:mm:ss"}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_KOREAN_DAYS = "월화수목금토일"
_LAST_DAY = 2_958_466
_Piece = tuple[str, str]
_PARTS: Mapping[str, Callable[[datetime.datetime], str]] = {
    **dict.fromkeys(("y", "yy"), lambda at: f"{at.year % 100:02}"),
    **dict.fromkeys(("yyy", "yyyy"), lambda at: f"{at.year:04}"),
    "m": lambda at: str(at.month),
    "mm": lambda at: f"{at.month:02}",
    "mmm": lambda at: _MONTHS[at.month - 1][:3],
    "mmmm": lambda at: _MONTHS[at.month - 1],
    "mmmmm": lambda at: _MONTHS[at.month - 1][0],
    "d": lambda at: str(at.day),
    "dd": lambda at: f"{at.day:02}",
    "ddd": lambda at: _DAYS[at.weekday()][:3],
    "dddd": lambda at: _DAYS[at.weekday()],
    "aaa": lambda at: _KOREAN_DAYS[at.weekday()],
    "aaaa": lambda at: f"{_KOREAN_DAYS[at.weekday()]}요일",
    "h": lambda at: str(at.hour),
    "hh": lambda at: f"{at.hour:02}",
    "n": lambda at: str(at.minute),
    "nn": lambda at: f"{at.minute:02}",
    "s": lambda at: str(at.second),
    "ss": lambda at: f"{at.second:02}",
}
_KOREAN_PARTS: Mapping[str, Callable[[datetime.datetime], str]] = {
    **_PARTS,
    **{"mmm": _PARTS["m"], "mmmm": lambda at: f"{at.month}월", "ddd": _PARTS["aaa"], "dddd": _PARTS["aaaa"]},
}


@dataclass(frozen=True, slots=True)
class DateFormat:
    """A format in pieces: what kind each is, and its letters. ``is_korean``: names of days and months are."""

    pieces: Sequence[_Piece]
    is_korean: bool

    @classmethod
    def of(cls, code: str) -> "DateFormat | None":
        """The format for dates that a number format is; None where it is for something else."""
        code = next((usual for sign, usual in _COUNTRY.items() if sign in code.lower()), code)
        pieces: list[_Piece] = []
        is_korean = False
        for match in _TOKEN.finditer(code):
            kind = match.lastgroup or ""
            if match["other"] == ";":
                break
            if match["other"] and match["other"] in "0#?@":
                return None
            if kind in ("elapsed", "half", "part", "fraction"):
                pieces.append((kind, match[kind].lower()))
            elif kind == "place":
                place = match["place"].lower()
                is_korean |= place.endswith("412") or place.startswith("ko")
                pieces.append(("text", match["sign"]))
            elif kind:
                pieces.append(("text", match[kind]))
        pieces = [_as_minutes(pieces, number) for number in range(len(pieces))]
        is_date = any(kind in ("elapsed", "part", "half") for kind, _ in pieces)
        return cls(pieces, is_korean) if is_date else None

    def text(self, value: str, since_1904: bool) -> str:
        """What is shown for a number of days; empty when it is no date."""
        try:
            days = float(value) + (1_462 if since_1904 else 0)
        except ValueError:
            return ""
        if not 0 <= days < _LAST_DAY or (60 <= days < 61 and not since_1904):  # 29 February 1900 never was
            return ""
        digits = next((len(letters) - 1 for kind, letters in self.pieces if kind == "fraction"), 0)
        first = datetime.datetime(1899, 12, 31 if days < 60 and not since_1904 else 30)
        unit = 10 ** (6 - min(digits, 6))
        moment = first + datetime.timedelta(microseconds=round(days * 86_400_000_000 / unit) * unit)
        return "".join(self._shown(kind, letters, moment, days) for kind, letters in self.pieces).strip()

    def _shown(self, kind: str, letters: str, moment: datetime.datetime, days: float) -> str:
        if kind == "part":
            if letters[0] == "h" and any(of == "half" for of, _ in self.pieces):
                moment = moment.replace(hour=(moment.hour - 1) % 12 + 1)
            parts = _KOREAN_PARTS if self.is_korean else _PARTS
            known = next(letters[:n] for n in range(len(letters), 0, -1) if letters[:n] in parts)
            return parts[known](moment)
        if kind == "elapsed":
            return f"{round(days * 86_400) // {'h': 3_600, 'm': 60, 's': 1}[letters[0]]:0{len(letters)}}"
        if kind == "half":
            is_korean = self.is_korean or letters == "오전/오후"
            return (("오전", "오후") if is_korean else letters.upper().split("/"))[moment.hour >= 12]
        return f".{moment.microsecond:06}"[: len(letters)] if kind == "fraction" else letters


def _as_minutes(pieces: Sequence[_Piece], number: int) -> _Piece:
    """An ``m`` behind hours or before seconds means minutes."""
    kind, letters = pieces[number]
    timed = [of[0] if of_kind in ("part", "elapsed") else "" for of_kind, of in pieces]
    before, after = "".join(timed[:number])[-1:], "".join(timed[number + 1 :])[:1]
    is_minutes = kind == "part" and letters in ("m", "mm") and (before == "h" or after == "s")
    return (kind, letters.replace("m", "n")) if is_minutes else (kind, letters)
