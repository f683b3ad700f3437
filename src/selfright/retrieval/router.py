"""Which collections a question is sent to, told from their descriptions; all of them whenever that is not sure.

Evidence for a collection is how near the question comes to the nearest phrase of its description, in meaning and in
words. A collection is left out only when it lies clearly behind the best one, and one that cannot be compared with the
question (no description, or one in a language that nothing here can compare) is never left out. What an operator
declares weighs more: a class that a collection does not serve rules it out, a slot that it names brings it in.

The figures below were chosen on questions of ten public sets in Korean and English, each sent to the set it belongs to;
docs/research/search.md reports what came of them.
"""

import asyncio
import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfright.domain.embedding import query_vector
from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Hit, Language
from selfright.domain.ports import Embedder, TermStatistics, Tokenizer
from selfright.domain.routing import Collection, RoutingDecision, RoutingReason
from selfright.domain.slots import Slot
from selfright.domain.text import has_hangul, language_of
from selfright.retrieval.preparing import embedder_languages
from selfright.retrieval.tokenizer import content_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NEAR = 0.3  # evidence the best collection must have
_NEAR_IN_WORDS = 0.4  # the same where nothing but words can be compared
_BEHIND = 0.3  # evidence by which a collection must lie behind it to be left out
_WORDS = 0.25  # what all of a question's words in a description are worth, beside a cosine
_COVERED = 1.1  # best BM25 score over the sum of the query terms' weights: under it, a search brought too little
_SIMILAR = 0.5  # best cosine of a hit, on the same scale: likewise
SHIPPED_SCALE = (0.75, 6.0)  # of the encoder that ships: its cosines of texts that share nothing are about 0.75

_MAX_PHRASES = 24
_MAX_QUESTION = 1_000  # characters that are compared
_KEPT = 512
_PHRASE = re.compile(r"[.:;,·。]\s*|\s+(?:and|or|및|또는)\s+|\n+")
_ENOUGH_LATIN = 3  # words; fewer are names
_LATIN_WORD = re.compile(r"[A-Za-z]{3,}")


@dataclass(frozen=True, slots=True)
class _Profile:
    """What a description gives to compare with: its terms, the languages it is in, and a vector for each phrase."""

    terms: frozenset[str]
    languages: frozenset[Language]
    vectors: "NDArray[np.float32] | None"


class DescriptionRouter:
    """A ``Router`` over the collections of one index.

    ``collections`` gives them as they now stand; ``scale`` is what the embedder's cosines are lessened by, and then
    stretched.
    """

    def __init__(
        self,
        collections: Callable[[], Sequence[Collection]],
        tokenizer: Tokenizer,
        statistics: TermStatistics,
        embedder: Embedder | None = None,
        scale: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self._scale = scale
        self._collections = collections
        self._tokenizer = tokenizer
        self._statistics = statistics
        self._embedder = embedder
        self._languages = frozenset(embedder_languages(embedder))
        self._profile = functools.lru_cache(maxsize=_KEPT)(self._read)

    async def route(self, question: str, kind: QueryClass | None = None, slots: Sequence[Slot] = ()) -> RoutingDecision:
        """Where to search for ``question``, a message of class ``kind`` in which ``slots`` were found."""
        collections = [collection for collection in self._collections() if collection.documents]
        if len(collections) < 2:
            return RoutingDecision.everywhere(RoutingReason.ONLY_ONE)
        if not any(c.description or c.classes or c.slots for c in collections):
            return RoutingDecision.everywhere(RoutingReason.UNDESCRIBED)
        return await asyncio.to_thread(self._decide, question[:_MAX_QUESTION], kind, slots, collections)

    def suffices(self, question: str, hits: Sequence[Hit]) -> bool:
        """Whether a search of some collections brought enough, or all should be searched after all."""
        terms = content_terms(self._tokenizer.tokens(question), question)
        words = max((hit.bm25.score for hit in hits if hit.bm25), default=-1.0)
        compared = [hit.cosine for hit in hits if hit.cosine is not None and self._embedder is not None]
        cosines = map(self._rescale, compared)
        meaning = max(cosines, default=_SIMILAR)
        return words >= _COVERED * sum(self._statistics.idf(terms)) and meaning >= _SIMILAR

    def _decide(
        self, question: str, kind: QueryClass | None, slots: Sequence[Slot], collections: Sequence[Collection]
    ) -> RoutingDecision:
        serving = [collection for collection in collections if collection.serves(kind)]
        present = {slot.name for slot in slots if not slot.negated}
        pointed = [collection.name for collection in serving if present.intersection(collection.slots)]
        vector = None
        if self._embedder is not None and self._knows([language_of(question)]):
            vector = query_vector(self._embedder, question)
        evidence = self._evidence(question, vector, serving)
        likely = _likely(evidence, _NEAR_IN_WORDS if vector is None else _NEAR)
        chosen = {*pointed, *likely} or ({c.name for c in serving} if len(serving) < len(collections) else set())
        if not chosen:
            return RoutingDecision.everywhere(RoutingReason.UNCLEAR, _format_evidence(evidence))
        if len(chosen) == len(collections):
            return RoutingDecision.everywhere(RoutingReason.ANY_MAY, _format_evidence(evidence))
        by = [f"class {kind}"] * (len(serving) < len(collections)) + ["slots"] * bool(pointed)
        by += [f"description{_format_evidence(evidence)}"] * bool(likely)
        return RoutingDecision(tuple(c.name for c in collections if c.name in chosen), f"by {', '.join(by)}")

    def _evidence(
        self, question: str, vector: "NDArray[np.float32] | None", collections: Sequence[Collection]
    ) -> dict[str, float | None]:
        """How near the question is to each collection's description; None where they cannot be compared."""
        language = language_of(question)
        profiles = {one.name: self._profile(one.name, " ".join(one.description.split())) for one in collections}
        terms = list(dict.fromkeys(content_terms(self._tokenizer.tokens(question), question)))
        weights = dict(zip(terms, self._statistics.idf(terms), strict=True))  # how rare they are
        return {
            name: self._nearness(weights, language, vector, profile) if profile else None
            for name, profile in profiles.items()
        }

    def _nearness(
        self,
        weights: Mapping[str, float],
        language: Language,
        vector: "NDArray[np.float32] | None",
        profile: _Profile,
    ) -> float | None:
        shared = sum(weight for term, weight in weights.items() if term in profile.terms)
        words = shared / (sum(weights.values()) or 1.0)
        if vector is not None and profile.vectors is not None:
            return self._rescale(float((profile.vectors @ vector).max())) + _WORDS * words
        return words if vector is None and language in profile.languages else None

    def _rescale(self, cosine: float) -> float:
        low, stretch = self._scale
        return (cosine - low) * stretch

    def _knows(self, languages: Iterable[Language]) -> bool:
        return not self._languages or not self._languages.isdisjoint(languages)

    def _read(self, name: str, description: str) -> _Profile | None:
        if not description:
            return None
        languages = _languages_of(description)
        vectors = None
        if self._embedder is not None and self._knows(languages):
            # The whole, and what it lists: a question is near one thing that is listed, not to all.
            parts = filter(None, (part.strip() for part in _PHRASE.split(description)))
            vectors = self._embedder.embed(list(dict.fromkeys([description, *parts]))[:_MAX_PHRASES])
        return _Profile(frozenset(self._tokenizer.tokens(f"{name}\n{description}")), languages, vectors)


def _languages_of(description: str) -> frozenset[Language]:
    """Every language it says something in; a description may say the same in both."""
    languages: set[Language] = {language_of(description)}
    if has_hangul(description):
        languages.add("ko")
    if len(_LATIN_WORD.findall(description)) >= _ENOUGH_LATIN:
        languages.add("en")
    return frozenset(languages)


def _likely(evidence: Mapping[str, float | None], enough: float) -> list[str]:
    """Those that are not clearly behind the best; none when the best is no good itself, or all may be meant."""
    best = max((near for near in evidence.values() if near is not None), default=0.0)
    if best < enough:
        return []
    likely = [name for name, near in evidence.items() if near is None or near >= best - _BEHIND]
    return likely if len(likely) < len(evidence) else []


def _format_evidence(evidence: Mapping[str, float | None]) -> str:
    known = sorted(((near, name) for name, near in evidence.items() if near is not None), reverse=True)[:3]
    return f" ({', '.join(f'{name} {near:.2f}' for near, name in known)})" if known else ""
