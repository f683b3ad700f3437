"""How directly each piece of the evidence answers: a linear model over its signals, weights in ``weights.json``.

The weights are written by ``training/fit_selection.py``, which asks of them that, among all pieces of the evidence, the
one that holds the answer comes first. Scores are log-odds: comparable within one question, not between questions.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from selfright.domain.ports import Embedder
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.generate.pieces import Piece
from selfright.roles.generate.shapes import BY_HAND, shape_signals
from selfright.roles.generate.signals import signals, with_cosines
from selfright.roles.grade.features import Asked

_MOST_EMBEDDED = 48
_LONGEST_EMBEDDED = 600

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SelectionModel:
    """Weights of the signals without and with cosines, and the embedder whose cosines they are."""

    embedder: str
    lexical: Weights
    semantic: Weights


class PieceScorer:
    """Scores pieces. ``embedder`` is used for English, and only if the weights know it."""

    def __init__(
        self, analyzer: TextAnalyzer, embedder: Embedder | None = None, model: SelectionModel | None = None
    ) -> None:
        self._analyzer = analyzer
        self._model = model or shipped_model()
        self._embedder = embedder if embedder and embedder.name == self._model.embedder else None

    def scores(self, questions: Sequence[Asked], pieces: Sequence[Piece]) -> list[list[float]]:
        """A list per question with one score per piece; the first question decides which pieces are embedded."""
        read = [signals(asked, pieces, self._analyzer) for asked in questions]
        shapes = [[self._shape(asked, piece) for piece in pieces] for asked in questions]
        lexical = _weighed(self._model.lexical, read, shapes)
        leading = self._leading(questions[0], pieces, lexical[0])
        if not leading:
            return lexical
        cosines = self._cosines(questions, pieces, leading)
        return _weighed(self._model.semantic, map(with_cosines, read, cosines), shapes)

    def _shape(self, asked: Asked, piece: Piece) -> float:
        found = shape_signals(asked, piece, self._analyzer)
        return sum(weight * found[name] for name, weight in BY_HAND.items())

    def _leading(self, asked: Asked, pieces: Sequence[Piece], scores: Sequence[float]) -> list[int]:
        """The English pieces that are worth an embedding, at most 48."""
        if self._embedder is None or asked.korean:
            return []
        english = [at for at, piece in enumerate(pieces) if piece.strip.passage.language == "en"]
        return sorted(english, key=lambda at: -scores[at])[:_MOST_EMBEDDED]

    def _cosines(
        self, questions: Sequence[Asked], pieces: Sequence[Piece], chosen: Sequence[int]
    ) -> Iterator[list[float]]:
        """One row per question; a piece that was not chosen gets the least of the row."""
        assert self._embedder is not None
        texts = [asked.text for asked in questions] + [pieces[at].text[:_LONGEST_EMBEDDED] for at in chosen]
        vectors = self._embedder.embed(texts)
        for row in vectors[: len(questions)] @ vectors[len(questions) :].T:
            known = dict(zip(chosen, map(float, row), strict=True))
            yield [known.get(at, min(known.values())) for at in range(len(pieces))]


def _weighed(weights: Weights, read: Iterable[list[dict[str, float]]], shapes: list[list[float]]) -> list[list[float]]:
    return [
        [shape + sum(weight * row[name] for name, weight in weights.items()) for row, shape in zip(*pair, strict=True)]
        for pair in zip(read, shapes, strict=True)
    ]


@cache
def shipped_model() -> SelectionModel:
    """The model that ships with the package."""
    stored = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return SelectionModel(stored["embedder"], stored["lexical"], stored["semantic"])
