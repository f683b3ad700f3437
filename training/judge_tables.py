"""What the offline judges see of questions over indexes, as numbers, and what is right: the tables that they are fitted
to.

Every question is met twice where something answers it: with what the search brings, and without the passages that
answer. So each judge sees what is near and yet no answer. Tables are kept in a folder, one for each set and network.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfright import Selfright
from selfright.domain.judgements import PairReading
from selfright.domain.passages import Hit, Strip
from selfright.domain.ports import PairJudge, Tokenizer
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.answer_units import AnswerUnit, answer_units
from selfright.roles.grade.features import FEATURES, features
from selfright.roles.reading import QuestionFeatures, readings
from selfright.roles.selection import SIGNALS, VARIANTS, SelectionModel, UnitScorer
from selfright.roles.similarity import SentenceSimilarity
from training.asked_sets import AskedSet, Question
from training.fitting import Array

DEPTH = 10
UNKNOWN = -1
FIRST = {"in_context": 2.0, "pointing": 2.0, "meaning": 10.0}
"""Which pieces are looked at closer while nothing is fitted yet."""
SOFT = 0.6  # the share of an answer's words that the sentence which answers must have


@dataclass(frozen=True)
class Turn:
    """A question and what was found. Of passages and of pieces: signals (rows, names), labels (1, 0; -1 unknown).

    ``of`` is the passage of each piece, ``words`` how many it has. ``absent``: what answers was taken out.
    """

    dataset: str
    id: str
    question: str
    fold: int
    korean: bool
    absent: bool
    passages: Array
    answers: NDArray[np.int64]
    pieces: Array
    right: NDArray[np.int64]
    of: NDArray[np.int64]
    words: NDArray[np.int64]


class Remembering:
    """A ``PairJudge`` that reads no pair twice."""

    def __init__(self, judge: PairJudge) -> None:
        self.name, self.languages, self._judge = judge.name, judge.languages, judge
        self._known: dict[tuple[str, str], PairReading] = {}

    def read(self, text: str, passages: Sequence[str]) -> Sequence[PairReading]:
        """As the judge does."""
        new = [one for one in dict.fromkeys(passages) if (text, one) not in self._known]
        for one, found in zip(new, self._judge.read(text, new) if new else (), strict=True):
            self._known[text, one] = found
        return [self._known[text, one] for one in passages]


def turns(
    asked: AskedSet, reader: PairJudge, likeness: SentenceSimilarity, tokenizer: Tokenizer, cache: Path
) -> list[Turn]:
    """The turns of a set; from a file where they were made before."""
    kept = cache / f"turns-{reader.name}-{asked.name}.jsonl"
    if not kept.exists():
        place = cache / f"index-{asked.index}"
        new = not place.exists()
        with Selfright.open(place) as selfright:
            if new:
                selfright.add([_written(asked, cache)])
            statistics = selfright._engine.index.statistics()
            hits = [selfright.retrieve(question.text, k=DEPTH).hits for question in asked.questions]
        maker = Maker(Remembering(reader), likeness, TextAnalyzer(tokenizer, statistics))
        lines = [json.dumps(turn) for turn in maker.made(asked, hits)]
        kept.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with kept.open(encoding="utf-8") as lines_of:
        return [_read(json.loads(line)) for line in lines_of]


def _written(asked: AskedSet, cache: Path) -> Path:
    if isinstance(asked.documents, Path):
        return asked.documents
    path = cache / f"documents-{asked.index}.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in asked.documents) + "\n", encoding="utf-8")
    return path


def _read(stored: dict[str, Any]) -> Turn:
    whole = ("answers", "right", "of", "words")
    shapes = {"passages": len(FEATURES), "pieces": len(SIGNALS)}
    arrays = {name: np.array(stored[name], dtype=np.int64) for name in whole}
    floats = {name: np.array(stored[name], dtype=float).reshape(-1, width) for name, width in shapes.items()}
    return Turn(**{**stored, **arrays, **floats})


@dataclass(frozen=True)
class Maker:
    """Makes turns as the product's judges would see them."""

    reader: PairJudge
    likeness: SentenceSimilarity
    analyzer: TextAnalyzer

    def made(self, asked: AskedSet, hits: Sequence[Sequence[Hit]]) -> Iterator[dict[str, Any]]:
        """The JSON form of a turn for each question, and of a second one without what answers."""
        first = {variant: {k: w for k, w in FIRST.items() if k in names} for variant, names in VARIANTS.items()}
        model = SelectionModel(self.reader.name, self.likeness.name, {}, first, 0.0)
        scorer = UnitScorer(self.analyzer, self.reader, self.likeness, model)
        for question, found in zip(asked.questions, hits, strict=True):
            labels = [question.label(hit.passage) for hit in found]
            yield from self._turn(asked.name, question, found, labels, scorer, absent=False)
            if 1 in labels:
                left = [hit for hit, label in zip(found, labels, strict=True) if label == 0]
                yield from self._turn(asked.name, question, left, [0] * len(left), scorer, absent=True)

    def _turn(
        self,
        dataset: str,
        question: Question,
        hits: Sequence[Hit],
        labels: Sequence[int | None],
        scorer: UnitScorer,
        *,
        absent: bool,
    ) -> Iterator[dict[str, Any]]:
        pieces = answer_units(Strip(p, p.start, p.end, p.text, 1.0) for p in (hit.passage for hit in hits))
        if not hits or not pieces:
            return
        asked, passages = QuestionFeatures.of(question.text, self.analyzer), [hit.passage for hit in hits]
        read = readings(asked, passages, self.reader)
        rows = features(asked, hits, read, self.likeness.best(question.text, passages))
        variant, signals = scorer.signals(asked, pieces, hits)
        if variant != "both":
            return
        place = {passage.id: at for at, passage in enumerate(passages)}
        of = [place[piece.strip.passage.id] for piece in pieces]
        yield {
            "dataset": dataset,
            "id": question.id,
            "question": question.text,
            "fold": zlib.crc32(question.group.encode()) % 5,
            "korean": asked.korean,
            "absent": absent,
            "passages": [[round(row[name], 5) for name in FEATURES] for row in rows],
            "answers": [UNKNOWN if label is None else label for label in labels],
            "pieces": [[round(row[name], 5) for name in SIGNALS] for row in signals],
            "right": list(self._right(question, pieces, [labels[at] for at in of])),
            "of": of,
            "words": [len(piece.text.split()) for piece in pieces],
        }

    def _right(self, question: Question, pieces: Sequence[AnswerUnit], labels: Sequence[int | None]) -> Iterator[int]:
        best = self._likeliest(question, pieces, labels) if question.known == "sentence" and 1 in labels else None
        for piece, label in zip(pieces, labels, strict=True):
            if best is not None and label == 1:
                yield int(piece is best)
            else:
                known = question.piece_label(piece.text, label)
                yield UNKNOWN if known is None else known

    def _likeliest(
        self, question: Question, pieces: Sequence[AnswerUnit], labels: Sequence[int | None]
    ) -> AnswerUnit | None:
        """The piece with the most of the answer's words, and of the question's; None where it has too few of them."""
        answer, spoken = (self.analyzer.token_set(text) for text in (question.answers[0], question.spoken))
        said = [
            (piece, self.analyzer.token_set(piece.text))
            for piece, label in zip(pieces, labels, strict=True)
            if label == 1
        ]
        best, words = max(said, key=lambda one: 2 * len(answer & one[1]) + len((spoken - answer) & one[1]))
        return best if answer and len(answer & words) >= SOFT * len(answer) else None
