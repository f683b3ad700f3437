"""Where the key terms of a question occur in a text: the work that grading and filtering share.

English terms are looked up among the text's index tokens. Korean terms are looked up in its letters: a morpheme stands
there as it is, and reading a passage with a morphological analyser would cost more than all other signals together.
"""

import re
from collections.abc import Sequence

from selfright.domain.text import has_hangul
from selfright.roles.analysis import Term, TextAnalyzer

_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]+")
_SYLLABLES_PER_WORD = 4
_MOST_PLACES = 8

Places = dict[int, list[int]]


class TermMatcher:
    """Finds the terms of one question in many texts. ``weights[i]`` is the idf of term ``i``; ``total`` their sum."""

    def __init__(self, analyzer: TextAnalyzer, terms: Sequence[Term]) -> None:
        self.terms = tuple(terms)
        self.weights = tuple(term.weight for term in terms)
        self.total = sum(self.weights)
        self._analyzer = analyzer
        self._latin = {term.token: i for i, term in enumerate(terms) if not has_hangul(term.token)}
        self._hangul = [(i, _hangul_pattern(term.token)) for i, term in enumerate(terms) if has_hangul(term.token)]

    def places(self, text: str) -> Places:
        """Term number → places (in words from the start of ``text``, at most eight) for each term that occurs."""
        found: Places = {}
        if self._latin:
            self._find_latin(_HANGUL.sub(" ", text), found)
        if self._hangul and has_hangul(text):
            for i, pattern in self._hangul:
                at = [match.start() // _SYLLABLES_PER_WORD for match in pattern.finditer(text)]
                if at:
                    found[i] = at[:_MOST_PLACES]
        return found

    def share(self, found: Sequence[int] | set[int] | Places) -> float:
        """The idf-weighted share (0…1) of the terms with these numbers."""
        return sum(self.weights[i] for i in found) / self.total if self.total else 0.0

    def _find_latin(self, text: str, found: Places) -> None:
        for place, token in enumerate(self._analyzer.tokens(text)):
            i = self._latin.get(token)
            if i is not None and len(at := found.setdefault(i, [])) < _MOST_PLACES:
                at.append(place)


def _hangul_pattern(token: str) -> re.Pattern[str]:
    """A single syllable occurs inside unrelated words, so it must begin one."""
    return re.compile((r"(?<![가-힣])" if len(token) == 1 else "") + re.escape(token), re.IGNORECASE)
