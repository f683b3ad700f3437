"""The search indexes of an index folder, read as of one change: the lexical and the dense one at the same time."""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from selfright.domain.passages import Passage, Retrieval, WaitingVectors
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import IndexStats, read_stats
from selfright.retrieval.dense import DenseIndex
from selfright.retrieval.lexical import LexicalIndex
from selfright.retrieval.ranking import ScoredKeys
from selfright.retrieval.records import damage_error
from selfright.retrieval.search_request import Best, Lists, SearchRequest, Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TRIES = 3


class IndexReader:
    """What a search reads. Without ``dense`` only words are searched for."""

    def __init__(
        self, catalogue: Catalogue, lexical: LexicalIndex, dense: DenseIndex | None, helpers: Executor
    ) -> None:
        self.catalogue, self.lexical, self.dense, self.helpers = catalogue, lexical, dense, helpers
        self._known = -1, IndexStats()

    def read(self, request: SearchRequest, task: Task, /) -> Retrieval:
        """What ``task`` finds as of one change, where a writer leaves the time for that."""
        del request
        for _ in range(_TRIES):
            moment = _Moment(self, *self._standing())
            found = task(moment)
            if moment.whole:
                break
        return found

    def idf(self, terms: Sequence[str]) -> list[float]:
        """How rare terms are; see ``TermStatistics``."""
        return self.lexical.idf(terms, self.stats_at(self.lexical.sequence).passages_in["ko"])

    def stats_at(self, sequence: int) -> IndexStats:
        """Read once for each change, whichever embedder the index has by now."""
        known, stats = self._known
        if known != sequence:
            with self.catalogue.connections.reading() as connection:
                stats = read_stats(connection, self.catalogue.path)
            self._known = sequence, stats
        return stats

    def _standing(self) -> tuple[int, bool]:
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


class _Moment:
    """The index as of the change ``sequence``; ``together`` where both search indexes can be searched as of it.

    ``whole``: nothing of what was found was erased meanwhile.
    """

    def __init__(self, index: IndexReader, sequence: int, together: bool) -> None:
        self._index, self._sequence, self._together = index, sequence, together
        self._stats = index.stats_at(sequence)
        self._languages = frozenset(+self._stats.languages)
        self.whole = True

    def languages(self) -> Collection[str]:
        return self._languages

    def languages_of(self, keys: Sequence[int], /) -> Mapping[int, str]:
        return self._index.catalogue.languages_of(keys)

    def lists(self, request: SearchRequest, /) -> Lists:
        lexical, korean = self._index.lexical, self._stats.passages_in["ko"]
        beside = self._index.helpers.submit(self._near, request) if self._index.dense else None
        words = request.weight_terms(self._languages)
        bm25 = lexical.search(words, request.depth, request.collections, self._sequence, korean)
        idf = lexical.idf(request.terms, korean)
        near = beside.result() if beside else ScoredKeys()
        return Lists(bm25, near, idf, self._waiting(bm25))

    def search_rows(
        self, best: Sequence[Best], vector: "NDArray[np.float32] | None", known: Collection[int], /
    ) -> tuple[Mapping[int, Passage], Mapping[int, float]]:
        catalogue, dense = self._index.catalogue, self._index.dense
        # Without a common change of both indexes only those that are still there.
        rows = catalogue.search_rows([key for _, key, _ in best], removed=self._together)
        self.whole = len(rows) == len(best)
        if not self.whole and self._together and catalogue.sequence() == self._sequence:
            missing = next(key for _, key, _ in best if key not in rows)  # as of now, and yet not there: it was lost
            raise damage_error(catalogue.path, f"the record of passage number {missing}")
        places = [
            (id_hash, rows[key].row, rows[key].vector_sum)
            for id_hash, key, _ in best
            if key in rows and id_hash not in known
        ]
        stored = [(name, row, total) for name, row, total in places if row is not None and total is not None]
        cosines = dense.cosines(vector, stored) if dense is not None and vector is not None and stored else {}
        return {key: found.passage for key, found in rows.items()}, cosines

    def without_vectors(self, collections: Sequence[str], /) -> WaitingVectors | None:
        stats = self._stats
        if not stats.waiting:
            return None
        if not collections:
            return WaitingVectors(stats.waiting, stats.passages)
        count = self._index.catalogue.count_waiting(collections)
        return WaitingVectors(count) if count else None

    def _waiting(self, bm25: ScoredKeys) -> Collection[int]:
        if not (bm25.keys and self._stats.waiting and self._index.dense):
            return ()
        keys = self._index.catalogue.waiting_among(bm25.keys)
        return frozenset(name for key, name in zip(bm25.keys, bm25.id_hashes, strict=True) if key in keys)

    def _near(self, request: SearchRequest) -> ScoredKeys:
        """The ranking by meaning."""
        vector = request.leaning(self._languages)
        if self._index.dense is None or vector is None:
            return ScoredKeys()
        return self._index.dense.search(vector, request.depth, request.collections, self._sequence)
