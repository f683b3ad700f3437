"""The numbers that Word shows before headings and items, which its files do not hold: ``2.1``, ``제3조``, ``가.``."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PLACE = re.compile("%([1-9])")
_BOXES = "☐☑☒✓✔"
_ROMAN = {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v"}


def letters(number: int, alphabet: str = "abcdefghijklmnopqrstuvwxyz") -> str:
    """A number as Word counts with letters: after the last one each stands twice."""
    return alphabet[(number - 1) % len(alphabet)] * ((number - 1) // len(alphabet) + 1) if number else ""


def roman(number: int) -> str:
    """A number in small Roman letters."""
    text = ""
    for value, sign in {**_ROMAN, 4: "iv", 1: "i"}.items():
        text, number = text + sign * (number // value), number % value
    return text


_IN_ROW = {  # of the numbers after the last one digits are shown
    "decimalEnclosedCircle": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
    "decimalEnclosedParen": "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
    "koreanCounting": "일이삼사오육칠팔구십",
    "koreanDigital": "일이삼사오육칠팔구",
    "koreanDigital2": "一二三四五六七八九",
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
}
_SIGNS: Mapping[str, Callable[[int], str]] = {
    "none": lambda _: "",
    "decimalZero": "{:02}".format,
    "lowerLetter": letters,
    "upperLetter": lambda n: letters(n).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda n: roman(n).upper(),
    "ganada": lambda n: letters(n, "가나다라마바사아자차카타파하"),
    "chosung": lambda n: letters(n, "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"),
}


def _sign(number: int, form: str) -> str:
    row = _IN_ROW.get(form, "")
    return row[number - 1] if 0 < number <= len(row) else _SIGNS.get(form, str)(number)


def value(parent: _Element | None, *path: str) -> str:
    """The ``w:val`` of the element at ``path``; empty where there is none."""
    found = parent.find("/".join(f"{W}{name}" for name in path)) if parent is not None else None
    return (found.get(f"{W}val") or "") if found is not None else ""


def is_on(parent: _Element | None, *path: str) -> bool | None:
    """Whether the property at ``path`` is on; None where nothing is said of it."""
    found = parent.find("/".join(f"{W}{name}" for name in path)) if parent is not None else None
    return None if found is None else found.get(f"{W}val", "1") not in ("0", "false", "off")


def style_chain(styles: Mapping[str, _Element], name: str) -> list[_Element]:
    """The style of this id and those it is based on."""
    found: list[_Element] = []
    while name in styles and styles[name] not in found:
        found.append(styles[name])
        name = value(found[-1], "basedOn")
    return found


def _number(text: str | None, otherwise: int) -> int:
    return min(int(text), 32_767) if text and text.isdecimal() and len(text) < 9 else otherwise


@dataclass(slots=True)
class _List:
    """A list as paragraphs name it: ``family`` is what it shares its counters with; ``restarts`` are still to come."""

    family: str
    levels: dict[int, _Element]
    restarts: dict[int, int] = field(default_factory=dict)


def _levels(parent: _Element) -> dict[int, _Element]:
    return {_number(level.get(f"{W}ilvl"), 0): level for level in parent.iterchildren(f"{W}lvl")}


class Numbers:
    """The lists of a document, counted as its paragraphs are gone through.

    ``styles`` are the style elements by id, ``numbering`` the part that defines the lists.
    """

    def __init__(self, styles: Mapping[str, _Element], numbering: _Element | None) -> None:
        self._styles = styles
        self._lists: dict[str, _List] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._style = cache(self._find_style)
        if numbering is not None:
            self._define(numbering)

    def label(self, paragraph: _Element) -> tuple[str, str, int] | None:
        """The number and the gap behind it, the list and the level of the next paragraph; None where it has none.

        The number is empty for a bullet.
        """
        own = paragraph.find(f"{W}pPr")
        chain, in_style, level_of_style = self._style(value(own, "pStyle"))
        name = value(own, "numPr", "numId") or in_style
        found = self._lists.get(name)
        if found is None:
            return None
        bound = (str(n) for of in chain for n, level in found.levels.items() if value(level, "pStyle") == of)
        place = _number(value(own, "numPr", "ilvl") or next(bound, level_of_style), 0)
        if place not in found.levels:
            return None
        self._count(found, place)
        return self._format_number(found, found.levels[place]), name, place

    def _find_style(self, name: str) -> tuple[Iterable[str], str, str]:
        """The ids of a style and those it is based on; the list and level that they name."""
        chain = style_chain(self._styles, name)
        tags = ([value(of, "pPr", "numPr", tag) for of in chain] for tag in ("numId", "ilvl"))
        number, level = (next(filter(None, said), "") for said in tags)
        return [of.get(f"{W}styleId") or "" for of in chain], number, level

    def _define(self, numbering: _Element) -> None:
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
                    found.restarts[_number(change.get(f"{W}ilvl"), 0)] = _number(start, 1)

    def _count(self, found: _List, place: int) -> None:
        counts = self._counts.setdefault(found.family, {})
        if place in found.restarts:  # once, where the list is first used
            counts[place] = found.restarts.pop(place)
        else:
            counts[place] = counts[place] + 1 if place in counts else _number(value(found.levels[place], "start"), 1)
        for below in [below for below in counts if below > place]:
            if place < _number(value(found.levels.get(below), "lvlRestart"), below):
                del counts[below]

    def _format_number(self, found: _List, level: _Element) -> str:
        form, text = value(level, "numFmt") or "decimal", value(level, "lvlText")
        if form == "bullet" and text not in _BOXES:
            return ""
        counts = self._counts[found.family]

        def format_level(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            of = found.levels.get(place, level)
            count = counts.get(place, _number(value(of, "start"), 1))
            return _sign(count, "decimal" if is_on(level, "isLgl") else value(of, "numFmt"))

        text = _PLACE.sub(format_level, text)
        return text + ("" if value(level, "suff") == "nothing" else " ") if text else ""
