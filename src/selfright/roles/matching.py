"""Where the key terms of a question occur in a text: the work that grading and filtering share.

English terms are looked up among the text's index tokens. Korean terms are looked up in its letters: a morpheme stands
there as it is, and reading a passage with a morphological analyser would cost more than all other signals together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from selfright.domain.text import has_hangul, language_of
from selfright.roles.analysis import Term, TextAnalyzer

_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]+")
_SYLLABLES_PER_WORD = 4
_MOST_PLACES = 8
_LIKELY = 0.5  # of the likeliest translation's weight

Places = dict[int, list[int]]


class TermMatcher:
    """Finds the terms of one question in many texts. ``weights[i]`` is the idf of term ``i``; ``total`` their sum.

    ``translated``: in a text of the other language a term also occurs where one of its likelier translations does.
    """

    def __init__(self, analyzer: TextAnalyzer, terms: Sequence[Term], *, translated: bool = False) -> None:
        self.terms = tuple(terms)
        self.weights = tuple(term.weight for term in terms)
        self.total = sum(self.weights)
        self._analyzer = analyzer
        self._translated = translated
        self._latin = {term.token: (i,) for i, term in enumerate(terms) if not has_hangul(term.token)}
        self._hangul = [(i, _hangul_pattern([term.token])) for i, term in enumerate(terms) if has_hangul(term.token)]

    def places(self, text: str) -> Places:
        """Term number → places (in words from the start of ``text``, at most eight) for each term that occurs."""
        found: Places = {}
        language = language_of(text) if self._translated else None
        latin = self._in_english if language == "en" else self._latin
        if latin:
            self._find_latin(latin, _HANGUL.sub(" ", text), found)
        if has_hangul(text):
            for i, pattern in self._hangul:
                _find_hangul(i, pattern, text, found)
            for i, pattern in self._in_korean if language == "ko" else ():
                if i not in found:
                    _find_hangul(i, pattern, text, found)
        return found

    def share(self, found: Sequence[int] | set[int] | Places) -> float:
        """The idf-weighted share (0…1) of the terms with these numbers."""
        return sum(self.weights[i] for i in found) / self.total if self.total else 0.0

    def _find_latin(self, latin: Mapping[str, Sequence[int]], text: str, found: Places) -> None:
        for place, token in enumerate(self._analyzer.tokens(text)):
            for i in latin.get(token, ()):
                if len(at := found.setdefault(i, [])) < _MOST_PLACES:
                    at.append(place)

    @cached_property
    def _in_english(self) -> Mapping[str, Sequence[int]]:
        """The Latin terms, and the translations of the Korean ones; several may have the same."""
        numbers: dict[str, list[int]] = {token: list(own) for token, own in self._latin.items()}
        for i, names in self._translations(korean=True):
            for name in names:
                numbers.setdefault(name, []).append(i)
        return numbers

    @cached_property
    def _in_korean(self) -> Sequence[tuple[int, re.Pattern[str]]]:
        return [(i, _hangul_pattern(names)) for i, names in self._translations(korean=False)]

    def _translations(self, *, korean: bool) -> Iterator[tuple[int, list[str]]]:
        for i, term in enumerate(self.terms):
            found = self._analyzer.translations(term.token) if has_hangul(term.token) == korean else ()
            if found:
                yield i, [name for name, weight in found if weight >= _LIKELY * found[0][1]]


def _find_hangul(i: int, pattern: re.Pattern[str], text: str, found: Places) -> None:
    at = [match.start() // _SYLLABLES_PER_WORD for match in pattern.finditer(text)]
    if at:
        found[i] = at[:_MOST_PLACES]


def _hangul_pattern(tokens: Sequence[str]) -> re.Pattern[str]:
    """A single syllable occurs inside unrelated words, so it must begin one."""
    forms = ((r"(?<![가-힣])" if len(token) == 1 else "") + re.escape(token) for token in tokens)
    return re.compile("|".join(forms), re.IGNORECASE)
