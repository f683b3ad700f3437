"""Numbers with units, dates and versions in Korean and English text, normalised so that they can be compared."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest

from selfright.domain.tables import read_table

DATE = "date"
VERSION = "version"


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number in a text: ``text[start:end]``.

    ``value`` is canonical (``1,000`` → ``1000``, ``2.50`` → ``2.5``, dates ISO 8601 as far as known, ``--03-15``
    without a year); ``unit`` is lower case and canonical (``percent`` → ``%``, ``세`` → ``year``), ``date``,
    ``version``, or empty.
    """

    value: str
    unit: str
    start: int
    end: int

    def agrees(self, other: "Quantity") -> bool:
        """Whether both may be the same quantity: equal values, and units that are equal or not given."""
        return self.value == other.value and (self.unit == other.unit or not self.unit or not other.unit)


_TABLE = read_table(__package__, "quantities")
_MONTHS: dict[str, int] = _TABLE["months"]
_MONTH = (
    r"(?P<{0}>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DATES = (
    re.compile(r"(?<![\d.])(?P<y>[12]\d{3})[-./](?P<m>\d{1,2})[-./](?P<d>\d{1,2})(?![\d.]*\d)"),
    re.compile(r"(?<!\d)(?P<y>\d{4})\s?년(?:\s?(?P<m>\d{1,2})\s?월(?:\s?(?P<d>\d{1,2})\s?일)?)?"),
    re.compile(r"(?<!\d)(?P<m>\d{1,2})\s?월\s?(?P<d>\d{1,2})\s?일"),
)
_DATES_IN_WORDS = (
    re.compile(r"\b" + _MONTH.format("m") + r"\s+(?P<d>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?P<y>[12]\d{3}))?\b"),
    re.compile(r"\b(?P<d>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?" + _MONTH.format("m") + r"(?:,?\s+(?P<y>[12]\d{3}))?\b"),
    re.compile(r"\b" + _MONTH.format("m") + r",?\s+(?:of\s+)?(?P<y>[12]\d{3})\b"),
)
_VERSIONS = (
    re.compile(r"(?<![\w.])v?(?P<v>\d+\.\d+\.\d+(?:\.\d+)*(?:-[A-Za-z][\w.]*)?)(?!\.?\d)"),
    re.compile(r"(?<![\w.])v(?P<v>\d+(?:\.\d+)*)(?!\w)"),
    re.compile(r"(?:\bversions?|버전은?|판은?)\s*(?P<v>\d+(?:\.\d+)+)", re.IGNORECASE),
    re.compile(r"(?<![\w.])(?P<v>\d+(?:\.\d+)*)(?=\s?버전)"),
)

_UNITS: dict[str, str] = _TABLE["units"]
_CANONICAL = {name: unit for unit, names in _UNITS.items() for name in names.split()}
_KNOWN = "|".join(sorted((re.escape(name) for name in _CANONICAL), key=len, reverse=True))
_RATIO = r"(?:\s?/\s?(?:[A-Za-zµμ]{1,5}\d?(?:\.\d+)?|일|회|시간|분|초|주|년))*"
_COUNTED = (
    "one 한|two 두|three 세|four 네|five 다섯|six 여섯|seven 일곱|eight 여덟|nine 아홉|ten 열|eleven 열한|twelve 열두"
)
_WORDS = {word: str(n) for n, pair in enumerate(_COUNTED.split("|"), 1) for word in pair.split()}
_NUMBER = re.compile(
    r"(?<![A-Za-z\d.,])(?<![A-Za-z][-_])(?P<n>(?:(?<!\S)[-−])?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?![\d])"
    rf"(?:\s?(?P<known>(?:{_KNOWN}){_RATIO})(?![A-Za-z])|(?P<tight>[A-Za-zµμ°]{{1,8}}{_RATIO})(?![A-Za-z]))?",
    re.IGNORECASE,
)
_WORDED = re.compile(
    rf"\b(?P<en>{'|'.join(w for w in _WORDS if w.isascii())})[\s-]+(?P<en_unit>times|years?|months?|weeks?|days?|hours?"
    r"|minutes?|seconds?|percent|people|persons)\b|(?<![가-힣])(?P<ko>한|두|세|네|다섯|여섯|일곱|여덟|아홉|열)\s?"
    r"(?P<ko_unit>번|회|개월|개|가지|달|주일|주|시간|명|차례)|\b(?P<adverb>once|twice|thrice)\b",
    re.IGNORECASE,
)
_ADVERBS = {"once": "1", "twice": "2", "thrice": "3"}
_NUMBER_WORDS = (*_WORDS, *_ADVERBS)
_DIGIT = re.compile(r"\d")
_ORDINALS = ("st", "nd", "rd", "th")
_RANGE = re.compile(r"\s?(?:-|–|~|∼|to|and|에서|부터)\s?", re.IGNORECASE)
_MOST = 500


@lru_cache(maxsize=2_048)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of ``text`` in order of appearance, at most 500; parts of names and codes (``B12``) are none."""
    found: list[Quantity] = []
    taken = bytearray(len(text))
    for quantity in _candidates(text):
        if not any(taken[quantity.start : quantity.end]):
            taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
            found.append(quantity)
            if len(found) == _MOST:
                break
    found.sort(key=lambda quantity: quantity.start)
    return tuple(_with_range_units(text, found))


def _candidates(text: str) -> Iterator[Quantity]:
    # Most sentences have no number, and looking for words and digits first is many times cheaper than the patterns.
    has_digit = _DIGIT.search(text) is not None
    lowered = text.casefold()
    has_month = has_digit and any(month in lowered for month in _MONTHS)
    for pattern in (*(_DATES if has_digit else ()), *(_DATES_IN_WORDS if has_month else ())):
        yield from (Quantity(_iso(m), DATE, m.start(), m.end()) for m in pattern.finditer(text))
    for pattern in _VERSIONS if has_digit else ():
        yield from (Quantity(m["v"].lower(), VERSION, m.start(), m.end()) for m in pattern.finditer(text))
    if any(word in lowered for word in _NUMBER_WORDS):
        yield from (_read_words(m) for m in _WORDED.finditer(text))
    if has_digit:
        yield from (_numeric(m) for m in _NUMBER.finditer(text))


def _iso(match: re.Match[str]) -> str:
    parts = match.groupdict()
    year, month, day = (parts.get(name) for name in "ymd")
    if month and not month.isdigit():
        month = str(_MONTHS[month[:3].lower()])
    tail = "".join(f"-{int(part):02d}" for part in (month, day) if part)
    return f"{year or '-'}{tail}"


def _read_words(match: re.Match[str]) -> Quantity:
    if match["adverb"]:
        return Quantity(_ADVERBS[match["adverb"].lower()], "time", match.start(), match.end())
    word, unit = match["en"] or match["ko"], match["en_unit"] or match["ko_unit"]
    return Quantity(_WORDS[word.lower()], _canonical_unit(unit), match.start(), match.end())


def _numeric(match: re.Match[str]) -> Quantity:
    unit = match["known"] or match["tight"] or ""
    end = match.end()
    if unit.lower() in _ORDINALS:
        unit = ""
    return Quantity(_canonical_number(match["n"]), _canonical_unit(unit), match.start(), end)


def _canonical_number(digits: str) -> str:
    plain = digits.replace(",", "").replace("−", "-")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    sign, body = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
    return sign + (body.lstrip("0") or "0" if not body.startswith("0.") else body)


def _canonical_unit(unit: str) -> str:
    parts = (part.strip().lower() for part in unit.split("/"))
    return "/".join(_CANONICAL.get(part, part) for part in parts)


def _with_range_units(text: str, found: list[Quantity]) -> Iterator[Quantity]:
    """``5-10 mg``: the first number has the unit of the second."""
    for quantity, following in zip_longest(found, found[1:]):
        shares = following and not quantity.unit and _RANGE.fullmatch(text, quantity.end, following.start)
        yield replace(quantity, unit=following.unit) if following and shares else quantity
