"""JSON: a list of documents, or anything else as one readable document."""

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup
from selfright.ingest.readers.rows import LARGE, MOST_MEMBERS, TOO_MANY, BadRow, Cursor, TooMany, documents

_DEPTH = 100
_ROWS = "documents"
_MANY = 100  # so many records are better found, and kept up to date, one by one
_TITLES = ("title", "name", "question", "subject", "label", "heading")
_TITLE_LENGTH = 200


@dataclass(slots=True)
class _Survey:
    """What a file holds: rows with a text, or a long list of records, under which name of the outermost object.

    ``own_ids``: every record has an id of its own.
    """

    has_texts: bool = False
    title: str = ""
    records: str | None = None
    own_ids: bool = False


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document for each object of a list (or of ``{"documents": […]}``) with ``text``; else an outline.

    A list of 100 objects and more without ``text`` becomes an outline for each of them. The text is gone through twice,
    value by value: of a file that is no JSON nothing is taken.
    """
    text = file.read_text()
    try:
        survey = _surveyed(Cursor(text))
        if survey.has_texts:
            yield from documents(file, enumerate(_rows(Cursor(text), _ROWS), start=1), unit="item")
        elif survey.records is not None:
            records = enumerate(_rows(Cursor(text), survey.records), start=1)
            yield from documents(file, ((n, _row_of(row, n, survey, file)) for n, row in records), unit="item")
            if rest := _outlined(Cursor(text), survey.records):
                yield file.document(rest, survey.title, "application/json")
        else:
            yield file.document(_outlined(Cursor(text)), survey.title, "application/json")
    except TooMany as error:
        raise file.refuse(f"more than {MOST_MEMBERS:,} values; bring its texts as JSON Lines") from error
    except RecursionError as error:
        raise file.refuse("nested too deeply to be read as documents; flatten it") from error
    except ValueError as error:
        raise file.refuse(f"not JSON ({error}); mend it, or use .jsonl for one object a line") from error


def _surveyed(cursor: Cursor) -> _Survey:
    """Goes through all of it once; raises ``ValueError`` for what is no JSON."""
    survey = _Survey()
    if cursor.peek() == "{":
        for name in cursor.members():
            if name == "title" and cursor.peek() == '"':
                survey.title = _sound(cursor.value())
            elif cursor.peek() == "[":
                _survey_list(cursor, name, survey, may_have_texts=name == _ROWS)
            else:
                cursor.skip()
    elif cursor.peek() == "[":
        _survey_list(cursor, "", survey, may_have_texts=True)
    else:
        cursor.value()
    cursor.end()
    return survey


def _survey_list(cursor: Cursor, name: str, survey: _Survey, *, may_have_texts: bool) -> None:
    ids: set[str] = set()
    count, only_objects = 0, True
    for row in _members(cursor):
        count += 1
        if isinstance(row, dict):
            survey.has_texts |= may_have_texts and "text" in row
            ids.add(_own_id(row))
        else:
            only_objects &= isinstance(row, BadRow)
    if survey.records is None and only_objects and count >= _MANY:
        survey.records, survey.own_ids = name, len(ids - {""}) == count


def _own_id(row: Mapping[str, Any]) -> str:
    given = next((row[key] for key in ("_id", "id") if row.get(key) not in (None, "")), "")
    return str(given) if isinstance(given, str | int) and not isinstance(given, bool) else ""


def _row_of(record: Any, number: int, survey: _Survey, file: SourceFile) -> Any:
    """A record as a row that has its outline as text."""
    if not isinstance(record, dict):
        return record
    titles = (record.get(key) for key in _TITLES)
    title = next((given for given in titles if isinstance(given, str) and given.strip()), f"{file.stem} {number}")
    text = "\n".join(map(_sound, _outline(record, 0)))
    row = {"text": text, "title": title[:_TITLE_LENGTH], "url": record.get("url")}
    return {"_id": _own_id(record), **row} if survey.own_ids else row


def _rows(cursor: Cursor, rows: str) -> Iterator[Any]:
    """The members of the list, or of the one called ``rows`` in an object."""
    if cursor.peek() == "[":
        yield from _members(cursor)
        return
    for name in cursor.members():
        if name == rows and cursor.peek() == "[":
            yield from _members(cursor)
        else:
            cursor.skip()


def _members(cursor: Cursor) -> Iterator[Any]:
    for _ in cursor.members():
        row = cursor.value()
        if row is LARGE:
            cursor.skip()
        yield BadRow(TOO_MANY) if row is LARGE else row


def _outlined(cursor: Cursor, without: str | None = None) -> str:
    """Names and values as nested list items; of an outermost object without one of its members."""
    out = io.StringIO()
    for line in _lines(cursor, 0) if without is None else _lines_without(cursor, without):
        out.write(_sound(line) + "\n")
    return out.getvalue()[:-1]


def _lines_without(cursor: Cursor, without: str) -> Iterator[str]:
    if cursor.peek() != "{":
        return
    for name in cursor.members():
        if name == without:
            cursor.skip()
        else:
            yield from _member_lines(cursor, name, 0)


def _lines(cursor: Cursor, depth: int) -> Iterator[str]:
    """The lines of the value that comes next, of which no more is built than one part at a time."""
    whole = cursor.value()
    if whole is not LARGE:
        yield from _outline(whole, depth)
        return
    for name in cursor.members():
        yield from _member_lines(cursor, name, depth)


def _member_lines(cursor: Cursor, name: str, depth: int) -> Iterator[str]:
    part = cursor.value()
    if part is not LARGE:
        yield from _pair(name, part, depth)
        return
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
