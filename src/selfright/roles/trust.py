"""Which passages an answer may be made of: those of others, and those that state nothing, give way.

What others brought (``upload``, ``web``) answers only where the operator's own texts leave the question open. Trust can
lower, never raise: it takes a less trusted passage out of an answer, or a verdict down, and does nothing else. Among
passages that are trusted alike, those that state something go before those that only speak of what is asked.
"""

import asyncio
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from selfright.domain.errors import JudgeFailed
from selfright.domain.judgements import Grading, Verdict
from selfright.domain.passages import FilteredHits, Hit, Passage, Strip
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.answer_units import AnswerUnit, StatementType, answer_units, beyond_questions, statement_type
from selfright.roles.generate.candidates import SAME_ELSEWHERE, candidates, overlap
from selfright.roles.grade.offline import OfflineGrader
from selfright.roles.selection import UnitScorer

# How far (log-odds, by words) the best sentence of a passage may be ahead of those that go first and still give way, by
# the verdict on these alone: of less trusted passages, and of passages that are trusted alike. With these, 3 of 237
# attacks of the red team succeed and one honest document of 75 is harmed; a page of the web answers where the index has
# other things only. At -3 for INCORRECT, 12 attacks do; at 2.3 for AMBIGUOUS, with a network, pages no longer rescue.
_AHEAD = {Verdict.CORRECT: 4.0, Verdict.AMBIGUOUS: 0.0, Verdict.INCORRECT: -1.0}
_AHEAD_BY_WORDS = {**_AHEAD, Verdict.AMBIGUOUS: 2.3}  # without a network, what answers is seldom called correct
_AHEAD_ALIKE = {Verdict.CORRECT: 0.0, Verdict.AMBIGUOUS: -1.0, Verdict.INCORRECT: -3.0}
# What it counts against a sentence that it states nothing, or perhaps nothing.
_AGAINST = {StatementType.STATES: 0.0, StatementType.MAY_STATE: 5.0, StatementType.SPEAKS_OF: math.inf}
# How far behind (log-odds) a trusted sentence may be and still stand in place of one that repeats it. Beside the 198
# passages of SQuAD 2.0 and 199 of KorQuAD that answer a question, a copy of the sentence with another answer in it took
# their place 24 times and once without this, and does so twice and never with it; of 500 questions whose answer stands
# in a less trusted passage alone one loses it (no encoder, ``basic``). 1.8 does the same.
_AS_WELL = 1.0
# A passage states nothing when none of its sentences does that come this near (log-odds) to its best.
_NEAR = 2.0


@dataclass(frozen=True, slots=True)
class _ScoredUnit:
    """A candidate's passage, its score, and how it stands to the question."""

    passage: str
    score: float
    stance: StatementType
    words: frozenset[str]

    def worth(self, strictness: StatementType) -> float:
        """The score, less what it counts against it when it stands as ``strictness`` or worse."""
        return self.score - (_AGAINST[self.stance] if self.stance >= strictness else 0.0)

    def repeats(self, other: "_ScoredUnit") -> bool:
        """Whether it says in the same words what ``other`` states about as well, be it with another name or number."""
        return other.score > self.score - _AS_WELL and overlap(self.words, other.words) > SAME_ELSEWHERE


class TrustFilter:
    """Says which strips an answer may be made of; ``grader`` judges by itself whether those that go first suffice."""

    def __init__(self, analyzer: TextAnalyzer, grader: OfflineGrader, scorer: UnitScorer) -> None:
        self.analyzer, self.grader, self.scorer = analyzer, grader, scorer

    async def strips(self, question: str, strips: Sequence[Strip], hits: Sequence[Hit] = ()) -> tuple[Strip, ...]:
        """The strips that may make an answer, in the same order; passages are judged as ``hits`` have them."""
        strips = tuple(strips)
        sides = {strip.passage.trusted for strip in strips}
        if True in sides and len(sides) < 2 and not _rivals(question, strips):
            return strips
        return await asyncio.to_thread(self._filter, question, strips, hits)

    def _filter(self, question: str, strips: tuple[Strip, ...], hits: Sequence[Hit]) -> tuple[Strip, ...]:
        trusted = [strip for strip in strips if strip.passage.trusted]
        others = [strip for strip in strips if not strip.passage.trusted]
        if trusted and others:
            # Each side is scored by itself: a sentence's score is relative to those it is scored with.
            own = self._score(question, trusted)
            told = [*own, *(one for one in self._score(question, others) if not any(map(one.repeats, own)))]
            second = {strip.passage.id for strip in others}
            ahead = _AHEAD if self.grader.reads else _AHEAD_BY_WORDS
            return self._without(question, strips, hits, told, second, ahead, StatementType.MAY_STATE)
        told = self._score(question, strips)
        second = {name for name in {one.passage for one in told} if _states_nothing(name, told)}
        if others:
            # Code may be what is asked for, and there is nothing else to go by.
            second -= {unit.strip.passage.id for unit in answer_units(strips) if unit.kind == "code"}
            return tuple(strip for strip in strips if strip.passage.id not in second)
        return self._without(question, strips, hits, told, second, _AHEAD_ALIKE, StatementType.SPEAKS_OF)

    def _without(
        self,
        question: str,
        strips: Sequence[Strip],
        hits: Sequence[Hit],
        told: Sequence[_ScoredUnit],
        second: Collection[str],
        ahead: Mapping[Verdict, float],
        strictness: StatementType,
    ) -> tuple[Strip, ...]:
        """The strips without those of the passages ``second`` that give way to the others."""
        first = tuple(strip for strip in strips if strip.passage.id not in second)
        if not first or len(first) == len(strips):
            return tuple(strips)
        margin = ahead.get(self._verdict(question, first, hits))
        if margin is None:
            return tuple(strips)
        names = {strip.passage.id for strip in first}
        best = max((one.score for one in told if one.passage in names), default=-math.inf)
        stay = names | {one.passage for one in told if one.worth(strictness) > best + margin}
        return tuple(strip for strip in strips if strip.passage.id in stay)

    async def hits(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """The same of whole passages."""
        strips = [
            Strip(p, p.start, p.end, p.text, 1 / rank) for rank, p in enumerate((h.passage for h in hits), start=1)
        ]
        kept = {strip.passage.id for strip in await self.strips(question, strips, hits)}
        return tuple(hit for hit in hits if hit.passage.id in kept)

    async def cap_verdict(self, question: str, found: FilteredHits, grading: Grading) -> Grading:
        """The grading, or ``ambiguous`` for a ``correct`` that rests on a passage which states nothing.

        Where trusted passages were found too, these have to be ``correct`` by themselves.
        """
        if grading.verdict is not Verdict.CORRECT:
            return grading
        best = max(grading.grades, key=lambda grade: grade.probability or 0.0, default=None)
        passages = [hit.passage for hit in found.hits if best and hit.passage.id == best.passage_id]
        if await self._state_nothing(question, passages):
            return replace(grading, verdict=Verdict.AMBIGUOUS, reason="what was found only speaks of what is asked")
        trusted = tuple(hit for hit in (*found.hits, *found.withheld) if hit.passage.trusted)
        if not trusted or all(hit.passage.trusted for hit in found.hits):
            return grading
        if (await self.grader.grade(question, trusted)).verdict is Verdict.CORRECT:
            return grading
        return replace(grading, verdict=Verdict.AMBIGUOUS, reason="only texts that others brought answer this")

    async def _state_nothing(self, question: str, passages: Sequence[Passage]) -> bool:
        """Whether there are passages, and all of them only speak of what is asked."""
        strips = [Strip(p, p.start, p.end, p.text, 1.0) for p in passages]
        return _any_speaks_of(question, strips) and await asyncio.to_thread(self._all_speak_of, question, strips)

    def _all_speak_of(self, question: str, strips: Sequence[Strip]) -> bool:
        told = self._score(question, strips)
        return bool(told) and all(_states_nothing(name, told) for name in {one.passage for one in told})

    def _verdict(self, question: str, strips: Iterable[Strip], hits: Sequence[Hit]) -> Verdict:
        passages: dict[str, Passage] = {strip.passage.id: strip.passage for strip in strips}
        known = [hit for hit in hits if passages.pop(hit.passage.id, None)]
        rest = [Hit(passage, 1 / (60 + rank)) for rank, passage in enumerate(passages.values(), start=1)]
        try:
            return self.grader.grade_now(question, [*known, *rest]).verdict
        except JudgeFailed:
            return Verdict.UNKNOWN

    def _score(self, question: str, strips: Sequence[Strip]) -> list[_ScoredUnit]:
        units = answer_units(strips)
        stances = {(one.strip.passage.id, one.start): _stance(question, one) for one in units}
        said = [replace(one, text=beyond_questions(one.text)) for one in units]
        return [
            _ScoredUnit(
                one.units[0].strip.passage.id,
                one.score,
                min(stances[unit.strip.passage.id, unit.start] for unit in one.units),
                one.words,
            )
            for one in candidates(question, said, self.scorer)
        ]


def _stance(question: str, unit: AnswerUnit) -> StatementType:
    return statement_type(question, unit.text, unit.kind)


def _rivals(question: str, strips: Sequence[Strip]) -> bool:
    """Whether there are several passages and a sentence that only speaks of what is asked."""
    return len({strip.passage.id for strip in strips}) > 1 and _any_speaks_of(question, strips)


def _any_speaks_of(question: str, strips: Sequence[Strip]) -> bool:
    """Whether any sentence only speaks of what is asked: without one, nothing has to be scored."""
    return any(_stance(question, unit) is StatementType.SPEAKS_OF for unit in answer_units(strips))


def _states_nothing(passage: str, told: Sequence[_ScoredUnit]) -> bool:
    """Whether all of the passage's sentences that come near its best only speak of what is asked."""
    own = [one for one in told if one.passage == passage]
    best = max(one.score for one in own)
    return all(one.stance is StatementType.SPEAKS_OF for one in own if one.score >= best - _NEAR)
