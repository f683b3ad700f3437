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
from selfright.roles.evidence import visible
from selfright.roles.grade.features import Asked, Read, features, with_scores
from selfright.roles.grade.model import GraderModel, Variant, set_signals, shipped_model, without_opposing
from selfright.roles.grade.networks import MOST_READ, opinions, read_pairs, shown
from selfright.roles.likeness import Likeness
from selfright.roles.scoring import Blend

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
    """Implements the port ``Grader`` with a small trained model over cheap signals and what a reader says.

    ``likeness`` is by the encoder whose cosines the hits carry; both count only if the weights were fitted on it.
    ``reader``, if the weights know it, is asked about five passages: the most probable, or the first without cosines.
    ``judge`` is one that the user chose: it takes the reader's place, and ``calibration`` says what it counts beside
    the signals. Also implements the port ``Reranker``.
    """

    def __init__(
        self,
        analyzer: TextAnalyzer,
        likeness: Likeness | None = None,
        model: GraderModel | None = None,
        reader: PairJudge | None = None,
        calibration: GraderCalibration | None = None,
        judge: PairJudge | None = None,
    ) -> None:
        self._calibration = calibration
        self._judge = judge
        self._blend = (calibration.judge if calibration else None) or UNCALIBRATED
        self._analyzer = analyzer
        self._model = model or shipped_model()
        self._likeness = likeness if likeness is not None and likeness.name == self._model.embedder else None
        self._reader = reader if reader is not None and reader.name == self._model.reader and judge is None else None

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

    def without_reader(self) -> "OfflineGrader":
        """The same, by signals and cosines: what goes before a model that judges itself what is ambiguous.

        With an index's own calibration the reader stays, for it was made with it; so does a judge that the user chose.
        """
        kept = self._calibration or self._judge
        return self if kept else OfflineGrader(self._analyzer, self._likeness, self._model)

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        """Grades the first 50 hits. Raises ``JudgeFailed`` when a hit's scores or a signal are not numbers."""
        return await asyncio.to_thread(self.judge, question, hits)

    def judge(self, question: str, hits: Sequence[Hit]) -> Grading:
        """As ``grade``, without waiting."""
        return self.decided(self.read(question, hits))

    def read(self, question: str, hits: Sequence[Hit]) -> GradedHits:
        """The first 50 hits with their signals and probabilities; raises as ``grade`` does."""
        first = hits[:_MOST_HITS]
        # What no reader sees takes no part: beside it, others would look the better.
        withheld = tuple(hit for hit in first if hit.passage.text.strip() and not visible(hit.passage).strip())
        graded = tuple(hit for hit in first if hit not in withheld)
        _require_numbers([score for hit in graded for score in _scores(hit)])
        if not graded:
            return GradedHits((), (), (), (), withheld)
        asked = Asked.of(question, self._analyzer)
        reads = [Read.of(asked, hit.passage) for hit in graded]
        nearest = self._likeness.best(question, [hit.passage for hit in graded]) if self._likeness else None
        cosines = [hit.cosine if nearest else None for hit in graded]
        rows = features(asked, reads, cosines, (), nearest)
        variants, chances = self._chances(rows, cosines)
        # By words alone, nobody knows better than the search which of its hits deserve to be read.
        scores = self._scores(asked, graded, reads, chances if self._likeness else [0.0] * len(graded))
        if any(score is not None for score in scores):
            rows = with_scores(rows, scores)
            variants, chances = self._chances(rows, cosines, scores)
        chances = without_opposing(chances, asked, reads, self._analyzer)
        said = opinions(self._judge, asked, [h.passage for h in graded], reads, chances) if self._judge else ()
        together = [self._blend(one) if one else chance for one, chance in zip_longest(said, chances)]
        _require_numbers(together)
        return GradedHits(graded, tuple(rows), variants, tuple(together), withheld, tuple(said))

    def _chances(
        self, rows: Sequence[Mapping[str, float]], cosines: Sequence[float | None], scores: Sequence[float | None] = ()
    ) -> tuple[tuple[Variant, ...], list[float]]:
        """The scorers that fit what is known of each passage, and its probability by them."""
        variants = tuple(
            self._model.variant(
                has_cosine=cosine is not None,
                was_read=score is not None,
                korean=bool(row["korean"] and not row["cross_language"]),
            )
            for cosine, score, row in zip_longest(cosines, scores, rows)
        )
        chances = [v.passage.probability(row) for v, row in zip(variants, rows, strict=True)]
        _require_numbers(chances)
        return variants, chances

    async def rerank(self, question: str, hits: Sequence[Hit], k: int) -> tuple[Hit, ...]:
        """The ``k`` most probable hits, the best first (port ``Reranker``); raises as ``grade`` does.

        The search's own order stays where there are no cosines to judge by.
        """
        if self._likeness is None or len(hits) <= 1:
            return tuple(hits[:k])
        reading = await asyncio.to_thread(self.read, question, hits)
        order = sorted(range(len(reading.hits)), key=lambda i: -reading.probabilities[i])
        return (*(reading.hits[i] for i in order), *reading.withheld)[:k]

    def decided(
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
        said = [self._shown(p, own) for p, own in zip(judged, reading.probabilities, strict=True)]
        grades = tuple(Grade(hit.passage.id, p) for hit, p in zip(reading.hits, said, strict=True))
        grades += _zeros(reading)
        if self._calibration:
            sufficiency = self._calibration.sets(sufficiency)
        return Grading(verdict, sufficiency, grades, _reason([p for p in said if p is not None]))

    def _shown(self, judged: float | None, own: float) -> float | None:
        """The index's own calibration is of this grader's probabilities; those of another judge stay as they are."""
        return self._calibration.passages(own) if self._calibration and judged == own else judged

    def may_help(self, reading: GradedHits) -> list[int]:
        """The places of the passages that are not surely useless, those as the set's ``lower``; at least the best."""
        found = [i for i, p in enumerate(reading.probabilities) if p >= self._model.lower]
        return found or [max(range(len(reading.hits)), key=reading.probabilities.__getitem__)]

    def _scores(
        self, asked: Asked, hits: Sequence[Hit], reads: Sequence[Read], chances: Sequence[float]
    ) -> list[float | None]:
        """The reader's scores of the passages with the best ``chances`` in a language that it reads, else None."""
        scores: list[float | None] = [None] * len(hits)
        if self._reader is None or ("ko" if asked.korean else "en") not in self._reader.languages:
            return scores
        readable = [i for i, hit in enumerate(hits) if hit.passage.language in self._reader.languages]
        chosen = sorted(sorted(readable, key=lambda i: -chances[i])[:MOST_READ])
        texts = [shown(asked, hits[i].passage, reads[i]) for i in chosen]
        judged = read_pairs(self._reader, asked.text, texts)
        for i, found in zip(chosen, judged, strict=True) if judged is not None else ():
            scores[i] = found.score
        return scores


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
