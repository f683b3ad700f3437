"""The evidence an answer is held against, read once: passages, their sentences, and their text letter by letter."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from selfright.domain.passages import Hit, Passage, Strip
from selfright.domain.text import sentences_of
from selfright.roles.planted import evidence_in

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


def sources(strips: Iterable[Strip], hits: Iterable[Hit], question: str = "") -> tuple[Source, ...]:
    """The passages that strips and hits come from, each once, those of the strips first; at most 24.

    They are read without what was planted in them.
    """
    passages = {passage.id: passage for passage in (*(s.passage for s in strips), *(h.passage for h in hits))}
    return tuple(_read(passage, question) for passage in list(passages.values())[:_MOST_PASSAGES])


def letters(text: str) -> str:
    """``text`` reduced to letters and digits in lower case, so that layout and punctuation do not matter."""
    return _NO_LETTER.sub("", text).casefold()


def _read(passage: Passage, question: str) -> Source:
    text = evidence_in(question, passage)[:_LONGEST]
    spans = sentences_of(text)[:_MOST_SENTENCES]
    return Source(
        passage,
        tuple(text[start:end] for start, end in spans),
        letters(f"{passage.heading} {text}") if text.strip() else "",
        tuple(letters(line) for line in text.splitlines() if "|" in line),
    )
