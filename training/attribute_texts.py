"""What people ask of things, and how texts say it: attributes, subjects and the forms that ``attributes/`` holds.

Forms hold ``{s}`` (the subject), ``{v}`` (the value), ``{x}`` and ``{y}`` (one thing and another that the attribute is
about, such as two error codes) and ``[with|without]``: what stands there when the subject is named and when it is not.
Korean particles come after a colon, as in ``{s:은}``, and follow the sound before them.
"""

import random
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "attributes"
FILES = {"en": "english.txt", "ko": "korean.txt"}
_PAIRS = {
    "은": ("은", "는"),
    "이": ("이", "가"),
    "을": ("을", "를"),
    "과": ("과", "와"),
    "으로": ("으로", "로"),
    "이랑": ("이랑", "랑"),
    "이다": ("이다", "다"),
    "이라면": ("이라면", "라면"),
    "이면": ("이면", "면"),
}
_CLOSED_DIGITS, _OPEN_UNITS = "013678", ("cm", "mm", "kW", "W", "℃", "%", "dB 이하", "J", "L", "l", "㎢")
_CLOSED_LETTERS, _SINGLE_L = "lmnrLMNR", "178lrLR"
_DRAWN = re.compile(r"\{([^{}]+)\}")
_BLANKS = re.compile(r" +(?=[ ,.?!:])")  # what a subject left out leaves behind
_OPTIONAL = re.compile(r"\[([^\[\]|]*)\|([^\[\]|]*)\]")


@dataclass(frozen=True, slots=True)
class Kind:
    """An attribute whatever the language: the kinds of subjects that have it, and what it is easily taken for."""

    name: str
    kinds: str
    rivals: tuple[str, ...]


@dataclass(slots=True)
class Forms:
    """How one language asks for an attribute (``asked``), names it, states it (``said``) and only seems to (``traps``).

    ``things``: what ``{x}`` and ``{y}`` stand for.
    """

    things: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    traps: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Subject:
    """A made-up thing with its name in each language."""

    kind: str
    names: dict[str, str]

    @property
    def group(self) -> str:
        """What keeps all rows of the subject together."""
        return f"attributes/{self.names['en']}"


def read_kinds() -> dict[str, Kind]:
    """All attributes by name."""
    found = {}
    for line in (FOLDER / "kinds.txt").read_text(encoding="utf-8").splitlines():
        (name, kinds), rivals = line.split(" > ")[0].split(), line.split(" > ")[1].split()
        found[name] = Kind(name, kinds, tuple(rivals))
    return found


def read_subjects() -> list[Subject]:
    """All subjects."""
    subjects, kind = [], ""
    for line in (FOLDER / "subjects.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line[1]
        else:
            korean, english = line.split(" = ")
            subjects.append(Subject(kind, {"ko": korean, "en": english}))
    return subjects


class Texts:
    """The forms of one language, and what fills them."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.forms: dict[str, Forms] = defaultdict(Forms)
        self._lists: dict[str, list[str]] = {}
        name = ""
        for line in (FOLDER / FILES[language]).read_text(encoding="utf-8").splitlines():
            if line.startswith("{"):
                key, listed = line.split(": ", 1)
                self._lists[key.strip("{}")] = listed.split("; ")
            elif line.startswith("["):
                name = line.strip("[]")
            elif line:
                self._add(self.forms[name], line[0], line[2:])

    def _add(self, forms: Forms, mark: str, rest: str) -> None:
        if mark in "^#=":
            {"^": forms.things, "#": forms.names, "=": forms.values}[mark].extend(rest.split("; "))
        else:
            {"?": forms.asked, ".": forms.said, "!": forms.traps}[mark].append(rest)

    def value(self, name: str, chooser: random.Random) -> str:
        """A value of the attribute, drawn anew."""
        text = chooser.choice(self.forms[name].values)
        while "{" in text:
            text = _DRAWN.sub(lambda found: self._drawn(found[1], chooser), text)
        return text

    def _drawn(self, what: str, chooser: random.Random) -> str:
        if what in self._lists:
            return chooser.choice(self._lists[what])
        if "," in what:
            return chooser.choice(what.split(","))
        bounds, _, step = what.partition("/")
        low, high = (int(bound) for bound in bounds.split("-"))
        number = chooser.randrange(low, high + 1, int(step or 1))
        return f"{number:,}" if step else str(number)


def filled(form: str, subject: str, things: tuple[str, str], value: str = "") -> tuple[str, int, int]:
    """The form with all its parts, and where the value begins and ends (-1 where it has none).

    Without ``subject`` the forms that leave it out are used.
    """
    form = _OPTIONAL.sub(lambda found: found[1] if subject else found[2], form)
    form = _BLANKS.sub("", form).strip()
    before, value_here, after = form.partition("{v")
    text = _with_parts(before, subject, things)
    if not value_here:
        return _begun(text), -1, -1
    mark, _, rest = after.partition("}")
    start, end = len(text), len(text) + len(value)
    text += value + particle(value, mark[1:]) + _with_parts(rest, subject, things)
    return _begun(text), start, end


def _with_parts(form: str, subject: str, things: tuple[str, str]) -> str:
    parts = {"s": subject, "x": things[0], "y": things[1]}

    def part(found: re.Match[str]) -> str:
        name, _, mark = found[1].partition(":")
        return parts[name] + particle(parts[name], mark)

    return _DRAWN.sub(part, form)


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def particle(word: str, mark: str) -> str:
    """The particle ``mark`` (such as 은) in the form that follows the word."""
    closed, single_l = _ending(word)
    with_closed, with_open = _PAIRS.get(mark, (mark, mark))
    return with_closed if closed and not (mark == "으로" and single_l) else with_open


def _ending(word: str) -> tuple[bool, bool]:
    """Whether a word ends in a consonant as it is read aloud, and whether that is a ㄹ."""
    last = word.rstrip("'\")")[-1:] or "가"
    if "가" <= last <= "힣":
        final = (ord(last) - ord("가")) % 28
        return final > 0, final == 8
    if word.endswith(("kg", "g", "dB", "kcal")):
        return True, word.endswith(("dB", "kcal"))
    if word.endswith(_OPEN_UNITS):
        return False, False
    if word.endswith("ml"):
        return False, False
    return last in _CLOSED_DIGITS + _CLOSED_LETTERS, last in _SINGLE_L
