"""Rows of real documentation: a section headed by a question, under its own language and the other one.

The heading is the question and is not shown; what is shown stands under the document's title alone. The same section
in the other language answers it too, which is how a reader learns to look through the language. Sections beside it in
its document, those that share the most words with it first, do not answer it.
"""

import json
import lzma
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from selfright.domain.text import sentence_spans
from training.reading_rows import Row

LEAST, MOST = 80, 6_000  # characters of a section
BESIDE = 2  # sections of the same document that do not answer, for each question in each language
SHORT = 0.25  # of the sections are shown by their first sentences alone, as a drafted answer would be
FIRST = 2
SHORTEST_QUESTION = 10  # characters
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"^\s*(?:\d+[.)]\s*)+")

Section = Mapping[str, Any]


def documentation_rows(path: Path, seed: int) -> Iterator[Row]:
    """One row that answers and up to two that do not for each question, in each language that has its section."""
    chooser = random.Random(seed)
    documents, same = _sections(path)
    for sections in documents.values():
        for section in sections:
            question = _NUMBER.sub("", section["heading"])
            if section["is_question"] and len(question) >= SHORTEST_QUESTION:
                for answer in same[section["key"]].values() if section["key"] else (section,):
                    beside = documents[_document(answer)]
                    yield from _rows(question, answer, beside, chooser)


def _sections(path: Path) -> tuple[dict[str, list[Section]], dict[str, dict[str, Section]]]:
    documents: dict[str, list[Section]] = defaultdict(list)
    same: dict[str, dict[str, Section]] = defaultdict(dict)
    for section in read_sections(path):
        if LEAST <= len(section["text"]) <= MOST:
            documents[_document(section)].append(section)
            same[section["key"]].setdefault(section["lang"], section)
    return documents, same


def read_sections(path: Path) -> Iterator[Section]:
    """All sections of a compressed file."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _document(section: Section) -> str:
    return f"{section['lang']}/{section['repo']}/{section['doc']}"


def _rows(question: str, answer: Section, beside: Sequence[Section], chooser: random.Random) -> Iterator[Row]:
    yield _row(question, answer, 1, chooser)
    asked = _pieces(question)
    others = [other for other in beside if other is not answer]
    others.sort(key=lambda other: -len(asked & _pieces(other["text"])) + 2 * chooser.random())
    for other in others[:BESIDE]:
        yield _row(question, other, 0, chooser)


def _row(question: str, section: Section, label: int, chooser: random.Random) -> Row:
    group, text = f"documentation/{section['repo']}", section["text"]
    if chooser.random() < SHORT:
        text = text[: list(sentence_spans(text))[:FIRST][-1][1]]
    return Row(False, "documentation", group, question, section["title"], text, label, 1)


def _pieces(text: str) -> set[str]:
    """Words, and for Korean their first two syllables, by which two texts share something."""
    return {word[:2] if "가" <= word[0] <= "힣" else word for word in _WORD.findall(text.casefold())}
