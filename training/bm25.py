"""A small BM25 over tokens, so that training needs no store: candidates as a search would bring them, and idf."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

K1, B = 1.2, 0.75


class Statistics:
    """Document frequencies of one corpus; implements the port ``TermStatistics``."""

    def __init__(self, count: int, frequencies: Mapping[str, int]) -> None:
        self._count = count
        self._frequencies = frequencies

    def idf(self, terms: Sequence[str]) -> list[float]:
        """``ln(1 + (N - df + 0.5) / (df + 0.5))`` of each term."""
        return [self._idf(self._frequencies.get(term, 0)) for term in terms]

    def _idf(self, frequency: int) -> float:
        return math.log(1 + (self._count - frequency + 0.5) / (frequency + 0.5))


class Index:
    """BM25 scores of every document for a token list."""

    def __init__(self, documents: Iterable[Sequence[str]]) -> None:
        postings: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        lengths = []
        for number, tokens in enumerate(documents):
            lengths.append(len(tokens))
            for token, count in Counter(tokens).items():
                postings[token][0].append(number)
                postings[token][1].append(count)
        self._norm = K1 * (1 - B + B * np.array(lengths) / max(1.0, float(np.mean(lengths))))
        self.statistics = Statistics(len(lengths), {token: len(at) for token, (at, _) in postings.items()})
        self._postings = {token: (np.array(at), np.array(n, float)) for token, (at, n) in postings.items()}

    def scores(self, tokens: Sequence[str]) -> NDArray[np.float64]:
        """One score per document."""
        total = np.zeros(len(self._norm))
        for token in dict.fromkeys(tokens):
            if token in self._postings:
                at, counts = self._postings[token]
                (idf,) = self.statistics.idf([token])
                total[at] += idf * counts * (K1 + 1) / (counts + self._norm[at])
        return total

    def best(self, tokens: Sequence[str], k: int) -> list[int]:
        """The numbers of the ``k`` best documents that match at all, best first."""
        scores = self.scores(tokens)
        order = np.argsort(-scores, kind="stable")[:k]
        return [int(i) for i in order if scores[i] > 0]
