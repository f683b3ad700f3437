"""Rows that are documents: what CSV, JSON and JSON Lines have in common."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import language_of
from selfright.ingest.files import SourceFile, one_line
from selfright.ingest.readers.values import MOST_VALUES

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
