"""Hybrid search on a server: it gives the two rankings, which are fused here as everywhere."""

import asyncio
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from selfright.domain.embedding import query_vector
from selfright.domain.passages import Passage, Retrieval
from selfright.domain.ports import Embedder, TermLexicon, Tokenizer
from selfright.retrieval.fusion import Fusion
from selfright.retrieval.scored import Scored
from selfright.retrieval.search_request import (
    Best,
    FusedRanking,
    SearchRequest,
    foreign,
    prepare_request,
    searching_vector,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CACHED_QUERIES = 1_024

Result = TypeVar("Result")


class Lists(NamedTuple):
    """Both rankings as the server made them, and the idf of each wanted term, repeats kept."""

    bm25: Scored
    dense: Scored
    idf: Sequence[float]


class Reader(Protocol):
    """Reads an index, all of it as of one moment where the engine can do that."""

    def lists(
        self, request: SearchRequest, words: Mapping[str, float], vector: "NDArray[np.float32] | None", /
    ) -> Lists:
        """Both rankings, the one by ``words``, each with what it counts; the other is empty without a vector."""
        ...

    def languages(self) -> Collection[str]:
        """The languages of the documents; they may be those of a minute ago."""
        ...

    def languages_of(self, keys: Sequence[int], /) -> Mapping[int, str]:
        """The language of each of these passages, by key."""
        ...

    def shown(
        self, best: Sequence[Best], vector: "NDArray[np.float32] | None", /
    ) -> tuple[Mapping[int, Passage], Mapping[int, float]]:
        """The passages by key, and by id hash the similarity of those that have a vector to ``vector``."""
        ...


class Server(Protocol):
    """Runs what is read; whoever implements it decides how often it is tried again."""

    def read(self, task: Callable[[Reader], Result], /) -> Result:
        """What ``task`` gives; it may be run more than once."""
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    """What a search over a server needs. ``embedder`` is None where only words are searched for."""

    server: Server
    tokenizer: Tokenizer
    embedder: Embedder | None = None


class ServerSearch:
    """A ``Retriever`` over an engine; safe to use from many tasks and threads."""

    def __init__(self, engine: Engine, fusion: Fusion, lexicon: TermLexicon | None = None) -> None:
        self._engine = engine
        self._fusion = fusion
        self._lexicon = lexicon
        self._query_vector = functools.lru_cache(maxsize=CACHED_QUERIES)(
            functools.partial(query_vector, engine.embedder)
        )

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """The ``k`` best passages, best first; from all collections when none is named."""
        return await asyncio.to_thread(self.search_now, query, k, collections)

    async def search_many(self, queries: Sequence[str], k: int, collections: Sequence[str] = ()) -> list[Retrieval]:
        """The same for each query, in order."""
        return list(await asyncio.gather(*(self.search(query, k, collections) for query in queries)))

    def search_now(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """``search`` on the calling thread."""
        engine = self._engine
        request = prepare_request(query, k, collections, engine.tokenizer, self._fusion, self._lexicon, engine.embedder)
        if request is None:
            return Retrieval(hits=())
        vector = self._query_vector(request.meaning) if request.meaning else None
        return engine.server.read(lambda reader: self._retrieval(reader, request, vector))

    def _retrieval(self, reader: Reader, request: SearchRequest, vector: "NDArray[np.float32] | None") -> Retrieval:
        languages = reader.languages()
        leaning = vector if vector is None else searching_vector(self._engine.embedder, vector, request, languages)
        bm25, dense, idf = reader.lists(request, request.weighted(languages), leaning)
        others: Collection[int] = ()
        if len(languages) > 1 and dense.keys and self._fusion.tells_languages:
            others = foreign(request, dense, reader.languages_of(dense.keys))
        fused = FusedRanking(request, self._fusion, (bm25, dense), idf, others)
        passages, cosines = reader.shown(fused.best, vector)
        # Judges are fitted on the cosines of vectors that do not lean.
        hits = fused.hits(passages, {**cosines, **dict(fused.near)} if leaning is vector else cosines)
        return Retrieval(hits, None if vector is None else tuple(vector.tolist()), fused.trust)
