"""Rows for the network that reads pairs, made by editing texts: a name, a number or a negation decides.

Real sets hold few pairs in which one word makes the difference. Here a question that a page answers gets another name
or number, so that the page no longer answers it; a sentence of a page is a claim that the page supports, and one with
another number, another name of the same page or a negation is a claim that it contradicts; an answer from the page
beside its question is supported, another name or number in its place is not.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from selfright.domain.ports import Tokenizer
from training.pairs import Page, Question
from training.reading_rows import CONTRADICTED, NOT_SUPPORTED, SUPPORTED, Row, Windows

PAGES_EDITED = ("squad2", "covidqa", "clapnq", "belebele_en", "belebele_ko", "medquad", "mtrag", "pubmedqa")
QUESTIONS, CLAIMS, ANSWERS = 0.5, 0.6, 0.6  # rows for each question, page and answer
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w'’-]+(?: (?:of |the )?[A-Z][\w'’-]+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SENTENCE = re.compile(r"[^.!?\n]{30,260}?[.!?](?=\s|$)")
_NEGATIONS = (
    (re.compile(r"\b(is|are|was|were|can|could|will|would|should|must|has|have|had)\b (?!not\b)"), r"\1 not "),
    (re.compile(r"\b(is|are|was|were|can|could|will|would|should|must|has|have|had) not\b"), r"\1"),
    (re.compile(r"있다(?=[.\s]|$)"), "없다"),
    (re.compile(r"없다(?=[.\s]|$)"), "있다"),
    (re.compile(r"했다(?=[.\s]|$)"), "하지 않았다"),
    (re.compile(r"한다(?=[.\s]|$)"), "하지 않는다"),
    (re.compile(r"된다(?=[.\s]|$)"), "되지 않는다"),
    (re.compile(r"되었다(?=[.\s]|$)"), "되지 않았다"),
    (re.compile(r"이었다(?=[.\s]|$)|였다(?=[.\s]|$)"), "가 아니었다"),
    (re.compile(r"이다(?=[.\s]|$)"), "이 아니다"),
    (re.compile(r"있습니다"), "없습니다"),
    (re.compile(r"합니다"), "하지 않습니다"),
)


class Names:
    """Names and numbers of a set of pages, to put in the place of others."""

    def __init__(self, pages: Sequence[Page], chooser: random.Random) -> None:
        self._random = chooser
        self._names = sorted({name for page in pages for name in _NAME.findall(page.text)}) or ["Ashgrove"]

    def other(self, found: str, page: str) -> str:
        """A number like ``found`` but for its digits, or a name from the page or, half the time, from elsewhere."""
        if found[0].isdigit():
            return self._number(found, page)
        near = [name for name in set(_NAME.findall(page)) if name not in found and found not in name]
        if near and self._random.random() < 0.5:
            return self._random.choice(sorted(near))
        return next((n for n in self._random.sample(self._names, min(8, len(self._names))) if n != found), "Ashgrove")

    def _number(self, found: str, page: str) -> str:
        near = [n for n in set(_NUMBER.findall(page)) if n != found and len(n) == len(found)]
        if near and self._random.random() < 0.5:
            return self._random.choice(sorted(near))
        digits = list(found)
        for _ in range(9):
            at = self._random.choice([n for n, one in enumerate(digits) if one.isdigit()])
            digits[at] = self._random.choice("123456789")
            if "".join(digits) != found:
                break
        return "".join(digits)


def edited_rows(
    by_set: dict[str, list[Page]], tokenizer: Tokenizer, seed: int, *, questions_only: bool = False
) -> Iterator[Row]:
    """Edited questions, sentences and answers of the pages that are not left out, each cut to a window."""
    chooser = random.Random(seed + 1_000)
    for name in PAGES_EDITED:
        pages = [page for page in by_set[name] if not page.left_out]
        names = Names(pages, chooser)
        windows = Windows((f"{page.heading}\n{page.text}" for page in pages), tokenizer, chooser)
        for page in pages:
            for row in _of_page(page, names, chooser, questions_only=questions_only):
                yield windows.shown(row)


def _of_page(page: Page, names: Names, chooser: random.Random, *, questions_only: bool) -> Iterator[Row]:
    for question in page.questions:
        if question.label and chooser.random() < QUESTIONS:
            yield from _question(page, question, names, chooser)
        if question.label and question.start >= 0 and not questions_only and chooser.random() < ANSWERS:
            yield from _answer(page, question, names, chooser)
    if not questions_only and chooser.random() < CLAIMS:
        yield from _sentence(page, names, chooser)


def _question(page: Page, question: Question, names: Names, chooser: random.Random) -> Iterator[Row]:
    changed = _changed(question.text, page.text, names, chooser)
    if changed:
        yield Row(False, page.dataset, page.group, changed, page.heading, page.text, 0, 1)


def _answer(page: Page, question: Question, names: Names, chooser: random.Random) -> Iterator[Row]:
    answer = page.text[question.start : question.end]
    if len(answer) > 120:
        return
    base = Row(True, page.dataset, page.group, f"{question.text} {answer}", page.heading, page.text, SUPPORTED)
    if chooser.random() < 0.5:
        yield base
    elif answer[:1].isdigit() or _NAME.fullmatch(answer) or answer[:1].isupper():
        other = names.other(answer, page.text)
        yield replace(base, asked=f"{question.text} {other}", label=NOT_SUPPORTED)


def _sentence(page: Page, names: Names, chooser: random.Random) -> Iterator[Row]:
    sentences = _SENTENCE.findall(page.text)
    if not sentences:
        return
    sentence = chooser.choice(sentences).strip()
    base = Row(True, page.dataset, page.group, sentence, page.heading, page.text, SUPPORTED)
    drawn = chooser.random()
    if drawn < 0.35:
        yield base
        return
    changed = _changed(sentence, page.text, names, chooser) if drawn < 0.8 else _negated(sentence, chooser)
    if changed and changed not in page.text:
        yield replace(base, asked=changed, label=CONTRADICTED)


def _changed(text: str, page: str, names: Names, chooser: random.Random) -> str:
    """The text with one name or number replaced, or "" where it has none."""
    found = [*_NAME.finditer(text), *_NUMBER.finditer(text)]
    if not found:
        return ""
    one = chooser.choice(found)
    return text[: one.start()] + names.other(one[0], page) + text[one.end() :]


def _negated(text: str, chooser: random.Random) -> str:
    changed = {pattern.sub(instead, text, count=1) for pattern, instead in _NEGATIONS if pattern.search(text)}
    return chooser.choice(sorted(changed)) if changed else ""
