"""JSON Lines: a document a row, read row by row, so that the file may be of any size."""

import codecs
import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from selfright.domain.encodings import is_korean
from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.readers.json import record_row
from selfright.ingest.readers.rows import MOST_VALUES, TOO_MANY, BadRow, Row, documents, holds_more

_CHUNK = 2**20
_NAMING = {"_id", "id", "title"}
_SEEN_ROWS = 100  # by which it is told whether rows have a text


def read(file: SourceFile) -> Iterator[Document | UnreadableFile]:
    """A document for each row, an error for each row that is none; a row over ``limits.row_bytes`` is never held.

    Where none of the first rows has a ``text`` they are records, in which each value stands with its name.
    """
    numbered = rows(file)
    seen = list(islice(numbered, _SEEN_ROWS))
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
        return BadRow(TOO_MANY) if holds_more(text, MOST_VALUES) else json.loads(text)
    except RecursionError:
        return BadRow("nested too deeply to be a document")
    except ValueError as error:
        return BadRow(f"not JSON ({error}); expected one object a line")
