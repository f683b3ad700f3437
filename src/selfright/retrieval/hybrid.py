"""Hybrid search: the lexical and the dense index asked at the same time, their rankings fused."""

import asyncio
import functools
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfright.domain.errors import IndexDamaged, UsageError
from selfright.domain.passages import Hit, Ranked, Retrieval
from selfright.domain.ports import Embedder, TermLexicon, Tokenizer
from selfright.domain.text import language_of
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.dense import DenseIndex
from selfright.retrieval.fusion import Fusion
from selfright.retrieval.lexical import LexicalIndex, Scored, idf
from selfright.retrieval.records import Shown, damaged
from selfright.retrieval.stopwords import content_terms
from selfright.retrieval.trust import SearchedQuery
from selfright.retrieval.vectors import arrays

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEPTH = 100
_SPARE = 20  # fetched beyond the depth, so that ties at its edge are broken by us and not by the index's layout
_CACHED_QUERIES = 1_024
_SCORE_DIGITS = 4  # scores that differ by less are ties: the order of summation alone makes such differences


@dataclass(frozen=True, slots=True)
class Indexes:
    """What a search reads. ``dense`` and ``embedder`` are both None when only words are searched for."""

    catalogue: Catalogue
    tokenizer: Tokenizer
    lexical: LexicalIndex
    helpers: Executor
    embedder: Embedder | None = None
    dense: DenseIndex | None = None


class HybridSearch:
    """A ``Retriever`` over one set of indexes; safe to use from many tasks and threads.

    What the ``lexicon`` knows of a query in the other language is searched for as well; by meaning it alone, where the
    embedder does not know the query's language.
    """

    def __init__(self, indexes: Indexes, fusion: Fusion, lexicon: TermLexicon | None = None) -> None:
        self._indexes = indexes
        self._fusion = fusion
        self._lexicon = lexicon
        self._query_vector = functools.lru_cache(maxsize=_CACHED_QUERIES)(self._embed)

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """The ``k`` best passages, best first; from all collections when none is named."""
        return await asyncio.to_thread(self.search_now, query, k, collections)

    async def search_many(self, queries: Sequence[str], k: int, collections: Sequence[str] = ()) -> list[Retrieval]:
        """The same for each query, in order."""
        return list(await asyncio.gather(*(self.search(query, k, collections) for query in queries)))

    def search_now(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """``search`` on the calling thread."""
        if k < 1:
            raise UsageError(f"k must be at least 1, but is {k}")
        if not query.strip():
            return Retrieval(hits=())
        depth, names = max(DEPTH, k) + _SPARE, tuple(sorted(set(collections)))
        before = self._indexes.catalogue.sequence()
        phrases = " ".join(self._lexicon.expand(query, language_of(query))) if self._lexicon else ""
        meaning = query if self._fusion.wants_dense(query) else phrases
        waiting = None
        if self._indexes.dense is not None and meaning:
            waiting = self._indexes.helpers.submit(self._search_dense, meaning, depth, names)
        terms = content_terms(self._indexes.tokenizer.tokens(f"{query} {phrases}"))
        bm25 = self._search_lexical(terms, depth, names)
        dense, vector = waiting.result() if waiting else ([], None)
        searched = self._searched(meaning or query, terms)
        return self._retrieval(searched, k, bm25, dense, vector, before)

    def _search_lexical(self, terms: Sequence[str], depth: int, collections: tuple[str, ...]) -> Scored:
        self._indexes.lexical.refresh()
        return self._indexes.lexical.search(terms, depth, collections)

    def _searched(self, query: str, terms: Sequence[str]) -> SearchedQuery:
        frequencies, total = self._indexes.lexical.frequencies(terms)
        return SearchedQuery(query, language_of(query), [idf(frequency, total) for frequency in frequencies])

    def _search_dense(
        self, query: str, depth: int, collections: tuple[str, ...]
    ) -> "tuple[Scored, NDArray[np.float32] | None]":
        dense = self._indexes.dense
        if dense is None:
            return [], None
        dense.refresh()
        vector = self._query_vector(query)
        return dense.search(vector, depth, collections), vector

    def _retrieval(
        self,
        searched: SearchedQuery,
        k: int,
        bm25: Scored,
        dense: Scored,
        vector: "NDArray[np.float32] | None",
        before: int,
    ) -> Retrieval:
        depth = max(DEPTH, k)
        lexical_places, dense_places = _ranked(bm25, depth), _ranked(dense, depth)
        fused = self._fusion.fuse(searched, list(lexical_places.items()), list(dense_places.items()))
        best = fused.items[:k]
        keys = _keys((*bm25, *dense))
        shown = self._shown([keys[mark] for mark, _ in best], before)
        cosines = self._cosines(vector, [shown[key] for mark, _ in best if (key := keys[mark]) in shown])
        hits = [
            Hit(
                shown[key].passage,
                score,
                lexical_places.get(mark),
                dense_places.get(mark),
                cosines.get(key),
                fused.trust,
            )
            for mark, score in best
            if (key := keys[mark]) in shown  # a writer may have erased it since
        ]
        return Retrieval(tuple(hits), None if vector is None else tuple(vector.tolist()))

    def _shown(self, keys: Sequence[int], before: int) -> dict[int, Shown]:
        catalogue = self._indexes.catalogue
        shown = catalogue.shown(keys)
        missing = [key for key in keys if key not in shown]
        if missing and catalogue.sequence() == before:  # nobody has removed anything, so they were lost
            raise damaged(catalogue.path, f"the record of passage number {missing[0]}")
        return shown

    def _cosines(self, vector: "NDArray[np.float32] | None", shown: Sequence[Shown]) -> Mapping[int, float]:
        """The similarity of each passage's vector, of those that have one."""
        if vector is None:
            return {}
        places = [(found.key, found.row, found.vector_sum) for found in shown if found.row is not None]
        table = arrays(places, 3)  # type: ignore[arg-type]  # a row comes with its checksum
        try:
            matrix = self._indexes.catalogue.vectors().read(table[:, 1], table[:, 2])
        except IndexDamaged:
            if all(self._indexes.catalogue.shown([found.key]).get(found.key) == found for found in shown):
                raise
            return {}  # a writer has just moved the vectors
        # Summed row by row, so that a cosine does not depend on how many others are asked for.
        return dict(zip(table[:, 0].tolist(), (matrix * vector).sum(axis=1).tolist(), strict=True))

    def _embed(self, query: str) -> "NDArray[np.float32]":
        embedder = self._indexes.embedder
        if embedder is None:
            raise UsageError("a search by meaning needs an embedder, but the index has none")
        special = getattr(embedder, "embed_query", None)  # some models embed questions in another way than passages
        vector: NDArray[np.float32] = special(query) if special else embedder.embed([query])[0]
        return vector


def _keys(found: Sequence[tuple[int, int, float]]) -> dict[int, int]:
    """Keys by mark; the newest one, while a passage is being replaced."""
    keys: dict[int, int] = {}
    for key, mark, _ in found:
        if keys.get(mark, 0) < key:
            keys[mark] = key
    return keys


def _ranked(scored: Scored, depth: int) -> dict[int, Ranked]:
    """Places by mark, best first; ties go to the smaller mark."""
    known = sorted([(-round(score, _SCORE_DIGITS), mark, score) for _, mark, score in scored])[:depth]
    return {mark: Ranked(rank, score) for rank, (_, mark, score) in enumerate(known, start=1)}
