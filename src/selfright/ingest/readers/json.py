"""JSON: a list of documents; or records and settings, in which each value stands with its name.

JSON Lines, a document a row, are read row by row, so that the file may be of any size.
"""

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from selfright.domain.encodings import is_korean
from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import markup
from selfright.ingest.readers.csv import table_documents
from selfright.ingest.readers.rows import (
    MOST_VALUES,
    ROWS,
    TOO_MANY,
    BadRow,
    Row,
    documents,
    holds_more,
    plain,
    record_id,
)
from selfright.ingest.readers.tables import plain_rows, tables

_MEDIA_TYPE = "application/json"
_MOST_VALUES = 1_000_000  # of a file; they take some 250 MB
_MANY = 100  # so many records are better found one by one, and tell whether rows of JSON Lines have a text
_TITLES = ("title", "name", "question", "subject", "label", "heading", "제목", "이름", "질문", "명칭")
_QUESTIONS, _ANSWERS = ("question", "q", "질문"), ("answer", "a", "답변")
_COLUMNS, _CELLS = ("columns", "headers", "header", "fields"), ("rows", "data", "values")
_TITLE_LENGTH = _LABEL_LENGTH = _CELL_LENGTH = 200
_LIST_LENGTH = 60  # of a member of a list that stands with others on one line
_DEPTH, _MOST_COLUMNS, _CHUNK = 20, 50, 2**20
_BETWEEN, _NAMING = " – ", {"_id", "id", "title"}

Record = Mapping[str, Any]


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """The documents of a JSON file, or of JSON Lines."""
    yield from _read_whole(file) if file.path.suffix.lower() == ".json" else _read_lines(file)


def _read_whole(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document for each object of a list (or of ``{"documents": […]}``) with ``text``; else one document.

    In that, records with the same names are a table, others are sections. Of a long list of these each is a document.
    """
    text = file.read_text()
    if holds_more(text, _MOST_VALUES):
        raise file.refuse(f"more than {_MOST_VALUES:,} values; bring its texts as JSON Lines")
    try:
        data = _as_records(json.loads(text, object_pairs_hook=lambda pairs: _with_records(_named_once(pairs))))
    except RecursionError as error:
        raise file.refuse("nested too deeply to be read as documents; flatten it") from error
    except ValueError as error:
        raise file.refuse(f"not JSON ({error}); mend it, or use .jsonl for one object a line") from error
    lists = [("", data)] if isinstance(data, list) else list(data.items()) if isinstance(data, dict) else []
    for name, rows in lists:
        texts = rows if isinstance(rows, list) and name in ("", "documents") else ()
        if any("text" in row for row in texts if isinstance(row, dict)):
            yield from documents(file, enumerate(texts, start=1), unit="item")
            return
    many = ((name, rows) for name, rows in lists if _is_records(rows) and len(rows) >= _MANY)
    long, rows = next(((name, rows) for name, rows in many if len(rows) > ROWS or not _table(rows)), (None, []))
    yield from _one_by_one(file, rows)
    rest = {name: value for name, value in lists if name != long} if long is not None else data
    text = markup.join_blocks(_blocks(rest, 2))
    if text or long is None:
        given = data.get("title") if isinstance(data, dict) else None
        yield file.document(text, plain(given) if isinstance(given, str) else "", _MEDIA_TYPE)


def _named_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        name = next(name for n, (name, _) in enumerate(pairs) if name in dict(pairs[:n]))
        raise ValueError(f"an object has '{name[:_LABEL_LENGTH]}' twice")
    return value


def _with_records(value: dict[str, Any]) -> Any:
    """The object; one with columns beside rows of as many cells (tables as query tools write them) with records."""
    value = {key: _as_records(inner) for key, inner in value.items()}
    names = next((value[key] for key in _COLUMNS if _is_names(value.get(key))), None)
    of = next((key for key in _CELLS if names and _has_cells(value.get(key), len(names))), "")
    if names is None or not of:
        return value
    records = [dict(zip(names, row, strict=True)) for row in value[of]]
    rest = {key: inner for key, inner in value.items() if key not in (*_COLUMNS, "index", of)}
    return {**rest, of: records} if rest else records


def _as_records(value: Any) -> Any:
    """Rows below a row of names, and lists of as many values each, as records: if all of one are texts, or numbers."""
    lists = list(value.values()) if isinstance(value, dict) else []
    if isinstance(value, list) and len(value) > 2 and _is_names(value[0]) and _has_cells(value[1:], len(value[0])):
        names, rows = value[0], value[1:]
    elif len(lists) > 1 and isinstance(lists[0], list) and _has_cells(lists, len(lists[0])):
        names, rows = list(value), list(zip(*lists, strict=True))
    else:
        return value
    kinds = [
        {isinstance(cell, str) + 2 * isinstance(cell, dict | list) for cell in of} for of in zip(*rows, strict=True)
    ]
    is_table = len(rows) > 1 and {0} in kinds and all(kind in ({0}, {1}) for kind in kinds)
    return [dict(zip(names, row, strict=True)) for row in rows] if is_table else value


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and len(set(filter(lambda name: isinstance(name, str), value))) == len(value) > 1


def _has_cells(value: Any, count: int) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(r, list) and len(r) == count for r in value)


def _is_records(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(each, dict) for each in value)


def _one_by_one(file: SourceFile, records: Sequence[Record]) -> Iterator[Document | UnreadableFile]:
    """The records as a table in parts, or each as a document, called by its id where each has one of its own."""
    if table := _table(records):
        yield from table_documents(file, table[0], table[1:], _MEDIA_TYPE)
    elif records:
        ids = list(map(record_id, records))
        has_ids = all(type(own) in (str, int) for own in ids) and len(set(map(str, ids))) == len(ids)
        rows = (record_row(file, n, record) for n, record in enumerate(records, start=1))
        numbered = enumerate((row if has_ids else {**row, "_id": None} for row in rows), start=1)
        yield from documents(file, numbered, unit="item")


def record_row(file: SourceFile, number: int, record: Record) -> Record:
    """A record as a row with a text, in which each value stands with its name."""
    title = _title(record, f"{file.stem} {number}")
    text = markup.join_blocks(_record(record, title, 1))
    return {"_id": record_id(record), "text": text, "title": title, "url": record.get("url")}


def _blocks(value: Any, level: int) -> Iterator[markup.Block]:
    """Settings as items, and lists of records under their names as headings of this level."""
    if _is_records(value):
        if table := _table(value):
            yield from tables(plain_rows([row for row in table if any(row)]), 1)
            return
        name = next((name for name in value[0] if _tells_apart(name, value)), "")
        for n, record in enumerate(value, start=1):
            yield from _record(record, _title(record, record.get(name) or f"Record {n}"), level)
        return
    deep = {name: inner for name, inner in value.items() if _has_records(inner)} if isinstance(value, dict) else {}
    flat = {name: inner for name, inner in value.items() if name not in deep} if deep else value
    yield from (("list", markup.item(line)) for line in _lines((), flat))
    for name, inner in deep.items():
        yield "heading", markup.heading(level, plain(name))
        yield from _blocks(inner, level + 1)


def _has_records(value: Any, depth: int = 1) -> bool:
    if isinstance(value, dict) and depth < _DEPTH:
        return any(_has_records(inner, depth + 1) for inner in value.values())
    return _is_records(value)


def _record(record: Record, title: str, level: int) -> Iterator[markup.Block]:
    """A record under its title; a question with its answer, and what else is said below."""
    yield "heading", markup.heading(level, title)
    if names := _question_fields(record):
        answer = record[names[1]]
        yield from (("paragraph", markup.one_blank(part)) for part in plain(answer).split("\n\n"))
    asked = [name for name, value in record.items() if _are_questions(value)]
    rest = {name: value for name, value in record.items() if name not in (*names, *asked)}
    yield from (("list", markup.item(line)) for line in _lines((), rest))
    for inner in (inner for name in asked for inner in record[name]):
        yield from _record(inner, _title(inner, ""), level + 1)


def _are_questions(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(of, dict) and _question_fields(of) for of in value)
    )


def _tells_apart(name: str, records: Sequence[Record]) -> bool:
    """Whether each of the records has a short text of this name, of its own."""
    texts = [text for text in (record.get(name) for record in records) if isinstance(text, str)]
    are_names = all(any(map(str.isalpha, text)) and len(text) <= _LIST_LENGTH for text in texts)
    return are_names and len(set(texts)) == len(records)


def _question_fields(record: Record) -> tuple[str, ...]:
    """The names of a question and its answer, both texts; none of another record."""
    texts = {name.strip().lower(): name for name, value in record.items() if isinstance(value, str) and value.strip()}
    question, answer = (next((texts[key] for key in keys if key in texts), "") for keys in (_QUESTIONS, _ANSWERS))
    return (question, answer) if question and answer else ()


def _title(record: Record, otherwise: str) -> str:
    texts = (record.get(key) for key in (*_question_fields(record)[:1], *_TITLES))
    return plain(next((text for text in texts if isinstance(text, str) and text.strip()), otherwise))[:_TITLE_LENGTH]


def _table(records: Sequence[Record]) -> list[list[str]]:
    """Records of mostly the same names and short values, below the names; nothing of others, or of questions."""
    names = list(dict.fromkeys(name for record in records for name in record))
    is_full = 2 * sum(map(len, records)) >= len(names) * len(records)
    if not is_full or not 0 < len(names) <= _MOST_COLUMNS or all(map(_question_fields, records)):
        return []
    for value in (value for record in records for value in record.values()):
        is_deep = isinstance(value, dict) or (isinstance(value, list) and not _is_short(value))
        if is_deep or len(_cell(value)) > _CELL_LENGTH:
            return []
    return [[plain(name) for name in names], *([_cell(record.get(name)) for name in names] for record in records)]


def _cell(value: Any) -> str:
    return "" if value is None else ", ".join(map(plain, value)) if isinstance(value, list) else plain(value)


def _is_short(value: Any) -> bool:
    """Whether a list can stand on one line, with commas between its members."""
    return all(not isinstance(each, dict | list) and len(plain(each)) <= _LIST_LENGTH for each in value)


def _lines(path: tuple[str, ...], value: Any) -> Iterator[str]:
    """A line for each value, with all the names that lead to it: ``cache – timeout_s: 900``."""
    label = _BETWEEN.join(path)[-_LABEL_LENGTH:]
    if not isinstance(value, dict | list) or len(path) >= _DEPTH:
        yield _with_label(label, plain(value))
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _lines((*path, plain(name)), inner)
    elif _is_short(value):
        yield _with_label(label, ", ".join(map(plain, value)))
    else:
        for n, inner in enumerate(value, start=1):
            table = _table([inner]) if isinstance(inner, dict) else []
            if table:
                yield _with_label(label, "; ".join(map(_with_label, *table)))
            else:
                numbered = (*path[:-1], " ".join([*path[-1:], str(n)]))
                yield from _lines(numbered if isinstance(inner, dict) else path, inner)


def _with_label(label: str, text: str) -> str:
    return f"{label}: {text}" if label else text


def _read_lines(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document for each row, an error for each row that is none; a row over ``limits.row_bytes`` is never held.

    Where none of the first rows has a ``text`` they are records, in which each value stands with its name.
    """
    numbered = rows(file)
    seen = list(islice(numbered, _MANY))
    objects = [row for _, row in seen if isinstance(row, dict)]
    are_records = any(row.keys() - _NAMING for row in objects) and not any("text" in row for row in objects)
    every: Iterator[Row] = chain(seen, numbered)
    if are_records:
        every = ((n, record_row(file, n, row) if isinstance(row, dict) and row else row) for n, row in every)
    yield from documents(file, every)


def rows(file: SourceFile) -> Iterator[Row]:
    """The numbered rows but blank ones; a ``BadRow`` for what is no JSON or longer than ``limits.row_bytes``."""
    number, limit = 0, file.limits.row_bytes
    with file.open() as handle:
        while line := handle.readline(limit + 1):
            number += 1
            if len(line) > limit and not line.endswith(b"\n"):
                del line
                while (piece := handle.readline(_CHUNK)) and not piece.endswith(b"\n"):
                    pass
                yield number, BadRow(f"longer than {limit:,} bytes; split it into several documents")
            elif number == 1 and (b"\0" in line[:4] or line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))):
                yield number, BadRow("the file is UTF-16, but JSON Lines are UTF-8; save it as UTF-8")
                return
            elif line.strip():
                yield number, _parse(line.removeprefix(codecs.BOM_UTF8))


def _parse(line: bytes) -> Any:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        if not is_korean(line):
            return BadRow("neither UTF-8 nor Korean code page 949; save the file as UTF-8")
        text = line.decode("cp949")
    try:
        return BadRow(TOO_MANY) if holds_more(text, MOST_VALUES) else json.loads(text, object_pairs_hook=_named_once)
    except RecursionError:
        return BadRow("nested too deeply to be a document")
    except ValueError as error:
        return BadRow(f"not JSON ({error}); expected one object a line")
