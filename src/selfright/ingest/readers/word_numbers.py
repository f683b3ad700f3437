"""The numbers that Word shows before headings and items, which its files do not hold: ``2.1``, ``제3조``, ``가.``."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LEVELS = 9
_MOST = 32_767
_PLACE = re.compile("%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"))
_ROMAN_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")


def roman(number: int) -> str:
    """A number in small Roman letters."""
    text = ""
    for value, letters in _ROMAN:
        text += letters * (number // value)
        number %= value
    return text + "x" * (number // 10) + _ROMAN_ONES[number % 10]


def _repeated(letters: str) -> Callable[[int], str]:
    """Letters as Word counts with them: after the last one each stands twice."""
    return lambda n: letters[(n - 1) % len(letters)] * ((n - 1) // len(letters) + 1) if n else ""


def _listed(signs: str) -> Callable[[int], str]:
    """Signs that there are only so many of; numbers after that."""
    return lambda n: signs[n - 1] if 0 < n <= len(signs) else str(n)


_LATIN = "abcdefghijklmnopqrstuvwxyz"
_CIRCLES = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_SIGNS: dict[str, Callable[[int], str]] = {
    "decimalZero": "{:02}".format,
    "lowerLetter": _repeated(_LATIN),
    "upperLetter": _repeated(_LATIN.upper()),
    "lowerRoman": roman,
    "upperRoman": lambda n: roman(n).upper(),
    "ordinal": lambda n: f"{n}{'th' if n // 10 % 10 == 1 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}",
    "numberInDash": "- {} -".format,
    "ganada": _repeated("가나다라마바사아자차카타파하"),
    "chosung": _repeated("ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"),
    "decimalEnclosedCircle": _listed(_CIRCLES),
    "decimalEnclosedCircleChinese": _listed(_CIRCLES),
    "decimalEnclosedParen": _listed("⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇"),
    "decimalEnclosedFullstop": _listed("⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛"),
    "koreanCounting": _listed("일이삼사오육칠팔구십"),
    "koreanDigital": _listed("일이삼사오육칠팔구"),
    "koreanDigital2": _listed("一二三四五六七八九"),
    "ideographDigital": _listed("一二三四五六七八九"),
    "ideographTraditional": _listed("甲乙丙丁戊己庚辛壬癸"),
    "japaneseCounting": _listed("一二三四五六七八九十"),
    "none": lambda _: "",
}


def value(parent: "_Element | None", *path: str) -> str:
    """The ``w:val`` of the element at ``path``; empty where there is none."""
    found = parent.find("/".join(f"{W}{name}" for name in path)) if parent is not None else None
    return (found.get(f"{W}val") or "") if found is not None else ""


def is_on(parent: "_Element | None", *path: str) -> bool | None:
    """Whether the property at ``path`` is on; None where nothing is said of it."""
    found = parent.find("/".join(f"{W}{name}" for name in path)) if parent is not None else None
    return None if found is None else found.get(f"{W}val", "1") not in ("0", "false", "off")


def style_chain(styles: Mapping[str, "_Element"], name: str) -> list["_Element"]:
    """The style of this id and those it is based on."""
    found: list[_Element] = []
    while name in styles and styles[name] not in found:
        found.append(styles[name])
        name = value(found[-1], "basedOn")
    return found


def _number(text: str, otherwise: int) -> int:
    return min(int(text), _MOST) if text.isdecimal() and len(text) < 9 else otherwise


@dataclass(frozen=True, slots=True)
class _Level:
    """How a level is counted: ``restart`` is the number of levels above that let it begin anew."""

    form: str
    text: str
    gap: str
    start: int
    restart: int
    is_legal: bool
    style: str

    @classmethod
    def of(cls, level: "_Element", place: int) -> "_Level":
        return cls(
            value(level, "numFmt") or "decimal",
            value(level, "lvlText"),
            "" if value(level, "suff") == "nothing" else " ",
            _number(value(level, "start"), 1),
            _number(value(level, "lvlRestart"), place),
            bool(is_on(level, "isLgl")),
            value(level, "pStyle"),
        )


@dataclass(slots=True)
class _List:
    """A list as paragraphs name it: ``family`` is what it shares its counters with."""

    family: str
    levels: dict[int, _Level]
    restarts: dict[int, int] = field(default_factory=dict)


def _levels(parent: "_Element") -> dict[int, _Level]:
    found = ((_number(level.get(f"{W}ilvl") or "", 0), level) for level in parent.iterchildren(f"{W}lvl"))
    return {place: _Level.of(level, place) for place, level in found if place < _LEVELS}


@dataclass(frozen=True, slots=True)
class _Style:
    """The ids of a style and those it is based on; the list and level that they name."""

    chain: tuple[str, ...]
    list: str
    level: str


class Numbers:
    """The lists of a document, counted as its paragraphs are gone through.

    ``styles`` are the style elements by id, ``numbering`` the part that defines the lists.
    """

    def __init__(self, styles: Mapping[str, "_Element"], numbering: "_Element | None") -> None:
        self._styles = styles
        self._lists: dict[str, _List] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._of_style: dict[str, _Style] = {}
        if numbering is not None:
            self._define(numbering)

    def label(self, paragraph: "_Element") -> tuple[str, str, int] | None:
        """The number and the gap behind it, the list and the level of the next paragraph; None where it has none.

        The number is empty for a bullet.
        """
        own = paragraph.find(f"{W}pPr")
        style = self._style(value(own, "pStyle"))
        name = value(own, "numPr", "numId") or style.list
        found = self._lists.get(name)
        if found is None:
            return None
        bound = (str(n) for of in style.chain for n, at in found.levels.items() if at.style and at.style == of)
        place = _number(value(own, "numPr", "ilvl") or next(bound, style.level), 0)
        level = found.levels.get(place)
        if level is None:
            return None
        self._count(found, place, level)
        return self._shown(found, level), name, place

    def _style(self, name: str) -> _Style:
        if name not in self._of_style:
            chain = style_chain(self._styles, name)
            numbered = [of.find(f"{W}pPr") for of in chain]
            said = [next(filter(None, (value(of, "numPr", tag) for of in numbered)), "") for tag in ("numId", "ilvl")]
            ids = tuple(of.get(f"{W}styleId") or "" for of in chain)
            self._of_style[name] = _Style(ids, *said)
        return self._of_style[name]

    def _define(self, numbering: "_Element") -> None:
        families = {of.get(f"{W}abstractNumId") or "": of for of in numbering.iterchildren(f"{W}abstractNum")}
        named = {of.get(f"{W}numId") or "": of for of in numbering.iterchildren(f"{W}num")}
        for name, of in named.items():
            family = value(of, "abstractNumId")
            linked = value(families.get(family), "numStyleLink")
            if linked in self._styles:
                by_style = named.get(value(self._styles[linked], "pPr", "numPr", "numId"))
                family = value(by_style, "abstractNumId") or family
            if family not in families:
                continue
            found = self._lists[name] = _List(family, _levels(families[family]))
            for change in of.iterchildren(f"{W}lvlOverride"):
                found.levels |= _levels(change)
                if start := value(change, "startOverride"):
                    found.restarts[_number(change.get(f"{W}ilvl") or "", 0)] = _number(start, 1)

    def _count(self, found: _List, place: int, level: _Level) -> None:
        counts = self._counts.setdefault(found.family, {})
        if place in found.restarts:  # once, where the list is first used
            counts[place] = found.restarts.pop(place)
        else:
            counts[place] = counts[place] + 1 if place in counts else level.start
        for below, of in found.levels.items():
            if below > place and place < of.restart:
                counts.pop(below, None)

    def _shown(self, found: _List, level: _Level) -> str:
        if level.form == "bullet":
            return ""
        counts = self._counts[found.family]

        def sign(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            of = found.levels.get(place, level)
            form = "decimal" if level.is_legal else of.form
            return _SIGNS.get(form, str)(counts.get(place, of.start))

        text = _PLACE.sub(sign, level.text)
        return text + level.gap if text else ""
