"""A corpus in JSON Lines and the lines that point into it, joined: which line stands for which part of which row.

The corpus is read row by row, twice; memory holds some hundred bytes for each row and each line.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from selfright.domain.errors import InputError, MissingExtra, UnreadableFile
from selfright.domain.passages import Document, Language
from selfright.domain.routing import collection_name
from selfright.ingest.files import SourceFile, readable_name
from selfright.ingest.readers.json import rows
from selfright.ingest.readers.rows import BadRow, documents, record_id

_SAMPLED = 8
_IDS = ("_id", "id", "doc_id", "document_id")


class _Row(NamedTuple):
    line: int
    id: str
    digest: bytes
    characters: int


@dataclass(frozen=True, slots=True)
class Part:
    """What vector ``number`` (from 0) stands for: the text of row ``row`` from ``start`` to ``end``.

    ``line`` is where that is said; ``embedded`` is false where the vector is said to be none, ``language`` is None
    where it is the row's. ``digest`` is that of the text it should have, if that is said.
    """

    number: int
    line: int
    row: int
    start: int
    end: int
    section: str = ""
    head: str = ""
    embedded: bool = True
    language: Language | None = None
    digest: bytes | None = None


class CorpusLayout:
    """The rows of ``corpus`` with their parts, by number; without ``meta`` there are no parts.

    ``sample`` has a few rows from all over the corpus, by number. Raises ``UnreadableFile`` naming the line for a row
    that is no document or an id that comes twice, and for a line of ``meta`` that points to no row, to more than one,
    or where another one does.
    """

    def __init__(self, corpus: Path, meta: Path | None) -> None:
        for path in filter(None, (corpus, meta)):
            if not path.exists():
                raise InputError(f"no such file: {path}; check the path")
        self._corpus = SourceFile(corpus, readable_name(corpus.name))
        self._meta = SourceFile(meta, readable_name(meta.name)) if meta else None
        self._rows: list[_Row] = []
        self._by_id: dict[str, int] = {}
        self._by_text: dict[bytes, list[int]] = defaultdict(list)
        self._by_row: dict[int, dict[tuple[int, int], Part]] = defaultdict(dict)
        self.parts: list[Part] = []
        self.sample: dict[int, Document] = {}
        self._read_corpus()
        if self._meta:
            self._read_meta(self._meta)

    def __len__(self) -> int:
        return len(self._rows)

    def documents(self) -> Iterator[tuple[Document, list[Part]]]:
        """Every row as a document with its parts in reading order, in the corpus's order."""
        for number, (_, document) in enumerate(self._documents()):
            if number >= len(self._rows) or self._rows[number].digest != _digest(document.text):
                raise self._corpus.refuse("the file changed while it was read; import it again")
            parts = self.parts_of(number)
            for part in parts:
                if self._meta and part.digest not in (None, _digest(document.text[part.start : part.end])):
                    raise self._meta.refuse(
                        f"line {part.line}: its 'text' is not that of '{document.id}' from {part.start} to "
                        f"{part.end}; positions count characters of the row's 'text', from 0"
                    )
            yield document, parts

    def parts_of(self, row: int) -> list[Part]:
        """The parts of a row in reading order."""
        return sorted(self._by_row[row].values(), key=lambda part: (part.start, part.number))

    def _read_corpus(self) -> None:
        step = 1
        for number, (line, document) in enumerate(self._documents()):
            first = self._by_id.setdefault(document.id, number)
            if first != number:
                first_line = self._rows[first].line
                raise self._corpus.refuse(f"line {line}: its id '{document.id}' is that of line {first_line}")
            row = _Row(line, document.id, _digest(document.text), len(document.text))
            self._rows.append(row)
            self._by_text[row.digest].append(number)
            if number % step == 0:
                self.sample[number] = document
            if len(self.sample) > _SAMPLED:
                step *= 2
                self.sample = {n: document for n, document in self.sample.items() if n % step == 0}
        if not self._rows:
            raise self._corpus.refuse("there are no rows in it; nothing to import")

    def _documents(self) -> Iterator[tuple[int, Document]]:
        for line, row in rows(self._corpus):
            named = {**row, "_id": record_id(row, _IDS)} if isinstance(row, dict) else row
            for document in documents(self._corpus, [(line, named)]):
                if isinstance(document, UnreadableFile):
                    raise document
                said = row.get("collection")  # by an export of ours, as the language
                collection = collection_name(said) if isinstance(said, str) and said.strip() else document.collection
                yield line, replace(document, language=_language(row) or document.language, collection=collection)

    def _read_meta(self, meta: SourceFile) -> None:
        for number, (line, row) in enumerate(rows(meta)):
            try:
                part = self._part(number, line, row)
                same = self._by_row[part.row].setdefault((part.start, part.end), part)
                if same is not part:
                    where = f"as that of line {same.line}"
                    raise BadRow(f"it points to the same text (parts need 'start' and 'end') {where}")
            except BadRow as error:
                raise meta.refuse(f"line {line}: {error}") from None
            self.parts.append(part)
        for number, of in enumerate(self._rows):
            if not self._by_row[number]:
                raise meta.refuse(
                    f"{len(self.parts):,} lines for the {len(self._rows):,} rows of {self._corpus.name}: none of them "
                    f"points to line {of.line} there ('{of.id}'), but every row needs one"
                )

    def _part(self, number: int, line: int, row: Any) -> Part:
        if not isinstance(row, Mapping):
            raise row if isinstance(row, BadRow) else BadRow(f"expected an object, but it is a {type(row).__name__}")
        digest = _digest(row["text"]) if isinstance(row.get("text"), str) else None
        target = self._target(number, row, digest)
        characters = self._rows[target].characters
        start, end, partial = row.get("start", 0), row.get("end", characters), "start" in row
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= characters):
            raise BadRow(f"'start' {start} and 'end' {end} must lie within the row's {characters} characters")
        if digest not in (None, self._rows[target].digest) and not partial:
            raise BadRow("its 'text' is not that of the row it names; a part of a row needs 'start' and 'end'")
        section, head = (str(row.get(name) or "") for name in ("section", "head"))
        is_embedded, expected = row.get("embedded") is not False, digest if partial else None
        return Part(number, line, target, start, end, section, head, is_embedded, _language(row), expected)

    def _target(self, number: int, row: Mapping[str, Any], digest: bytes | None) -> int:
        """The row that a line names: by id, else by ``index``, else by its ``text``.

        Of rows with one text the one at the line's own place is meant.
        """
        name, index = record_id(row, _IDS), row.get("index")
        found: list[int]
        if name is not None:
            found = [self._by_id[str(name)]] if str(name) in self._by_id else []
            what = f"has the id '{name}'; check that both files belong together"
        elif isinstance(index, int):
            found = [index] if 0 <= index < len(self._rows) else []
            what = f"has the index {index}; rows are counted from 0"
        elif digest is not None:
            found = self._by_text.get(digest, [])
            what = "has its 'text'; check that both files belong together"
        else:
            raise BadRow("it names no row of the corpus; expected an 'id', an 'index' (from 0) or the 'text'")
        if not found:
            raise BadRow(f"no row of the corpus {what}")
        if len(found) > 1 and number not in found:
            raise BadRow("several rows of the corpus have its 'text'; name the row by 'id' or 'index'")
        return found[0] if len(found) == 1 else number


def _language(row: Mapping[str, Any]) -> Language | None:
    return next((language for language in get_args(Language) if language == row.get("language")), None)


def _digest(text: str) -> bytes:
    # Who writes such files often strips the text in one of them; that changes neither meaning nor vector.
    return sha256(text.strip().encode("utf-8", "replace")).digest()


# Kinds that keep their vectors whole. Others keep codes from which no good vector comes back, and some of them crash
# the process when they are asked for one.
_KINDS = ("IndexFlat", "IndexFlatIP", "IndexFlatL2", "IndexHNSWFlat", "IndexIVFFlat")
_ADVICE = "import the texts alone with --no-vectors, or save the vectors in an IndexFlatIP"


class FaissVectors:
    """The vectors of a FAISS index by their ids, which must be 0 … n-1. Mapped into memory where FAISS can do that.

    Raises ``UnreadableFile`` for what is no FAISS index, or one that does not give its vectors back.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._index = _read(path)
        self.kind = type(self._index).__name__
        if self.kind not in _KINDS:
            raise self._refuse(f"an index of kind {self.kind} does not give its vectors back; {_ADVICE}")
        self.count, self.dimension = int(self._index.ntotal), int(self._index.d)
        try:
            if (ivf := faiss().try_extract_index_ivf(self._index)) is not None:
                ivf.make_direct_map()
            self.notes = self._peculiarities()
        except RuntimeError as error:
            why = f"this {self.kind} does not give its vectors back ({_reason(error)}); {_ADVICE}"
            raise self._refuse(why) from None

    def rows(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """These vectors as they are stored, shape ``(len(numbers), dimension)``."""
        wanted = np.asarray(numbers, dtype=np.int64)
        if not len(wanted):
            return np.empty((0, self.dimension), dtype=np.float32)
        rows: NDArray[np.float32] = self._index.reconstruct_batch(wanted)
        return rows

    def _peculiarities(self) -> tuple[str, ...]:
        notes = []
        if self._index.metric_type != faiss().METRIC_INNER_PRODUCT:
            notes.append("the index measured distances (L2); its vectors are ranked by cosine here")
        lengths = np.linalg.norm(self.rows(range(min(self.count, 64))), axis=1)
        if np.abs(lengths[lengths > 0] - 1).max(initial=0) > 0.02:  # zeros stand for texts without a vector
            notes.append("the vectors were not of length one; they are scaled to it")
        return tuple(notes)

    def _refuse(self, why: str) -> UnreadableFile:
        return UnreadableFile(str(self.path), why)


def faiss() -> Any:
    """FAISS, imported late for it takes a third of a second; raises ``MissingExtra``."""
    return MissingExtra.load("FAISS, which this index or file needs,", "faiss", "faiss")


def _read(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"no such file: {path}; check the path")
    with path.open("rb") as handle:
        lists = handle.read(2) == b"Iw"  # inverted lists are mapped in another way
    flags = (faiss().IO_FLAG_MMAP | faiss().IO_FLAG_READ_ONLY) if lists else getattr(faiss(), "IO_FLAG_MMAP_IFC", 0)
    try:
        return faiss().read_index(str(path), flags)
    except (RuntimeError, MemoryError) as error:
        why = f"not an index that FAISS can read ({_reason(error)}); save it anew"
        raise UnreadableFile(str(path), why) from None


def _reason(error: BaseException) -> str:
    """The last, plain part of what FAISS says, which begins with its own source lines."""
    return str(error).strip().rpartition("\n")[2].rpartition(": ")[2][:200] or type(error).__name__
