"""Rows that are documents, as CSV, JSON and JSON Lines have them; and JSON gone through value by value."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import language_of
from selfright.ingest.files import SourceFile, one_line

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


TOO_MANY = f"holds more than {MOST_VALUES:,} values, which no document does; give its text as 'text'"
_ID_LENGTH = 500
_WEB = ("http://", "https://")

Row = tuple[int, Any]


class BadRow(ValueError):
    """A row that is no document; the message says what was expected."""


def documents(file: SourceFile, rows: Iterable[Row], unit: str = "line") -> Iterator[Document | UnreadableFile]:
    """A document for each numbered row: ``text``, and if given ``_id`` or ``id``, ``title``, ``metadata``, ``url``.

    A row that is none (or a ``BadRow``) comes out as an error with its number; after ``limits.reported_rows`` of these
    the others are counted only.
    """
    bad = good = 0
    for number, row in rows:
        try:
            document = _document(file, number, row)
        except BadRow as error:
            bad += 1
            if bad <= file.limits.reported_rows:
                yield file.refuse(f"{unit} {number}: {error}")
            continue
        good += 1
        yield document
    if bad > file.limits.reported_rows:
        yield file.refuse(
            f"{bad - file.limits.reported_rows:,} more {unit}s like these were left out; mend and add again"
        )
    if not bad and not good:
        yield file.refuse("there are no rows in it; nothing to index")


def _document(file: SourceFile, number: int, row: Any) -> Document:
    if isinstance(row, BadRow):
        raise row
    if not isinstance(row, Mapping):
        raise BadRow(f"expected an object with 'text', but it is a {type(row).__name__}")
    text = row.get("text")
    if not isinstance(text, str):
        raise BadRow(f"expected a string as 'text', but it is {'missing' if text is None else type(text).__name__}")
    if not text.strip():
        raise BadRow("its 'text' is empty; give it text or leave it out")
    _check_unicode(text)
    return Document(
        id=_id(row, f"{file.name}:{number}"),
        title=one_line(_plain(row.get("title"))),
        text=text,
        language=language_of(text),
        source=file.source,
        url=_url(row),
        metadata=_metadata(row.get("metadata")),
    )


def _check_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRow(f"half of a surrogate pair at character {error.start}; such text cannot be stored") from None


def _id(row: Mapping[str, Any], otherwise: str) -> str:
    given = next((row[key] for key in ("_id", "id") if row.get(key) not in (None, "")), otherwise)
    if isinstance(given, bool) or not isinstance(given, str | int) or len(str(given)) > _ID_LENGTH:
        raise BadRow(f"expected as '_id' a string of at most {_ID_LENGTH} characters or a whole number")
    _check_unicode(str(given))
    return str(given)


def _plain(value: Any) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def _url(row: Mapping[str, Any]) -> str | None:
    url = row.get("url")
    return _plain(url) if isinstance(url, str) and url.startswith(_WEB) else None


def _metadata(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadRow(f"expected an object as 'metadata', but it is a {type(given).__name__}")
    return {_plain(key): _plain(value) for key, value in given.items()}
