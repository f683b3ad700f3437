"""Dates and times of workbooks, which are numbers of days, as their number formats show them."""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

BUILT_IN: Mapping[str, str] = {
    # Where the date of the reader's country is meant, the one that every country reads.
    **dict.fromkeys(("14", "27", "28", "29", "30", "31", "34", "35", "36"), "yyyy-mm-dd"),
    **{str(number): "yyyy-mm-dd" for number in range(50, 59)},
    "15": "d-mmm-yy",
    "16": "d-mmm",
    "17": "mmm-yy",
    "18": "h:mm AM/PM",
    "19": "h:mm:ss AM/PM",
    "20": "h:mm",
    "21": "h:mm:ss",
    "22": "yyyy-mm-dd h:mm",
    "32": "h:mm",
    "33": "h:mm:ss",
    "45": "mm:ss",
    "46": "[h]:mm:ss",
    "47": "mm:ss.0",
}
"""The formats of dates that workbooks name by number only."""

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|(?P<pad>[_*].)|\[(?P<elapsed>h+|m+|s+)\]|\[\$(?P<sign>[^-\]]*)(?:-(?P<place>[^\]]*))?\]'
    r"|\[[^\]]*\]|(?P<half>AM/PM|A/P|오전/오후)|(?P<part>y+|m+|d+|h+|s+|a{3,4})|(?P<fraction>\.0+)|(?P<other>.)",
    re.IGNORECASE,
)
_ENGLISH_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ENGLISH_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_KOREAN_DAYS = "월화수목금토일"
_LAST_DAY = 2_958_466
_Piece = tuple[str, str]


@dataclass(frozen=True, slots=True)
class DateFormat:
    """A format in pieces: what kind each is, and its letters. ``is_korean``: names of days and months are."""

    pieces: Sequence[_Piece]
    is_korean: bool

    @classmethod
    def of(cls, code: str) -> "DateFormat | None":
        """The format for dates that a number format is; None where it is for something else."""
        if re.search(r"\[\$-(?:F800|x-sysdate)\]", code, re.IGNORECASE):  # the long date of the reader's country
            code = "yyyy-mm-dd"
        if re.search(r"\[\$-(?:F400|x-systime)\]", code, re.IGNORECASE):
            code = "h:mm:ss"
        pieces: list[_Piece] = []
        is_korean = False
        for match in _TOKEN.finditer(code):
            kind = match.lastgroup or ""
            if kind == "other" and match["other"] == ";":
                break
            if match["sign"] is not None:
                place = (match["place"] or "").lower()
                is_korean |= place.endswith("412") or place.startswith("ko")
                pieces.append(("text", match["sign"]))
            elif kind in ("quoted", "escaped", "other"):
                pieces.append(("text", match[kind]))
            elif kind in ("elapsed", "half", "part", "fraction"):
                pieces.append((kind, match[kind].lower()))
        pieces = [_as_minutes(pieces, number) for number in range(len(pieces))]
        if not any(kind in ("elapsed", "part", "half") for kind, _ in pieces):
            return None
        return (
            None if any(kind == "text" and text in "0#?@" and text for kind, text in pieces) else cls(pieces, is_korean)
        )

    def text(self, value: str, since_1904: bool) -> str:
        """What is shown for a number of days; empty when it is no date."""
        try:
            days = float(value) + (1_462 if since_1904 else 0)
        except ValueError:
            return ""
        if not 0 <= days < _LAST_DAY or (60 <= days < 61 and not since_1904):
            return ""
        digits = next((len(letters) - 1 for kind, letters in self.pieces if kind == "fraction"), 0)
        moment = _moment(days, digits, since_1904)
        return "".join(self._shown(kind, letters, moment, days) for kind, letters in self.pieces).strip()

    def _shown(self, kind: str, letters: str, moment: datetime.datetime, days: float) -> str:
        if kind == "part":
            return _part(letters, moment, self.is_korean, any(of == "half" for of, _ in self.pieces))
        if kind == "elapsed":
            seconds = round(days * 86_400)
            return f"{seconds // {'h': 3_600, 'm': 60, 's': 1}[letters[0]]:0{len(letters)}}"
        if kind == "half":
            is_korean = self.is_korean or letters == "오전/오후"
            names = ("오전", "오후") if is_korean else ("A", "P") if letters == "a/p" else ("AM", "PM")
            return names[moment.hour >= 12]
        return f".{moment.microsecond:06}"[: len(letters)] if kind == "fraction" else letters


def _as_minutes(pieces: Sequence[_Piece], number: int) -> _Piece:
    """An ``m`` behind hours or before seconds means minutes."""
    kind, letters = pieces[number]
    if kind != "part" or letters not in ("m", "mm"):
        return kind, letters
    timed = [of[0] for place, (of_kind, of) in enumerate(pieces) if of_kind in ("part", "elapsed") and place < number]
    after = next((of[0] for of_kind, of in pieces[number + 1 :] if of_kind in ("part", "elapsed")), "")
    return (kind, letters.replace("m", "n")) if timed[-1:] == ["h"] or after == "s" else (kind, letters)


def _moment(days: float, digits: int, since_1904: bool) -> datetime.datetime:
    """The moment, rounded to what is shown of a second. Day 60 of 1900, which never was, is counted all the same."""
    first = datetime.datetime(1899, 12, 31) if days < 60 and not since_1904 else datetime.datetime(1899, 12, 30)
    unit = 10 ** (6 - min(digits, 6))
    return first + datetime.timedelta(microseconds=round(days * 86_400_000_000 / unit) * unit)


def _part(letters: str, moment: datetime.datetime, is_korean: bool, is_halved: bool) -> str:
    hour = (moment.hour - 1) % 12 + 1 if is_halved else moment.hour
    number = {"m": moment.month, "d": moment.day, "h": hour, "n": moment.minute, "s": moment.second}
    if letters[0] == "y":
        return f"{moment.year:04}" if len(letters) > 2 else f"{moment.year % 100:02}"
    if letters[0] == "a":
        return _KOREAN_DAYS[moment.weekday()] + ("요일" if len(letters) == 4 else "")
    if len(letters) > 2 and letters[0] in "md":
        return _NAMES[letters[0], is_korean](moment, len(letters))
    return f"{number[letters[0]]:0{min(len(letters), 2)}}"


def _english(names: Sequence[str], number: int, length: int) -> str:
    return names[number] if length == 4 else names[number][:1] if length == 5 else names[number][:3]


_NAMES: Mapping[tuple[str, bool], Callable[[datetime.datetime, int], str]] = {
    ("m", False): lambda moment, length: _english(_ENGLISH_MONTHS, moment.month - 1, length),
    ("m", True): lambda moment, _: f"{moment.month}월",
    ("d", False): lambda moment, length: _english(_ENGLISH_DAYS, moment.weekday(), length),
    ("d", True): lambda moment, length: _KOREAN_DAYS[moment.weekday()] + ("요일" if length == 4 else ""),
}
