"""How directly each piece of the evidence answers: a linear model over its signals, weights in ``weights.json``.

The weights are written by ``training/fit_selection.py``, which asks of them that, among all pieces of the evidence, the
one that holds the answer comes first. Scores are log-odds: comparable within one question, not between questions.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from selfright.domain.ports import PairJudge
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.generate.pieces import Piece
from selfright.roles.generate.shapes import shape_score
from selfright.roles.generate.signals import read_signals, signals
from selfright.roles.grade.answer_spans import answer_spans
from selfright.roles.grade.features import Asked

Signals = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SelectionModel:
    """Weights of the signals by words, and with what the reader of that name says."""

    reader: str
    lexical: Signals
    read: Signals


@dataclass(frozen=True, slots=True)
class Judged:
    """A piece's score, and the share (0…1) of the question's words in and around it."""

    score: float
    coverage: float


class PieceScorer:
    """Scores pieces. ``reader`` is asked where the answer stands in their passages, if the weights know it."""

    def __init__(
        self, analyzer: TextAnalyzer, reader: PairJudge | None = None, model: SelectionModel | None = None
    ) -> None:
        self._analyzer = analyzer
        self._model = model or shipped_model()
        self._reader = reader if reader is not None and reader.name == self._model.reader else None

    def judge(self, questions: Sequence[Asked], pieces: Sequence[Piece]) -> list[list[Judged]]:
        """A list per question with one judgement per piece."""
        return [self._judged(asked, pieces) for asked in questions]

    def _judged(self, asked: Asked, pieces: Sequence[Piece]) -> list[Judged]:
        rows = signals(asked, pieces, self._analyzer)
        weights = self._model.lexical
        passages = {piece.strip.passage.id: piece.strip.passage for piece in pieces}
        spans = answer_spans(asked, list(passages.values()), self._reader)
        if spans:
            weights = self._model.read
            rows = [{**row, **read} for row, read in zip(rows, read_signals(pieces, spans), strict=True)]
        return [
            Judged(_score(weights, row) + shape_score(asked, piece), row["in_context"])
            for row, piece in zip(rows, pieces, strict=True)
        ]


def _score(weights: Signals, row: Signals) -> float:
    return sum(weight * row[name] for name, weight in weights.items())


@cache
def shipped_model() -> SelectionModel:
    """The model that ships with the package."""
    stored = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return SelectionModel(stored["reader"], stored["lexical"], stored["read"])
