"""Opens an index wherever it is: the one place that knows which engine belongs to which location."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selfright.domain.errors import IncompatibleIndex, IndexDamaged, IndexNotFound, MissingExtra, NotAnIndex, UsageError
from selfright.domain.passages import Document, Passage
from selfright.domain.ports import Embedder, Tokenizer
from selfright.domain.stores import Store
from selfright.retrieval.locations import Location, locate
from selfright.retrieval.schema import ExistingEmbedder

if TYPE_CHECKING:
    from selfright.retrieval.preparing import GivenVectors
    from selfright.retrieval.stores.base import StoreBase
    from selfright.retrieval.stores.embedded import EmbeddedStore
    from selfright.retrieval.stores.milvus import MilvusStore
    from selfright.retrieval.stores.postgres import PostgresStore


def open_store(
    location: str | Path,
    tokenizer: Tokenizer,
    embedder: Embedder | ExistingEmbedder | None,
    *,
    create: bool = False,
) -> "StoreBase":
    """The index at ``location``: a folder, ``milvus://…`` or ``postgresql://…``; ``ExistingEmbedder`` opens any.

    With ``create`` it is made where there is none, else that raises ``IndexNotFound``. Further ``NotAnIndex``,
    ``IncompatibleIndex``, ``IndexDamaged``, ``MissingExtra``, and ``UsageError`` for an address that cannot be read.
    """
    place = locate(location)
    if place.engine == "embedded":
        from selfright.retrieval.stores.embedded import EmbeddedStore

        return EmbeddedStore.open(Path(location), tokenizer, embedder, create=create)
    return _server_store(place).open(place, tokenizer, embedder, create=create)


def tokenizer_of(location: str | Path) -> str | None:
    """The name of the tokenizer that an index was made with; None where there is none, or none that can be read.

    Raises ``MissingExtra``, ``StoreUnavailable``, and ``UsageError`` for an address that cannot be read.
    """
    place = locate(location)
    try:
        if place.engine == "embedded":
            from selfright.retrieval.catalogue import Catalogue

            with closing(Catalogue(Path(location))) as catalogue:
                return catalogue.meta.tokenizer
        return _server_store(place).read_meta(place).tokenizer
    except (IndexNotFound, NotAnIndex, IncompatibleIndex, IndexDamaged):
        return None  # opening it says what is wrong


def folder_of(location: str | Path, what: str) -> Path:
    """The folder of an index; raises ``UsageError`` for ``what`` only a folder can do."""
    place = locate(location)
    if place.path is None or place.engine != "embedded":
        raise UsageError(
            f"'selfright index {what}' looks after the files of an index folder, but {place.shown} is kept by its "
            "engine: use the engine's own means (docs/stores.md)"
        )
    return place.path


def compact(store: "StoreBase", location: str | Path) -> None:
    """Frees space in an index folder; raises ``UsageError`` for another place."""
    from selfright.retrieval.stores.embedded import EmbeddedStore

    folder_of(location, "compact")
    if isinstance(store, EmbeddedStore):
        store.compact()


@dataclass(frozen=True, slots=True)
class _WordsFirst:
    """Writes to an index folder without waiting for vectors."""

    store: "EmbeddedStore"

    def put(self, batch: Sequence[tuple[Document, Sequence[Passage]]], vectors: "GivenVectors | None" = None) -> None:
        self.store.put(batch, vectors, embed=False)

    def remove(self, document_ids: Sequence[str]) -> list[str]:
        return self.store.remove(document_ids)

    def commit(self) -> None:
        self.store.commit()


def words_first(store: Store) -> "Store | _WordsFirst":
    """What writes documents that can be searched by words at once; the store's ``fill`` makes their vectors.

    An index on a server embeds before it commits.
    """
    from selfright.retrieval.stores.embedded import EmbeddedStore

    return _WordsFirst(store) if isinstance(store, EmbeddedStore) else store


def _server_store(place: Location) -> "type[MilvusStore | PostgresStore]":
    if place.engine == "milvus":
        lite = ("milvus_lite",) if place.path else ()
        MissingExtra.check("what an index in Milvus needs", "milvus", "pymilvus", *lite)
        from selfright.retrieval.stores.milvus import MilvusStore

        return MilvusStore
    MissingExtra.check("what an index in PostgreSQL needs", "postgres", "psycopg", "psycopg_pool", "pgvector")
    from selfright.retrieval.stores.postgres import PostgresStore

    return PostgresStore
