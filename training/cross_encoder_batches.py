"""What the reader learns from, a step at a time: clusters of pages that are near one another, and what is asked."""

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from tokenizers import Tokenizer
from torch.nn.utils.rnn import pad_sequence

from training.bm25 import Index
from training.cross_encoder_net import Batch, Reader
from training.pairs import Page, Question
from training.pairs_made import Maker

PASSAGE_TOKENS, QUESTION_TOKENS = 224, 32
CHARACTERS = 1_000  # of a longer passage a window is shown
SHARES = {
    "squad2": 9.0,
    "covidqa": 2.5,
    "canard": 1.4,
    "clapnq": 1.0,
    "medquad": 0.8,
    "mtrag": 0.5,
    "belebele_en": 0.5,
    "pubmedqa": 0.3,
}
CLUSTERS, NEAR, ASKED = 3, 2, 9
OTHERS = 0.4  # of the questions are also asked of a page that is near
MADE_WEIGHT, OTHER_WEIGHT = 0.35, 0.3
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class Pair:
    """A question of a page of the batch: which page, the labels, the weight, and the answer's characters."""

    page: int
    text: str
    label: int
    about: int
    weight: float
    start: int = -1
    end: int = -1


def words(text: str) -> list[str]:
    """Lower-case words, roughly cut to their stems, for finding near pages."""
    return [word[:6] for word in _WORD.findall(text.lower()) if len(word) > 2]


class Sampler:
    """Draws batches: clusters of pages that are near one another, each with its questions and made ones."""

    def __init__(self, pages: Sequence[Page], seed: int, gaps: int) -> None:
        self._pages = pages
        self._gaps = gaps
        self._random = random.Random(seed)
        self._maker = Maker(seed + 1)
        self._by_set: dict[str, list[int]] = defaultdict(list)
        self._asked: dict[str, list[int]] = defaultdict(list)
        self._index: dict[str, Index] = {}
        for number, page in enumerate(pages):
            self._by_set[page.dataset].append(number)
            if page.questions or gaps:
                self._asked[page.dataset].append(number)
        for name, numbers in self._by_set.items():
            self._index[name] = Index(words(f"{pages[n].heading} {pages[n].text}") for n in numbers)
        self._near: dict[tuple[int, int], list[int]] = {}

    def batch(self) -> tuple[list[Page], list[Pair]]:
        """Pages and the pairs on them."""
        names = list(self._asked)
        pages: list[Page] = []
        pairs: list[Pair] = []
        for name in self._random.choices(names, [SHARES[n] for n in names], k=CLUSTERS):
            self._cluster(name, pages, pairs)
        return pages, pairs

    def _cluster(self, name: str, pages: list[Page], pairs: list[Pair]) -> None:
        anchor = self._random.choice(self._asked[name])
        members = [anchor, *self._neighbours(name, anchor)]
        first = len(pages)
        drawn: list[tuple[int, Question]] = []
        originals = [self._pages[n] for n in members]
        for offset, original in enumerate(originals):
            drawn += [(first + offset, question) for question in self._questions(original, originals)]
            pages.append(original)
        for at, question in drawn:
            weight = MADE_WEIGHT if question.made else 1.0
            pairs.append(Pair(at, question.text, question.label, 1, weight, question.start, question.end))
            if question.made or self._random.random() > OTHERS:
                continue
            other = self._random.randrange(first, len(pages))
            answer = pages[at].text[question.start : question.end].lower() if question.start >= 0 else ""
            if other != at and not (answer and answer in pages[other].text.lower()):
                pairs.append(Pair(other, question.text, 0, 0, OTHER_WEIGHT))

    def _questions(self, page: Page, others: Sequence[Page]) -> list[Question]:
        """Some of what people asked, and made questions, edited ones beside their originals."""
        drawn = self._random.sample(page.questions, min(ASKED, len(page.questions)))
        gaps = self._maker.gaps(page, self._gaps)
        edited = [
            self._maker.edited(q, page, others)
            for q in [*drawn, *gaps]
            if q.label and self._random.random() < (0.7 if q.made else 0.25)
        ]
        return [*drawn, *gaps, *(q for q in edited if q)]

    def _neighbours(self, name: str, anchor: int) -> list[int]:
        page = self._pages[anchor]
        asked = self._random.choice(page.questions).text if page.questions else page.text[:300]
        key = (anchor, hash(asked))
        if key not in self._near:
            best = self._index[name].best(words(asked), 7)
            self._near[key] = [self._by_set[name][n] for n in best if self._by_set[name][n] != anchor]
        near = self._near[key]
        found = self._random.sample(near, min(NEAR, len(near)))
        while len(found) < NEAR:
            found.append(self._random.choice(self._by_set[name]))
        return found


def windowed(page: Page) -> Page:
    """A fixed window of a long page, around the first answer that is known, and the questions whose answer it shows."""
    low = 0
    spans = [q.start for q in page.questions if q.start >= 0]
    if len(page.text) > CHARACTERS and spans:
        low = max(0, min(min(spans) - CHARACTERS // 3, len(page.text) - CHARACTERS))
        low = page.text.rfind(" ", 0, low) + 1
    asked = [
        replace(q, start=q.start - low, end=min(q.end - low, CHARACTERS)) if q.start >= 0 else q
        for q in page.questions
        if q.start < 0 or low <= q.start < low + CHARACTERS - 20
    ]
    return replace(page, text=page.text[low : low + CHARACTERS], questions=tuple(asked))


class Encoder:
    """Text to batches. What the frozen layers made of a passage is remembered."""

    def __init__(self, tokenizer: Tokenizer, reader: Reader) -> None:
        self._tokenizer = tokenizer
        self._reader = reader
        self._read: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

    def ids(self, text: str, most: int) -> list[int]:
        """Word pieces with the marks of start and end, at most ``most``."""
        found: list[int] = self._tokenizer.encode(text).ids
        return found if len(found) <= most else [*found[: most - 1], found[-1]]

    def _states(self, text: str) -> tuple[torch.Tensor, torch.Tensor]:
        if text not in self._read:
            ids = torch.tensor([self.ids(text, PASSAGE_TOKENS)])
            self._read[text] = ids[0], self._reader.apart(ids)[0].half()
        return self._read[text]

    def batch(self, pages: Sequence[Page], pairs: Sequence[Pair]) -> tuple[Batch, torch.Tensor]:
        """The batch and (N, 2) token numbers of start and end, -100 where unknown."""
        texts = [shown(page.heading, page.text) for page in pages]
        ids, states = zip(*(self._states(text) for text in texts), strict=True)
        questions = [torch.tensor(self.ids(pair.text, QUESTION_TOKENS)) for pair in pairs]
        batch = Batch(
            pad_sequence(ids, batch_first=True),
            pad_sequence(states, batch_first=True).float(),
            pad_sequence(questions, batch_first=True),
            torch.tensor([pair.page for pair in pairs]),
        )
        return batch, self._ends(pages, texts, pairs)

    def _ends(self, pages: Sequence[Page], texts: Sequence[str], pairs: Sequence[Pair]) -> torch.Tensor:
        encodings = [self._tokenizer.encode(text) for text in texts]
        ends = torch.full((len(pairs), 2), -100)
        for number, pair in enumerate(pairs):
            shift = len(shown(pages[pair.page].heading, ""))
            if pair.start >= 0:
                low = encodings[pair.page].char_to_token(pair.start + shift)
                high = encodings[pair.page].char_to_token(max(pair.start, pair.end - 1) + shift)
                if low is not None and high is not None and high < PASSAGE_TOKENS - 1:
                    ends[number] = torch.tensor([low, high])
        return ends


def shown(heading: str, text: str) -> str:
    """What the reader sees of a passage."""
    return f"{heading}\n{text}" if heading else text
