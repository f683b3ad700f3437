"""Readers of question and passage whose judgement can be reasoned about."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from selfright.domain.errors import ModelFilesDamaged
from selfright.domain.judgements import AnswerPlace, PairReading
from selfright.domain.passages import Language


@dataclass
class Favourite:
    """A reader for which a word is the answer to everything; notes what it was shown."""

    word: str
    name: str = "favourite"
    high: float = 3.0
    languages: Sequence[Language] = ("en",)
    seen: list[str] = field(default_factory=list)

    def read(self, question: str, passages: Sequence[str]) -> list[PairReading]:
        self.seen += passages
        return [self._judged(text) for text in passages]

    def _judged(self, text: str) -> PairReading:
        start = text.find(self.word)
        if start < 0:
            return PairReading(-3.0, ())
        return PairReading(self.high, (AnswerPlace(start, start + len(self.word), 1.0, 1.0),))


class Damaged(Favourite):
    """A reader whose file is not the one that shipped."""

    def read(self, question: str, passages: Sequence[str]) -> list[PairReading]:
        raise ModelFilesDamaged("reader.onnx should have another SHA-256; reinstall selfright")
