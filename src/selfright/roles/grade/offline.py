"""Grades a retrieval without a language model."""

import asyncio
import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from selfright.domain.errors import JudgeFailed
from selfright.domain.judgements import Grade, Grading, Verdict
from selfright.domain.passages import Hit
from selfright.domain.ports import PairJudge
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.calibration.stored import UNCALIBRATED, GraderCalibration
from selfright.roles.grade.features import features
from selfright.roles.grade.model import GraderModel, Variant, load_model, set_signals
from selfright.roles.grade.networks import opinions
from selfright.roles.questions import question_parts
from selfright.roles.reading import QuestionFeatures, readings
from selfright.roles.scoring import Blend, log_odds
from selfright.roles.similarity import SentenceSimilarity
from selfright.roles.visible_text import visible

_MOST_HITS = 50
_LIKELY = 0.5


@dataclass(frozen=True, slots=True)
class GradedHits:
    """Graded hits, each with its features, the scorers that fit it, and its probability of helping to answer.

    ``withheld`` are hits of which nothing is evidence; their probability is 0. ``opinions`` are what signals and the
    user's own judge say of each hit (``networks.opinions``); none without such a judge.
    """

    hits: tuple[Hit, ...]
    rows: tuple[Mapping[str, float], ...]
    variants: tuple[Variant, ...]
    probabilities: tuple[float, ...]
    withheld: tuple[Hit, ...] = ()
    opinions: tuple[Mapping[str, float] | None, ...] = ()


class OfflineGrader:
    """Implements the port ``Grader`` with a small trained model over what a reader says, cosines and words.

    ``likeness`` is by the encoder whose cosines the hits carry; both count only if the weights were fitted on it.
    ``reader``, if the weights know it, is asked about the first eight passages.
    ``judge`` is one that the user chose: it takes the reader's place, and ``calibration`` says what it counts beside
    the signals.
    """

    def __init__(
        self,
        analyzer: TextAnalyzer,
        likeness: SentenceSimilarity | None = None,
        model: GraderModel | None = None,
        reader: PairJudge | None = None,
        calibration: GraderCalibration | None = None,
        judge: PairJudge | None = None,
    ) -> None:
        self._calibration = calibration
        self._judge = judge
        self._blend = (calibration.judge if calibration else None) or UNCALIBRATED
        self._analyzer = analyzer
        self._model = model or load_model()
        self._likeness = likeness if likeness is not None and likeness.name == self._model.embedder else None
        self._reader = reader if reader is not None and reader.name == self._model.reader and judge is None else None

    @property
    def reads(self) -> bool:
        """Whether a network reads the passages."""
        return self._reader is not None

    @property
    def has_judge(self) -> bool:
        """Whether a judge that the user chose is asked too."""
        return self._judge is not None

    @property
    def thresholds(self) -> tuple[float, float]:
        """The sufficiencies, lower and upper, where the shipped verdicts change."""
        return self._model.lower, self._model.upper

    def weighing(self, blend: Blend) -> "OfflineGrader":
        """The same, with other weights for signals and judge."""
        other = copy.copy(self)
        other._blend = blend
        return other

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        """Grades the first 50 hits. Raises ``JudgeFailed`` when a hit's scores or a signal are not numbers."""
        return await asyncio.to_thread(self.grade_now, question, hits)

    def grade_now(self, question: str, hits: Sequence[Hit]) -> Grading:
        """As ``grade``, without waiting.

        Few passages answer two questions at once: where several are asked, each is graded with the whole.
        """
        whole = self.decide(self.read(question, hits))
        parts = question_parts(question)
        if len(parts) < 2 or not hits or whole.verdict is Verdict.CORRECT:
            return whole
        return _merge_parts(whole, [self.decide(self.read(part, hits)) for part in parts])

    def read(self, question: str, hits: Sequence[Hit]) -> GradedHits:
        """The first 50 hits with their signals and probabilities; raises as ``grade`` does."""
        first = hits[:_MOST_HITS]
        # What no reader sees takes no part: beside it, others would look the better.
        withheld = tuple(hit for hit in first if hit.passage.text.strip() and not visible(hit.passage).strip())
        graded = tuple(hit for hit in first if hit not in withheld)
        _require_numbers([score for hit in graded for score in _scores(hit)])
        if not graded:
            return GradedHits((), (), (), (), withheld)
        asked, passages = QuestionFeatures.of(question, self._analyzer), [hit.passage for hit in graded]
        read = readings(asked, passages, self._reader)
        nearest = self._likeness.best(question, passages) if self._likeness else None
        rows = features(asked, graded, read, nearest)
        variants = tuple(
            self._model.variant(
                has_cosine=nearest is not None and hit.cosine is not None, was_read=hit.passage.id in read
            )
            for hit in graded
        )
        chances = [v.passage.probability(row) for v, row in zip(variants, rows, strict=True)]
        _require_numbers(chances)
        said = opinions(self._judge, asked, passages, chances) if self._judge else ()
        together = [self._blend(one) if one else chance for one, chance in zip_longest(said, chances)]
        _require_numbers(together)
        return GradedHits(graded, tuple(rows), variants, tuple(together), withheld, tuple(said))

    def decide(
        self,
        reading: GradedHits,
        probabilities: Sequence[float | None] | None = None,
        view: float | None = None,
        weight: float = 0.5,
    ) -> Grading:
        """The verdict that follows from ``probabilities``, by default the reading's own; None are left out of it.

        ``view`` is another judge's sufficiency of the set (0…1), ``weight`` what it counts beside the signals' (0…1).
        Raises ``JudgeFailed`` when there are passages, but none with a probability.
        """
        if not reading.hits:
            return Grading(Verdict.INCORRECT, 0.0, _zeros(reading), "nothing was found")
        judged = reading.probabilities if probabilities is None else probabilities
        known = [(p, i) for i, p in enumerate(judged) if p is not None]
        if not known:
            raise JudgeFailed(f"a probability was expected for {len(reading.hits)} passages, and none is known")
        sufficiency = _sufficiency(reading, known)
        if view is not None:
            sufficiency = weight * view + (1 - weight) * sufficiency
        # Whoever gave them may not have thought of it: no set is better than its parts.
        if probabilities is not None or any(reading.opinions):
            sufficiency = min(sufficiency, 1 - math.prod(1 - p for p, _ in known))
        verdict = (self._calibration or self._model).verdict(sufficiency)
        said = [self._calibrated_probability(p, own) for p, own in zip(judged, reading.probabilities, strict=True)]
        grades = tuple(Grade(hit.passage.id, p) for hit, p in zip(reading.hits, said, strict=True))
        grades += _zeros(reading)
        if self._calibration:
            sufficiency = self._calibration.sets(sufficiency)
        return Grading(verdict, sufficiency, grades, _reason([p for p in said if p is not None]))

    def _calibrated_probability(self, judged: float | None, own: float) -> float | None:
        """The index's own calibration is of this grader's probabilities; those of another judge stay as they are."""
        return self._calibration.passages(own) if self._calibration and judged == own else judged

    def may_help(self, reading: GradedHits) -> list[int]:
        """The places of the passages that are not surely useless, those as the set's ``lower``; at least the best."""
        found = [i for i, p in enumerate(reading.probabilities) if p >= self._model.lower]
        return found or [max(range(len(reading.hits)), key=reading.probabilities.__getitem__)]


def _merge_parts(whole: Grading, parts: Sequence[Grading]) -> Grading:
    """Correct when all parts are, incorrect when none is more; a passage helps as far as it helps with one part."""
    verdicts = {part.verdict for part in parts}
    verdict = verdicts.pop() if len(verdicts) == 1 else Verdict.AMBIGUOUS
    chances = [
        max(_mean(own.probability, one.probability) for one in of_parts)
        for own, *of_parts in zip(whole.grades, *(part.grades for part in parts), strict=True)
    ]
    grades = tuple(Grade(own.passage_id, chance) for own, chance in zip(whole.grades, chances, strict=True))
    sufficiency = sum(_mean(whole.sufficiency, part.sufficiency) for part in parts) / len(parts)
    return Grading(verdict, sufficiency, grades, _reason(chances))


def _mean(one: float | None, other: float | None) -> float:
    """Of two probabilities, by their log-odds."""
    return 1 / (1 + math.exp(-(log_odds(one or 0.0) + log_odds(other or 0.0)) / 2))


def _zeros(reading: GradedHits) -> tuple[Grade, ...]:
    return tuple(Grade(hit.passage.id, 0.0) for hit in reading.withheld)


def _sufficiency(reading: GradedHits, known: Sequence[tuple[float, int]]) -> float:
    """The set scorer's probability for the passages at the given places, with the given probabilities."""
    best = max(known, key=lambda pair: (pair[0], -pair[1]))[1]
    signals = set_signals([p for p, _ in known], [reading.rows[i] for _, i in known])
    return reading.variants[best].sufficiency.probability(signals)


def _reason(probabilities: Sequence[float]) -> str:
    likely = sum(p >= _LIKELY for p in probabilities)
    return f"{likely} of {len(probabilities)} passages likely help, the best with {max(probabilities):.2f}"


def _scores(hit: Hit) -> list[float]:
    return [hit.rrf_score, hit.cosine or 0.0, *(ranked.score for ranked in (hit.bm25, hit.dense) if ranked)]


def _require_numbers(values: Sequence[float]) -> None:
    if not all(map(math.isfinite, values)):
        raise JudgeFailed(
            "the offline grader needs finite scores, but got NaN or infinity: search again or rebuild the index"
        )
