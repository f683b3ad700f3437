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
from selfright.domain.ports import Embedder, PairJudge
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.calibration.stored import UNCALIBRATED, GraderCalibration
from selfright.roles.grade.answer_spans import MOST_READ, WORTH_READING
from selfright.roles.grade.features import Asked, Read, features
from selfright.roles.grade.judged import opinions
from selfright.roles.grade.model import GraderModel, Variant, set_signals, shipped_model
from selfright.roles.grade.neural import NeuralModel, shipped_neural, shown, with_reader
from selfright.roles.grade.opposing import without_opposing
from selfright.roles.pairs import read_pairs
from selfright.roles.scoring import Blend
from selfright.roles.visible import visible

SENTENCES = 2
_LONGEST_EMBEDDED = 2_000
_MOST_HITS = 50
_LIKELY = 0.5


@dataclass(frozen=True, slots=True)
class Reading:
    """Graded hits, each with its features, the scorers that fit it, and its probability of helping to answer.

    ``withheld`` are hits of which nothing is evidence; their probability is 0. ``opinions`` are what signals and the
    user's own judge say of each hit (``judged.opinions``); none without such a judge.
    """

    hits: tuple[Hit, ...]
    rows: tuple[Mapping[str, float], ...]
    variants: tuple[Variant, ...]
    probabilities: tuple[float, ...]
    withheld: tuple[Hit, ...] = ()
    opinions: tuple[Mapping[str, float] | None, ...] = ()


class OfflineGrader:
    """Implements the port ``Grader`` with a small trained model over cheap signals.

    ``embedder`` is the encoder whose cosines the hits carry. Cosines count for English only, and only when they come
    from the encoder the weights were fitted on; else words alone decide. The same holds for ``reader`` and the network
    that ``neural`` (by default the shipped one) was fitted on: where cosines count, it is asked too, about the five
    passages at most that may help by the signals. ``judge`` is one that the user chose: it takes the reader's place,
    in any language that it reads, and ``calibration`` says what it counts beside the signals.
    """

    def __init__(
        self,
        analyzer: TextAnalyzer,
        embedder: Embedder | None = None,
        model: GraderModel | None = None,
        reader: PairJudge | None = None,
        neural: NeuralModel | None = None,
        calibration: GraderCalibration | None = None,
        judge: PairJudge | None = None,
    ) -> None:
        self._calibration = calibration
        self._judge = judge
        self._blend = (calibration.judge if calibration else None) or UNCALIBRATED
        self._analyzer = analyzer
        self._model = model or shipped_model()
        self._embedder = embedder if embedder and embedder.name == self._model.embedder else None
        self._neural = neural or shipped_neural()
        known = reader is not None and self._neural is not None and reader.name == self._neural.reader
        self._reader = reader if known and judge is None else None

    @property
    def has_judge(self) -> bool:
        """Whether a judge that the user chose is asked too."""
        return self._judge is not None

    def weighing(self, blend: Blend) -> "OfflineGrader":
        """The same, with other weights for signals and judge."""
        other = copy.copy(self)
        other._blend = blend
        return other

    def without_reader(self) -> "OfflineGrader":
        """The same, by signals and cosines: what goes before a model that judges itself what is ambiguous.

        With an index's own calibration the reader stays, for it was made with it; so does a judge that the user chose.
        """
        return self if self._calibration or self._judge else OfflineGrader(self._analyzer, self._embedder, self._model)

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        """Grades the first 50 hits. Raises ``JudgeFailed`` when a hit's scores or a signal are not numbers."""
        return await asyncio.to_thread(self.judge, question, hits)

    def judge(self, question: str, hits: Sequence[Hit]) -> Grading:
        """As ``grade``, without waiting."""
        return self.decided(self.read(question, hits))

    def read(self, question: str, hits: Sequence[Hit]) -> Reading:
        """The first 50 hits with their signals and probabilities; raises as ``grade`` does."""
        first = hits[:_MOST_HITS]
        # What no reader sees takes no part: beside it, others would look the better.
        withheld = tuple(hit for hit in first if _is_blank(visible(hit.passage), hit))
        graded = tuple(hit for hit in first if hit not in withheld)
        _require_numbers([score for hit in graded for score in _scores(hit)])
        if not graded:
            return Reading((), (), (), (), withheld)
        asked = Asked.of(question, self._analyzer)
        reads = [Read.of(asked, hit.passage) for hit in graded]
        cosines = self._cosines(asked, graded, reads)
        signals = features(asked, reads, cosines)
        scores = self._scores(asked, graded, reads, self._worth_reading(signals, cosines))
        rows = tuple(with_reader(signals, scores))
        known = ((pair is not None, score is not None) for pair, score in zip(cosines, scores, strict=True))
        variants = tuple(self._variant(asked, hit, *which) for hit, which in zip(graded, known, strict=True))
        chances = [v.passage.probability(row) for v, row in zip(variants, rows, strict=True)]
        _require_numbers(chances)
        chances = without_opposing(chances, asked, reads, self._analyzer)
        said = opinions(self._judge, asked, [h.passage for h in graded], reads, chances) if self._judge else ()
        together = [self._blend(one) if one else chance for one, chance in zip_longest(said, chances)]
        _require_numbers(together)
        return Reading(graded, rows, variants, tuple(together), withheld, tuple(said))

    def decided(
        self,
        reading: Reading,
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

    def may_help(self, reading: Reading) -> list[int]:
        """The places of the passages that are not surely useless, those as the set's ``lower``; at least the best."""
        found = [i for i, p in enumerate(reading.probabilities) if p >= self._model.lower]
        return found or [max(range(len(reading.hits)), key=reading.probabilities.__getitem__)]

    def _variant(self, asked: Asked, hit: Hit, has_cosines: bool, was_read: bool) -> Variant:
        if was_read and self._neural:
            return self._neural.variant
        if has_cosines:
            return self._model.semantic
        if asked.korean != (hit.passage.language == "ko"):
            return self._model.cross
        return self._model.korean if asked.korean else self._model.lexical

    def _worth_reading(
        self, rows: Sequence[Mapping[str, float]], cosines: Sequence[tuple[float, float] | None]
    ) -> list[int]:
        """The places of the few passages that the reader is asked about, in order: those that may help by the signals.

        Without cosines its scorers know too little.
        """
        if self._reader is None:
            return []
        chances = {
            i: self._model.semantic.passage.probability(row)
            for i, (row, pair) in enumerate(zip(rows, cosines, strict=True))
            if pair is not None
        }
        likely = sorted((i for i, p in chances.items() if p >= WORTH_READING), key=lambda i: -chances[i])
        return sorted(likely[:MOST_READ])

    def _scores(
        self, asked: Asked, hits: Sequence[Hit], reads: Sequence[Read], chosen: Sequence[int]
    ) -> Sequence[float | None]:
        """The reader's scores of the chosen passages, None for the others."""
        scores: list[float | None] = [None] * len(hits)
        if self._reader and chosen:
            texts = [shown(asked, hits[i].passage, reads[i]) for i in chosen]
            judged = read_pairs(self._reader, asked.text, texts)
            for i, found in zip(chosen, judged, strict=True) if judged is not None else ():
                scores[i] = found.score
        return scores

    def _cosines(
        self, asked: Asked, hits: Sequence[Hit], reads: Sequence[Read]
    ) -> Sequence[tuple[float, float] | None]:
        """Cosines of passage and best sentences with the question, or None where words alone decide."""
        english = [i for i, hit in enumerate(hits) if hit.passage.language == "en"]
        if self._embedder is None or asked.korean or not english:
            return [None] * len(hits)
        texts: list[str] = [asked.text]
        owners: list[tuple[int, bool]] = [(-1, False)]
        for i in english:
            if hits[i].cosine is None:
                texts.append(f"{hits[i].passage.heading}\n{reads[i].text[:_LONGEST_EMBEDDED]}".strip())
                owners.append((i, False))
            for number in reads[i].best_sentences(asked, SENTENCES):
                texts.append(reads[i].text[slice(*reads[i].spans[number])][:_LONGEST_EMBEDDED])
                owners.append((i, True))
        vectors = self._embedder.embed(texts)
        best: dict[tuple[int, bool], float] = {}
        for owner, cosine in zip(owners[1:], vectors[1:] @ vectors[0], strict=True):
            best[owner] = max(best.get(owner, -1.0), float(cosine))
        for i in english:
            cosine = hits[i].cosine
            if cosine is not None:
                best[i, False] = cosine
        return [(best[i, False], best[i, True]) if (i, True) in best else None for i in range(len(hits))]


def _is_blank(left: str, hit: Hit) -> bool:
    return not left.strip() and bool(hit.passage.text.strip())


def _zeros(reading: Reading) -> tuple[Grade, ...]:
    return tuple(Grade(hit.passage.id, 0.0) for hit in reading.withheld)


def _sufficiency(reading: Reading, known: Sequence[tuple[float, int]]) -> float:
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
