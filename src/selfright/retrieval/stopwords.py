"""Terms that say nothing about what is looked for. They are indexed like all others and left out of queries only."""

import re
from collections.abc import Sequence

from selfright.domain.text import has_hangul

_ENGLISH = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with what which who whom whose how do doe does did done when where whi can could would should shall "
    "may might must from has have had i you he she we were been am also than my me your our his her its them so about "
    "ani some other"
)
_KOREAN = "있 하 되 이 것 수 같 않 말 어떻 무엇 어떤 어느 등 및 때 중 경우 대하 위하 관하 알 알리 주 보 따르 다음"

_STOP_WORDS = frozenset(f"{_ENGLISH} {_KOREAN}".split())


_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,}(?![A-Za-z])")
_OPENS = re.compile(r"(?:^|[.?!:\n])[\s\"'(]*$")


def content_terms(terms: Sequence[str], text: str = "") -> list[str]:
    """The terms without stop words, repeats kept; all of them when nothing else would be left.

    What ``text``, which they are the terms of, writes as a name stays: "WHO", "IT", "in May", a Latin word in Korean.
    """
    names = _names(text)
    return [term for term in terms if term not in _STOP_WORDS or term in names] or list(terms)


def is_stop_word(term: str) -> bool:
    """Whether a term says nothing about what is looked for."""
    return term in _STOP_WORDS


def _names(text: str) -> frozenset[str]:
    """Words, in lower case, with a capital that neither a sentence's beginning nor a headline explains."""
    words = list(_WORD.finditer(text))
    if has_hangul(text):
        return frozenset(word.group().lower() for word in words)
    if all(word.group()[0].isupper() for word in words):
        return frozenset()
    return frozenset(
        word.group().lower()
        for word in words
        if word.group().isupper() or (word.group()[0].isupper() and not _OPENS.search(text[: word.start()]))
    )
