"""Passages as evidence: their text as readers see it, and letter by letter, to hold an answer against.

What readers do not see is blanked, every other character keeps its place. Only form decides, never wording: comments of
HTML and Markdown, addresses of pictures, letters without a shape, and stretches whose reading order is turned around.
An honest text loses nothing of what it says.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from selfright.domain.blocks import blocks
from selfright.domain.markup import plain
from selfright.domain.passages import Hit, Passage, Strip
from selfright.domain.text import sentences_of

_LONGEST = 20_000
_LOWEST = 6  # of the levels of headings; one without a mark is of this

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
    return _blank_hidden(passage.text)


def visible_part(strip: Strip) -> str:
    """The strip's text in the same manner."""
    start = strip.passage.start
    return visible(strip.passage)[strip.start - start : strip.end - start]


@lru_cache(maxsize=1024)
def _blank_hidden(text: str) -> str:
    head, rest = text[:_LONGEST], text[_LONGEST:]
    if "<!--" in head or "[" in head:
        head = _UNSEEN.sub(_blank, head)
    if not head.isascii():
        head = _TAGS.sub(" ", _TURNED.sub(_blank, head))
    return head + rest


def _blank(match: re.Match[str]) -> str:
    """As long as what matched, its lines kept, so that places in the text stay what they are."""
    return _NO_BREAK.sub(" ", match.group())


_NO_LETTER = re.compile(r"[\W_]+")
_MOST_PASSAGES = 24
_MOST_SENTENCES = 120


@dataclass(frozen=True, slots=True)
class Source:
    """One passage: its sentences, and ``letters``: heading and text without blanks, marks and case."""

    passage: Passage
    sentences: tuple[str, ...]
    letters: str
    lines: tuple[str, ...]


def sources(strips: Iterable[Strip], hits: Iterable[Hit]) -> tuple[Source, ...]:
    """The passages that strips and hits come from, each once, those of the strips first; at most 24.

    They are read as their readers see them.
    """
    passages = {passage.id: passage for passage in (*(s.passage for s in strips), *(h.passage for h in hits))}
    return tuple(_read(passage) for passage in list(passages.values())[:_MOST_PASSAGES])


def heading_above(passage: Passage, at: int) -> str:
    """The last heading inside the passage before the document's position ``at``; empty where there is none."""
    return next((name for start, _, name in reversed(_headings(passage.text)) if passage.start + start < at), "")


def headings_above(passage: Passage, at: int) -> Iterator[str]:
    """All headings that the document's position ``at`` stands under, the nearest first; not the title."""
    lowest = _LOWEST + 1
    for start, level, name in reversed(_headings(passage.text)):
        if passage.start + start < at and level < lowest:
            lowest = level
            if name != passage.title:
                yield name
    yield from filter(None, map(str.strip, reversed(passage.section.split(">"))))


@lru_cache(maxsize=256)
def _headings(text: str) -> tuple[tuple[int, int, str], ...]:
    found = ((block.start, text[block.start : block.end]) for block in blocks(text) if block.kind == "heading")
    return tuple((start, len(line) - len(line.lstrip("#")) or _LOWEST, plain(line)) for start, line in found)


def letters(text: str) -> str:
    """``text`` reduced to letters and digits in lower case, so that layout and punctuation do not matter."""
    return _NO_LETTER.sub("", text).casefold()


def _read(passage: Passage) -> Source:
    text = visible(passage)[:_LONGEST]
    spans = sentences_of(text)[:_MOST_SENTENCES]
    return Source(
        passage,
        tuple(text[start:end] for start, end in spans),
        letters(f"{passage.context} {text}") if text.strip() else "",
        tuple(letters(line) for line in text.splitlines() if "|" in line),
    )
