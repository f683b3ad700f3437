"""Rows of single sentences: one that answers, and others of its passage, about the same thing, that do not.

What an answer says is judged by reading it in a passage's place, and an answer is a sentence or two: passages alone do
not teach that a sentence on the right subject may leave the question open.
"""

import json
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from selfright.domain.text import sentence_spans
from training.pairs import read_rows
from training.reading_rows import PAIRS, Row, of_pair, on_page, pages_by_set

MOST_SENTENCES = 3
MOST_ROWS = 2  # that do not answer, for each question
LEAST_ANSWER = 2
_WORD = re.compile(r"[^\W_]+")


def sentence_rows(data: Path, extra: Path | None, seed: int) -> Iterator[Row]:
    """Two or three rows for each question whose answer is known to the letter."""
    chooser = random.Random(seed)
    for row in answered_rows(data, extra):
        yield from cut(row, chooser)


def answered_rows(data: Path, extra: Path | None) -> Iterator[Row]:
    """The rows to learn from whose answer is known to the letter."""
    for row in (*_of_pages(data), *_of_pairs(data), *(extra_rows(extra) if extra else ())):
        if row.label and row.start >= 0 and row.end - row.start >= LEAST_ANSWER and not row.left_out:
            yield row


def extra_rows(folder: Path) -> Iterator[Row]:
    """The passages of sets with titles and headings, the title shown alone."""
    for path in sorted(folder.glob("*.jsonl.xz")):
        name = path.name.partition(".")[0]
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield _extra(name, json.loads(line))


def _extra(name: str, row: dict[str, Any]) -> Row:
    text, start, end = row["passage"], -1, -1
    for answer in row["answers"] if row["label"] else ():
        if answer and (start := text.find(answer)) >= 0:
            end = start + len(answer)
            break
    about = 1 if row["label"] or row["neg_type"] == "same_document" else -1
    return Row(False, name, f"{name}/{row['group']}", row["query"], row["title"], text, row["label"], about, start, end)


def _of_pages(data: Path) -> Iterator[Row]:
    for pages in pages_by_set(data).values():
        for page in pages:
            yield from (on_page(page, question) for question in page.questions)


def _of_pairs(data: Path) -> Iterator[Row]:
    for name in PAIRS:
        yield from (of_pair(name, row) for row in read_rows(data / name / "dev" / "pairs.jsonl"))


def cut(row: Row, chooser: random.Random) -> Iterator[Row]:
    """The sentence that answers, at times with its neighbours, and two others, or runs of them, without the answer."""
    spans = list(sentence_spans(row.text))
    answer = row.text[row.start : row.end].casefold()
    holding = [n for n, (start, end) in enumerate(spans) if start <= row.start < end]
    if not holding or len(spans) < 2:
        return
    at = holding[0]
    yield _stretch(row, spans, *_around(at, at, len(spans), chooser))
    without = [n for n, (start, end) in enumerate(spans) if answer not in row.text[start:end].casefold()]
    asked = set(_WORD.findall(row.asked.casefold()))
    without.sort(key=lambda n: -_shared(asked, row.text[slice(*spans[n])]) + chooser.random() / 2)
    for n in without[:MOST_ROWS]:
        first = last = n
        while last + 1 in without and last - first + 1 < chooser.randint(1, MOST_SENTENCES):
            last += 1
        yield _stretch(row, spans, first, last)


def _around(first: int, last: int, count: int, chooser: random.Random) -> tuple[int, int]:
    for _ in range(chooser.choice((0, 0, 0, 1, 2))):
        if chooser.random() < 0.5 and first:
            first -= 1
        elif last + 1 < count:
            last += 1
    return first, last


def _stretch(row: Row, spans: Sequence[tuple[int, int]], first: int, last: int) -> Row:
    begin, stop = spans[first][0], spans[last][1]
    inside = begin <= row.start and row.end <= stop
    start, end = (row.start - begin, row.end - begin) if inside else (-1, -1)
    text = row.text[begin:stop]
    label = int(begin <= row.start < stop)
    return Row(False, row.dataset, row.group, row.asked, row.heading, text, label, 1, start, end)


def _shared(asked: set[str], text: str) -> int:
    return len(asked & set(_WORD.findall(text.casefold())))
