"""A line of ``.meta.jsonl``: which row of the corpus it points to. What could mean two rows is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from selfright.domain.passages import Language
from selfright.ingest.readers.rows import BadRow

_IDS = ("_id", "id", "doc_id", "document_id")
_INDEXES = ("index", "idx", "row", "corpus_index")
_DIGITS = 18  # a longer number is no row's
_SPANS = (("start", "end"), ("start_char", "end_char"), ("char_start", "char_end"), ("start_char_idx", "end_char_idx"))


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a line says: ids and a row's number (from 0), the text, and the part's place in the row's text.

    ``language`` is None where it is the row's. ``embedded`` false says that the vector is none (all
    zero): the part is found by words alone.
    """

    ids: tuple[str, ...]
    index: int | None
    text: str | None
    start: int | None
    end: int | None
    section: str = ""
    embedded: bool = True
    language: Language | None = None

    def span(self, characters: int) -> tuple[int, int]:
        """Start and end in a row of this many characters; all of it when none are given."""
        if self.start is None or self.end is None:
            return 0, characters
        if not 0 <= self.start < self.end <= characters:
            raise BadRow(f"'start' {self.start} and 'end' {self.end} must lie within the row's {characters} characters")
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class Known:
    """A row of the corpus: its number from 0, its length, and whether its text is the pointer's."""

    number: int
    characters: int
    same_text: bool


Find = Callable[[str, object], list[Known]]
"""Rows by ``id``, ``number`` or ``text``: at most two."""


def pointer_of(row: Any) -> Pointer:
    """Reads a line; raises ``BadRow`` for what is no object, or names nothing."""
    if isinstance(row, BadRow):
        raise row
    if not isinstance(row, Mapping):
        raise BadRow(f"expected an object, but it is a {type(row).__name__}")
    ids = tuple(str(row[key]) for key in _IDS if isinstance(row.get(key), str | int) and row[key] != "")
    index = next((row[key] for key in _INDEXES if _is_number(row.get(key))), None)
    text = row["text"] if isinstance(row.get("text"), str) else None
    if not ids and index is None and text is None:
        raise BadRow("it names no row of the corpus; expected an 'id', an 'index' (from 0) or the 'text'")
    start, end = _span(row)
    section = row["section"] if isinstance(row.get("section"), str) else ""
    language = row["language"] if row.get("language") in get_args(Language) else None
    return Pointer(ids, index, text, start, end, section, row.get("embedded") is not False, language)


def resolved(pointer: Pointer, number: int, find: Find, *, corpus_has_ids: bool) -> Known:
    """The row that line ``number`` (from 0) points to. Raises ``BadRow`` when that is none, or not certain."""
    rows = {known.number: known for key in pointer.ids for known in find("id", key)}
    if pointer.index is not None and not (rows and pointer.index == number):
        # Beside an id, an index that is the line's own place only counts the vectors.
        rows |= _by_index(pointer.index, find)
    if not rows and pointer.text is None:
        rows = _by_number(pointer, number, find, corpus_has_ids=corpus_has_ids)
    if len(rows) > 1:
        raise BadRow(f"its ids and index name different rows ({_listed(rows)}, from 0); leave one of them out")
    if not rows:
        return _by_text(pointer, number, find)
    (row,) = rows.values()
    if pointer.text is not None and pointer.start is None and not row.same_text:
        raise BadRow(
            f"its 'text' is not that of the row it names (number {row.number}, from 0); "
            "a part of a row needs 'start' and 'end'"
        )
    return row


def _by_index(index: int, find: Find) -> dict[int, Known]:
    found = {known.number: known for known in find("number", index)}
    if not found:
        raise BadRow(f"its index {index} is no row of the corpus; rows are counted from 0")
    return found


def _by_number(pointer: Pointer, number: int, find: Find, *, corpus_has_ids: bool) -> dict[int, Known]:
    """The row that a whole number as id means where no row has that id: certain only if rows have none at all, or if
    it is the line's own place.
    """
    numbers = {int(key) for key in pointer.ids if key.isdecimal() and len(key) < _DIGITS}
    certain = {key for key in numbers if not corpus_has_ids or key == number}
    return {known.number: known for key in certain for known in find("number", key)}


def _by_text(pointer: Pointer, number: int, find: Find) -> Known:
    if pointer.text is None:
        raise BadRow(f"no row of the corpus has the id '{pointer.ids[0]}'; check that both files belong together")
    beside = [known for known in find("number", number) if known.same_text]
    found = beside or find("text", pointer.text)
    if len(found) > 1:
        raise BadRow("several rows of the corpus have its 'text'; name the row by 'id' or 'index'")
    if not found:
        raise BadRow("no row of the corpus has its 'text'; check that both files belong together")
    return found[0]


def _span(row: Mapping[str, Any]) -> tuple[int | None, int | None]:
    for first, last in _SPANS:
        start, end = row.get(first), row.get(last)
        if start is None and end is None:
            continue
        if not _is_number(start) or not _is_number(end):
            raise BadRow(f"expected whole numbers as '{first}' and '{last}', or neither of them")
        return start, end
    return None, None


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _listed(rows: Mapping[int, Known]) -> str:
    return ", ".join(str(number) for number in sorted(rows)[:3])
