"""Puts evidence together: whole passages without refinement, strips from index and web."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from selfright.domain.answers import Attempt, Citation
from selfright.domain.errors import RECOVERABLE_ERRORS
from selfright.domain.judgements import Grading
from selfright.domain.passages import Hit, Language, Origin, Passage, Refinement, Strip
from selfright.domain.text import language_of
from selfright.domain.tools import Tools
from selfright.flow.state import texts_in

log = logging.getLogger(__name__)

_FOREIGN = 1.6


async def refine_hits(
    tools: Tools, question: str, hits: Sequence[Hit], grading: Grading | None, language: Language
) -> tuple[Refinement, tuple[str, ...]]:
    """The strips of ``hits`` that help; whole passages and a note if the refiner failed."""
    try:
        found = await tools.refiner.refine(question, hits, grading)
        strips = tools.evidence_filter.on_subject(question, found.strips)
        lost = len(strips) < len(found.strips)
        return (replace(found, strips=strips, fell_back=found.fell_back or not strips) if lost else found), ()
    except RECOVERABLE_ERRORS as error:
        log.warning("the refiner failed: %s", type(error).__name__)
        return Refinement(whole(hits), 0.0), (
            texts_in(language)["notes"]["not_refined"].format(error=type(error).__name__),
        )


def whole(hits: Sequence[Hit]) -> tuple[Strip, ...]:
    """Each passage as one strip with the score 1/rank, for presets without refinement."""
    return tuple(
        Strip(hit.passage, hit.passage.start, hit.passage.end, hit.passage.text, 1 / rank)
        for rank, hit in enumerate(hits, start=1)
    )


def prefer_language(hits: Sequence[Hit], language: Language, k: int) -> tuple[Hit, ...]:
    """The ``k`` best hits; passages in another language than the answer's are moved down.

    Names and codes are the same in both languages, so a bilingual index also finds passages in the other one. If both
    answer the question, the one in the reader's language is better.
    """
    places = {
        hit.passage.id: rank * (1.0 if hit.passage.language == language else _FOREIGN)
        for rank, hit in enumerate(hits, start=1)
    }
    return tuple(sorted(hits, key=lambda hit: places[hit.passage.id])[:k])


def as_hits(passages: Iterable[Passage]) -> tuple[Hit, ...]:
    """Web passages as hits, scored by the provider's order."""
    return tuple(Hit(passage, rrf_score=1 / (60 + rank)) for rank, passage in enumerate(passages, start=1))


def cited_strips(citations: Sequence[Citation]) -> tuple[Strip, ...]:
    """The cited text as strips, to check the answer against; the score is always 1.

    A passage has all that is cited of it: judges read each passage once.
    """
    texts: dict[str, str] = {}
    for one in citations:
        said = texts.get(one.passage_id)
        texts[one.passage_id] = f"{said}\n{one.text}" if said else one.text
    found = []
    for one in citations:
        origin: Origin = "web" if one.from_web else "index"
        passage = Passage(
            one.passage_id, one.document_id, one.title, texts[one.passage_id], one.start, one.end, one.section,
            language_of(one.text), url=one.url, origin=origin, head=one.head,
        )  # fmt: skip
        found.append(Strip(passage, one.start, one.end, one.text, 1.0))
    return tuple(found)


def merge_strips(index: Sequence[Strip], web: Sequence[Strip]) -> tuple[Strip, ...]:
    """The strips of both sources, the source with the best strip first; each source keeps its order."""
    sources = [source for source in (tuple(index), tuple(web)) if source]
    sources.sort(key=lambda source: -max(strip.score for strip in source))
    return tuple(strip for source in sources for strip in source)


def with_strips(strips: Sequence[Strip], more: Sequence[Strip]) -> tuple[Strip, ...]:
    """``strips``, followed by those of ``more`` that none of them contains."""
    fresh = [strip for strip in more if not any(_holds(other, strip) for other in strips)]
    return (*strips, *dict.fromkeys(fresh))


def _holds(outer: Strip, inner: Strip) -> bool:
    same = outer.passage.document_id == inner.passage.document_id
    return same and outer.start <= inner.start and inner.end <= outer.end


def carry_strips(best: Attempt | None, strips: Sequence[Strip]) -> tuple[Strip, ...]:
    """Strips that the best draft cites and this pass did not find again.

    A pass that searches for missing information should add to the evidence, not replace it.
    """
    if best is None:
        return ()
    cited = {(citation.passage_id, citation.start, citation.end) for citation in best.draft.citations}
    here = {(strip.passage.document_id, strip.start, strip.end) for strip in strips}
    return tuple(
        strip
        for strip in best.strips
        if (strip.passage.document_id, strip.start, strip.end) not in here
        and any(name == strip.passage.id and strip.start <= start < strip.end for name, start, _ in cited)
    )


def merge_gradings(index: Grading | None, web: Grading | None) -> Grading | None:
    """Both gradings as one: the verdict of the more sufficient set, and the grades of all passages."""
    first, second = (web, index) if web_is_better(web, index) else (index, web)
    if first is None or second is None:
        return first or second
    return replace(first, grades=(*first.grades, *second.grades))


def web_is_better(web: Grading | None, index: Grading | None) -> bool:
    """Whether the web's passages as a set are more sufficient than those of the index; unknown counts as 0."""
    return ((web.sufficiency if web else None) or 0.0) > ((index.sufficiency if index else None) or 0.0)
