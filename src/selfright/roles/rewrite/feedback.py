"""Pseudo-relevance feedback: words that the best hits use around the question's words (after RM3)."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from selfright.domain.passages import Hit
from selfright.domain.text import sentence_spans
from selfright.roles.analysis import Term, TextAnalyzer, distinct
from selfright.roles.matching import TermMatcher

MOST_TERMS = 4

_MOST_HITS = 5
_LONGEST = 2_000
_LEAST_COVERAGE = 0.5
_LEAST_IN_SENTENCE = 0.3
_SHORTEST = 2
_DIGIT = re.compile(r"\d")


def feedback_terms(question: str, hits: Sequence[Hit], analyzer: TextAnalyzer, known: str = "") -> list[str]:
    """At most four words, as the hits write them, that go with the question; none when the hits miss the question.

    A word counts when it stands beside the question's words in at least two hits; it counts more in a higher hit and
    when it is rare. Numbers and words of ``known`` are left out.
    """
    matcher = TermMatcher(analyzer, analyzer.key_terms(question))
    taken = set(analyzer.tokens(f"{question} {known}"))
    score: defaultdict[str, float] = defaultdict(float)
    seen: Counter[str] = Counter()
    surface: dict[str, str] = {}
    for rank, hit in enumerate(hits[:_MOST_HITS], start=1):
        text = hit.passage.text[:_LONGEST]
        if matcher.share(matcher.places(f"{hit.passage.heading} {text}")) < _LEAST_COVERAGE:
            continue
        around = _around(matcher, hit, text, analyzer)
        seen.update({term.token for term in around})
        for term in around:
            if term.token not in taken and len(term.surface) >= _SHORTEST and not _DIGIT.search(term.surface):
                score[term.token] += term.weight / rank
                surface.setdefault(term.token, term.surface)
    repeated = [token for token in score if seen[token] > 1]
    best = sorted(repeated, key=lambda token: (-score[token], token))
    return list({surface[token].casefold(): surface[token] for token in best}.values())[:MOST_TERMS]


def _around(matcher: TermMatcher, hit: Hit, text: str, analyzer: TextAnalyzer) -> list[Term]:
    """The key terms of the sentences that, with the heading, hold a fair share of the question."""
    found: list[Term] = []
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if matcher.share(matcher.places(f"{hit.passage.title} {sentence}")) >= _LEAST_IN_SENTENCE:
            found += distinct(analyzer.key_terms(sentence))
    return found
