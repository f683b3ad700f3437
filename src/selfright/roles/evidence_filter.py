"""What was found, without what no answer may be made of: passages on other things, and passages that are not trusted.

Asked before grading, after refinement and before writing; ``roles.refine`` leaves out what does not help.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from selfright.domain.judgements import Grading, WithheldReason
from selfright.domain.packs import DomainPack
from selfright.domain.passages import FilteredHits, Hit, Strip
from selfright.roles.entity_filter import QueryEntities, on_other_subjects, text_as_seen
from selfright.roles.trust import TrustFilter
from selfright.roles.visible_text import visible


@dataclass(frozen=True, slots=True)
class OfflineEvidenceFilter:
    """Implements the port ``EvidenceFilter``: by who brought a text, and by the things that the question names."""

    trust: TrustFilter
    pack: DomainPack

    async def hits(self, question: str, hits: Sequence[Hit]) -> FilteredHits:
        """The passages that may be evidence; none names what is asked about where ``names_subject`` is false."""
        left = await self.trust.hits(question, hits)
        entities = QueryEntities.of(question, self.pack)
        named = not (entities and left) or entities.is_named_in([text_as_seen(hit) for hit in left])
        others = on_other_subjects(question, left, self.trust.analyzer)
        mixed = len({hit.passage.trusted for hit in hits}) > 1
        reasons = {
            hit.passage.id: WithheldReason.TRUST if mixed and not hit.passage.trusted else WithheldReason.STATES_NOTHING
            for hit in hits
            if hit not in left
        }
        reasons |= {hit.passage.id: WithheldReason.OTHER_SUBJECT for hit in others}
        passed_over = (hit.passage.id for hit in left if entities and _passes_over(entities, hit))
        reasons |= dict.fromkeys(passed_over, WithheldReason.NAMED_THING)
        return FilteredHits.of(hits, reasons, names_subject=named)

    async def strips(self, question: str, strips: Sequence[Strip], hits: Sequence[Hit] = ()) -> tuple[Strip, ...]:
        """The strips that an answer may be made of, those of the index beside those of the web."""
        return await self.trust.strips(question, strips, hits)

    def on_subject(self, question: str, strips: Sequence[Strip]) -> tuple[Strip, ...]:
        """The strips without those that name another thing of the kind that the question names."""
        entities = QueryEntities.of(question, self.pack)
        if not entities:
            return tuple(strips)
        return tuple(strip for strip in strips if not entities.excludes_text(strip.passage.heading, strip.text))

    async def cap_verdict(self, question: str, found: FilteredHits, grading: Grading) -> Grading:
        """The grading, lowered where ``correct`` rests on less trusted passages, or on ones that state nothing."""
        return await self.trust.cap_verdict(question, found, grading)


def _passes_over(entities: QueryEntities, hit: Hit) -> bool:
    return entities.excludes_passage(hit.passage.heading, visible(hit.passage))
