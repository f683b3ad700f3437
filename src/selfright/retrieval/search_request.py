"""One search as every engine runs it: the query made ready, and two rankings made into hits."""

import asyncio
import functools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from selfright.domain.embedding import cross_language_penalty, query_vector
from selfright.domain.errors import UsageError
from selfright.domain.passages import Hit, Language, Passage, Ranked, Retrieval, Trust
from selfright.domain.ports import Embedder, TermLexicon, Tokenizer
from selfright.domain.text import has_hangul, language_of
from selfright.retrieval.fusion import Fused, Fusion
from selfright.retrieval.fusion_weights import SearchedQuery
from selfright.retrieval.scored import Scored
from selfright.retrieval.tokenizer import content_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEPTH = 100  # candidates of each half
_CACHED_QUERIES = 1_024
_SHOWN = 80  # characters


@dataclass(frozen=True)
class SearchRequest:
    """The query as asked, its text for the embedder, its text for the tokenizer, and how much is wanted from where.

    ``meaning`` is empty where nothing is searched for by meaning, and then ``silent`` says why.
    """

    query: str
    meaning: str
    silent: str
    words: str
    tokenizer: Tokenizer
    k: int
    collections: tuple[str, ...]

    @property
    def depth(self) -> int:
        """How many candidates each half gives."""
        return max(DEPTH, self.k)

    @cached_property
    def terms(self) -> Sequence[str]:
        """What is searched for by words; made when first asked for, so that it can be beside the search by meaning."""
        return content_terms(self.tokenizer.tokens(self.words), self.query)

    def weight_terms(self, languages: Collection[str]) -> dict[str, float]:
        """What the half by words searches for, with what each term counts: the ``terms``, as often as they occur, and
        what says those of the query in another of the index's ``languages``."""
        found = {term: float(count) for term, count in Counter(self.terms).items()}
        # What a lexicon added is in the other language already.
        own = (
            self.terms
            if not self.words[len(self.query) :].strip()
            else content_terms(self.tokenizer.tokens(self.query))
        )
        for term in own:
            if ("en" if has_hangul(term) else "ko") in languages:
                for name, weight in self.tokenizer.translations(term):
                    found[name] = found.get(name, 0.0) + weight
        return found

    @cached_property
    def language(self) -> Language:
        """Of what is searched for by meaning."""
        return language_of(self.meaning or self.query)


class FusedSearch(ABC):
    """A ``Retriever`` that fuses two rankings; safe to use from many tasks and threads.

    What the ``lexicon`` knows of a query in the other language is searched for as well; by meaning it alone, where the
    embedder does not know the query's language.
    """

    def __init__(
        self, tokenizer: Tokenizer, embedder: Embedder | None, fusion: Fusion, lexicon: TermLexicon | None = None
    ) -> None:
        self._tokenizer, self._embedder, self._fusion, self._lexicon = tokenizer, embedder, fusion, lexicon
        self._query_vector = functools.lru_cache(maxsize=_CACHED_QUERIES)(functools.partial(query_vector, embedder))

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """The ``k`` best passages, best first; from all collections when none is named.

        Raises ``UsageError`` when ``k`` is below 1.
        """
        if k < 1:
            raise UsageError(f"k must be at least 1, but is {k}")
        return await asyncio.to_thread(self._answer, query, k, collections)

    async def search_many(self, queries: Sequence[str], k: int, collections: Sequence[str] = ()) -> list[Retrieval]:
        """The same for each query, in order."""
        return list(await asyncio.gather(*(self.search(query, k, collections) for query in queries)))

    @abstractmethod
    def run(self, request: SearchRequest) -> Retrieval:
        """What is found."""

    def _answer(self, query: str, k: int, collections: Sequence[str]) -> Retrieval:
        if not query.strip():
            return Retrieval(hits=())
        phrases = " ".join(self._lexicon.expand(query, language_of(query))) if self._lexicon else ""
        meaning, silent = _meaning(query, phrases, self._fusion, self._embedder)
        named = tuple(sorted(set(collections)))
        return self.run(SearchRequest(query, meaning, silent, f"{query} {phrases}", self._tokenizer, k, named))


def _meaning(query: str, phrases: str, fusion: Fusion, embedder: Embedder | None) -> tuple[str, str]:
    """What is searched for by meaning; where that is nothing, the reason."""
    if embedder is None:
        return "", "the index has no embedder"
    if fusion.wants_dense(query):
        return query, ""
    if phrases and fusion.wants_dense(phrases):
        return phrases, ""
    return "", f"the embedder {embedder.name} does not know the query's language"


def _explain_trust(request: SearchRequest, fused: Trust, words: bool, meaning: bool) -> Trust:
    """How the search is told of: the one place that decides what searched. True are the halves that found anything."""
    if not meaning:
        return Trust(1.0, 0.0, request.silent or "no passage here has a vector")
    if not words:
        return Trust(0.0, 1.0, "no passage holds a word of the query")
    if request.meaning != request.query:
        return replace(fused, why=f"{fused.why}; by meaning for '{request.meaning[:_SHOWN]}' alone")
    return fused


class Best(NamedTuple):
    """A passage that is to be shown: its id hash, the newest of its keys, its fused score."""

    id_hash: int
    key: int
    score: float


class FusedRanking:
    """Two rankings, by words and by meaning, fused; and the hits that they make once the passages are there.

    ``foreign`` are the id hashes of passages in another language than the query.
    """

    def __init__(
        self,
        request: SearchRequest,
        fusion: Fusion,
        rankings: tuple[Scored, Scored],
        idf: Sequence[float],
        foreign: Collection[int] = (),
    ) -> None:
        bm25, dense = rankings
        self.near = pairs(dense)
        searched = SearchedQuery(request.meaning or request.query, request.language, idf)
        self._fused: Fused[int] = fusion.fuse(searched, pairs(bm25), self.near, foreign)
        self.trust = _explain_trust(request, self._fused.trust, bool(bm25.id_hashes), bool(dense.id_hashes))
        self._words, self._meaning = RankLookup(bm25), RankLookup(dense)
        # While a passage is being replaced, the newer of its keys.
        self.best = [
            Best(id_hash, max(self._words.key(id_hash), self._meaning.key(id_hash)), score)
            for id_hash, score in self._fused.items[: request.k]
        ]

    def hits(self, passages: Mapping[int, Passage], cosines: Mapping[int, float]) -> tuple[Hit, ...]:
        """Best first, from the passages by key and the cosines by id hash; what is not there is left out."""
        return tuple(
            Hit(
                passages[key],
                score,
                self._words.get(id_hash),
                self._meaning.get(id_hash),
                cosines.get(id_hash),
                self.trust,
            )
            for id_hash, key, score in self.best
            if key in passages
        )


class RankLookup:
    """Looks up a passage's key and place in a ranking; places are made only for what is shown."""

    def __init__(self, ranking: Scored) -> None:
        self._ranking = ranking
        self._rows = dict(zip(ranking.id_hashes, range(len(ranking.id_hashes)), strict=True))

    def key(self, id_hash: int) -> int:
        """The key, or 0."""
        row = self._rows.get(id_hash)
        return 0 if row is None else self._ranking.keys[row]

    def get(self, id_hash: int) -> Ranked | None:
        """The place, or None."""
        row = self._rows.get(id_hash)
        return None if row is None else Ranked(row + 1, self._ranking.scores[row])


def pairs(ranking: Scored) -> list[tuple[int, float]]:
    """Marks with their scores."""
    return list(zip(ranking.id_hashes, ranking.scores, strict=True))


def foreign(request: SearchRequest, dense: Scored, languages: Mapping[int, str]) -> frozenset[int]:
    """The id hashes of the near passages that ``languages``, by key, says are in another language than the query."""
    own = request.language
    return frozenset(
        id_hash for key, id_hash in zip(dense.keys, dense.id_hashes, strict=True) if languages.get(key, own) != own
    )


def searching_vector(
    embedder: Embedder | None, vector: "NDArray[np.float32]", request: SearchRequest, languages: Collection[str]
) -> "NDArray[np.float32]":
    """The query's vector as it is; where the index holds several ``languages``, leaning towards the other ones.

    Encoders prefer passages in the query's own language to better ones in another.
    """
    return vector if len(languages) < 2 else cross_language_penalty(embedder, vector, request.language)
