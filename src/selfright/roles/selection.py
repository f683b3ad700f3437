"""How directly each piece of the evidence answers: a linear model over what was read, meant and said.

The weights (``selection.json``) are fitted by ``training/fit_judges.py``, which asks of them that, among all pieces of
the evidence, the one that holds the answer comes first. Scores are log-odds: comparable within one question.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from selfright.domain.file_names import full_title
from selfright.domain.passages import Hit
from selfright.domain.ports import PairJudge
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.answer_units import AnswerUnit
from selfright.roles.questions import question_parts
from selfright.roles.reading import EDGE, QuestionFeatures, Reading, read_pairs, readings, space_out
from selfright.roles.similarity import SentenceSimilarity

SIGNALS = (
    "coverage",  # idf share of the question's terms in the piece
    "in_context",  # … in the piece, its lead-in, its headings and the piece before it
    "place",  # 1 in what the search brought first, 1/2 in the second …
    "pointing",  # the chance that the passage's answer stands in it, by the network; 0 when it was not read
    "alone",  # log-odds, over ten, that the piece answers by itself, under its title
    "meaning",  # the cosine of question and piece
    "passage",  # … of question and passage, as far as it is behind the best
)
_READ, _MEANT = ("pointing", "alone"), ("meaning", "passage")
VARIANTS = {
    "words": ("coverage", "in_context", "place"),
    "read": ("in_context", "place", *_READ),
    "meant": ("in_context", *_MEANT),
    "both": ("in_context", *_READ, *_MEANT),
}
"""The signals that count, by what is known: words alone, what the network reads, cosines, or both.

Two more were weighed and left out, each field set held out in turn (first piece right, mean of four sets: 0.457 with
both, 0.539 without): how the network reads the passage's window, which says *whether* it answers, not which sentence
does, and the cosine of the piece with its neighbours.
"""

CLOSER = "alone"
"""Known only of the pieces that are ahead without it; the others get the least of these."""
AHEAD = 14  # pieces; reading them takes about 60 ms
Signals = dict[str, float]


@dataclass(frozen=True, slots=True)
class SelectionModel:
    """Weights by variant; ``before`` are those without what is known only of the pieces that are ahead.

    ``reader`` and ``embedder`` name what the weights were fitted on. A strip is kept whose best piece is at most
    ``margin`` (log-odds) behind the best of all.
    """

    reader: str
    embedder: str
    weights: Mapping[str, Mapping[str, float]]
    before: Mapping[str, Mapping[str, float]]
    margin: float


@dataclass(frozen=True, slots=True)
class ScoredPiece:
    """A piece's score, and the share (0…1) of the question's words in and around it."""

    score: float
    coverage: float


class UnitScorer:
    """Scores pieces. ``reader`` is asked where the answer stands in their passages, and ``likeness`` how near each is
    to the question, if the weights know them.
    """

    def __init__(
        self,
        analyzer: TextAnalyzer,
        reader: PairJudge | None = None,
        likeness: SentenceSimilarity | None = None,
        model: SelectionModel | None = None,
    ) -> None:
        self._analyzer = analyzer
        self.model = model or load_model()
        self._reader = reader if reader is not None and reader.name == self.model.reader else None
        self._likeness = likeness if likeness is not None and likeness.name == self.model.embedder else None

    @property
    def goes_by_words(self) -> bool:
        """Whether nothing but words is known."""
        return self._reader is None and self._likeness is None

    @property
    def knows_meaning(self) -> bool:
        """Whether pieces are compared with the question by an encoder."""
        return self._likeness is not None

    def judge(
        self, asked: QuestionFeatures, pieces: Sequence[AnswerUnit], hits: Sequence[Hit] = ()
    ) -> list[ScoredPiece]:
        """One judgement per piece; ``hits`` are what the search brought, the best first."""
        if not pieces:
            return []
        variant, rows = self.signals(asked, pieces, hits)
        weights = self.model.weights[variant]
        return [ScoredPiece(weigh(weights, row), row["in_context"]) for row in rows]

    def judge_parts(
        self, question: str, pieces: Sequence[AnswerUnit], hits: Sequence[Hit] = ()
    ) -> list[list[ScoredPiece]]:
        """One judgement per piece by the whole question, then by each of its parts, if it has several."""
        for title in {piece.strip.passage.title for piece in pieces}:  # it says nothing of which piece is meant
            question = question.removeprefix(f"{title}: ")
        parts = question_parts(question)
        texts = (question, *(parts if len(parts) > 1 else ()))
        return [self.judge(QuestionFeatures.of(text, self._analyzer), pieces, hits) for text in texts]

    def signals(
        self, asked: QuestionFeatures, pieces: Sequence[AnswerUnit], hits: Sequence[Hit]
    ) -> tuple[str, list[Signals]]:
        """The variant that fits what is known, and a dictionary by its signals for each piece."""
        order = search_ranks(pieces, hits)
        rows = _words(asked, pieces, order)
        read = readings(asked, [piece.strip.passage for piece in _one_each(pieces, order)], self._reader)
        meant = self._meant(asked, pieces, hits)
        for row, piece, own in zip(rows, pieces, meant or [{}] * len(pieces), strict=True):
            row.update(own)
            if read:
                row["pointing"] = _pointing(piece, read.get(piece.strip.passage.id))
        variant = ("both" if meant else "read") if read else "meant" if meant else "words"
        self._look_closer(asked, pieces, rows, variant)
        return variant, rows

    def _meant(
        self, asked: QuestionFeatures, pieces: Sequence[AnswerUnit], hits: Sequence[Hit]
    ) -> list[Signals] | None:
        like = self._likeness.cosines(asked.text, [piece.text for piece in pieces]) if self._likeness else None
        if like is None:
            return None
        cosines = {hit.passage.id: hit.cosine for hit in hits if hit.cosine is not None}
        best = max(cosines.values(), default=0.0)
        behind = [cosines.get(piece.strip.passage.id, best) - best for piece in pieces]
        return [{"meaning": one, "passage": far} for one, far in zip(like, behind, strict=True)]

    def _look_closer(
        self, asked: QuestionFeatures, pieces: Sequence[AnswerUnit], rows: Sequence[Signals], variant: str
    ) -> None:
        """Adds what is read of the pieces that are ahead."""
        scores = [weigh(self.model.before[variant], row) for row in rows]
        ahead = sorted(range(len(rows)), key=lambda at: -scores[at])[:AHEAD]
        asks = self._reader if variant in ("read", "both") else None
        read = read_pairs(asks, asked.text, [by_itself(pieces[at]) for at in ahead]) if asks else None
        found = dict(zip(ahead, [_tenth(one.score) for one in read or ()], strict=False))
        least = min(found.values(), default=0.0)
        for at, row in enumerate(rows):
            row[CLOSER] = found.get(at, least)


def weigh(weights: Mapping[str, float], row: Mapping[str, float]) -> float:
    """The weighted sum."""
    return sum(weight * row[name] for name, weight in weights.items())


def search_ranks(pieces: Sequence[AnswerUnit], hits: Sequence[Hit]) -> dict[str, int]:
    """Passage id → its place in the search's order, from 0; what the search did not bring now comes after it."""
    names = (*(hit.passage.id for hit in hits), *(piece.strip.passage.id for piece in pieces))
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _one_each(pieces: Sequence[AnswerUnit], order: Mapping[str, int]) -> list[AnswerUnit]:
    """A piece of each passage, in the search's order."""
    first = {piece.strip.passage.id: piece for piece in reversed(pieces)}
    return sorted(first.values(), key=lambda piece: order[piece.strip.passage.id])


def by_itself(piece: AnswerUnit) -> str:
    """What is read of a piece alone: its title, what introduces it or the heading above it, and its text."""
    said = " ".join(filter(None, (piece.lead, piece.text)))
    passage = piece.strip.passage
    above = (full_title(passage.document_id, passage.title), "" if piece.lead else piece.under)
    return space_out("\n".join([*filter(None, above), said]))


def _lead_in(piece: AnswerUnit) -> str:
    """What stands before the piece and leads to it; may be empty."""
    return piece.lead or (piece.before.text if piece.before else piece.under)


def _words(asked: QuestionFeatures, pieces: Sequence[AnswerUnit], order: Mapping[str, int]) -> list[Signals]:
    places, share = cache(asked.matcher.places), asked.matcher.share
    rows = []
    for piece in pieces:
        passage = piece.strip.passage
        own, heading = set(places(piece.text)), set(places(passage.context))
        rows.append(
            {
                "coverage": share(own),
                "in_context": share(own | heading | set(places(_lead_in(piece)))),
                "place": 1 / (1 + order[passage.id]),
            }
        )
    return rows


def _pointing(piece: AnswerUnit, reading: Reading | None) -> float:
    start = piece.start - piece.strip.passage.start
    return reading.pointing(start, start + max(1, piece.end - piece.start)) if reading else 0.0


def _tenth(score: float) -> float:
    return max(-EDGE, min(EDGE, score)) / 10 if math.isfinite(score) else 0.0


@cache
def load_model() -> SelectionModel:
    """The model that ships with the package."""
    stored: Any = json.loads(files("selfright.roles").joinpath("selection.json").read_text(encoding="utf-8"))
    return SelectionModel(
        stored["reader"], stored["embedder"], stored["weights"], stored["before"], float(stored["margin"])
    )
