"""Follow-ups that name another of the same kind: "일요일은요?" after "토요일은 몇 시까지 하나요?".

The encoder tells what of the question before is of the kind that is named: siblings are near one another in meaning
(Saturday, Sunday; a pen, a pencil), while an attribute ("and the price?") is about as far from all that was asked.
"""

import re
from collections.abc import Iterator, Sequence

from selfright.domain.text import has_hangul
from selfright.roles.analysis import Term, TextAnalyzer, distinct
from selfright.roles.coordination import particle_for
from selfright.roles.rewrite.leaning import without_connective
from selfright.roles.similarity import SentenceSimilarity

# By hand: of 20 names of siblings 13 lead by more (one beside the wrong word), of 16 attributes 2.
_LEAD = 0.014
# A follow-up that names something and says nothing else: all that stands before the name, and a particle behind it.
_BEFORE = re.compile(
    r"(?:(?:what|how) about\s+)?(?:(?:for|on|in|at|to|from|by|with|of|the|an?|my|your|our)\s+){0,2}", re.IGNORECASE
)
_BEHIND = re.compile(r"[가-힣]{0,3}\W*")
_PARTICLE = re.compile(r"[은는이가을를](?![가-힣])")
_MOST_WORDS = 2


def swapped(named: str, before: str, analyzer: TextAnalyzer, likeness: SentenceSimilarity) -> str:
    """``before`` with what ``named`` names in place of the term nearest to it; empty where none is clearly nearest."""
    rest = without_connective(named)
    terms = distinct(analyzer.key_terms(rest))
    own = {term.token for term in terms}
    asked = distinct(analyzer.key_terms(before))
    if not terms or any(term.token in own for term in asked):
        return ""
    first, last = _start(rest, terms[0]), _end(terms[-1])
    name = rest[first:last]
    if not (_BEFORE.fullmatch(rest[:first]) and _BEHIND.fullmatch(rest, last) and len(name.split()) <= _MOST_WORDS):
        return ""
    spans = list(_words(before, asked))
    if len(spans) < 2:
        return ""
    near = likeness.nearness(name, [before[start:end] for start, end in spans])
    if near is None:
        return ""
    nearest, next_to_it = sorted(near, reverse=True)[:2]
    if nearest - next_to_it < _LEAD:
        return ""
    start, end = spans[near.index(nearest)]
    return f"{before[:start]}{name}{_fitting(name, before[end:])}"


def _words(text: str, terms: Sequence[Term]) -> Iterator[tuple[int, int]]:
    """Where words of ``terms`` that may be replaced stand: names and nouns of more than one syllable, no numbers."""
    runs: list[list[Term]] = []
    for term in terms:
        if runs and _end(runs[-1][-1]) == term.start:
            runs[-1].append(term)
        else:
            runs.append([term])
    for run in runs:
        start, end = _start(text, run[0]), _end(run[-1])
        word = text[start:end]
        is_whole = len(word) > 1 and run[-1].token == run[-1].surface
        if any(map(str.isalpha, word)) and (is_whole or not has_hangul(word)):
            yield start, end


def _fitting(name: str, rest: str) -> str:
    """What stands behind the word that was replaced, with the particle that goes with ``name``: "볼펜은", "샤프는"."""
    particle = _PARTICLE.match(rest)
    return particle_for(name, particle.group()) + rest[1:] if particle else rest


def _start(text: str, term: Term) -> int:
    """Where the term's word begins: analysers cut Korean names and numbers with a counter (101|동)."""
    before = re.search(r"[\w-]+$", text[: term.start])
    return before.start() if before else term.start


def _end(term: Term) -> int:
    return term.start + len(term.surface)
