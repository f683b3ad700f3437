"""What a reader of question and passage together is shown of a passage, and what its score says."""

import math
from collections.abc import Mapping

from selfright.domain.passages import Language, Passage
from selfright.domain.text import language_of
from selfright.roles.grade.features import Asked, Read

CHARACTERS: Mapping[Language, int] = {
    "en": 900,
    "ko": 420,
}  # of a passage: about what the network takes at once, 222 pieces
EDGE = 10.0


def shown(asked: Asked, passage: Passage, read: Read, most: int = 0) -> str:
    """What a reader sees of a passage: its heading and at most ``most`` characters, the sentences most to the point."""
    start, end = window(asked, read, most)
    return f"{passage.heading}\n{read.text[start:end]}" if passage.heading else read.text[start:end]


def window(asked: Asked, read: Read, most: int = 0) -> tuple[int, int]:
    """Start and end of the sentences that are shown: those in a row that hold the most of what is asked.

    ``most`` is by default what the network takes of text in the passage's language.
    """
    most = most or CHARACTERS[language_of(read.text)]
    if len(read.text) <= most:
        return 0, len(read.text)
    best, chosen = -1.0, (0, most)
    for first, (start, end) in enumerate(read.spans):
        last = first
        while last + 1 < len(read.spans) and read.spans[last + 1][1] - start <= most:
            last += 1
        share = asked.matcher.share(set().union(*read.places[first : last + 1]))
        if share > best:
            best, chosen = share, (start, min(max(end, read.spans[last][1]), start + most))
    return chosen


def chance(score: float) -> float:
    """The probability (0…1) of log-odds, which count to ten on either side; NaN for what is no number."""
    return 1 / (1 + math.exp(-max(-EDGE, min(EDGE, score)))) if math.isfinite(score) else math.nan
