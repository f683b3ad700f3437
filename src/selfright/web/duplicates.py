"""Near-duplicates: what the web only repeats of the index, or of itself, is no second source."""

import re
from collections.abc import Iterable, Sequence

from selfright.domain.passages import Passage

_SIZE = 4  # words of a shingle
_ALIKE = 0.8
_WORD = re.compile(r"\w+")


def shingles(text: str) -> frozenset[int]:
    """Hashes of each four words in a row (of the words themselves where there are fewer)."""
    words = _WORD.findall(text.casefold())
    if len(words) < _SIZE:
        return frozenset(map(hash, words))
    return frozenset(hash(tuple(words[n : n + _SIZE])) for n in range(len(words) - _SIZE + 1))


def resemblance(a: frozenset[int], b: frozenset[int]) -> float:
    """Jaccard similarity of two sets of shingles (Broder 1997); 0 when one is empty."""
    return len(a & b) / len(a | b) if a and b else 0.0


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
