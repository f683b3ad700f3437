"""The catalogue's tables; what an index remembers of how it was made, and the embedder to open it with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.embedding import query_vector
from selfright.domain.errors import EmbeddingFailed, IncompatibleIndex
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.preparing import embedder_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


FORMAT_VERSION = 5
APPLICATION_ID = 0x53465254  # marks the SQLite file as ours

# Passage keys are never used twice: whoever still holds an old key finds nothing, never another passage.
# A replaced or removed passage stays, marked, until both search indexes have let go of it.
# The log of changes names ranges of keys; 'embed' are those of passages that got their vector after they were added.
# ``waiting`` are the keys of passages that are yet to get one.
# ``mark`` is a hash of the id: it breaks ties in the same way in whatever order passages came, and gives documents a
# second way in, so that a damaged index of ids is noticed. ``crc`` seals what readers see, ``terms_crc`` the terms.
TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id TEXT PRIMARY KEY, mark INTEGER NOT NULL, passages INTEGER NOT NULL, crc INTEGER NOT NULL,
    title TEXT NOT NULL, collection TEXT NOT NULL, language TEXT NOT NULL, source TEXT, url TEXT,
    media_type TEXT NOT NULL, content_hash TEXT NOT NULL, metadata TEXT NOT NULL, characters INTEGER NOT NULL,
    text_crc INTEGER NOT NULL, text TEXT NOT NULL
);
CREATE INDEX documents_by_mark ON documents (mark);
CREATE TABLE passages (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    removed INTEGER NOT NULL DEFAULT 0, mark INTEGER NOT NULL, row INTEGER, vector_sum INTEGER,
    crc INTEGER NOT NULL, terms_crc INTEGER NOT NULL,
    id TEXT NOT NULL, document_id TEXT NOT NULL, title TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    section TEXT NOT NULL, language TEXT NOT NULL, collection TEXT NOT NULL, url TEXT, head TEXT NOT NULL,
    origin TEXT NOT NULL, text TEXT NOT NULL, text_hash BLOB NOT NULL, terms TEXT NOT NULL
);
CREATE UNIQUE INDEX passages_by_id ON passages (id) WHERE NOT removed;
CREATE INDEX passages_by_document ON passages (document_id);
CREATE INDEX passages_by_text ON passages (text_hash) WHERE row IS NOT NULL;
CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    action TEXT NOT NULL CHECK (action IN ('add', 'remove', 'embed')),
    first INTEGER NOT NULL, last INTEGER NOT NULL
);
CREATE TABLE waiting (key INTEGER PRIMARY KEY);
CREATE TABLE collections (
    name TEXT PRIMARY KEY, description TEXT NOT NULL, classes TEXT NOT NULL, slots TEXT NOT NULL, crc INTEGER NOT NULL
) WITHOUT ROWID;
"""
PAGE_BYTES = 8_192
_WORDS = " (set 'pack' to the domain pack that it was made with: its words are part of the tokenizer)"
_SETTINGS = {"multilingual-e5-small-q4": "e5", "none": "none"}  # embedders by their setting


@dataclass(frozen=True, slots=True)
class IndexMeta:
    """How an index was made. ``identity`` is a random name that ties the search indexes to their catalogue."""

    identity: str
    tokenizer: str
    embedder: str
    dimension: int
    format_version: int = FORMAT_VERSION

    @property
    def facts(self) -> dict[str, str]:
        """All but the format, as an engine keeps it beside what it says itself."""
        return {name: str(value) for name, value in asdict(self).items() if name != "format_version"}

    @classmethod
    def of(cls, facts: Mapping[str, str], version: int = FORMAT_VERSION) -> "IndexMeta":
        """What ``facts`` gave."""
        dimension = int(facts["dimension"])
        return cls(facts.get("identity", ""), facts["tokenizer"], facts["embedder"], dimension, version)

    @property
    def made_with(self) -> str:
        """The embedder for messages, with its dimension."""
        return _format_embedder(self.embedder, self.dimension)

    def check(self, where: Path | str, tokenizer: str, embedder: str, dimension: int) -> None:
        """Raises ``IncompatibleIndex`` when the index cannot be used with this tokenizer and embedder."""
        if tokenizer != self.tokenizer:
            raise _incompatible(where, "tokenizer", self.tokenizer, tokenizer, _WORDS)
        came = _format_embedder(embedder, dimension)
        if came != self.made_with:
            kept = (
                f"embedder={_SETTINGS[self.embedder]}"
                if self.embedder in _SETTINGS
                else "the embedder it was made with"
            )
            raise IncompatibleIndex(
                f"the index {where} was made with the embedder {self.made_with}, but is opened with {came}; "
                f"give it new vectors with 'selfright index reembed', or keep the old ones and set {kept}"
            )

    def check_unchanged(self, where: Path | str, embedder: str, dimension: int) -> None:
        """Raises ``IncompatibleIndex`` when the index was given another embedder since it was opened."""
        now = _format_embedder(embedder, dimension)
        if now != self.made_with:
            raise IncompatibleIndex(
                f"the index {where} was opened with the embedder {self.made_with}, but has vectors of {now} by now; "
                "open it again with that one"
            )


def _format_embedder(embedder: str, dimension: int) -> str:
    return f"{embedder} ({dimension} dimensions)"


def check_format(where: Path | str, version: int, known: int = FORMAT_VERSION) -> None:
    """Raises ``IncompatibleIndex`` when the index was written in another format than ``known``."""
    if version != known:
        raise _incompatible(where, "index format", str(version), str(known))


def _incompatible(where: Path | str, what: str, made: str, came: str, hint: str = "") -> IncompatibleIndex:
    return IncompatibleIndex(
        f"the index {where} was made with the {what} {made}, but is opened with {came}; "
        f"open it with {made}{hint}, or index the documents anew in another place"
    )


@dataclass(frozen=True, slots=True)
class ExistingEmbedder:
    """Whichever embedder an index was made with; ``make`` gives the one at hand, if anything is to be embedded."""

    make: Callable[[], Embedder | None]


def resolve_embedder(
    meta: IndexMeta, where: Path | str, tokenizer: Tokenizer, embedder: Embedder | ExistingEmbedder | None
) -> Embedder | None:
    """The embedder to open an index with. Raises ``IncompatibleIndex`` when the index was made with another one.

    One that cannot be asked for its dimension now is known by name until it can.
    """
    if isinstance(embedder, ExistingEmbedder):
        meta.check(where, tokenizer.name, meta.embedder, meta.dimension)
        return LazyEmbedder(meta, where, embedder.make) if meta.dimension else None
    try:
        meta.check(where, tokenizer.name, *embedder_name(embedder))
    except EmbeddingFailed:
        meta.check(where, tokenizer.name, embedder.name if embedder else "", meta.dimension)
        return LazyEmbedder(meta, where, lambda: embedder)
    return embedder


def local_embedder(embedder: Embedder | ExistingEmbedder | None) -> Embedder | None:
    """The embedder to make an index with."""
    return embedder.make() if isinstance(embedder, ExistingEmbedder) else embedder


@dataclass(frozen=True, slots=True)
class LazyEmbedder:
    """An embedder known by name until it has to embed."""

    meta: IndexMeta
    where: Path | str
    make: Callable[[], Embedder | None]

    @property
    def name(self) -> str:
        """The one that the index names."""
        return self.meta.embedder

    @property
    def dimension(self) -> int:
        """Of the index's vectors."""
        return self.meta.dimension

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row for each text; raises ``IncompatibleIndex`` where another embedder is at hand."""
        return self._checked().embed(texts)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The vector to search with; raises as ``embed``."""
        return query_vector(self._checked(), text)

    def _checked(self) -> Embedder:
        embedder = self.make()
        self.meta.check(self.where, self.meta.tokenizer, *embedder_name(embedder))
        if embedder is None:
            raise AssertionError("an index with vectors has an embedder")
        return embedder
