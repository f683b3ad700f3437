"""How directly each piece of the evidence answers: a linear model over its signals, weights in ``weights.json``.

The weights are written by ``training/fit_selection.py``, which asks of them that, among all pieces of the evidence, the
one that holds the answer comes first. Scores are log-odds: comparable within one question, not between questions.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

from selfright.domain.ports import PairJudge
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.extractive_units import Piece
from selfright.roles.generate.features import feature_score
from selfright.roles.generate.signals import read_signals, signals, surroundings
from selfright.roles.grade.answer_spans import answer_spans
from selfright.roles.grade.features import Asked
from selfright.roles.likeness import Likeness

Signals = Mapping[str, float]

_LOOKED_AROUND = 12  # embedding what stands around a piece takes about 10 ms


@dataclass(frozen=True, slots=True)
class SelectionModel:
    """Weights of the signals, by what is known beside the words: nothing (``lexical``), what the reader named
    ``reader`` says (``read``), how like the question the encoder named ``embedder`` finds a piece (``meant``), or
    ``both``.
    """

    reader: str
    embedder: str
    lexical: Signals
    read: Signals
    meant: Signals
    both: Signals

    def weights(self, *, was_read: bool, is_meant: bool) -> Signals:
        """Those for what is known."""
        if is_meant:
            return self.both if was_read else self.meant
        return self.read if was_read else self.lexical


@dataclass(frozen=True, slots=True)
class ScoredPiece:
    """A piece's score, and the share (0…1) of the question's words in and around it."""

    score: float
    coverage: float


class PieceScorer:
    """Scores pieces. ``reader`` is asked where the answer stands in their passages, and ``likeness`` how near each is
    to the question, if the weights know them.
    """

    def __init__(
        self,
        analyzer: TextAnalyzer,
        reader: PairJudge | None = None,
        likeness: Likeness | None = None,
        model: SelectionModel | None = None,
    ) -> None:
        self._analyzer = analyzer
        self._model = model or shipped_model()
        self._reader = reader if reader is not None and reader.name == self._model.reader else None
        self._likeness = likeness if likeness is not None and likeness.name == self._model.embedder else None

    @property
    def knows_meaning(self) -> bool:
        """Whether pieces are compared with the question by an encoder."""
        return self._likeness is not None

    def judge(self, questions: Sequence[Asked], pieces: Sequence[Piece]) -> list[list[ScoredPiece]]:
        """A list per question with one judgement per piece."""
        return [self._judged(asked, pieces) for asked in questions]

    def _judged(self, asked: Asked, pieces: Sequence[Piece]) -> list[ScoredPiece]:
        rows: list[Signals] = list(signals(asked, pieces, self._analyzer))
        passages = {piece.strip.passage.id: piece.strip.passage for piece in pieces}
        spans = answer_spans(asked, list(passages.values()), self._reader)
        if spans:
            rows = [{**row, **read} for row, read in zip(rows, read_signals(pieces, spans), strict=True)]
        like = self._likeness.cosines(asked.text, [piece.text for piece in pieces]) if self._likeness else None
        weights = self._model.weights(was_read=bool(spans), is_meant=bool(like))
        if like:
            rows = [{**row, "meaning": cosine, "around": 0.0} for row, cosine in zip(rows, like, strict=True)]
            rows = self._looked_around(asked, pieces, rows, weights)
        return [
            ScoredPiece(_score(weights, row) + feature_score(asked, piece), row["in_context"])
            for row, piece in zip(rows, pieces, strict=True)
        ]

    def _looked_around(
        self, asked: Asked, pieces: Sequence[Piece], rows: Sequence[Signals], weights: Signals
    ) -> list[Signals]:
        """The rows with what stands around the pieces that are ahead so far; the others get the least of those."""
        scores = [_score(weights, row) for row in rows]
        ahead = sorted(range(len(rows)), key=lambda at: -scores[at])[:_LOOKED_AROUND]
        texts = surroundings(pieces)
        near = self._likeness.cosines(asked.text, [texts[at] for at in ahead]) if self._likeness else None
        found = dict(zip(ahead, near or (), strict=False))
        least = min(found.values(), default=0.0)
        return [{**row, "around": found.get(at, least)} for at, row in enumerate(rows)]


def _score(weights: Signals, row: Signals) -> float:
    return sum(weight * row[name] for name, weight in weights.items())


@cache
def shipped_model() -> SelectionModel:
    """The model that ships with the package."""
    stored = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return SelectionModel(*(stored[field.name] for field in fields(SelectionModel)))
