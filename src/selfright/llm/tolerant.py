"""Finds the one JSON object in what a model wrote, through the usual damage, without inventing anything.

Libraries that repair JSON make up values to get something valid: an empty string for what is missing, a whole number
for one that was cut off. A judge's score must never come about like that, so json-repair and its like are not used:
this is a small scanner of our own that takes what is written or refuses. It reads JSON as it is and, besides, fences
and text around it, comments, trailing commas, single and typographic quotes, quotes inside of strings, unquoted keys,
Python's literals, full-width marks and digits.

* A number that JSON does not know but that can be read (``8/10``, ``80%``) is kept as a string; NaN and Infinity are
  kept as what they are. Whoever reads the value refuses or takes it (``selfright.domain.value_parsing``).
* Where the text ends too early, only fields that were complete before it count; a number at the very end may be cut.
* A key given twice with different values, or two fitting objects that disagree, cannot be decided and are refused.

Every character is scanned once, and at most 200,000 of them: no text can make it slow.
"""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from selfright.domain.errors import ReplyUnusable
from selfright.domain.value_parsing import half_width
from selfright.llm.thinking import strip_reasoning

LONGEST = 200_000
_DEEPEST = 30
_LONGEST_DIGITS = 300

_BLANK = re.compile(r"(?:[\s\ufeff]++|//[^\n]*+|#[^\n]*+|/\*.*?(?:\*/|\Z))*+", re.DOTALL)
_OPENING = re.compile(r"[{\[｛［]")
_BARE_KEY = re.compile(r"\w[\w.-]*+")
_TOKEN = re.compile(r"(?:(?!//|/\*)[^\s,，:：{}\[\]｛｝［］\"'“”‘’`])++")
_LITERALS = {
    "true": True, "false": False, "null": None, "none": None,
    "nan": float("nan"), "inf": float("inf"), "infinity": float("inf"),
    "-inf": float("-inf"), "-infinity": float("-inf"),
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(\.[0-9]++)?|(\.[0-9]++))([eE][+-]?[0-9]++)?")
_NUMBER_LIKE = re.compile(r"[+-]?[.0-9][^\s]{0,29}")
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL
)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}

_CLOSING = {'"': '"', "'": "'", "“": '”“"', "”": '”"', "‘": "’‘'", "’": "’'"}
_QUOTE = {opening: re.compile(rf"\\.|[{closing}]", re.DOTALL) for opening, closing in _CLOSING.items()}
_ENDS_KEY = re.compile(r"[\s\ufeff]*+[:：]")
_ENDS_VALUE = re.compile(r"[\s\ufeff]*+(?:[,，}\]｝］]|//|/\*|#|\Z)")


def read_object(text: str | Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    """The object with all ``required`` fields; fields beside them stay. What stands in ``<think>`` does not count.

    Where the fields are one level down (``{"evaluation": {…}}``, a list of one), that level is taken off. Of several
    fitting objects it is the last complete one, if they agree in the required fields (in all, if none is required).
    A mapping is taken as one that a library has read already. Raises ``ReplyUnusable``.
    """
    read = [(dict(text), True)] if isinstance(text, Mapping) else list(_values(_told(text[:LONGEST])))
    fits = [(fit, complete) for value, complete in read for fit in _fitting(value, required)]
    if not fits:
        raise ReplyUnusable(_missing([value for value, _ in read], required))
    last = next((fit for fit, complete in reversed(fits) if complete), fits[-1][0])
    if any(_disagree(fit, last, required) for fit, _ in fits):
        raise ReplyUnusable("expected one JSON object, got several that disagree; ask again")
    return last


def _told(text: str) -> str:
    """What was said aloud; out of its quotes where all of it is one JSON string."""
    told = strip_reasoning(text)
    if told.startswith('"'):
        with contextlib.suppress(ValueError):
            return strip_reasoning(str(json.loads(told)))
    return told


def _fitting(value: Any, required: Sequence[str]) -> Iterator[dict[str, Any]]:
    inner = _single(value)
    if inner is None:
        return
    if all(name in inner for name in required):
        yield inner
    else:
        wrapped = (_single(item) for name, item in inner.items() if name != "properties")  # that would be a schema
        yield from (fit for fit in wrapped if fit is not None and all(name in fit for name in required))


def _single(value: Any) -> dict[str, Any] | None:
    """An object, or the only one in a list."""
    item = value[0] if isinstance(value, list) and len(value) == 1 else value
    return dict(item) if isinstance(item, Mapping) else None


def _disagree(one: Mapping[str, Any], other: Mapping[str, Any], required: Sequence[str]) -> bool:
    if one is other:
        return False
    return any(one[name] != other[name] for name in required) if required else one != other


def _missing(values: Sequence[Any], required: Sequence[str]) -> str:
    expected = f"with the fields {', '.join(required)}" if required else "in the reply"
    objects = [value for value in map(_single, values) if value is not None]
    absent = [name for name in required if objects and name not in objects[-1]]
    came = f"one without {', '.join(absent)}" if absent else "none"
    return f"expected a JSON object {expected}, got {came}; ask again, or use a model that writes JSON"


def _values(text: str) -> Iterator[tuple[Any, bool]]:
    """Objects and lists in the order of the text, each with whether its end was there; broken ones are passed over."""
    at = 0
    while opening := _OPENING.search(text, at):
        scanner = _Scanner(text, opening.start())
        try:
            value = scanner.value(0)
        except _BrokenError:
            at = max(scanner.at, opening.end())
        else:
            at = scanner.at
            yield value, not scanner.cut


class _BrokenError(Exception):
    """What stands here can be no JSON, not even damaged; the scanner's ``at`` says where."""


class _Scanner:
    """Reads the value at ``at`` and moves behind it. ``cut``: the text ended in it, what was complete is there."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at
        self.cut = False

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise _BrokenError
        if self._take("{｛"):
            return self._object(depth)
        if self._take("[［"):
            return self._list(depth)
        if self._text[self.at] in _QUOTE:
            return self._string(_ENDS_VALUE)
        return self._bare()

    def _object(self, depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        while not self._over() and not self._take("}｝"):
            key = self._string(_ENDS_KEY) if self._text[self.at] in _QUOTE else self._matched(_BARE_KEY)
            if self._over():
                break
            self._expect(":：")
            if self._over():
                break
            value = self.value(depth + 1)
            if self.cut:
                break
            if key in fields and fields[key] != value:
                raise _BrokenError
            fields[key] = value
            self._between("}｝")
        return fields

    def _list(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while not self._over() and not self._take("]］"):
            value = self.value(depth + 1)
            if self.cut:
                break
            items.append(value)
            self._between("]］")
        return items

    def _string(self, ending: re.Pattern[str]) -> str:
        """A quote ends a string only where what must follow follows, so quotes inside of it do no harm."""
        start = self.at + 1
        for found in _QUOTE[self._text[self.at]].finditer(self._text, start):
            if not found[0].startswith("\\") and ending.match(self._text, found.end()):
                self.at = found.end()
                return _unescaped(self._text[start : found.start()])
        self.at = len(self._text)
        self.cut = True
        return ""

    def _bare(self) -> Any:
        start = self.at
        token = half_width(self._matched(_TOKEN))
        if self.at == len(self._text):
            self.cut = True  # there may have been more of it
            return None
        if token.lower() in _LITERALS:
            return _LITERALS[token.lower()]
        if number := _NUMBER.fullmatch(token):
            exact = not any(number.groups()) and len(token) <= _LONGEST_DIGITS
            return int(token) if exact else float(token)
        if not _NUMBER_LIKE.fullmatch(token):
            self.at = start
            raise _BrokenError
        return token

    def _over(self) -> bool:
        """Passes over blank space and comments; true where the text ends."""
        blank = _BLANK.match(self._text, self.at)
        self.at = blank.end() if blank else self.at
        self.cut = self.cut or self.at >= len(self._text)
        return self.cut

    def _between(self, closing: str) -> None:
        if not self._over() and not self._take(",，") and self._text[self.at] not in closing:
            raise _BrokenError

    def _expect(self, marks: str) -> None:
        if not self._take(marks):
            raise _BrokenError

    def _take(self, marks: str) -> bool:
        here = self._text[self.at] in marks
        self.at += here
        return here

    def _matched(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self.at)
        if found is None:
            raise _BrokenError
        self.at = found.end()
        return found[0]


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    high, low, code, short = escape.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if code:
        lone = 0xD800 <= int(code, 16) <= 0xDFFF
        return "\ufffd" if lone else chr(int(code, 16))
    return str(_SHORT.get(short, "\\" + short))  # "\d" is no escape: it stays as it was written
