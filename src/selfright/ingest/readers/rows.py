"""Rows that are documents, as CSV, JSON and JSON Lines have them."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.domain.text import compose_name, language_of
from selfright.ingest.files import SourceFile, one_line
from selfright.ingest.readers import markup

MOST_VALUES = 250_000  # of a row: some 50 MB of memory
TOO_MANY = f"holds more than {MOST_VALUES:,} values, which no document does; give its text as 'text'"
ROWS = 5_000
"""Rows of tables that are one document."""

_ID_LENGTH = 500
_MOST_IDS = 1_000_000  # that are remembered; some 150 MB
_WEB = ("http://", "https://")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[\[{,]', re.DOTALL)

Row = tuple[int, Any]


class BadRow(ValueError):
    """A row that is no document; the message says what was expected."""


def holds_more(text: str, most: int) -> bool:
    """Whether a JSON text has more than ``most`` values in it, without building any of them."""
    if len(text) <= most:  # not even were all of it brackets
        return False
    signs = (token for token in _TOKEN.finditer(text) if text[token.start()] != '"')
    return next(islice(signs, most, None), None) is not None


def documents(file: SourceFile, rows: Iterable[Row], unit: str = "line") -> Iterator[Document | UnreadableFile]:
    """A document for each numbered row: ``text``, and if given ``_id`` or ``id``, ``title``, ``metadata``, ``url``.

    A row that is none (or a ``BadRow``) comes out as an error with its number; after ``limits.reported_rows`` of these
    the others are counted only. So does one that has the id of a row before it, ``1`` and ``"1"`` being one id.
    """
    bad = good = 0
    numbers: dict[str, int] = {}
    for number, row in rows:
        try:
            document = _document(file, number, row)
            before = numbers.get(document.id) if len(numbers) >= _MOST_IDS else numbers.setdefault(document.id, number)
            if before not in (None, number):
                raise BadRow(f"'{document.id}' is the id of {unit} {before} as well; give each row an id of its own")
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


def in_parts(file: SourceFile, blocks: Iterable[markup.Block], title: str, media_type: str) -> Iterator[Document]:
    """The blocks as one document, or with long tables as several, called by their first row: ``table.csv:5001``."""

    def document(rows: tuple[int, ...]) -> Document:
        shown = f" ({rows[0]:,}–{rows[1]:,})" if rows else ""
        whole = file.document(markup.join_blocks(part), title + shown, media_type)
        return replace(whole, id=f"{file.name}:{rows[0]}") if rows else whole

    part: list[markup.Block] = []
    first = row = 1
    for kind, text in blocks:
        lines = text.split("\n")
        head, body = (lines[:2], lines[2:]) if kind == "table" else (lines, [])
        for start in range(0, max(len(body), 1), ROWS):
            some = body[start : start + ROWS]
            if row > first and row + len(some) - first > ROWS:
                yield document((first, row - 1))
                part, first = [], row
            part.append((kind, "\n".join([*head, *some])))
            row += len(some)
    yield document((first, row - 1) if first > 1 else ())


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
    url, given = row.get("url"), row.get("metadata")
    metadata = {} if given is None else given
    if not isinstance(metadata, Mapping):
        raise BadRow(f"expected an object as 'metadata', but it is a {type(metadata).__name__}")
    return Document(
        id=_id(row, f"{file.name}:{number}"),
        title=one_line(plain(row.get("title") or "")),
        text=text,
        language=language_of(text),
        source=file.source,
        url=plain(url) if isinstance(url, str) and url.startswith(_WEB) else None,
        metadata={plain(key): plain(value) if value is not None else "" for key, value in metadata.items()},
    )


def _check_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRow(f"half of a surrogate pair at character {error.start}; such text cannot be stored") from None


def record_id(row: Mapping[str, Any], keys: Sequence[str] = ("_id", "id")) -> Any:
    """What a row is called by the first of the keys that it has; None where it has none."""
    return next((row[key] for key in keys if row.get(key) not in (None, "")), None)


def _id(row: Mapping[str, Any], otherwise: str) -> str:
    given = record_id(row)
    given = otherwise if given is None else given
    if isinstance(given, bool) or not isinstance(given, str | int) or len(str(given)) > _ID_LENGTH:
        raise BadRow(f"expected as '_id' a string of at most {_ID_LENGTH} characters or a whole number")
    _check_unicode(str(given))
    return compose_name(str(given))


def plain(value: Any) -> str:
    """A JSON value as it is written, without halves of surrogate pairs."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()
