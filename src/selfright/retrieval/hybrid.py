"""Hybrid search: the lexical and the dense index asked at the same time, their rankings fused."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from selfright.domain.passages import Retrieval, WaitingVectors
from selfright.domain.ports import Embedder, TermLexicon, Tokenizer
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import IndexStats, read_stats
from selfright.retrieval.dense import DenseIndex
from selfright.retrieval.fusion import Fusion
from selfright.retrieval.lexical import LexicalIndex, LexicalSearch
from selfright.retrieval.records import SearchRow, damage_error
from selfright.retrieval.scored import Scored
from selfright.retrieval.search_request import FusedRanking, FusedSearch, SearchRequest, foreign, searching_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_MOST_SELECTIONS = 8


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of the index as of one change; ``waiting``: passages without a vector by collections."""

    sequence: int = -1
    languages: frozenset[str] = frozenset()
    stats: IndexStats = field(default_factory=IndexStats)
    waiting: dict[tuple[str, ...], int] = field(default_factory=dict)


_TRIES = 3


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
        if self.dense.state is None:
            self.catalogue.stats()  # tells whether that is because the vectors are another embedder's by now
        first, second = self.lexical.sequence, self.dense.sequence
        if first == second:
            self.lexical.let_go()
            self.dense.let_go()
            return first, True
        sequence = min(first, second)
        together = {self.lexical.at(sequence).state.sequence, self.dense.at(sequence).state.sequence} == {sequence}
        return sequence, together


class HybridSearch(FusedSearch):
    """A ``Retriever`` over one set of indexes."""

    def __init__(self, indexes: Indexes, fusion: Fusion, lexicon: TermLexicon | None = None) -> None:
        super().__init__(indexes.tokenizer, indexes.embedder, fusion, lexicon)
        self._indexes = indexes
        self._known = _Known()

    def run(self, request: SearchRequest) -> Retrieval:
        """What is found as of one change, where a writer leaves the time for that."""
        for _ in range(_TRIES):
            found, whole = self._search_at(request, *self._indexes.standing())
            if whole:
                break
        return found

    def idf(self, terms: Sequence[str]) -> list[float]:
        """How rare terms are; see ``TermStatistics``."""
        lexical = self._indexes.lexical
        return lexical.idf(terms, self._at(lexical.sequence).stats.passages_in["ko"])

    def _at(self, sequence: int) -> _Known:
        """Read once for each change, whichever embedder the index has by now."""
        known = self._known
        if known.sequence != sequence:
            catalogue = self._indexes.catalogue
            with catalogue.connections.reading() as connection:
                stats = read_stats(connection, catalogue.path)
            self._known = known = _Known(sequence, frozenset(+stats.languages), stats)
        return known

    def _search_at(self, request: SearchRequest, sequence: int, together: bool) -> tuple[Retrieval, bool]:
        """What is found as of one change, and whether nothing of it was erased meanwhile."""
        lexical, known, catalogue = self._indexes.lexical, self._at(sequence), self._indexes.catalogue
        korean = known.stats.passages_in["ko"]
        by_words = LexicalSearch(request.depth)
        shared = self._indexes.dense is not None or lexical.parts > 1
        beside = self._indexes.helpers.submit(self._search_beside, request, sequence, by_words) if shared else None
        words = request.weight_terms(known.languages)
        by_words.add(lexical.tasks(words, request.collections, sequence, korean))
        by_words.work()
        idf = lexical.idf(request.terms, korean)
        dense, query_vector, plain = beside.result() if beside else (Scored(), None, True)
        bm25 = by_words.result()
        others, waiting = frozenset[int](), frozenset[int]()
        if dense.keys and len(known.languages) > 1 and self._fusion.tells_languages:
            others = foreign(request, dense, catalogue.languages_of(dense.keys))
        if bm25.keys and known.stats.waiting and self._indexes.dense:
            keys = catalogue.waiting_among(bm25.keys)
            waiting = frozenset(mark for key, mark in zip(bm25.keys, bm25.id_hashes, strict=True) if key in keys)
        fused = FusedRanking(request, self._fusion, (bm25, dense), idf, others, waiting)
        near = dict(fused.near) if plain else {}  # judges are fitted on the cosines of vectors that do not lean
        found, whole = self._retrieval(fused, query_vector, near, sequence if together else None)
        return replace(found, waiting=self._count_waiting(known, request.collections)), whole

    def _count_waiting(self, known: _Known, collections: tuple[str, ...]) -> WaitingVectors | None:
        """How many passages of these collections, or of all, are yet to get a vector; None when none is."""
        stats = known.stats
        if not stats.waiting or not collections:
            return WaitingVectors(stats.waiting, stats.passages) if stats.waiting else None
        if collections not in known.waiting:
            if len(known.waiting) >= _MOST_SELECTIONS:
                known.waiting.clear()
            known.waiting[collections] = self._indexes.catalogue.count_waiting(collections)
        count = known.waiting[collections]
        return WaitingVectors(count) if count else None

    def _search_beside(
        self, request: SearchRequest, sequence: int, by_words: LexicalSearch
    ) -> "tuple[Scored, NDArray[np.float32] | None, bool]":
        """What ``_search_dense`` finds; then helps with the parts of the search by words."""
        found = self._search_dense(request, sequence)
        by_words.work()
        return found

    def _search_dense(self, request: SearchRequest, sequence: int) -> "tuple[Scored, NDArray[np.float32] | None, bool]":
        """The ranking by meaning, the query's vector, and whether the ranking's scores are its cosines."""
        if self._indexes.dense is None or not request.meaning:
            return Scored(), None, True
        vector = self._query_vector(request.meaning)
        leaning = searching_vector(self._indexes.embedder, vector, request, self._at(sequence).languages)
        found = self._indexes.dense.search(leaning, request.depth, request.collections, sequence)
        return found, vector, leaning is vector

    def _retrieval(
        self, fused: FusedRanking, vector: "NDArray[np.float32] | None", near: Mapping[int, float], sequence: int | None
    ) -> tuple[Retrieval, bool]:
        shown = self._search_rows([key for _, key, _ in fused.best], sequence)
        there = [(id_hash, shown[key]) for id_hash, key, _ in fused.best if key in shown]
        hits = fused.hits({key: found.passage for key, found in shown.items()}, self._cosines(vector, there, near))
        found = Retrieval(hits, None if vector is None else tuple(vector.tolist()), fused.trust)
        return found, len(hits) == len(fused.best)

    def _search_rows(self, keys: Sequence[int], sequence: int | None) -> dict[int, SearchRow]:
        """The passages; without a common ``sequence`` of both indexes only those that are still there."""
        catalogue = self._indexes.catalogue
        shown = catalogue.search_rows(keys, removed=sequence is not None)
        missing = [key for key in keys if key not in shown]
        if missing and catalogue.sequence() == sequence:  # as of now, and yet not there: it was lost
            raise damage_error(catalogue.path, f"the record of passage number {missing[0]}")
        return shown

    def _cosines(
        self, vector: "NDArray[np.float32] | None", shown: Sequence[tuple[int, SearchRow]], near: Mapping[int, float]
    ) -> Mapping[int, float]:
        """The similarity of each stored vector by passage id hash; known where it was in the list."""
        dense = self._indexes.dense
        if vector is None or dense is None:
            return {}
        known = {id_hash: near[id_hash] for id_hash, _ in shown if id_hash in near}
        others = [
            (id_hash, found.row, found.vector_sum)
            for id_hash, found in shown
            if id_hash not in known and found.row is not None and found.vector_sum is not None
        ]
        return {**known, **dense.cosines(vector, others)} if others else known
