"""JSON: a list of documents, or anything else as one readable document."""

import io
import json
from collections.abc import Iterator
from typing import Any

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup
from selfright.ingest.readers.rows import TOO_MANY, BadRow, documents
from selfright.ingest.readers.values import LARGE, MOST_MEMBERS, Cursor, TooMany

_DEPTH = 100
_ROWS = "documents"


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document for each object of a list (or of ``{"documents": […]}``) with ``text``; else an outline.

    The text is gone through twice, value by value: of a file that is no JSON nothing is taken.
    """
    text = file.read_text()
    try:
        holds_documents, title = _surveyed(Cursor(text))
        if holds_documents:
            yield from documents(file, enumerate(_rows(Cursor(text)), start=1), unit="item")
        else:
            yield file.document(_outlined(Cursor(text)), title, "application/json")
    except TooMany as error:
        raise file.refuse(f"more than {MOST_MEMBERS:,} values; bring its texts as JSON Lines") from error
    except RecursionError as error:
        raise file.refuse("nested too deeply to be read as documents; flatten it") from error
    except ValueError as error:
        raise file.refuse(f"not JSON ({error}); mend it, or use .jsonl for one object a line") from error


def _surveyed(cursor: Cursor) -> tuple[bool, str]:
    """Whether there are rows with a text, and the title of the whole; raises ``ValueError`` for what is no JSON."""
    found, title = False, ""
    if cursor.peek() == "{":
        for name in cursor.members():
            if name == "title" and cursor.peek() == '"':
                title = _sound(cursor.value())
            elif name == _ROWS and cursor.peek() == "[":
                found |= _any_text(cursor)
            else:
                cursor.skip()
    elif cursor.peek() == "[":
        found = _any_text(cursor)
    else:
        cursor.value()
    cursor.end()
    return found, title


def _any_text(cursor: Cursor) -> bool:
    found = False
    for row in _members(cursor):
        found |= isinstance(row, dict) and "text" in row
    return found


def _rows(cursor: Cursor) -> Iterator[Any]:
    if cursor.peek() == "[":
        yield from _members(cursor)
        return
    for name in cursor.members():
        if name == _ROWS and cursor.peek() == "[":
            yield from _members(cursor)
        else:
            cursor.skip()


def _members(cursor: Cursor) -> Iterator[Any]:
    for _ in cursor.members():
        row = cursor.value()
        if row is LARGE:
            cursor.skip()
        yield BadRow(TOO_MANY) if row is LARGE else row


def _outlined(cursor: Cursor) -> str:
    """Names and values as nested list items."""
    out = io.StringIO()
    for line in _lines(cursor, 0):
        out.write(_sound(line) + "\n")
    return out.getvalue()[:-1]


def _lines(cursor: Cursor, depth: int) -> Iterator[str]:
    """The lines of the value that comes next, of which no more is built than one part at a time."""
    whole = cursor.value()
    if whole is not LARGE:
        yield from _outline(whole, depth)
        return
    for name in cursor.members():
        part = cursor.value()
        if part is not LARGE:
            yield from _pair(name, part, depth)
            continue
        if name:
            yield markup.item(f"{name}: ", depth)
        yield from _lines(cursor, depth + bool(name))


def _outline(value: Any, depth: int) -> Iterator[str]:
    if depth >= _DEPTH:
        yield markup.item(json.dumps(value, ensure_ascii=False), depth)
    elif isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else (("", inner) for inner in value)
        for name, inner in pairs:
            yield from _pair(name, inner, depth)
    else:
        yield _scalar(value)


def _pair(name: str, inner: Any, depth: int) -> Iterator[str]:
    label = f"{name}: " if name else ""
    if isinstance(inner, dict | list):
        if label:
            yield markup.item(label, depth)
        yield from _outline(inner, depth + bool(label))
    else:
        yield markup.item(label + _scalar(inner), depth)


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _sound(text: str) -> str:
    """The text without halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode()
