"""One search as every engine runs it: the query made ready, and two rankings made into hits."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from selfright.domain.embedding import cross_language_penalty, query_vector
from selfright.domain.errors import EmbeddingFailed, UsageError
from selfright.domain.passages import Hit, Language, Passage, Ranked, Retrieval, SearchWeights, WaitingVectors
from selfright.domain.ports import Embedder, TermLexicon, Tokenizer
from selfright.domain.text import has_hangul, language_of
from selfright.retrieval.fusion import Fusion
from selfright.retrieval.fusion_weights import SearchedQuery
from selfright.retrieval.preparing import embedder_languages
from selfright.retrieval.ranking import ScoredKeys
from selfright.retrieval.tokenizer import content_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

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
    embedder: Embedder | None
    embed: "Callable[[str], NDArray[np.float32]]"

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

    @property
    def vector(self) -> "NDArray[np.float32] | None":
        """Of what is searched for by meaning, which ``embed`` makes and remembers; None where that is nothing."""
        return self.embed(self.meaning) if self.meaning else None

    def leaning(self, languages: Collection[str]) -> "NDArray[np.float32] | None":
        """The vector as it is; where the index holds several ``languages``, leaning towards the other ones.

        Encoders prefer passages in the query's own language to better ones in another.
        """
        vector = self.vector
        if vector is None or len(languages) < 2:
            return vector
        return cross_language_penalty(self.embedder, vector, self.language)


class Lists(NamedTuple):
    """Both rankings as an engine made them, and the idf of each wanted term, repeats kept.

    ``waiting`` are the id hashes of those found by words that have no vector yet.
    """

    bm25: ScoredKeys
    dense: ScoredKeys
    idf: Sequence[float]
    waiting: Collection[int] = ()


class Reader(Protocol):
    """Reads an index, all of it as of one moment where the engine can do that."""

    def lists(self, request: SearchRequest, /) -> Lists:
        """Both rankings; the one by meaning is empty without a vector."""

    def languages(self) -> Collection[str]:
        """The languages of the documents; they may be those of a minute ago."""

    def languages_of(self, keys: Sequence[int], /) -> Mapping[int, str]:
        """The language of each of these passages, by key."""

    def search_rows(
        self, best: "Sequence[Best]", vector: "NDArray[np.float32] | None", known: Collection[int], /
    ) -> tuple[Mapping[int, Passage], Mapping[int, float]]:
        """The passages by key, and by id hash the similarity to ``vector`` of those that have one, but for ``known``
        ones, which need not be told."""

    def without_vectors(self, collections: Sequence[str], /) -> WaitingVectors | None:
        """How many passages of these collections, or of all, are yet to get a vector; None when none is."""


Task = Callable[[Reader], Retrieval]
Read = Callable[[SearchRequest, Task], Retrieval]
"""What a task finds in an index; it may be run more than once."""


class FusedSearch:
    """A ``Retriever`` that fuses two rankings; safe to use from many tasks and threads.

    What the ``lexicon`` knows of a query in the other language is searched for as well; by meaning it alone, where the
    embedder does not know the query's language.
    """

    def __init__(
        self,
        read: Read,
        tokenizer: Tokenizer,
        embedder: Embedder | None,
        fusion: Fusion,
        lexicon: TermLexicon | None = None,
    ) -> None:
        self._read, self._tokenizer, self._embedder = read, tokenizer, embedder
        self._fusion, self._lexicon = fusion, lexicon
        self._embed = lru_cache(maxsize=_CACHED_QUERIES)(partial(query_vector, embedder))

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """The ``k`` best passages, best first; from all collections when none is named.

        Raises ``UsageError`` when ``k`` is below 1.
        """
        if k < 1:
            raise UsageError(f"k must be at least 1, but is {k}")
        return await asyncio.to_thread(self._answer, query, k, collections)

    def _answer(self, query: str, k: int, collections: Sequence[str]) -> Retrieval:
        if not query.strip():
            return Retrieval(hits=())
        phrases = " ".join(self._lexicon.expand(query, language_of(query))) if self._lexicon else ""
        meaning, silent = _meaning(query, phrases, self._embedder)
        named, words = tuple(sorted(set(collections))), f"{query} {phrases}"
        request = SearchRequest(query, meaning, silent, words, self._tokenizer, k, named, self._embedder, self._embed)
        try:
            return self._read(request, partial(self._retrieval, request))
        except EmbeddingFailed as error:
            log.warning("searched by words alone: %s", error)
            request = replace(request, meaning="", silent="the embedder cannot be used now")
            return replace(self._read(request, partial(self._retrieval, request)), lacks_meaning=True)

    def _retrieval(self, request: SearchRequest, reader: Reader) -> Retrieval:
        bm25, dense, idf, waiting = reader.lists(request)
        languages, others = reader.languages(), frozenset[int]()
        if dense.keys and len(languages) > 1 and self._fusion.tells_languages:
            others = _foreign(request, dense, reader.languages_of(dense.keys))
        searched = SearchedQuery(request.meaning or request.query, request.language, idf)
        fused = self._fusion.fuse(searched, bm25.pairs(), dense.pairs(), others, waiting)
        trust = _explain_trust(request, fused.trust, bool(bm25.keys), bool(dense.keys))
        words, meaning = RankLookup(bm25), RankLookup(dense)
        # While a passage is being replaced, the newer of its keys.
        best = [Best(mark, max(words.key(mark), meaning.key(mark)), score) for mark, score in fused.items[: request.k]]
        vector = request.vector
        # Judges are fitted on the cosines of vectors that do not lean.
        near = dict(dense.pairs()) if request.leaning(languages) is vector else {}
        passages, cosines = reader.search_rows(best, vector, near)
        cosines = {**cosines, **near}
        hits = tuple(
            Hit(passages[key], score, words.get(mark), meaning.get(mark), cosines.get(mark), trust)
            for mark, key, score in best
            if key in passages
        )
        shown = None if vector is None else tuple(vector.tolist())
        return Retrieval(hits, shown, trust, reader.without_vectors(request.collections))


def _meaning(query: str, phrases: str, embedder: Embedder | None) -> tuple[str, str]:
    """What is searched for by meaning; where that is nothing, the reason."""
    if embedder is None:
        return "", "the index has no embedder"
    languages = embedder_languages(embedder)
    known = next((text for text in (query, phrases) if text and (not languages or language_of(text) in languages)), "")
    return known, "" if known else f"the embedder {embedder.name} does not know the query's language"


def _explain_trust(request: SearchRequest, fused: SearchWeights, words: bool, meaning: bool) -> SearchWeights:
    """How the search is told of: the one place that decides what searched. True are the halves that found anything."""
    if not meaning:
        return SearchWeights(1.0, 0.0, request.silent or "no passage here has a vector")
    if not words:
        return SearchWeights(0.0, 1.0, "no passage holds a word of the query")
    if request.meaning != request.query:
        return replace(fused, why=f"{fused.why}; the meaning is that of '{request.meaning[:_SHOWN]}' alone")
    return fused


class Best(NamedTuple):
    """A passage that is to be shown: its id hash, the newest of its keys, its fused score."""

    id_hash: int
    key: int
    score: float


class RankLookup:
    """Looks up a passage's key and place in a ranking; places are made only for what is shown."""

    def __init__(self, ranking: ScoredKeys) -> None:
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


def _foreign(request: SearchRequest, dense: ScoredKeys, languages: Mapping[int, str]) -> frozenset[int]:
    """The id hashes of the near passages that ``languages``, by key, says are in another language than the query."""
    own = request.language
    return frozenset(
        id_hash for key, id_hash in zip(dense.keys, dense.id_hashes, strict=True) if languages.get(key, own) != own
    )
