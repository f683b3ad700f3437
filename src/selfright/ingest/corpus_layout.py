"""A corpus in JSON Lines and the lines that point into it, joined: which line stands for which part of which row.

Both files are read row by row; what joins them lies in a temporary SQLite file, so memory stays bounded.
"""

import dataclasses
import itertools
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from selfright.domain.errors import InputError, UnreadableFile
from selfright.domain.passages import Document, Language
from selfright.ingest.files import SourceFile, readable_name
from selfright.ingest.pointers import Known, Pointer, pointer_of, resolved
from selfright.ingest.readers import jsonl
from selfright.ingest.readers.rows import BadRow, documents

_SAMPLED = 8
_TABLES = """
CREATE TABLE rows (number INTEGER PRIMARY KEY, line INTEGER, id TEXT, text BLOB, characters INTEGER);
CREATE UNIQUE INDEX rows_by_id ON rows (id);
CREATE INDEX rows_by_text ON rows (text);
CREATE TABLE pointers (
    number INTEGER PRIMARY KEY, line INTEGER, row INTEGER, start INTEGER, "end" INTEGER, text BLOB, section TEXT,
    embedded INTEGER, language TEXT
);
CREATE UNIQUE INDEX pointers_by_place ON pointers (row, start, "end");
"""
_FIND = {
    "id": "SELECT number, characters, text FROM rows WHERE id = ? LIMIT 2",
    "number": "SELECT number, characters, text FROM rows WHERE number = ? LIMIT 2",
    "text": "SELECT number, characters, text FROM rows WHERE text = ? LIMIT 2",
}
_ROW_BEFORE = "SELECT line FROM rows WHERE id = ?"
_POINTER_BEFORE = 'SELECT line FROM pointers WHERE row = ? AND start = ? AND "end" = ?'
_EVERY_ROW = "INSERT INTO pointers SELECT number, line, number, 0, characters, NULL, '', 1, NULL FROM rows"
_PARTS = """
SELECT row, number, line, start, "end", section, embedded, language, text FROM pointers
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
        self._named = False

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
        for number, (_, document, _) in enumerate(self._documents()):
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
        for number, line, embedded in self._tables.execute("SELECT number, line, embedded FROM pointers ORDER BY 1"):
            yield number, line, bool(embedded)

    def _read_corpus(self) -> None:
        step = 1
        for number, (line, document, named) in enumerate(self._documents()):
            row = (number, line, document.id, _digest(document.text), len(document.text))
            with self._once(self.corpus, line, f"its id '{document.id}' is that", _ROW_BEFORE, document.id):
                self._tables.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", row)
            self._named |= named
            self.rows += 1
            if number % step == 0:
                self._sample.append((number, document))
            if len(self._sample) > _SAMPLED:
                self._sample, step = self._sample[::2], step * 2
        if not self.rows:
            raise self.corpus.refuse("there are no rows in it; nothing to import")

    def _documents(self) -> Iterator[tuple[int, Document, bool]]:
        """Line, document, and whether the row names itself."""
        for line, given in _lines(self.corpus):
            named, row = _with_id(given)
            for document in documents(self.corpus, [(line, row)]):
                if isinstance(document, UnreadableFile):
                    raise document
                yield line, _as_said(document, row), named

    def _read_meta(self) -> None:
        if self.meta is None:
            self._tables.execute(_EVERY_ROW)
            self.parts = self.rows
            return
        lines = _lines(self.meta)
        for number, (line, row) in enumerate(lines):
            self.parts += 1
            try:
                self._point(self.meta, number, line, row)
            except UnreadableFile as error:
                self.parts += sum(1 for _ in lines)
                raise self._miscounted(self.meta, error.why) if self.parts != self.rows else error from None
        self._check_covered(self.meta)

    def _point(self, meta: SourceFile, number: int, line: int, row: Any) -> None:
        try:
            pointer = pointer_of(row)
            target = resolved(pointer, number, self._finder(pointer), corpus_has_ids=self._named)
            start, end = pointer.span(target.characters)
        except BadRow as error:
            raise meta.refuse(f"line {line}: {error}") from None
        text = _digest(pointer.text) if pointer.text is not None and pointer.start is not None else None
        entry = (number, line, target.number, start, end, text, pointer.section, pointer.embedded, pointer.language)
        what = "it points to the same text (parts need 'start' and 'end') as that"
        with self._once(meta, line, what, _POINTER_BEFORE, target.number, start, end):
            self._tables.execute("INSERT INTO pointers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", entry)

    def _finder(self, pointer: Pointer) -> Callable[[str, object], list[Known]]:
        """Looks rows up by ``id``, ``number`` or ``text``, at most two of them."""
        given = None if pointer.text is None else _digest(pointer.text)

        def find(column: str, value: object) -> list[Known]:
            rows = self._tables.execute(_FIND[column], (given if column == "text" else value,))
            return [Known(row, characters, text == given) for row, characters, text in rows]

        return find

    def _check_covered(self, meta: SourceFile) -> None:
        missing = "SELECT line, id FROM rows WHERE number NOT IN (SELECT row FROM pointers) ORDER BY number LIMIT 1"
        for line, name in self._tables.execute(missing):
            raise self._miscounted(
                meta, f"none of them points to line {line} there ('{name}'), but every row needs one"
            )

    def _miscounted(self, meta: SourceFile, why: str) -> UnreadableFile:
        return meta.refuse(f"{self.parts:,} lines for the {self.rows:,} rows of {self.corpus.name}: {why}")

    def _parts(self, only: int | None = None) -> Iterator[tuple[int, Part, bytes | None]]:
        """Row, part, and the digest of the text it should have if that is said; of all rows or of one."""
        for row, number, line, start, end, section, embedded, language, text in self._tables.execute(_PARTS, (only,)):
            yield row, Part(number, line, start, end, section, bool(embedded), language), text

    def _checked(self, document: Document, part: Part, text: bytes | None) -> Part:
        if self.meta and text is not None and text != _digest(document.text[part.start : part.end]):
            raise self.meta.refuse(
                f"line {part.line}: its 'text' is not that of '{document.id}' from {part.start} to {part.end}; "
                "positions count characters of the row's 'text', from 0"
            )
        return part

    @contextmanager
    def _once(self, file: SourceFile, line: int, what: str, before: str, *key: object) -> Iterator[None]:
        """Turns a key that comes twice into an error that names both lines."""
        try:
            yield
        except sqlite3.IntegrityError:
            (first,) = self._tables.execute(before, key).fetchone()
            raise file.refuse(f"line {line}: {what} of line {first}; each may come once") from None


def _source(path: Path) -> SourceFile:
    if not path.exists():
        raise InputError(f"no such file: {path}; check the path")
    return SourceFile(path, readable_name(path.name))


def _lines(file: SourceFile) -> Iterator[tuple[int, Any]]:
    with file.open() as handle:
        yield from jsonl.rows(handle, file.limits.row_bytes)


def _with_id(row: Any) -> tuple[bool, Any]:
    """Whether a row names itself, and the row with its name where documents have it."""
    if not isinstance(row, dict):
        return False, row
    key = next((key for key in ("_id", "id", "doc_id", "document_id") if row.get(key) not in (None, "")), None)
    return key is not None, row if key is None else {**row, "_id": row[key]}


def _as_said(document: Document, row: Mapping[str, Any]) -> Document:
    """The document with what an export of ours says about it beside title, text and metadata."""
    said: dict[str, Any] = {}
    if row.get("language") in ("ko", "en"):
        said["language"] = row["language"]
    if isinstance(row.get("collection"), str) and row["collection"].strip():
        said["collection"] = row["collection"]
    return dataclasses.replace(document, **said) if said else document


def _digest(text: str) -> bytes:
    # Who writes such files often strips the text in one of them; that changes neither meaning nor vector.
    return sha256(text.strip().encode("utf-8", "replace")).digest()
