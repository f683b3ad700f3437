"""BM25 over a few thousand texts in memory; and near-duplicates: what repeats another text is no second source."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from selfright.domain.passages import Passage

_K1 = 1.2
_B = 0.75


@dataclass(frozen=True, slots=True)
class Match:
    """How well a text fits a query: its BM25 ``score``, and the ``share`` (0…1) of the query's weight it has."""

    index: int
    score: float
    share: float


class Bm25:
    """Ranks texts, given as their terms (Robertson and Zaragoza 2009, k1 = 1.2, b = 0.75)."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for index, terms in enumerate(texts):
            self._lengths.append(len(terms))
            for term, count in Counter(terms).items():
                self._postings[term].append((index, count))
        self._mean = max(sum(self._lengths) / max(len(self._lengths), 1), 1.0)

    def rank(self, query: Sequence[str]) -> list[Match]:
        """All texts with a term of the query, best first; ties in the order they were given."""
        weights = {term: self._idf(term) for term in set(query)}
        whole = sum(weights.values()) or 1.0
        scores: dict[int, float] = defaultdict(float)
        shares: dict[int, float] = defaultdict(float)
        for term in sorted(weights):  # a fixed order of adding up, for a fixed last digit
            for index, count in self._postings.get(term, ()):
                norm = _K1 * (1 - _B + _B * self._lengths[index] / self._mean)
                scores[index] += weights[term] * count * (_K1 + 1) / (count + norm)
                shares[index] += weights[term] / whole
        matches = (Match(index, score, shares[index]) for index, score in scores.items())
        return sorted(matches, key=lambda match: (-match.score, match.index))

    def _idf(self, term: str) -> float:
        # A term no text has weighs as much as one that a single text has: how rare it is cannot be known from here.
        found = max(len(self._postings.get(term, ())), 1)
        return math.log(1 + (len(self._lengths) - found + 0.5) / (found + 0.5))


_SIZE = 4  # words of a shingle
_ALIKE = 0.8
_WORD = re.compile(r"\w+")


def shingles(text: str) -> frozenset[int]:
    """Hashes of each four words in a row (of the words themselves where there are fewer)."""
    words = _WORD.findall(text.casefold())
    if len(words) < _SIZE:
        return frozenset(map(hash, words))
    return frozenset(hash(tuple(words[n : n + _SIZE])) for n in range(len(words) - _SIZE + 1))


def containment(a: frozenset[int], b: frozenset[int]) -> float:
    """The share of ``a`` that is in ``b`` (Broder 1997)."""
    return len(a & b) / len(a) if a else 0.0


def new_passages(found: Iterable[Passage], known: Sequence[str], alike: float = _ALIKE) -> list[Passage]:
    """``found`` without what repeats a ``known`` text or a passage before it.

    A passage repeats a text when four fifths of its shingles are in it: it then says nothing more than that text.
    """
    seen = [shingles(text) for text in known]
    kept: list[Passage] = []
    for passage in found:
        own = shingles(passage.text)
        if not any(containment(own, other) >= alike for other in seen):
            kept.append(passage)
            seen.append(own)
    return kept
