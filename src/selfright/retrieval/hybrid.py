"""Hybrid search: the lexical and the dense index asked at the same time, their rankings fused."""

import asyncio
import functools
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfright.domain.errors import UsageError
from selfright.domain.passages import Hit, Language, Ranked, Retrieval
from selfright.domain.ports import Embedder, TermLexicon, Tokenizer
from selfright.domain.text import language_of
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.dense import DenseIndex
from selfright.retrieval.fusion import Fusion
from selfright.retrieval.lexical import LexicalIndex, idf
from selfright.retrieval.records import Shown, damaged
from selfright.retrieval.scored import Scored
from selfright.retrieval.stopwords import content_terms
from selfright.retrieval.trust import SearchedQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEPTH = 100  # candidates of each half
_TRIES = 3
_CACHED_QUERIES = 1_024
_SCORE_DIGITS, _TIE = (
    4,
    1.1e-4,
)  # scores that differ by less are ties: the order of summation alone makes such differences


@dataclass(frozen=True, slots=True)
class Indexes:
    """What a search reads. ``dense`` and ``embedder`` are both None when only words are searched for."""

    catalogue: Catalogue
    tokenizer: Tokenizer
    lexical: LexicalIndex
    helpers: Executor
    embedder: Embedder | None = None
    dense: DenseIndex | None = None

    def standing(self) -> tuple[int, bool]:
        """The last change that all indexes have followed, and whether they can all be searched as of it.

        A writer moves one after the other: whoever is ahead is searched as it was before. One that was opened just
        then has no before; then they stand at different changes.
        """
        self.lexical.refresh()
        if self.dense is None:
            return self.lexical.sequence, True
        self.dense.refresh()
        first, second = self.lexical.sequence, self.dense.sequence
        if first == second:
            self.lexical.let_go()
            self.dense.let_go()
            return first, True
        sequence = min(first, second)
        together = {self.lexical.at(sequence).state.sequence, self.dense.at(sequence).state.sequence} == {sequence}
        return sequence, together


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One search: the query as asked, its text for the embedder (empty for none), its terms."""

    query: str
    meaning: str
    terms: Sequence[str]
    k: int
    collections: tuple[str, ...]

    @property
    def depth(self) -> int:
        return max(DEPTH, self.k)

    @property
    def language(self) -> Language:
        return language_of(self.meaning or self.query)


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
        names = tuple(sorted(set(collections)))
        phrases = " ".join(self._lexicon.expand(query, language_of(query))) if self._lexicon else ""
        wanted = _Wanted(
            query=query,
            meaning=query if self._fusion.wants_dense(query) else phrases,
            terms=content_terms(self._indexes.tokenizer.tokens(f"{query} {phrases}")),
            k=k,
            collections=names,
        )
        for _ in range(_TRIES):
            found, whole = self._search_at(wanted, *self._indexes.standing())
            if whole:
                break
        return found

    def _search_at(self, wanted: "_Wanted", sequence: int, together: bool) -> tuple[Retrieval, bool]:
        """What is found as of one change, and whether nothing of it was erased meanwhile."""
        waiting = None
        if self._indexes.dense is not None and wanted.meaning:
            waiting = self._indexes.helpers.submit(
                self._search_dense, wanted.meaning, wanted.depth, wanted.collections, sequence
            )
        bm25 = self._indexes.lexical.search(wanted.terms, wanted.depth, wanted.collections, sequence)
        dense, query_vector = waiting.result() if waiting else (Scored(), None)
        return self._retrieval(wanted, bm25, dense, query_vector, sequence if together else None)

    def _search_dense(
        self, query: str, depth: int, collections: tuple[str, ...], sequence: int
    ) -> "tuple[Scored, NDArray[np.float32] | None]":
        if self._indexes.dense is None:
            return Scored(), None
        vector = self._query_vector(query)
        return self._indexes.dense.search(vector, depth, collections, sequence), vector

    def _retrieval(
        self,
        wanted: "_Wanted",
        bm25: Scored,
        dense: Scored,
        vector: "NDArray[np.float32] | None",
        sequence: int | None,
    ) -> tuple[Retrieval, bool]:
        words, near = _pairs(bm25), _pairs(dense)
        searched = SearchedQuery(wanted.meaning or wanted.query, wanted.language, self._idf(wanted.terms))
        fused = self._fusion.fuse(searched, words, near)
        by_words, by_meaning = _Places(bm25), _Places(dense)
        # While a passage is being replaced, the newer of its keys.
        best = [(mark, max(by_words.key(mark), by_meaning.key(mark)), score) for mark, score in fused.items[: wanted.k]]
        shown = self._shown([key for _, key, _ in best], sequence)
        cosines = self._cosines(vector, [(mark, shown[key]) for mark, key, _ in best if key in shown], dict(near))
        hits = [
            Hit(shown[key].passage, score, by_words.get(mark), by_meaning.get(mark), cosines.get(mark), fused.trust)
            for mark, key, score in best
            if key in shown
        ]
        found = Retrieval(tuple(hits), None if vector is None else tuple(vector.tolist()))
        return found, len(hits) == len(best)

    def _idf(self, terms: Sequence[str]) -> list[float]:
        frequencies, total = self._indexes.lexical.frequencies(terms)
        return [idf(frequency, total) for frequency in frequencies]

    def _shown(self, keys: Sequence[int], sequence: int | None) -> dict[int, Shown]:
        """The passages; without a common ``sequence`` of both indexes only those that are still there."""
        catalogue = self._indexes.catalogue
        shown = catalogue.shown(keys, removed=sequence is not None)
        missing = [key for key in keys if key not in shown]
        if missing and catalogue.sequence() == sequence:  # as of now, and yet not there: it was lost
            raise damaged(catalogue.path, f"the record of passage number {missing[0]}")
        return shown

    def _cosines(
        self, vector: "NDArray[np.float32] | None", shown: Sequence[tuple[int, Shown]], near: Mapping[int, float]
    ) -> Mapping[int, float]:
        """The similarity of each passage's vector by mark, of those that have one; known where it was in the list."""
        dense = self._indexes.dense
        if vector is None or dense is None:
            return {}
        known = {mark: near[mark] for mark, _ in shown if mark in near}
        others = [
            (mark, found.row, found.vector_sum)
            for mark, found in shown
            if mark not in known and found.row is not None and found.vector_sum is not None
        ]
        return {**known, **dense.cosines(vector, others)} if others else known

    def _embed(self, query: str) -> "NDArray[np.float32]":
        embedder = self._indexes.embedder
        if embedder is None:
            raise UsageError("a search by meaning needs an embedder, but the index has none")
        special = getattr(embedder, "embed_query", None)  # some models embed questions in another way than passages
        vector: NDArray[np.float32] = special(query) if special else embedder.embed([query])[0]
        return vector


class _Places:
    """Looks up a passage's key and place in a ranking; places are made only for what is shown."""

    def __init__(self, ranking: Scored) -> None:
        self._ranking = ranking
        self._rows = dict(zip(ranking.marks, range(len(ranking.marks)), strict=True))

    def key(self, mark: int) -> int:
        """The key, or 0."""
        row = self._rows.get(mark)
        return 0 if row is None else self._ranking.keys[row]

    def get(self, mark: int) -> Ranked | None:
        """The place, or None."""
        row = self._rows.get(mark)
        return None if row is None else Ranked(row + 1, self._ranking.scores[row])


def _pairs(ranking: Scored) -> list[tuple[int, float]]:
    return list(zip(ranking.marks, ranking.scores, strict=True))
