"""Queries as text: bare and short, with misspelt names put right.

Taken off is what models put around a query. Put right is a word that the index hardly knows, beside a name of the field
that is almost it.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import lru_cache

from selfright.roles.analysis import TextAnalyzer

LONGEST_QUERY = 400

_PREFIX = re.compile(
    r"^\s*(?:[-*>#]+\s*)?(?:\*\*)?(?:"
    r"(?:재작성(?:된|한)?|수정된|개선된|새로운|최종)\s*(?:질의|질문|검색어|쿼리)(?:문)?|(?:검색\s*)?(?:질의|질문|검색어|쿼리)"
    r"|(?:the\s+)?(?:re-?written|revised|improved|refined|new|final|search|standalone|stand-alone)\s+(?:search\s+)?(?:query|question)"
    r"|query|question|output|answer|출력|답변)(?:\s*(?:은|는|is))?(?:\*\*)?\s*[:：](?:\*\*)?\s*",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "`": "`"}
_BLANK = re.compile(r"\s+")


def strip_prefix(text: str) -> str:
    """``text`` as a bare query in one line, without "재작성된 질의:", "Rewritten query:" and the like, and unquoted."""
    line = _BLANK.sub(" ", text).strip()
    while (match := _PREFIX.match(line)) and match.end() < len(line):
        line = line[match.end() :].strip()
    while len(line) > 1 and _QUOTES.get(line[0]) == line[-1] and line[0] not in line[1:-1]:
        line = line[1:-1].strip()
    return line


def bound_query(text: str, longest: int = LONGEST_QUERY) -> str:
    """``text`` cut at a word's end to at most ``longest`` characters."""
    if len(text) <= longest:
        return text
    head, blank, _ = text[: longest + 1].rpartition(" ")
    return (head if blank and len(head) > longest // 2 else text[:longest]).rstrip(" ,;(")


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

    def restore_case(match: re.Match[str]) -> str:
        nonlocal left
        word = match.group().lower()
        near = known.get((word[0], len(word)), ())
        if left == 0 or not near or word in near or min(analyzer.idf(analyzer.tokens(word)), default=0.0) < least:
            return match.group()
        found = difflib.get_close_matches(word, near, n=1, cutoff=_ALIKE)
        left -= bool(found)
        return found[0] if found else match.group()

    return _WORD.sub(restore_case, text)


@lru_cache(maxsize=8)
def _by_start(vocabulary: Callable[[], frozenset[str]]) -> Mapping[tuple[str, int], tuple[str, ...]]:
    """The words by first letter and by each length that a misspelling of them may have."""
    found: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for word in sorted(word for word in vocabulary() if len(word) >= _SHORTEST and word.isascii() and word.isalpha()):
        for length in range(len(word) - 2, len(word) + 3):
            found[word[0], length].append(word)
    return {key: tuple(words) for key, words in found.items()}
