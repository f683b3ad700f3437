"""Hybrid search: the lexical and the dense index asked at the same time, their rankings fused."""

import asyncio
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfright.domain.errors import UsageError
from selfright.domain.passages import Hit, Ranked, Retrieval
from selfright.domain.ports import Embedder, Tokenizer
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.dense import DenseIndex
from selfright.retrieval.fusion import Fusion
from selfright.retrieval.lexical import LexicalIndex, Scored
from selfright.retrieval.stopwords import content_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEPTH = 100
_SPARE = 20  # fetched beyond the depth, so that ties at its edge are broken by us and not by the index's layout
_CACHED_QUERIES = 256
_CACHED_SELECTIONS = 8
_SCORE_DIGITS = 4  # scores that differ by less are ties: the order of summation alone makes such differences


@dataclass(frozen=True, slots=True)
class Indexes:
    """What a search reads. ``dense`` and ``embedder`` are both None when only words are searched for."""

    catalogue: Catalogue
    tokenizer: Tokenizer
    lexical: LexicalIndex
    embedder: Embedder | None = None
    dense: DenseIndex | None = None


class HybridSearch:
    """A ``Retriever`` over one set of indexes; safe to use from many tasks and threads."""

    def __init__(self, indexes: Indexes, fusion: Fusion) -> None:
        self._indexes = indexes
        self._fusion = fusion
        self._query_vector = functools.lru_cache(maxsize=_CACHED_QUERIES)(self._embed)
        self._selection = functools.lru_cache(maxsize=_CACHED_SELECTIONS)(self._select)

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """The ``k`` best passages, best first; from all collections when none is named."""
        if k < 1:
            raise UsageError(f"k must be at least 1, but is {k}")
        if not query.strip():
            return Retrieval(hits=())
        depth = max(DEPTH, k) + _SPARE
        names = tuple(sorted(set(collections)))
        lexical = asyncio.to_thread(self._search_lexical, query, depth, names)
        if self._indexes.dense is None or not self._fusion.wants_dense(query):
            return await asyncio.to_thread(self._retrieval, query, k, await lexical, [], None)
        bm25, (dense, vector) = await asyncio.gather(
            lexical, asyncio.to_thread(self._search_dense, query, depth, names)
        )
        return await asyncio.to_thread(self._retrieval, query, k, bm25, dense, vector)

    def _search_lexical(self, query: str, depth: int, collections: tuple[str, ...]) -> Scored:
        self._indexes.lexical.refresh()
        terms = content_terms(self._indexes.tokenizer.tokens(query))
        return self._indexes.lexical.search(terms, depth, collections)

    def _search_dense(
        self, query: str, depth: int, collections: tuple[str, ...]
    ) -> "tuple[Scored, NDArray[np.float32] | None]":
        dense = self._indexes.dense
        if dense is None or self._indexes.embedder is None:
            return [], None
        dense.refresh()
        vector = self._query_vector(query)
        among = self._selection(collections, self._indexes.catalogue.sequence()) if collections else None
        return dense.search(vector, depth, among), vector

    def _retrieval(
        self, query: str, k: int, bm25: Scored, dense: Scored, vector: "NDArray[np.float32] | None"
    ) -> Retrieval:
        ids = self._indexes.catalogue.ids([key for key, _ in (*bm25, *dense)])
        keys = {passage_id: key for key, passage_id in sorted(ids.items())}  # the newest, while one is being replaced
        depth = max(DEPTH, k)
        lexical_places, dense_places = _ranked(bm25, ids, depth), _ranked(dense, ids, depth)
        best = self._fusion.fuse(query, list(lexical_places.items()), list(dense_places.items()))[:k]
        passages = self._indexes.catalogue.passages([keys[passage_id] for passage_id, _ in best])
        cosines = self._cosines(vector, list(passages))
        hits = [
            Hit(passages[key], score, lexical_places.get(found), dense_places.get(found), cosines.get(key))
            for found, score in best
            if (key := keys[found]) in passages  # a writer may have erased it since
        ]
        return Retrieval(tuple(hits), None if vector is None else tuple(vector.tolist()))

    def _cosines(self, vector: "NDArray[np.float32] | None", keys: Sequence[int]) -> dict[int, float]:
        dense = self._indexes.dense
        return {} if vector is None or dense is None else dense.cosines(vector, keys)

    def _embed(self, query: str) -> "NDArray[np.float32]":
        if self._indexes.embedder is None:
            raise UsageError("a search by meaning needs an embedder, but the index has none")
        vector: NDArray[np.float32] = self._indexes.embedder.embed([query])[0]
        return vector

    def _select(self, collections: tuple[str, ...], _sequence: int) -> "list[int]":
        return self._indexes.catalogue.keys_in(collections)


def _ranked(scored: Scored, ids: dict[int, str], depth: int) -> dict[str, Ranked]:
    """Ids with their places, best first; ties go to the smaller id, and keys that are gone are left out."""
    known = [(-round(score, _SCORE_DIGITS), ids[key], score) for key, score in scored if key in ids]
    return {
        passage_id: Ranked(rank, score) for rank, (_, passage_id, score) in enumerate(sorted(known)[:depth], start=1)
    }
