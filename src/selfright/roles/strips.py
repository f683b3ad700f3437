"""Cuts a passage into strips.

A strip is one to three sentences; tables, lists and code stay whole.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest

from selfright.domain.blocks import Block, blocks, leads_in
from selfright.domain.text import sentence_spans

SHORT = 50
LONG = 280
MOST_SENTENCES = 3
_LONGEST_LEAD_IN = 200

Span = tuple[int, int]

# A sentence that begins like this is not understood without the one before it.
_LEANS = re.compile(
    r"(?:it|its|they|their|this|these|that|those|he|she|his|her|such|however|therefore|thus|hence|then|also"
    r"|moreover|furthermore"
    r"|additionally|instead|otherwise|but|and|so|similarly|likewise|for example|for instance|in addition|as a result"
    r"|in contrast|on the other hand)\b"
    r"|(?:이|그|이는|그는|그녀|이것|그것|이러한|그러한|이런|그런|이로|이에|이를|그러나|하지만|그런데|그리고|또한"
    r"|또|따라서|그래서|그러므로|즉|예를 들어"
    r"|반면|다만|이후|그 후|이때|당시|한편|특히)(?![가-힣])",
    re.IGNORECASE,
)


def strip_spans(text: str) -> list[Span]:
    """The strips of ``text`` as (start, end), in order, together holding all but white space.

    A heading goes with what follows it, a list or table with the short sentence that leads in to it, a very short
    strip with its neighbour.
    """
    pieces: list[tuple[Span, bool]] = []  # span, and whether it must go with the next one
    parts = list(blocks(text))
    for block, following in zip_longest(parts, parts[1:]):
        if block.kind == "heading":
            pieces.append(((block.start, block.end), True))
        elif block.kind == "paragraph":
            pieces += _paragraph(text, block, leads_in(text, block, following))
        else:
            pieces.append(((block.start, block.end), False))
    return _without_tiny(list(_join(pieces)))


def _paragraph(text: str, block: Block, leads: bool) -> Iterator[tuple[Span, bool]]:
    group: list[Span] = []
    for span in sentence_spans(text, block.start, block.end):
        if group and not _belongs(text, group, span):
            yield (group[0][0], group[-1][1]), False
            group = []
        group.append(span)
    if group:
        start, end = group[0][0], group[-1][1]
        yield (start, end), leads and end - start <= _LONGEST_LEAD_IN


def _belongs(text: str, group: list[Span], span: Span) -> bool:
    """Whether a sentence joins the group: while that is short, or when it cannot stand alone."""
    together = span[1] - group[0][0]
    if len(group) == MOST_SENTENCES or together > LONG:
        return False
    return group[-1][1] - group[0][0] < SHORT or span[1] - span[0] < SHORT or bool(_LEANS.match(text, span[0]))


def _join(pieces: list[tuple[Span, bool]]) -> Iterator[Span]:
    start: int | None = None
    for (piece_start, end), goes_on in pieces:
        start = piece_start if start is None else start
        if not goes_on:
            yield start, end
            start = None
    if start is not None:
        yield start, pieces[-1][0][1]


def _without_tiny(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in spans:
        is_tiny = span[1] - span[0] < SHORT
        was_tiny = bool(merged) and merged[-1][1] - merged[-1][0] < SHORT
        if merged and (was_tiny or is_tiny) and span[1] - merged[-1][0] <= LONG:
            merged[-1] = (merged[-1][0], span[1])
        else:
            merged.append(span)
    return merged
