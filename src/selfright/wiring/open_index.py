"""What a turn searches: an index folder of ours, or a retriever that the user hands over; opened once."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from selfright.domain.errors import UnknownName, UsageError
from selfright.domain.flags import Flags
from selfright.domain.passages import Language
from selfright.domain.ports import (
    Embedder,
    Library,
    ProfileStore,
    Retriever,
    Router,
    TermLexicon,
    TermStatistics,
    Tokenizer,
)
from selfright.domain.routing import Collection
from selfright.domain.text import compose_name, several
from selfright.domain.turns import Scope, ScopedRetriever
from selfright.settings import Settings
from selfright.wiring.packs import load_pack, tokenizer_for

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.retrievers import RetrieverLike

    from selfright.llm.embedding_cache import CachedEmbedder
    from selfright.retrieval.stores.base import StoreBase
    from selfright.retrieval.stores.langchain import ForeignRetriever

_CACHED_BYTES = 1_000_000_000  # of vectors, beside those of the index
_MOST_SEARCHERS = 8  # each keeps the vectors of recent queries


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the user hands over as objects: each takes the place of what settings would name."""

    retriever: "RetrieverLike | None" = None
    embeddings: "Embeddings | Embedder | None" = None
    llm: "BaseChatModel | None" = None
    models: "Mapping[str, BaseChatModel]" = field(default_factory=dict)
    profiles: ProfileStore | None = None


class OpenIndex:
    """Opens the index when it is first needed, and makes it when there is something to put in."""

    def __init__(self, settings: Settings, overrides: Overrides) -> None:
        self.settings = settings
        self.overrides = overrides
        self._lock = threading.RLock()
        self._store: StoreBase | None = None
        self._looked_after: StoreBase | None = None
        self._searchers: dict[tuple[str, int], Retriever] = {}

    def retriever(self, scope: Scope, flags: Flags | None = None) -> ScopedRetriever:
        """What searches within ``scope``, as the flags say; without them as the settings do."""
        return ScopedRetriever(self.searcher(flags), scope)

    def searcher(self, flags: Flags | None = None) -> Retriever:
        """What searches for those who say themselves where."""
        return self._foreign or self._searcher(flags or self.settings.flags)

    def library(self) -> Library:
        """What reads stored documents."""
        return self._foreign or self.as_made()

    def statistics(self) -> TermStatistics:
        """How rare terms are, in the index as it is open when that is asked."""
        if self._foreign is None:
            self.open()
        return self

    def idf(self, terms: Sequence[str]) -> list[float]:
        """See ``TermStatistics``."""
        return (self._foreign or self.open()).idf(terms)

    @cached_property
    def router(self) -> Router | None:
        """Chooses collections by question; None over a retriever that knows none."""
        if self._foreign:
            return None
        from selfright.retrieval.router import SHIPPED_SCALE, DescriptionRouter
        from selfright.wiring.networks import is_fitted

        # Its thresholds are cosines of one encoder; another one's would send questions anywhere.
        embedder = self.embedder if self.embedder is not None and is_fitted(self.embedder) else None
        pack = load_pack(self.settings.pack)
        described = lambda: pack.point_collections(self.collections())  # noqa: E731 - a name would say no more
        return DescriptionRouter(described, self.tokenizer, self.statistics(), embedder, scale=SHIPPED_SCALE)

    def collections(self) -> list[Collection]:
        """The named parts of the index, ordered by name; a retriever has none."""
        return [] if self.is_foreign else list(self.as_made().collections())

    def main_language(self) -> Language:
        """What most documents are in; English for a retriever of the user's, which does not say."""
        return "en" if self.is_foreign else self.open().main_language()

    def check_collections(self, collections: str | Sequence[str]) -> tuple[str, ...]:
        """The names, when there are such collections; raises ``UnknownName`` for one that there is not."""
        collections = tuple(map(compose_name, several(collections)))
        if self._foreign:
            return collections  # it says itself that it has none
        valid = [collection.name for collection in self.collections()] if collections else []
        for name in collections:
            if name not in valid:
                raise UnknownName("collection", name, valid)
        return tuple(dict.fromkeys(collections))

    def close(self) -> None:
        """Closes the index."""
        self.close_store()
        if cache := self.__dict__.get("embedding_cache"):
            cache.close()

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Korean and English, with the words that the index was made with, or those of the pack for a new one."""
        from selfright.retrieval.stores.opening import tokenizer_of

        made = None if self._foreign else tokenizer_of(self.settings.index)
        return tokenizer_for(load_pack(self.settings.pack), made)

    @cached_property
    def embedder(self) -> Embedder | None:
        """What the user gave, else the one that is set; None for ``none``."""
        from selfright.wiring.networks import resolve_embedder

        return resolve_embedder(self.settings.embedder, self.overrides.embeddings)

    @cached_property
    def _lexicon(self) -> TermLexicon | None:
        known = load_pack(self.settings.pack).lexicon
        return known() if known else None

    @cached_property
    def embedding_cache(self) -> "CachedEmbedder | None":
        """The embedder with its vectors kept, for other processes too; None where no name tells whose they are."""
        embedder = self.embedder
        if embedder is None or not getattr(embedder, "identified", True):
            return None
        from selfright.llm.embedding_cache import CachedEmbedder

        return CachedEmbedder(embedder, self.settings.home / "cache" / "embeddings.sqlite", _CACHED_BYTES)

    @property
    def cached_embedder(self) -> Embedder | None:
        """What the index embeds with, and judges sentences of passages."""
        return self.embedding_cache or self.embedder

    @property
    def is_foreign(self) -> bool:
        """Whether a retriever of the user's stands in for an index folder."""
        return self.overrides.retriever is not None

    @cached_property
    def _foreign(self) -> "ForeignRetriever | None":
        """What stands in for an index, when the user gave a LangChain retriever."""
        if self.overrides.retriever is None:
            return None
        from selfright.retrieval.stores.langchain import ForeignRetriever

        return ForeignRetriever(self.overrides.retriever)

    def check_own(self) -> None:
        """Raises ``UsageError`` for a retriever that the user handed over: there is no index of ours to work on."""
        if self.is_foreign:
            raise UsageError(
                "this works on an index of Selfright's own only, but a LangChain retriever is searched; do it where "
                "the retriever's documents are kept, or open an index: Selfright.open('folder')"
            )

    def open(self, *, create: bool = False) -> "StoreBase":
        """The store; with ``create`` it is made where there is none."""
        from selfright.retrieval.stores.opening import open_store

        self.check_own()
        with self._lock:
            if self._store is None:
                place = self.settings.index
                self._store = open_store(place, self.tokenizer, self.cached_embedder, create=create)
            return self._store

    def as_made(self) -> "StoreBase":
        """The store for what embeds nothing: the open one, else one that asks for no embedder."""
        from selfright.retrieval.schema import ExistingEmbedder
        from selfright.retrieval.stores.opening import open_store

        self.check_own()
        with self._lock:
            if self._store is not None:
                return self._store
            if self._looked_after is None:
                made = ExistingEmbedder(lambda: self.cached_embedder)
                self._looked_after = open_store(self.settings.index, self.tokenizer, made)
            return self._looked_after

    def close_store(self) -> None:
        """Closes the store; it opens again when it is needed."""
        with self._lock:
            stores = self._store, self._looked_after
            self._store = self._looked_after = None
            self._searchers = {}
        for store in stores:
            if store is not None:
                store.close()

    def _searcher(self, flags: Flags) -> Retriever:
        from selfright.retrieval.fusion import fusion_named

        key = (flags.fusion, flags.rrf_k)
        if key not in self._searchers:
            fusion = fusion_named(flags.fusion, flags.rrf_k, self.embedder)
            self._searchers = {
                **dict(list(self._searchers.items())[-_MOST_SEARCHERS:]),
                key: self.open().with_fusion(fusion, self._lexicon),
            }
        return self._searchers[key]
