"""Grades a retrieval without a language model."""

import asyncio
import math
from collections.abc import Sequence

from selfright.domain.errors import JudgeFailed
from selfright.domain.judgements import Grade, Grading, Verdict
from selfright.domain.passages import Hit
from selfright.domain.ports import Embedder
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.grade.features import Asked, Read, features
from selfright.roles.grade.model import GraderModel, Variant, set_signals, shipped_model

SENTENCES = 2
_LONGEST_EMBEDDED = 2_000
_MOST_HITS = 50
_LIKELY = 0.5


class OfflineGrader:
    """Implements the port ``Grader`` with a small trained model over cheap signals.

    ``embedder`` is the encoder whose cosines the hits carry. Cosines count for English only, and only when they come
    from the encoder the weights were fitted on; else words alone decide.
    """

    def __init__(
        self, analyzer: TextAnalyzer, embedder: Embedder | None = None, model: GraderModel | None = None
    ) -> None:
        self._analyzer = analyzer
        self._model = model or shipped_model()
        self._embedder = embedder if embedder and embedder.name == self._model.embedder else None

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        """Grades the first 50 hits. Raises ``JudgeFailed`` when a hit's scores or a signal are not numbers."""
        return await asyncio.to_thread(self.judge, question, hits)

    def judge(self, question: str, hits: Sequence[Hit]) -> Grading:
        """As ``grade``, without waiting."""
        if not hits:
            return Grading(Verdict.INCORRECT, 0.0, (), "nothing was found")
        graded = hits[:_MOST_HITS]
        _require_numbers([score for hit in graded for score in _scores(hit)])
        asked = Asked.of(question, self._analyzer)
        reads = [Read.of(asked, hit.passage) for hit in graded]
        cosines = self._cosines(asked, graded, reads)
        rows = features(asked, reads, cosines)
        variants = [self._variant(asked, hit, bool(pair)) for hit, pair in zip(graded, cosines, strict=True)]
        probabilities = [v.passage.probability(row) for v, row in zip(variants, rows, strict=True)]
        best = max(range(len(rows)), key=probabilities.__getitem__)
        _require_numbers(probabilities)
        sufficiency = variants[best].sufficiency.probability(set_signals(probabilities, rows))
        grades = tuple(Grade(hit.passage.id, p) for hit, p in zip(graded, probabilities, strict=True))
        return Grading(self._verdict(sufficiency), sufficiency, grades, _reason(probabilities))

    def _variant(self, asked: Asked, hit: Hit, has_cosines: bool) -> Variant:
        if has_cosines:
            return self._model.semantic
        if asked.korean != (hit.passage.language == "ko"):
            return self._model.cross
        return self._model.korean if asked.korean else self._model.lexical

    def _verdict(self, sufficiency: float) -> Verdict:
        if sufficiency < self._model.lower:
            return Verdict.INCORRECT
        return Verdict.CORRECT if sufficiency >= self._model.upper else Verdict.AMBIGUOUS

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
