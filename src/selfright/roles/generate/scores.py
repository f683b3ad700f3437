"""How directly each piece of the evidence answers: a linear model over its signals, weights in ``weights.json``.

The weights are written by ``training/fit_selection.py``, which asks of them that, among all pieces of the evidence, the
one that holds the answer comes first. Scores are log-odds: comparable within one question, not between questions.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from selfright.domain.ports import Embedder
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.generate.pieces import Piece
from selfright.roles.generate.shapes import shape_score
from selfright.roles.generate.signals import signals
from selfright.roles.grade.features import Asked

_MOST_EMBEDDED = 48
_LONGEST_EMBEDDED = 600

Signals = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SelectionModel:
    """Weights of the signals without and with cosines, and the embedder whose cosines they are."""

    embedder: str
    lexical: Signals
    semantic: Signals


@dataclass(frozen=True, slots=True)
class Judged:
    """A piece's score, and the share (0…1) of the question's words in and around it."""

    score: float
    coverage: float


class PieceScorer:
    """Scores pieces. ``embedder`` is used for English, and only if the weights know it."""

    def __init__(
        self, analyzer: TextAnalyzer, embedder: Embedder | None = None, model: SelectionModel | None = None
    ) -> None:
        self._analyzer = analyzer
        self._model = model or shipped_model()
        self._embedder = embedder if embedder and embedder.name == self._model.embedder else None

    def judge(self, questions: Sequence[Asked], pieces: Sequence[Piece]) -> list[list[Judged]]:
        """A list per question with one judgement per piece; the first question decides which pieces are embedded."""
        rows: Sequence[Sequence[Signals]] = [signals(asked, pieces, self._analyzer) for asked in questions]
        weights = self._model.lexical
        first = [_score(weights, row) for row in rows[0]]
        english = [at for at, piece in enumerate(pieces) if piece.strip.passage.language == "en"]
        if self._embedder and english and not questions[0].korean:
            leading = sorted(english, key=lambda at: -first[at])[:_MOST_EMBEDDED]
            rows = list(_with_cosines(self._embedder, questions, pieces, rows, leading))
            weights = self._model.semantic
        return [
            [
                Judged(_score(weights, row) + shape_score(asked, piece), row["in_context"])
                for row, piece in zip(of_question, pieces, strict=True)
            ]
            for asked, of_question in zip(questions, rows, strict=True)
        ]


def _score(weights: Signals, row: Signals) -> float:
    return sum(weight * row[name] for name, weight in weights.items())


def _with_cosines(
    embedder: Embedder,
    questions: Sequence[Asked],
    pieces: Sequence[Piece],
    rows: Sequence[Sequence[Signals]],
    chosen: Sequence[int],
) -> Iterator[list[Signals]]:
    """The rows with cosines; a piece that was not chosen to be embedded gets the least of its question."""
    texts = [asked.text for asked in questions] + [pieces[at].text[:_LONGEST_EMBEDDED] for at in chosen]
    vectors = embedder.embed(texts)
    cosines = vectors[: len(questions)] @ vectors[len(questions) :].T
    for of_question, row in zip(rows, cosines, strict=True):
        known = dict(zip(chosen, map(float, row), strict=True))
        least = min(known.values())
        yield [{**signal, "cosine": known.get(at, least)} for at, signal in enumerate(of_question)]


@cache
def shipped_model() -> SelectionModel:
    """The model that ships with the package."""
    stored = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return SelectionModel(stored["embedder"], stored["lexical"], stored["semantic"])
