"""Knowledge refinement: decompose passages into strips, keep those that help, put them together in document order.

A strip is kept when what it says comes close to the best that all passages say on the question, or on one of its parts.
A language model may choose instead; what a strip is, and how strips are put together, stays the offline role's.
"""

import asyncio
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from selfright.domain.chat import Job
from selfright.domain.errors import ReplyUnusable
from selfright.domain.judgements import Grading
from selfright.domain.passages import Hit, Passage, Refinement, Strip
from selfright.domain.ports import ChatModel
from selfright.domain.text import language_of
from selfright.roles.model_calls import OUT_OF_REACH, STRIPS_SCHEMA, JudgingMode, complete_json
from selfright.roles.prompting import strips_prompt
from selfright.roles.relevant_units import units_for
from selfright.roles.selection import UnitScorer
from selfright.roles.strips import strip_spans

_LEAST_REMAINDER = 20
# Passages that the grader gives less are not looked at. Strips keep 93 % of what answers questions of the field sets at
# 0.01, 88 % at 0.02 and 83 % at 0.05.
IRRELEVANT = 0.01


@dataclass(frozen=True, slots=True)
class ScoredStrip:
    """A strip with the score (log-odds) of the best that it says on the question, and whether it is kept."""

    strip: Strip
    score: float
    kept: bool


@dataclass(frozen=True, slots=True)
class ScoredStrips:
    """The strips of a retrieval's relevant passages, and all of its passages, the most probable first."""

    scored: tuple[ScoredStrip, ...]
    passages: tuple[Passage, ...]


class OfflineRefiner:
    """Implements the port ``Refiner`` with the scores of what could be said."""

    def __init__(self, scorer: UnitScorer) -> None:
        self._scorer = scorer

    async def refine(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
        """The strips of ``hits`` that help to answer; documents in the order of their best passage."""
        return await asyncio.to_thread(self.filter, question, hits, grading)

    def filter(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
        """As ``refine``, without waiting."""
        weighed = self.score_strips(question, hits, grading)
        return refinement(weighed, self.choose_strips(weighed))

    def score_strips(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> ScoredStrips:
        """All strips of the passages that may be relevant, with what speaks for them."""
        order = _rank_passages(hits, grading)
        relevant = [(passage, p) for passage, p in order if p is None or p >= IRRELEVANT] or order
        units = units_for(question, [Strip(p, p.start, p.end, p.text, 1.0) for p, _ in relevant])
        judged = self._scorer.judge_parts(question, units, hits)
        best = [max((one.score for one in of_part), default=0.0) for of_part in judged]
        fits = not self._scorer.goes_by_words or any(one.coverage for one in judged[0])
        found = []
        for passage, p in relevant:
            own = [n for n, unit in enumerate(units) if unit.strip.passage.id == passage.id]
            for start, end in strip_spans(passage.text):
                first, last = passage.start + start, passage.start + end
                said = [n for n in own if first <= units[n].start < last]
                scores = [max((of_part[n].score for n in said), default=-math.inf) for of_part in judged]
                worth = math.exp(scores[0] - best[0]) * (1.0 if p is None else p)
                strip = Strip(passage, first, last, passage.text[start:end], worth)
                behind = min(map(operator.sub, best, scores))
                found.append(ScoredStrip(strip, scores[0], fits and behind <= self._scorer.model.margin))
        return ScoredStrips(tuple(found), tuple(passage for passage, _ in order))

    def choose_strips(self, weighed: ScoredStrips) -> list[Strip]:
        """The strips that are worth keeping; none when no passage holds anything."""
        return [s.strip for s in weighed.scored if s.kept]


def refinement(weighed: ScoredStrips, kept: Sequence[Strip]) -> Refinement:
    """``kept`` put together in document order; the best strip alone when there is nothing to keep."""
    if not weighed.scored:
        return Refinement((), 0.0)
    best = max(weighed.scored, key=lambda s: (s.score, -s.strip.start)).strip
    order = [passage.document_id for passage in weighed.passages]
    strips = tuple(_recompose(kept or [best], order))
    return Refinement(strips, _share_removed(strips, weighed.passages), not kept)


def _rank_passages(hits: Sequence[Hit], grading: Grading | None) -> list[tuple[Passage, float | None]]:
    """Each passage once with its probability, the most probable first, else in the order of the hits."""
    passages = {hit.passage.id: hit.passage for hit in hits}
    graded = {grade.passage_id: grade.probability for grade in grading.grades} if grading else {}
    pairs = [(passage, graded.get(name)) for name, passage in passages.items()]
    return sorted(pairs, key=lambda pair: -(pair[1] if pair[1] is not None else 0.0))


def _recompose(strips: Iterable[Strip], documents: Sequence[str]) -> Iterable[Strip]:
    """In document order and without the same stretch of a document twice, where passages overlap."""
    order = {name: place for place, name in reversed(list(enumerate(documents)))}
    reached: dict[str, int] = {}
    for strip in sorted(strips, key=lambda s: (order[s.passage.document_id], s.start, -s.end)):
        document = strip.passage.document_id
        fresh = _from(strip, reached.get(document, strip.start))
        if fresh is not None:
            reached[document] = fresh.end
            yield fresh


def _from(strip: Strip, position: int) -> Strip | None:
    """The part of ``strip`` from ``position`` on, or None when too little is left of it to be read."""
    if position <= strip.start:
        return strip
    rest = strip.passage.text[position - strip.passage.start : strip.end - strip.passage.start]
    start = strip.end - len(rest.lstrip())
    return replace(strip, start=start, text=rest.lstrip()) if strip.end - start >= _LEAST_REMAINDER else None


def _share_removed(strips: Sequence[Strip], passages: Sequence[Passage]) -> float:
    total = sum(_union([(p.document_id, p.start, p.end) for p in passages]))
    kept = sum(strip.end - strip.start for strip in strips)
    return max(0.0, 1 - kept / total) if total else 0.0


def _union(stretches: Iterable[tuple[str, int, int]]) -> Iterable[int]:
    """Lengths of stretches of documents, what overlaps counted once."""
    document, reached = "", 0
    for name, start, end in sorted(stretches):
        if name != document:
            document, reached = name, 0
        yield max(0, end - max(start, reached))
        reached = max(reached, end)


MOST_ASKED = 40


@dataclass(frozen=True, slots=True)
class ModelRefiner:
    """Implements the port ``Refiner``: one call for all strips, and only when the model is asked ``always``.

    At most 40 strips are shown, those with the best scores; the offline filter decides on the rest, and on all of
    them when the model is out of reach or names a strip that it was not shown.
    """

    chat: ChatModel
    offline: OfflineRefiner
    judging: JudgingMode = "cascade"

    async def refine(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
        """The strips of ``hits`` that help to answer; documents in the order of their best passage."""
        weighed = await asyncio.to_thread(self.offline.score_strips, question, hits, grading)
        kept = self.offline.choose_strips(weighed)
        if self.judging == "always" and weighed.scored:
            shown = _best_scored(weighed.scored)
            picked = await self._pick(question, shown)
            if picked is not None:
                kept = [*picked, *(strip for strip in kept if strip not in shown)]
        return refinement(weighed, kept)

    async def _pick(self, question: str, shown: Sequence[Strip]) -> list[Strip] | None:
        prompts = strips_prompt(question, shown, language_of(question))
        try:
            numbers = _numbers(await complete_json(self.chat, Job.STRIPS, prompts, STRIPS_SCHEMA), len(shown))
        except (*OUT_OF_REACH, ReplyUnusable):
            return None
        return [shown[n - 1] for n in numbers]


def _best_scored(scored: Sequence[ScoredStrip]) -> list[Strip]:
    """The best strips, in the order in which they stand."""
    best = sorted(range(len(scored)), key=lambda i: (-scored[i].score, i))[:MOST_ASKED]
    return [scored[i].strip for i in sorted(best)]


def _numbers(said: Mapping[str, Any], most: int) -> list[int]:
    kept = said.get("kept")
    if not isinstance(kept, list | tuple) or not all(_is_number(n, most) for n in kept):
        raise ReplyUnusable(f"numbers from 1 to {most} were expected of the strip filter, and something else came")
    return sorted(set(kept))


def _is_number(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
