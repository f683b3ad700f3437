"""JSON text gone through value by value, so that no more of it is built than one part at a time."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

MOST_VALUES = 250_000
"""What is built at once has no more values than that: some 50 MB of memory."""

MOST_MEMBERS = 5_000_000
"""So many members are gone through one by one; that takes seconds, and no document has as many."""

LARGE: Final = object()
"""Stands for a value that is too much to be built at once."""

_WHITE = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[\[\]{},]', re.DOTALL)
_AFTER = frozenset(",]} \t\n\r")
_CLOSING = {"{": "}", "[": "]"}


def holds_more(text: str, at: int, most: int) -> bool:
    """Whether the value at this place has more than ``most`` values in it, without building any of them."""
    if len(text) - at <= most or text[at] not in _CLOSING:  # not even were all of it brackets
        return False
    depth = count = 0
    for token in _TOKEN.finditer(text, at):
        match text[token.start()]:
            case "[" | "{":
                depth, count = depth + 1, count + 1
            case ",":
                count += 1
            case "]" | "}":
                depth -= 1
                if depth <= 0:
                    return False
        if count > most:
            return True
    return False


class TooMany(Exception):
    """There are more values than anybody reads."""


class Cursor:
    """A place in a JSON text. What is no JSON raises ``ValueError``, what is nested too deeply ``RecursionError``.

    Values are built from a window of ``most`` characters, which cannot hold more values than that. Only one that does
    not end within it is counted first.
    """

    def __init__(self, text: str, most: int | None = None) -> None:
        self._text = text
        self._most = MOST_VALUES if most is None else most
        self._at = self._base = self._members = 0
        self._window = text[: self._most]
        self._decode = json.JSONDecoder().raw_decode

    def peek(self) -> str:
        """The first character of what comes next; empty at the end."""
        if self._text[self._at : self._at + 1] <= " ":
            self._at = _WHITE.match(self._text, self._at).end()  # type: ignore[union-attr]  # it matches everywhere
        return self._text[self._at : self._at + 1]

    def value(self) -> Any:
        """The value that comes next, built, or ``LARGE``; then the cursor stays before it."""
        self.peek()
        found = self._within()
        if found is None:
            self._base, self._window = self._at, self._text[self._at : self._at + self._most]
            found = self._within()
        if found is None:
            if holds_more(self._text, self._at, self._most):
                return LARGE
            found = self._decode(self._text, self._at)
        value, self._at = found
        return value

    def _within(self) -> tuple[Any, int] | None:
        """The value that comes next and its end; None when it may go on behind the window."""
        try:
            value, end = self._decode(self._window, self._at - self._base)
        except ValueError:
            return None
        is_last = self._base + len(self._window) == len(self._text)
        is_over = self._window[end : end + 1] in _AFTER  # a number may go on behind the window
        return (value, self._base + end) if is_last or is_over else None

    def members(self) -> Iterator[str]:
        """The names of the members of the object that comes next, or an empty one for each member of a list.

        The cursor stands before each member's value; it must be past it when the next one is asked for. Raises
        ``TooMany`` when there are more than five million of them in all.
        """
        opening = self._take("{[", "an object or a list")
        closing = _CLOSING[opening]
        if self.peek() == closing:
            self._take(closing, "")
            return
        while True:
            self._members += 1
            if self._members > MOST_MEMBERS:
                raise TooMany
            yield self._name() if opening == "{" else ""
            if self._take("," + closing, f"',' or '{closing}'") == closing:
                return

    def skip(self) -> None:
        """Goes past the value that comes next."""
        if self.value() is LARGE:
            for _ in self.members():
                self.skip()

    def end(self) -> None:
        """Raises ``ValueError`` when anything comes next."""
        if self.peek():
            raise self._wrong("nothing more")

    def _name(self) -> str:
        if self.peek() != '"':
            raise self._wrong("a name in double quotes")
        name = self.value()
        self._take(":", "':'")
        return str(name)

    def _take(self, wanted: str, said: str) -> str:
        came = self.peek()
        if not came or came not in wanted:
            raise self._wrong(said)
        self._at += 1
        return came

    def _wrong(self, expected: str) -> ValueError:
        return json.JSONDecodeError(f"Expecting {expected}", self._text, self._at)
