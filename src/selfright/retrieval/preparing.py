"""From passages to what the catalogue stores of them: terms, and vectors that are computed only once."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Protocol

import numpy as np

from selfright.domain.errors import InputError
from selfright.domain.passages import Document, Language, Passage
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.records import PassageRow
from selfright.retrieval.tokenizer import BilingualTokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_EMBEDDER = "none"
_BATCH = 256  # texts that are embedded, and vectors that are stored, at a time
_HASH_BYTES = 16

VectorRow = tuple[int, int]
"""Row and checksum of a stored vector."""

Batch = Sequence[tuple[Document, Sequence[Passage]]]
"""Documents with their passages."""

GivenVectors = Mapping[str, "NDArray[np.float32]"]
"""Unit vectors by passage id, computed elsewhere by the index's embedder."""


class VectorRows(Protocol):
    """Where vectors are kept."""

    def rows(self, text_hashes: Sequence[bytes]) -> Mapping[bytes, VectorRow]:
        """Those that are stored already, by the hash of the embedded text."""

    def append(self, matrix: "NDArray[np.float32]") -> Sequence[VectorRow]:
        """Stores new ones."""


Prepare = Callable[[VectorRows], "list[tuple[Document, list[PassageRow]]]"]
"""Makes a batch ready to be stored; new vectors go into what it is given."""


class BatchVectors:
    """The vectors of one batch, for an engine that keeps them beside their passages."""

    def __init__(self) -> None:
        self._rows: list[NDArray[np.float32]] = []

    def rows(self, text_hashes: Sequence[bytes]) -> Mapping[bytes, VectorRow]:
        """None: the engine is not asked for those that it has."""
        del text_hashes
        return {}

    def append(self, matrix: "Sequence[NDArray[np.float32]] | NDArray[np.float32]") -> Sequence[VectorRow]:
        """Takes new ones."""
        first = len(self._rows)
        self._rows.extend(np.asarray(row, dtype=np.float32) for row in matrix)
        return [(row, 0) for row in range(first, len(self._rows))]

    def of(self, found: PassageRow) -> "NDArray[np.float32] | None":
        """The vector of a passage, or None."""
        return None if found.row is None else self._rows[found.row]


class Preparer:
    """Makes passages ready to be stored. Passages in a language the embedder does not know get no vector."""

    def __init__(self, tokenizer: Tokenizer, embedder: Embedder | None) -> None:
        self._tokenizer = tokenizer
        self._embedder = embedder
        self._languages = frozenset(embedder_languages(embedder))

    def prepare(
        self, batch: Batch, store: VectorRows, given: GivenVectors | None = None, *, embed: bool = True
    ) -> list[tuple[Document, list[PassageRow]]]:
        """Documents with their passages' rows; of two with one id only the later one. New vectors go into ``store``;
        without ``embed`` none is made, and passages that lack one wait for it.

        Raises ``InputError`` for text that cannot be stored, and a passage that is not a part of its document.
        """
        for document, passages in batch:
            _check_input(document, passages)
        latest = {document.id: (document, passages) for document, passages in batch}.values()
        every = [replace(one, origin=document.origin) for document, passages in latest for one in passages]
        rows = iter(self._rows(every, store, given or {}, embed=embed))
        return [(document, list(islice(rows, len(passages)))) for document, passages in latest]

    def places(self, passages: Sequence[Passage], store: VectorRows) -> list[VectorRow | None]:
        """Where each passage's vector is, made where ``store`` has none; None for one that gets none."""
        texts = self._hash(passages)
        places = self._places(self._wanted(texts, passages), store, {}, embed=True)
        return [places.get(digest) for digest, _ in texts]

    def _rows(
        self, passages: Sequence[Passage], store: VectorRows, given: GivenVectors, *, embed: bool
    ) -> list[PassageRow]:
        texts = self._hash(passages)
        wanted = self._wanted(texts, passages)
        ready = {digest: given[one.id] for (digest, _), one in zip(texts, passages, strict=True) if one.id in given}
        places = self._places(wanted, store, ready, embed=embed)
        waits = set(wanted).difference(places) if self._embedder else set()
        none = (None, None)
        terms = join_all(self._tokenizer, [text for _, text in texts])
        return [
            PassageRow(passage, some, digest, *(*places.get(digest, none), digest in waits))
            for passage, some, (digest, _) in zip(passages, terms, texts, strict=True)
        ]

    def _hash(self, passages: Sequence[Passage]) -> list[tuple[bytes, str]]:
        return [(text_hash(text), text) for text in map(text_to_index, passages)]

    def _wanted(self, texts: Sequence[tuple[bytes, str]], passages: Sequence[Passage]) -> dict[bytes, str]:
        """What is to have a vector, by hash."""
        known = self._languages
        return {
            digest: text
            for (digest, text), passage in zip(texts, passages, strict=True)
            if not known or passage.language in known
        }

    def _places(
        self,
        texts: Mapping[bytes, str],
        store: VectorRows,
        given: "Mapping[bytes, NDArray[np.float32]]",
        *,
        embed: bool,
    ) -> dict[bytes, VectorRow]:
        """Where the vectors are, by hash. Texts of one length go together, so that little is spent on padding."""
        if self._embedder is None:
            return {}
        places = dict(store.rows([*texts, *given]))
        ready = [digest for digest in given if digest not in places]
        for start in range(0, len(ready), _BATCH):
            some = ready[start : start + _BATCH]
            places.update(zip(some, store.append(np.stack([given[digest] for digest in some])), strict=True))
        if not embed:
            return places
        missing = sorted((digest for digest in texts if digest not in places), key=lambda digest: len(texts[digest]))
        for start in range(0, len(missing), _BATCH):
            some = missing[start : start + _BATCH]
            matrix = self._embedder.embed([texts[digest] for digest in some])
            places.update(zip(some, store.append(matrix), strict=True))
        return places


def text_to_index(passage: Passage) -> str:
    """What is searched of a passage: its title, section and head, then its text."""
    return f"{passage.context}\n{passage.text}" if passage.context else passage.text


def text_hash(text: str) -> bytes:
    """What tells equal texts, so that they share a vector: 16 bytes."""
    return hashlib.sha256(text.encode()).digest()[:_HASH_BYTES]


def embedder_languages(embedder: Embedder | None) -> tuple[Language, ...]:
    """The languages an embedder declares; none declared means that it knows all."""
    return tuple(getattr(embedder, "languages", ()))


def embedder_name(embedder: Embedder | None) -> tuple[str, int]:
    """What an index remembers of its embedder: name and dimension; "none" and 0 for an index of words only."""
    return (embedder.name, embedder.dimension) if embedder else (NO_EMBEDDER, 0)


def _check_input(document: Document, passages: Sequence[Passage]) -> None:
    try:
        "".join((document.id, document.title, document.text, *document.metadata.values())).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"document '{document.id!a}' holds what is no text ({error.reason}); clean it first"
        ) from error
    for passage in passages:
        if passage.document_id != document.id or passage.text != document.text[passage.start : passage.end]:
            raise InputError(
                f"passage '{passage.id}' must be the text of document '{document.id}' from {passage.start} to "
                f"{passage.end}, but is not; split the document anew"
            )


def join_all(tokenizer: Tokenizer, texts: Sequence[str]) -> list[str]:
    """The terms of each text joined by blanks, the quick way where the tokenizer has one."""
    if isinstance(tokenizer, BilingualTokenizer):
        return tokenizer.join_all_terms(texts)
    return [" ".join(tokenizer.tokens(text)) for text in texts]
