"""Passages that say the opposite of what is asked about: of the highest where the lowest is asked for.

They share all other words with the question, so every signal speaks for them.
"""

import math
from collections.abc import Sequence

from selfright.roles.analysis import TextAnalyzer
from selfright.roles.antonyms import may_be_opposed, opposed
from selfright.roles.grade.features import Asked, Read
from selfright.roles.questions import AnswerType
from selfright.roles.words import negated

_COMPARABLE = 0.4
_AS_NEAR = 0.9

# What it says of a passage, in log-odds: it is so of 42 of the 1,605 paragraphs of SQuAD 2.0 that do not answer their
# question and of 1 of the 1,463 that do (one more of each counted: 1 in 20), and of none of 1,690 that help in others.
_AGAINST = 3.0


def without_opposing(
    chances: Sequence[float], asked: Asked, reads: Sequence[Read], analyzer: TextAnalyzer
) -> list[float]:
    """The probabilities (0…1), lowered where each of the sentences nearest to the question says the opposite.

    Whether something rises is answered by what says that it falls, so yes-no questions are left alone.
    """
    tokens = analyzer.token_set(asked.text)
    if asked.kind is AnswerType.YES_NO or not may_be_opposed(tokens, analyzer.tokens):
        return list(chances)
    return [
        _lowered(p) if _opposes(asked, tokens, read, analyzer) else p for p, read in zip(chances, reads, strict=True)
    ]


def _opposes(asked: Asked, tokens: frozenset[str], read: Read, analyzer: TextAnalyzer) -> bool:
    shares = [asked.matcher.share(places) for places in read.places]
    best = max(shares)
    if best < _COMPARABLE:
        return False
    nearest = (
        read.text[slice(*span)] for span, share in zip(read.spans, shares, strict=True) if share >= _AS_NEAR * best
    )
    return all(
        opposed(tokens, analyzer.token_set(sentence), analyzer.tokens, clearly=True)
        and negated(sentence) == asked.negated
        for sentence in nearest
    )


def _lowered(p: float) -> float:
    return p / (p + (1 - p) * math.exp(_AGAINST)) if 0 < p < 1 else p
