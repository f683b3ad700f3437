"""Documents and passages as rows: sealed by checksums that notice damage (not an attack), and checked when read."""

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from selfright.domain.errors import IndexDamaged
from selfright.domain.passages import Document, DocumentInfo, Passage

if TYPE_CHECKING:
    from numpy.typing import NDArray


_CHUNK = 1 << 23
_BLOCK_WORDS = 8_192
_SALT = 0x5E1F_0000  # so that a row of zeros does not have the checksum zero


def seal(*columns: object) -> int:
    """CRC-32 of a record's columns."""
    return zlib.crc32("\x1f".join(map(str, columns)).encode("utf-8", "surrogatepass"))


def vector_sums(matrix: "NDArray[np.float32]") -> "NDArray[np.int64]":
    """A checksum of each row of a float32 matrix ``(n, d)``: the wrapped sum of its words, weighed by their places."""
    words = np.ascontiguousarray(matrix).view(np.uint32 if matrix.shape[1] % 2 else np.uint64)
    sums: NDArray[np.uint64] = np.einsum("ij,j->i", words.astype(np.uint64, copy=False), _weights(words.shape[1]))
    return sums.view(np.int64) + _SALT


def file_checksum(path: Path) -> int:
    """A checksum of a file's content: the CRC-32 of the weighed word sums of its 64 KiB blocks, quick as memory."""
    value = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            padded = chunk + b"\0" * (-len(chunk) % (_BLOCK_WORDS * 8))
            blocks = np.frombuffer(padded, dtype=np.uint64).reshape(-1, _BLOCK_WORDS)
            sums = np.einsum("ij,j->i", blocks, _weights(_BLOCK_WORDS))
            value = zlib.crc32(sums.tobytes(), value)
    return value


@cache
def _weights(count: int) -> "NDArray[np.uint64]":
    """A different odd number for each place: no single change goes unnoticed, nor do words that change places."""
    return np.random.default_rng(count).integers(0, 1 << 63, count, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


DOCUMENT_COLUMNS = (
    "id, mark, passages, crc, title, collection, language, source, url, media_type, content_hash, metadata, "
    "characters, text_crc, text"
)
INFO_COLUMNS = (
    "id, passages, crc, title, collection, language, source, url, media_type, content_hash, metadata, characters, "
    "text_crc"
)
SHOWN = 'id, document_id, title, text, start, "end", section, language, collection, url, head, origin'
"""The fields of a passage that are stored with it, in their order."""
shown_values: Callable[[Passage], tuple[Any, ...]] = attrgetter(*SHOWN.replace('"', "").split(", "))
PASSAGE_COLUMNS = f"key, mark, row, vector_sum, crc, terms_crc, {SHOWN}, text_hash, terms"
SHOWN_COLUMNS = f"key, row, vector_sum, crc, {SHOWN}"
TERMS_COLUMNS = "key, mark, collection, terms, terms_crc"


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage ready to be stored: its terms joined by blanks, the hash of what is embedded, and where its vector is.

    ``row`` is the vector's row and ``vector_sum`` its checksum; both None for a passage without a vector, which
    ``waits`` when it is to get one later.
    """

    passage: Passage
    terms: str
    text_hash: bytes
    row: int | None = None
    vector_sum: int | None = None
    waits: bool = False


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A passage as read, with its key and the place of its vector."""

    key: int
    passage: Passage
    row: int | None
    vector_sum: int | None


@dataclass(slots=True)
class IndexCounts:
    """What an index holds: ``languages`` counts documents, ``passages_in`` passages by their document's language."""

    passages: int = 0
    collections: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    passages_in: Counter[str] = field(default_factory=Counter)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self.languages.total()

    def count(self, collection: str, language: str, passages: int, sign: int) -> None:
        """Counts a document that came (1) or went (-1)."""
        self.passages += sign * passages
        self.collections[collection] += sign
        self.languages[language] += sign
        self.passages_in[language] += sign * passages

    def text(self) -> str:
        """As one line."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        shown = {name: sort_counts(value) if isinstance(value, Counter) else value for name, value in values.items()}
        return json.dumps(shown, ensure_ascii=False)

    @classmethod
    def of(cls, text: str) -> Self:
        """Reads what ``text`` wrote."""
        read: dict[str, Any] = {
            name: Counter(value) if isinstance(value, dict) else value for name, value in json.loads(text).items()
        }
        return cls(**read)


def sort_counts(counts: Counter[str]) -> dict[str, int]:
    """What is there, by name."""
    return dict(sorted((+counts).items()))


def id_hash(identifier: str) -> int:
    """A hash of an id that fits SQLite's integers and is the same everywhere."""
    return int.from_bytes(hashlib.blake2b(identifier.encode("utf-8"), digest_size=8).digest(), "big", signed=True)


def document_row(document: Document, passages: int) -> tuple[object, ...]:
    """A row in the order of ``DOCUMENT_COLUMNS``."""
    metadata = json.dumps(dict(document.metadata), ensure_ascii=False)
    text_crc = seal(document.id, document.text)
    shown = (
        *(document.title, document.collection, document.language, document.source, document.url),
        *(document.media_type, document.content_hash, metadata, len(document.text), text_crc),
    )
    crc = seal(document.id, passages, *shown)
    return (document.id, id_hash(document.id), passages, crc, *shown, document.text)


def info_of(row: Sequence[Any], where: Path) -> DocumentInfo:
    """Reads a row of ``INFO_COLUMNS``; raises ``IndexDamaged``."""
    identifier, passages, crc, *shown = row
    if seal(identifier, passages, *shown) != crc:
        raise damage_error(where, f"the record of document '{identifier}'")
    title, collection, language, source, _, _, content_hash, _, characters, _ = shown
    return DocumentInfo(identifier, title, collection, language, source, content_hash, characters, passages)


def document_of(row: Sequence[Any], where: Path) -> Document:
    """Reads a row of ``INFO_COLUMNS`` and ``text``; raises ``IndexDamaged``."""
    *information, text = row
    info_of(information, where)
    identifier, _, _, title, collection, language, source, url, media_type, _, metadata, _, text_crc = information
    if seal(identifier, text) != text_crc:
        raise damage_error(where, f"the text of document '{identifier}'")
    return Document(identifier, title, text, language, source, url, media_type, collection, json.loads(metadata))


def passage_row(key: int, prepared: PassageRow) -> tuple[object, ...]:
    """A row in the order of ``PASSAGE_COLUMNS``."""
    passage, tie = prepared.passage, id_hash(prepared.passage.id)
    return (
        *(key, tie, prepared.row, prepared.vector_sum),
        row_checksum(SearchRow(key, passage, prepared.row, prepared.vector_sum)),
        seal(key, tie, passage.collection, prepared.terms),
        *(*shown_values(passage), prepared.text_hash, prepared.terms),
    )


def row_checksum(shown: SearchRow) -> int:
    """The seal on what readers see of a passage."""
    return seal(shown.key, shown.row, shown.vector_sum, *shown_values(shown.passage))


def read_row(record: Sequence[Any], where: Path) -> SearchRow:
    """Reads a row of ``SHOWN_COLUMNS``; raises ``IndexDamaged``."""
    key, row, vector_sum, crc, *shown = record
    if seal(key, row, vector_sum, *shown) != crc:
        raise damage_error(where, f"the record of passage '{shown[0]}'")
    return SearchRow(key, Passage(*shown), row, vector_sum)


def damage_error(where: Path, what: str) -> IndexDamaged:
    """The error for a record that is not what was written."""
    return IndexDamaged(
        f"{where}: {what} is damaged; restore {where.parent} from a backup, or move it away and make it "
        f"anew with: selfright index add PATH --index {where.parent}"
    )
