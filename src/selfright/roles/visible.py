"""A passage as its readers see it: what they do not see is blanked, every other character keeps its place.

Only form decides, never wording: comments of HTML and Markdown, addresses of pictures, letters without a shape, and
stretches whose reading order is turned around. An honest text loses nothing of what it says.
"""

import re
from functools import lru_cache

from selfright.domain.passages import Passage, Strip

_LONGEST = 20_000

_UNSEEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|^\[[^\]\n]{1,80}\]:\s*(?:#|<>)\s*[(\"'][^\n]*$"
    r"|!\[[^\]\n]{0,300}\]\([^)\n]{0,2000}\)",
    re.DOTALL | re.MULTILINE,
)
_TURNED = re.compile("[\u202d\u202e][^\u202c\n]*(?:\u202c|$)", re.MULTILINE)
# "Tag" letters spell what nobody sees; soft hyphens, joiners and the like say nothing and stay.
_TAGS = re.compile("[\U000e0001-\U000e007f]")
_NO_BREAK = re.compile(r"[^\n]")


def visible(passage: Passage) -> str:
    """The passage's text, as long as it is, with blanks in place of what no reader sees."""
    return _visible(passage.text)


def visible_part(strip: Strip) -> str:
    """The strip's text in the same manner."""
    start = strip.passage.start
    return visible(strip.passage)[strip.start - start : strip.end - start]


@lru_cache(maxsize=1024)
def _visible(text: str) -> str:
    head, rest = text[:_LONGEST], text[_LONGEST:]
    if "<!--" in head or "[" in head:
        head = _UNSEEN.sub(_blank, head)
    if not head.isascii():
        head = _TAGS.sub(" ", _TURNED.sub(_blank, head))
    return head + rest


def _blank(match: re.Match[str]) -> str:
    """As long as what matched, its lines kept, so that places in the text stay what they are."""
    return _NO_BREAK.sub(" ", match.group())
