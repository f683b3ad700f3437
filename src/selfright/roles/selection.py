"""How directly each unit of the evidence answers: a linear model over what was read, meant and said.

The weights (``selection.json``) are fitted by ``training/fit_judges.py``, which asks of them that, among all units of
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
    "coverage",  # idf share of the question's terms in the unit
    "in_context",  # … in the unit, its lead-in, its headings and the unit before it
    "place",  # 1 in what the search brought first, 1/2 in the second …
    "pointing",  # the chance that the passage's answer stands in it, by the network; 0 when it was not read
    "alone",  # log-odds, over ten, that the unit answers by itself, under its title
    "meaning",  # the cosine of question and unit
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

Two more were weighed and left out, each field set held out in turn (first unit right, mean of four sets: 0.457 with
both, 0.539 without): how the network reads the passage's window, which says *whether* it answers, not which sentence
does, and the cosine of the unit with its neighbours.
"""

CLOSER = "alone"
"""Known only of the units that are ahead without it; the others get the least of these."""
AHEAD = 14  # units; reading them takes about 60 ms
Signals = dict[str, float]


@dataclass(frozen=True, slots=True)
class SelectionModel:
    """Weights by variant; ``before`` are those without what is known only of the units that are ahead.

    ``reader`` and ``embedder`` name what the weights were fitted on. A strip is kept whose best unit is at most
    ``margin`` (log-odds) behind the best of all.
    """

    reader: str
    embedder: str
    weights: Mapping[str, Mapping[str, float]]
    before: Mapping[str, Mapping[str, float]]
    margin: float


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A unit's score, and the share (0…1) of the question's words in and around it."""

    score: float
    coverage: float


class UnitScorer:
    """Scores units. ``reader`` is asked where the answer stands in their passages, and ``likeness`` how near each is
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
        """Whether units are compared with the question by an encoder."""
        return self._likeness is not None

    def judge(self, asked: QuestionFeatures, units: Sequence[AnswerUnit], hits: Sequence[Hit] = ()) -> list[ScoredUnit]:
        """One judgement per unit; ``hits`` are what the search brought, the best first."""
        if not units:
            return []
        variant, rows = self.signals(asked, units, hits)
        weights = self.model.weights[variant]
        return [ScoredUnit(weigh(weights, row), row["in_context"]) for row in rows]

    def judge_parts(
        self, question: str, units: Sequence[AnswerUnit], hits: Sequence[Hit] = ()
    ) -> list[list[ScoredUnit]]:
        """One judgement per unit by the whole question, then by each of its parts, if it has several."""
        for title in {unit.strip.passage.title for unit in units}:  # it says nothing of which unit is meant
            question = question.removeprefix(f"{title}: ")
        parts = question_parts(question)
        texts = (question, *(parts if len(parts) > 1 else ()))
        return [self.judge(QuestionFeatures.of(text, self._analyzer), units, hits) for text in texts]

    def signals(
        self, asked: QuestionFeatures, units: Sequence[AnswerUnit], hits: Sequence[Hit]
    ) -> tuple[str, list[Signals]]:
        """The variant that fits what is known, and a dictionary by its signals for each unit."""
        order = search_ranks(units, hits)
        rows = _words(asked, units, order)
        read = readings(asked, [unit.strip.passage for unit in _one_each(units, order)], self._reader)
        meant = self._meant(asked, units, hits)
        for row, unit, own in zip(rows, units, meant or [{}] * len(units), strict=True):
            row.update(own)
            if read:
                row["pointing"] = _pointing(unit, read.get(unit.strip.passage.id))
        variant = ("both" if meant else "read") if read else "meant" if meant else "words"
        self._look_closer(asked, units, rows, variant)
        return variant, rows

    def _meant(self, asked: QuestionFeatures, units: Sequence[AnswerUnit], hits: Sequence[Hit]) -> list[Signals] | None:
        like = self._likeness.cosines(asked.text, [unit.text for unit in units]) if self._likeness else None
        if like is None:
            return None
        cosines = {hit.passage.id: hit.cosine for hit in hits if hit.cosine is not None}
        best = max(cosines.values(), default=0.0)
        behind = [cosines.get(unit.strip.passage.id, best) - best for unit in units]
        return [{"meaning": one, "passage": far} for one, far in zip(like, behind, strict=True)]

    def _look_closer(
        self, asked: QuestionFeatures, units: Sequence[AnswerUnit], rows: Sequence[Signals], variant: str
    ) -> None:
        """Adds what is read of the units that are ahead."""
        scores = [weigh(self.model.before[variant], row) for row in rows]
        ahead = sorted(range(len(rows)), key=lambda at: -scores[at])[:AHEAD]
        asks = self._reader if variant in ("read", "both") else None
        read = read_pairs(asks, asked.text, [by_itself(units[at]) for at in ahead]) if asks else None
        found = dict(zip(ahead, [_tenth(one.score) for one in read or ()], strict=False))
        least = min(found.values(), default=0.0)
        for at, row in enumerate(rows):
            row[CLOSER] = found.get(at, least)


def weigh(weights: Mapping[str, float], row: Mapping[str, float]) -> float:
    """The weighted sum."""
    return sum(weight * row[name] for name, weight in weights.items())


def search_ranks(units: Sequence[AnswerUnit], hits: Sequence[Hit]) -> dict[str, int]:
    """Passage id → its place in the search's order, from 0; what the search did not bring now comes after it."""
    names = (*(hit.passage.id for hit in hits), *(unit.strip.passage.id for unit in units))
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _one_each(units: Sequence[AnswerUnit], order: Mapping[str, int]) -> list[AnswerUnit]:
    """A unit of each passage, in the search's order."""
    first = {unit.strip.passage.id: unit for unit in reversed(units)}
    return sorted(first.values(), key=lambda unit: order[unit.strip.passage.id])


def by_itself(unit: AnswerUnit) -> str:
    """What is read of a unit alone: its title, what introduces it or the heading above it, and its text."""
    said = " ".join(filter(None, (unit.lead, unit.text)))
    passage = unit.strip.passage
    above = (full_title(passage.document_id, passage.title), "" if unit.lead else unit.under)
    return space_out("\n".join([*filter(None, above), said]))


def _lead_in(unit: AnswerUnit) -> str:
    """What stands before the unit and leads to it; may be empty."""
    return unit.lead or (unit.before.text if unit.before else unit.under)


def _words(asked: QuestionFeatures, units: Sequence[AnswerUnit], order: Mapping[str, int]) -> list[Signals]:
    places, share = cache(asked.matcher.places), asked.matcher.share
    rows = []
    for unit in units:
        passage = unit.strip.passage
        own, heading = set(places(unit.text)), set(places(passage.context))
        rows.append(
            {
                "coverage": share(own),
                "in_context": share(own | heading | set(places(_lead_in(unit)))),
                "place": 1 / (1 + order[passage.id]),
            }
        )
    return rows


def _pointing(unit: AnswerUnit, reading: Reading | None) -> float:
    start = unit.start - unit.strip.passage.start
    return reading.pointing(start, start + max(1, unit.end - unit.start)) if reading else 0.0


def _tenth(score: float) -> float:
    return max(-EDGE, min(EDGE, score)) / 10 if math.isfinite(score) else 0.0


@cache
def load_model() -> SelectionModel:
    """The model that ships with the package."""
    stored: Any = json.loads(files("selfright.roles").joinpath("selection.json").read_text(encoding="utf-8"))
    return SelectionModel(
        stored["reader"], stored["embedder"], stored["weights"], stored["before"], float(stored["margin"])
    )
