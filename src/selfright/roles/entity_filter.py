"""Keeps evidence to the entity that the question names: text about another one is dropped."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from selfright.domain.judgements import Grade, Grading, Verdict
from selfright.domain.packs import DomainPack
from selfright.domain.passages import Hit, Refinement
from selfright.domain.ports import Grader, Refiner
from selfright.roles.query_entities import QueryEntities
from selfright.roles.visible import visible


@dataclass(frozen=True, slots=True)
class EntityFilterGrader:
    """A ``Grader`` around another one, which does not get to see passages about another thing.

    When nothing that was found names what is asked about, the set is ``incorrect``, whatever else stands in it.
    """

    inner: Grader
    pack: DomainPack

    async def grade(self, question: str, hits: Sequence[Hit]) -> Grading:
        """The inner grading, and 0 for the passages withheld; raises what the inner one raises."""
        entities = QueryEntities.of(question, self.pack)
        if not entities or not hits:
            return await self.inner.grade(question, hits)
        if not entities.is_named_in([_shown(hit) for hit in hits]):
            return Grading(Verdict.INCORRECT, 0.0, _zeros(hits), "nothing that was found names what is asked about")
        withheld = [hit for hit in hits if _misses(entities, hit)]
        grading = await self.inner.grade(question, [hit for hit in hits if hit not in withheld])
        return replace(grading, grades=(*grading.grades, *_zeros(withheld)))


@dataclass(frozen=True, slots=True)
class EntityFilterRefiner:
    """A ``Refiner`` around another one, which drops strips about another thing; none may be left."""

    inner: Refiner
    pack: DomainPack

    async def refine(self, question: str, hits: Sequence[Hit], grading: Grading | None = None) -> Refinement:
        """The inner refinement without those strips; raises what the inner one raises."""
        entities = QueryEntities.of(question, self.pack)
        if not entities:
            return await self.inner.refine(question, hits, grading)
        found = await self.inner.refine(question, [hit for hit in hits if not _misses(entities, hit)], grading)
        strips = tuple(s for s in found.strips if not entities.is_missed_by(s.passage.heading, s.text))
        return replace(found, strips=strips, fell_back=found.fell_back or not strips)


def _misses(entities: QueryEntities, hit: Hit) -> bool:
    return entities.is_passed_over_by(hit.passage.heading, visible(hit.passage))


def _shown(hit: Hit) -> str:
    return f"{hit.passage.heading}\n{visible(hit.passage)}"


def _zeros(hits: Sequence[Hit]) -> tuple[Grade, ...]:
    return tuple(Grade(hit.passage.id, 0.0) for hit in hits)
