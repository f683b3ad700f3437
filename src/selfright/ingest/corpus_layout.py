"""A corpus in JSON Lines and the lines that point into it, joined: which line stands for which part of which row.

Both files are read row by row; what joins them lies in a temporary SQLite file, so memory stays bounded.
"""

import dataclasses
import itertools
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_args

from selfright.domain.errors import InputError, UnreadableFile
from selfright.domain.passages import Document, Language
from selfright.ingest.files import SourceFile, readable_name
from selfright.ingest.readers import jsonl
from selfright.ingest.readers.rows import BadRow, documents

_SAMPLED = 8
_IDS = ("_id", "id", "doc_id", "document_id")
_TABLES = """
CREATE TABLE rows (number INTEGER PRIMARY KEY, line INTEGER, id TEXT UNIQUE, text BLOB, characters INTEGER);
CREATE INDEX rows_by_text ON rows (text);
CREATE TABLE parts (
    number INTEGER PRIMARY KEY, line INTEGER, row INTEGER, start INTEGER, "end" INTEGER, text BLOB, section TEXT,
    head TEXT, embedded INTEGER, language TEXT, UNIQUE (row, start, "end")
);
"""
_FIND = "SELECT number, characters, text FROM rows WHERE"
_PARTS = """
SELECT row, number, line, start, "end", section, head, embedded, language, text FROM parts
WHERE ?1 IS NULL OR row = ?1 ORDER BY row, start, number
"""


@dataclass(frozen=True, slots=True)
class Part:
    """What vector ``number`` (from 0) stands for: the text of one row from ``start`` to ``end``.

    ``line`` is where that is said; ``embedded`` is false where the vector is said to be none, ``language`` is None
    where it is the row's.
    """

    number: int
    line: int
    start: int
    end: int
    section: str = ""
    head: str = ""
    embedded: bool = True
    language: Language | None = None


class CorpusLayout:
    """The rows of ``corpus`` with their parts; without ``meta`` each row is one part. A context manager.

    Entering it reads both files. Raises ``UnreadableFile`` naming the line for a row that is no document or an id that
    comes twice, and for a line of ``meta`` that points to no row, to more than one, or where another one does.
    """

    def __init__(self, corpus: Path, meta: Path | None) -> None:
        self.corpus, self.meta = _source(corpus), _source(meta) if meta else None
        self.rows = self.parts = 0
        self._sample: list[tuple[int, Document]] = []

    def __enter__(self) -> Self:
        self._tables = sqlite3.connect("")  # on disk as soon as it is large, and gone when closed
        self._tables.executescript(_TABLES)
        try:
            self._read_corpus()
            self._read_meta()
        except BaseException:
            self._tables.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tables.close()

    def documents(self) -> Iterator[tuple[Document, list[Part]]]:
        """Every row as a document with its parts in reading order, in the corpus's order."""
        found = itertools.groupby(self._parts(), key=lambda entry: entry[0])
        for number, (_, document) in enumerate(self._documents()):
            row, parts = next(found, (None, iter(())))
            if row != number:
                raise self.corpus.refuse("the file changed while it was read; import it again")
            yield document, [self._checked(document, part, text) for _, part, text in parts]

    def sample(self) -> list[tuple[Document, Part]]:
        """A few documents from all over the corpus, each with its first part."""
        parts = ((document, next(self._parts(number), None)) for number, document in self._sample)
        return [(document, part[1]) for document, part in parts if part]

    def lines(self) -> Iterator[tuple[int, int, bool]]:
        """Number, line and ``embedded`` of every part, in the order of the numbers."""
        for number, line, embedded in self._tables.execute("SELECT number, line, embedded FROM parts ORDER BY 1"):
            yield number, line, bool(embedded)

    def _read_corpus(self) -> None:
        step = 1
        for number, (line, document) in enumerate(self._documents()):
            row = (number, line, document.id, _digest(document.text), len(document.text))
            try:
                self._tables.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", row)
            except sqlite3.IntegrityError:
                (first,) = self._tables.execute("SELECT line FROM rows WHERE id = ?", (document.id,)).fetchone()
                raise self.corpus.refuse(f"line {line}: its id '{document.id}' is that of line {first}") from None
            self.rows += 1
            if number % step == 0:
                self._sample.append((number, document))
            if len(self._sample) > _SAMPLED:
                self._sample, step = self._sample[::2], step * 2
        if not self.rows:
            raise self.corpus.refuse("there are no rows in it; nothing to import")

    def _documents(self) -> Iterator[tuple[int, Document]]:
        for line, row in _lines(self.corpus):
            for document in documents(self.corpus, [(line, _with_id(row))]):
                if isinstance(document, UnreadableFile):
                    raise document
                yield line, _as_said(document, row)

    def _read_meta(self) -> None:
        if self.meta is None:
            self._tables.execute(
                "INSERT INTO parts SELECT number, line, number, 0, characters, NULL, '', '', 1, NULL FROM rows"
            )
            self.parts = self.rows
            return
        for number, (line, row) in enumerate(_lines(self.meta)):
            self.parts += 1
            try:
                self._point(number, line, row)
            except BadRow as error:
                raise self.meta.refuse(f"line {line}: {error}") from None
        missing = "SELECT line, id FROM rows WHERE number NOT IN (SELECT row FROM parts) ORDER BY number LIMIT 1"
        for line, name in self._tables.execute(missing):
            raise self.meta.refuse(
                f"{self.parts:,} lines for the {self.rows:,} rows of {self.corpus.name}: none of them points to line "
                f"{line} there ('{name}'), but every row needs one"
            )

    def _point(self, number: int, line: int, row: Any) -> None:
        if not isinstance(row, Mapping):
            raise row if isinstance(row, BadRow) else BadRow(f"expected an object, but it is a {type(row).__name__}")
        target, characters, same_text = self._target(number, row)
        start, end, partial = row.get("start", 0), row.get("end", characters), "start" in row
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= characters):
            raise BadRow(f"'start' {start} and 'end' {end} must lie within the row's {characters} characters")
        text = row.get("text")
        if isinstance(text, str) and not partial and not same_text:
            raise BadRow("its 'text' is not that of the row it names; a part of a row needs 'start' and 'end'")
        language = row["language"] if row.get("language") in get_args(Language) else None
        digest = _digest(text) if isinstance(text, str) and partial else None
        part = (number, line, target, start, end, digest, str(row.get("section") or ""), str(row.get("head") or ""))
        try:
            marks = (*part, row.get("embedded") is not False, language)
            self._tables.execute("INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", marks)
        except sqlite3.IntegrityError:
            same = 'SELECT line FROM parts WHERE row = ? AND start = ? AND "end" = ?'
            (first,) = self._tables.execute(same, (target, start, end)).fetchone()
            raise BadRow(f"it points to the same text (parts need 'start' and 'end') as that of line {first}") from None

    def _target(self, number: int, row: Mapping[str, Any]) -> tuple[int, int, bool]:
        """Number and characters of the row that a line names: by id, else by ``index``, else by its ``text``.

        Also whether the line's text is the row's. Of rows with one text the one at the line's own place is meant.
        """
        text = _digest(row["text"]) if isinstance(row.get("text"), str) else None
        name = next((str(row[key]) for key in _IDS if row.get(key) not in (None, "")), None)
        if name is not None:
            found = self._tables.execute(f"{_FIND} id = ?", (name,)).fetchall()
            what = f"has the id '{name}'; check that both files belong together"
        elif isinstance(index := row.get("index"), int):
            found = self._tables.execute(f"{_FIND} number = ?", (index,)).fetchall()
            what = f"has the index {index}; rows are counted from 0"
        elif text is not None:
            query = f"{_FIND} text = ? ORDER BY number <> ? LIMIT 2"
            found = self._tables.execute(query, (text, number)).fetchall()
            what = "has its 'text'; check that both files belong together"
        else:
            raise BadRow("it names no row of the corpus; expected an 'id', an 'index' (from 0) or the 'text'")
        if not found:
            raise BadRow(f"no row of the corpus {what}")
        if len(found) > 1 and found[0][0] != number:
            raise BadRow("several rows of the corpus have its 'text'; name the row by 'id' or 'index'")
        target, characters, digest = found[0]
        return target, characters, digest == text

    def _parts(self, only: int | None = None) -> Iterator[tuple[int, Part, bytes | None]]:
        """Row, part, and the digest of the text it should have if that is said; of all rows or of one."""
        for row, number, line, start, end, section, head, embedded, language, text in self._tables.execute(
            _PARTS, (only,)
        ):
            yield row, Part(number, line, start, end, section, head, bool(embedded), language), text

    def _checked(self, document: Document, part: Part, text: bytes | None) -> Part:
        if self.meta and text is not None and text != _digest(document.text[part.start : part.end]):
            raise self.meta.refuse(
                f"line {part.line}: its 'text' is not that of '{document.id}' from {part.start} to {part.end}; "
                "positions count characters of the row's 'text', from 0"
            )
        return part


def _source(path: Path) -> SourceFile:
    if not path.exists():
        raise InputError(f"no such file: {path}; check the path")
    return SourceFile(path, readable_name(path.name))


def _lines(file: SourceFile) -> Iterator[tuple[int, Any]]:
    with file.open() as handle:
        yield from jsonl.rows(handle, file.limits.row_bytes)


def _with_id(row: Any) -> Any:
    """The row with its name where documents have it."""
    if not isinstance(row, dict):
        return row
    key = next((key for key in _IDS if row.get(key) not in (None, "")), None)
    return row if key is None else {**row, "_id": row[key]}


def _as_said(document: Document, row: Mapping[str, Any]) -> Document:
    """The document with what an export of ours says about it beside title, text and metadata."""
    said: dict[str, Any] = {}
    if row.get("language") in get_args(Language):
        said["language"] = row["language"]
    if isinstance(row.get("collection"), str) and row["collection"].strip():
        said["collection"] = row["collection"]
    return dataclasses.replace(document, **said) if said else document


def _digest(text: str) -> bytes:
    # Who writes such files often strips the text in one of them; that changes neither meaning nor vector.
    return sha256(text.strip().encode("utf-8", "replace")).digest()
