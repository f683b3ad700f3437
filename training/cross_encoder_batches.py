"""What the reader learns from: questions on the passages they are asked of, and on others that are near."""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tokenizers import Tokenizer as Pieces

from selfright.domain.passages import Passage
from selfright.domain.ports import Tokenizer
from selfright.domain.text import language_of
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.features import Asked, Read
from selfright.roles.grade.neural import CHARACTERS, window
from training.bm25 import Index
from training.pairs import Page, Question

PASSAGE_PIECES, QUESTION_PIECES = 224, 32
UNKNOWN = -100
# How often the questions of a set are seen, and on how many passages that do not answer them each time.
COPIES = {
    "squad2": (4.0, 0.15),
    "covidqa": (4.0, 1.0),
    "canard": (1.0, 0.0),
    "clapnq": (3.0, 0.0),
    "belebele_en": (1.0, 1.0),
    "medquad": (0.4, 1.0),
    "mtrag": (2.0, 1.0),
    "pubmedqa": (0.3, 1.0),
}
NEAR = 4
OTHER_WEIGHT = 0.5
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Example:
    """A question and what is shown of a passage, as word pieces; ``ends`` are the answer's pieces or ``UNKNOWN``."""

    ids: tuple[int, ...]
    question: int  # pieces of the question, the marks around it included
    label: int
    about: int
    weight: float
    ends: tuple[int, int] = (UNKNOWN, UNKNOWN)


class Encoder:
    """Makes examples: a window of each passage is shown, chosen as the grader chooses it."""

    def __init__(self, pieces: Pieces, analyzer: TextAnalyzer, chooser: random.Random) -> None:
        self._pieces, self._analyzer, self._random = pieces, analyzer, chooser

    def example(self, page: Page, question: Question, weight: float, about: int = 1, *, moved: bool = True) -> Example:
        """``moved``: where the window that would be shown misses the answer, one that holds it is shown instead."""
        passage = Passage("", "", page.heading, page.text, 0, len(page.text), language=language_of(page.text))
        asked = Asked.of(question.text, self._analyzer)
        read = Read.of(asked, passage)
        start, end = window(asked, read)
        if not page.text.startswith(read.text):  # something that no reader sees was taken out: places would be off
            page, question = replace(page, text=read.text), replace(question, start=-1, end=-1)
        if moved and question.start >= 0 and not start <= question.start < question.end <= end:
            start = max(0, question.start - self._random.randrange(CHARACTERS // 5, CHARACTERS * 4 // 5))
            start = page.text.rfind(" ", 0, start) + 1
            end = max(question.end, min(len(page.text), start + CHARACTERS))
        before = f"{page.heading}\n" if page.heading else ""
        shown = self._pieces.encode(before + page.text[start:end])
        first = cut(self._pieces.encode(question.text).ids, QUESTION_PIECES)
        shift = len(before) - start
        ends = (UNKNOWN, UNKNOWN)
        if start <= question.start < question.end <= end:
            low = shown.char_to_token(question.start + shift)
            high = shown.char_to_token(max(question.start, question.end - 1) + shift)
            if low is not None and high is not None and high < PASSAGE_PIECES - 1:
                ends = (low + len(first) - 1, high + len(first) - 1)
        ids = (*first, *cut(shown.ids, PASSAGE_PIECES)[1:])
        return Example(ids, len(first), question.label, about, weight, ends)


def cut(ids: list[int], most: int) -> list[int]:
    """At most ``most`` word pieces, the mark of the end kept."""
    return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]


def words(text: str) -> list[str]:
    """Lower-case words, roughly cut to their stems, for finding near pages."""
    return [word[:6] for word in _WORD.findall(text.lower()) if len(word) > 2]


def examples(pages: Sequence[Page], pieces: Pieces, tokenizer: Tokenizer, seed: int) -> list[Example]:
    """Every question as often as its set says, on its own page and on others near it; shuffled."""
    chooser = random.Random(seed)
    by_set: dict[str, list[Page]] = defaultdict(list)
    for page in pages:
        by_set[page.dataset].append(page)
    found: list[Example] = []
    for name, members in by_set.items():
        encoder = encoder_of(members, pieces, tokenizer, chooser)
        near = Index(words(f"{page.heading} {page.text}") for page in members)
        copies, others = COPIES[name]
        asked = [(page, question) for page in members for question in page.questions]
        for page, question in _repeated(asked, copies, chooser):
            found.append(encoder.example(page, question, 1.0))
            other = _near(page, question, members, near, chooser) if chooser.random() < others else None
            if other:
                found.append(encoder.example(other, Question(question.text, 0), OTHER_WEIGHT, about=0))
    chooser.shuffle(found)
    return found


def encoder_of(pages: Sequence[Page], pieces: Pieces, tokenizer: Tokenizer, chooser: random.Random) -> Encoder:
    """An encoder that knows which words are rare on these pages."""
    statistics = Index(tokenizer.tokens(f"{page.heading}\n{page.text}") for page in pages).statistics
    return Encoder(pieces, TextAnalyzer(tokenizer, statistics), chooser)


def _repeated(
    asked: list[tuple[Page, Question]], copies: float, chooser: random.Random
) -> Iterator[tuple[Page, Question]]:
    for _ in range(int(copies)):
        yield from asked
    yield from chooser.sample(asked, int(len(asked) * (copies % 1)))


def _near(page: Page, question: Question, members: Sequence[Page], near: Index, chooser: random.Random) -> Page | None:
    """A page that the question's words bring and that does not hold its answer."""
    answer = page.text[question.start : question.end].lower() if question.start >= 0 else ""
    best = (members[n] for n in near.best(words(question.text), NEAR + 2))
    fitting = [
        other
        for other in best
        if other is not page
        and not (answer and answer in other.text.lower())
        and all(known.text != question.text for known in other.questions)
    ]
    return chooser.choice(fitting[:NEAR]) if fitting else None


def batches(found: list[Example], size: int, chooser: random.Random) -> Iterator[list[Example]]:
    """All examples once, those of about one length together."""
    for start in range(0, len(found), 12 * size):
        block = sorted(found[start : start + 12 * size], key=lambda example: len(example.ids))
        parts = [block[at : at + size] for at in range(0, len(block), size)]
        chooser.shuffle(parts)
        yield from parts
