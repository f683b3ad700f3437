"""From passages to what the catalogue stores of them: terms, and vectors that are computed only once."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from selfright.domain.errors import InputError
from selfright.domain.passages import Document, Language, Passage
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.records import PassageRow
from selfright.retrieval.tokenizing import join_all

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_EMBEDDER = "none"
_BATCH = 256  # texts that are embedded, and vectors that are stored, at a time
_HASH_BYTES = 16

VectorRow = tuple[int, int]
"""Row and checksum of a stored vector."""

GivenVectors = Mapping[str, "NDArray[np.float32]"]
"""Unit vectors by passage id, computed elsewhere by the index's embedder."""


class VectorRows(Protocol):
    """Where vectors are kept."""

    def rows(self, text_hashes: Sequence[bytes]) -> Mapping[bytes, VectorRow]:
        """Those that are stored already, by the hash of the embedded text."""
        ...

    def append(self, matrix: "NDArray[np.float32]") -> Sequence[VectorRow]:
        """Stores new ones."""
        ...


class Preparer:
    """Makes passages ready to be stored. Passages in a language the embedder does not know get no vector."""

    def __init__(self, tokenizer: Tokenizer, embedder: Embedder | None) -> None:
        self._tokenizer = tokenizer
        self._embedder = embedder
        self._languages = frozenset(embedder_languages(embedder))

    def prepare(
        self, passages: Sequence[Passage], store: VectorRows, given: GivenVectors | None = None
    ) -> list[PassageRow]:
        """One for each passage, in order; new vectors go into ``store``."""
        texts = [text_to_index(passage) for passage in passages]
        hashes = [text_hash(text) for text in texts]
        wanted = {
            digest: text
            for digest, text, passage in zip(hashes, texts, passages, strict=True)
            if not self._languages or passage.language in self._languages
        }
        of_hash = {digest: passage.id for digest, passage in zip(hashes, passages, strict=True)} if given else {}
        places = self._places(wanted, store, {d: given[i] for d, i in of_hash.items() if i in given} if given else {})
        none = (None, None)
        return [
            PassageRow(passage, terms, digest, *places.get(digest, none))
            for passage, terms, digest in zip(passages, join_all(self._tokenizer, texts), hashes, strict=True)
        ]

    def _places(
        self, texts: Mapping[bytes, str], store: VectorRows, given: "Mapping[bytes, NDArray[np.float32]]"
    ) -> dict[bytes, VectorRow]:
        """Where the vectors are, by hash. Texts of one length go together, so that little is spent on padding."""
        if self._embedder is None:
            return {}
        places = dict(store.rows([*texts, *given]))
        ready = [digest for digest in given if digest not in places]
        for start in range(0, len(ready), _BATCH):
            some = ready[start : start + _BATCH]
            places.update(zip(some, store.append(np.stack([given[digest] for digest in some])), strict=True))
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


def check_input(document: Document, passages: Sequence[Passage]) -> None:
    """Raises ``InputError`` for text that cannot be stored, and for a passage that is not a part of its document."""
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
