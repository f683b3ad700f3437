"""The evidence an answer is held against, read once: passages, their sentences, and their text letter by letter."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from selfright.domain.passages import Hit, Passage, Strip
from selfright.domain.text import sentences_of
from selfright.roles.visible import visible

_NO_LETTER = re.compile(r"[\W_]+")
_MOST_PASSAGES = 24
_MOST_SENTENCES = 120
_LONGEST = 20_000


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


def letters(text: str) -> str:
    """``text`` reduced to letters and digits in lower case, so that layout and punctuation do not matter."""
    return _NO_LETTER.sub("", text).casefold()


def _read(passage: Passage) -> Source:
    text = visible(passage)[:_LONGEST]
    spans = sentences_of(text)[:_MOST_SENTENCES]
    return Source(
        passage,
        tuple(text[start:end] for start, end in spans),
        letters(f"{passage.heading} {text}") if text.strip() else "",
        tuple(letters(line) for line in text.splitlines() if "|" in line),
    )
