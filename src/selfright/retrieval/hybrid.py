"""Hybrid search: the lexical and the dense index asked at the same time, their rankings fused."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from selfright.domain.passages import Language, Retrieval
from selfright.domain.ports import Embedder, TermLexicon, Tokenizer
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_file import read_stats
from selfright.retrieval.dense import DenseIndex
from selfright.retrieval.fusion import Fusion
from selfright.retrieval.lexical import LexicalIndex, LexicalSearch
from selfright.retrieval.records import SearchRow, damage_error
from selfright.retrieval.scored import Scored
from selfright.retrieval.search_request import FusedRanking, FusedSearch, SearchRequest, foreign, searching_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Languages:
    """Looks into ``catalogue``; safe to share between threads."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._known: tuple[int, frozenset[str], int] = (-1, frozenset(), 0)

    def languages_in(self, sequence: int) -> frozenset[str]:
        """The languages of the documents."""
        return self._at(sequence)[1]

    def korean(self, sequence: int) -> int:
        """The number of passages in Korean."""
        return self._at(sequence)[2]

    def _at(self, sequence: int) -> tuple[int, frozenset[str], int]:
        """Read once for each change, whichever embedder the index has by now."""
        known = self._known
        if known[0] != sequence:
            with self._catalogue.connections.reading() as connection:
                stats = read_stats(connection, self._catalogue.path)
            languages = frozenset(name for name, count in stats.languages.items() if count > 0)
            self._known = known = (sequence, languages, stats.passages_in["ko"])
        return known

    def foreign(self, request: SearchRequest, dense: Scored, sequence: int) -> frozenset[int]:
        """The id hashes of those near passages that are in another language than the query; none in an index of one.

        Raises ``IndexDamaged`` for what is no language.
        """
        if not dense.keys or len(self.languages_in(sequence)) < 2:
            return frozenset()
        query = "SELECT key, language FROM passages WHERE key IN (SELECT value FROM json_each(?))"
        with self._catalogue.connections.reading() as connection:
            found: dict[int, str] = dict(connection.execute(query, (json.dumps(list(dense.keys)),)).fetchall())
        languages = get_args(Language)
        for key, language in found.items():
            if language not in languages:
                raise damage_error(self._catalogue.path, f"the language of passage number {key}")
        return foreign(request, dense, found)


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
        self._languages = Languages(indexes.catalogue)

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
        return lexical.idf(terms, self._languages.korean(lexical.sequence))

    def _search_at(self, request: SearchRequest, sequence: int, together: bool) -> tuple[Retrieval, bool]:
        """What is found as of one change, and whether nothing of it was erased meanwhile."""
        lexical, korean = self._indexes.lexical, self._languages.korean(sequence)
        by_words = LexicalSearch(request.depth)
        shared = self._indexes.dense is not None or lexical.parts > 1
        waiting = self._indexes.helpers.submit(self._search_beside, request, sequence, by_words) if shared else None
        words = request.weight_terms(self._languages.languages_in(sequence))
        by_words.add(lexical.tasks(words, request.collections, sequence, korean))
        by_words.work()
        idf = lexical.idf(request.terms, korean)
        dense, query_vector, plain = waiting.result() if waiting else (Scored(), None, True)
        bm25 = by_words.result()
        foreign = self._languages.foreign(request, dense, sequence) if self._fusion.tells_languages else frozenset()
        fused = FusedRanking(request, self._fusion, (bm25, dense), idf, foreign)
        near = dict(fused.near) if plain else {}  # judges are fitted on the cosines of vectors that do not lean
        return self._retrieval(fused, query_vector, near, sequence if together else None)

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
        leaning = searching_vector(self._indexes.embedder, vector, request, self._languages.languages_in(sequence))
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
