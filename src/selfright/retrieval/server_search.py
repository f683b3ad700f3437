"""Hybrid search on a server: it gives the two rankings, which are fused here as everywhere."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from selfright.domain.passages import Passage, Retrieval
from selfright.domain.ports import Embedder, TermLexicon, Tokenizer
from selfright.retrieval.fusion import Fusion
from selfright.retrieval.scored import Scored
from selfright.retrieval.search_request import (
    Best,
    FusedRanking,
    FusedSearch,
    SearchRequest,
    foreign,
    searching_vector,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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

    def languages(self) -> Collection[str]:
        """The languages of the documents; they may be those of a minute ago."""

    def languages_of(self, keys: Sequence[int], /) -> Mapping[int, str]:
        """The language of each of these passages, by key."""

    def search_rows(
        self, best: Sequence[Best], vector: "NDArray[np.float32] | None", /
    ) -> tuple[Mapping[int, Passage], Mapping[int, float]]:
        """The passages by key, and by id hash the similarity of those that have a vector to ``vector``."""


Task = Callable[[Reader], Retrieval]


class ServerSearch(FusedSearch):
    """A ``Retriever`` over an index on a server; ``read`` runs what reads there, and decides how often it is tried."""

    def __init__(
        self,
        read: Callable[[Task], Retrieval],
        tokenizer: Tokenizer,
        embedder: Embedder | None,
        fusion: Fusion,
        lexicon: TermLexicon | None = None,
    ) -> None:
        super().__init__(tokenizer, embedder, fusion, lexicon)
        self._read = read

    def run(self, request: SearchRequest) -> Retrieval:
        """What is found as of one moment, where the engine can do that."""
        vector = self._query_vector(request.meaning) if request.meaning else None
        return self._read(lambda reader: self._retrieval(reader, request, vector))

    def _retrieval(self, reader: Reader, request: SearchRequest, vector: "NDArray[np.float32] | None") -> Retrieval:
        languages = reader.languages()
        leaning = vector if vector is None else searching_vector(self._embedder, vector, request, languages)
        bm25, dense, idf = reader.lists(request, request.weight_terms(languages), leaning)
        others: Collection[int] = ()
        if len(languages) > 1 and dense.keys and self._fusion.tells_languages:
            others = foreign(request, dense, reader.languages_of(dense.keys))
        fused = FusedRanking(request, self._fusion, (bm25, dense), idf, others)
        passages, cosines = reader.search_rows(fused.best, vector)
        # Judges are fitted on the cosines of vectors that do not lean.
        hits = fused.hits(passages, {**cosines, **dict(fused.near)} if leaning is vector else cosines)
        return Retrieval(hits, None if vector is None else tuple(vector.tolist()), fused.trust)
