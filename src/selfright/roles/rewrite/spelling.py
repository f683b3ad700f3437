"""Misspelt names put right: a word that the index hardly knows, beside a name of the field that is almost it."""

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from selfright.roles.analysis import TextAnalyzer

_SHORTEST = 6
_ALIKE = 0.85
_RARE = 0.78  # of the weight of a word that the index does not have at all
_MOST = 12
_WORD = re.compile(rf"[A-Za-z]{{{_SHORTEST},24}}")


def respelt(text: str, vocabulary: Callable[[], frozenset[str]], analyzer: TextAnalyzer) -> str:
    """``text`` with at most twelve English words replaced; ``vocabulary`` are the field's words, in lower case."""
    known = _by_start(vocabulary)
    if not known:
        return text
    least = _RARE * analyzer.unseen([""])[0]
    left = _MOST

    def mended(match: re.Match[str]) -> str:
        nonlocal left
        word = match.group().lower()
        near = known.get((word[0], len(word)), ())
        if left == 0 or not near or word in near or min(analyzer.idf(analyzer.tokens(word)), default=0.0) < least:
            return match.group()
        found = difflib.get_close_matches(word, near, n=1, cutoff=_ALIKE)
        left -= bool(found)
        return found[0] if found else match.group()

    return _WORD.sub(mended, text)


@lru_cache(maxsize=8)
def _by_start(vocabulary: Callable[[], frozenset[str]]) -> Mapping[tuple[str, int], tuple[str, ...]]:
    """The words by first letter and by each length that a misspelling of them may have."""
    found: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for word in sorted(_long(vocabulary())):
        for length in range(len(word) - 2, len(word) + 3):
            found[word[0], length].append(word)
    return {key: tuple(words) for key, words in found.items()}


def _long(words: Iterable[str]) -> list[str]:
    return [word for word in words if len(word) >= _SHORTEST and word.isascii() and word.isalpha()]
