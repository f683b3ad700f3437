"""How evidence is put together: whole passages where nothing was refined, index and web strips side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from selfright.domain.answers import Attempt, Citation
from selfright.domain.judgements import Grading
from selfright.domain.passages import Hit, Language, Origin, Passage, Strip
from selfright.domain.text import language_of

_FOREIGN = 1.6


def whole(hits: Sequence[Hit]) -> tuple[Strip, ...]:
    """Each passage as one strip, scored by its rank (1, 1/2, 1/3 …): what a preset without refinement answers from."""
    return tuple(
        Strip(hit.passage, hit.passage.start, hit.passage.end, hit.passage.text, 1 / rank)
        for rank, hit in enumerate(hits, start=1)
    )


def nearest(hits: Sequence[Hit], language: Language, k: int) -> tuple[Hit, ...]:
    """The ``k`` best hits, where a passage in another language than the question counts as further down.

    Names and codes are the same in every language, so a bilingual index answers a question in one language with
    passages of the other; a reader wants the one he can read when both will do.
    """
    places = {
        hit.passage.id: rank * (1.0 if hit.passage.language == language else _FOREIGN)
        for rank, hit in enumerate(hits, start=1)
    }
    return tuple(sorted(hits, key=lambda hit: places[hit.passage.id])[:k])


def as_hits(passages: Iterable[Passage]) -> tuple[Hit, ...]:
    """Web passages as hits: the provider's order is all that is known of them."""
    return tuple(Hit(passage, rrf_score=1 / (60 + rank)) for rank, passage in enumerate(passages, start=1))


def cited(citations: Sequence[Citation]) -> tuple[Strip, ...]:
    """What an answer rests on, as evidence to hold it against; its score says that nobody looked for better."""
    found = []
    for one in citations:
        origin: Origin = "web" if one.passage_id.startswith("web:") else "index"
        passage = Passage(
            one.passage_id, one.document_id, one.title, one.text, one.start, one.end, one.section,
            language_of(one.text), url=one.url, origin=origin,
        )  # fmt: skip
        found.append(Strip(passage, one.start, one.end, one.text, 1.0))
    return tuple(found)


def merged(index: Sequence[Strip], web: Sequence[Strip]) -> tuple[Strip, ...]:
    """Both sources in one, the one with the better strip first; inside a source the document order stays."""
    sources = [source for source in (tuple(index), tuple(web)) if source]
    sources.sort(key=lambda source: -max(strip.score for strip in source))
    return tuple(strip for source in sources for strip in source)


def with_strips(strips: Sequence[Strip], more: Sequence[Strip]) -> tuple[Strip, ...]:
    """``strips``, and behind them what ``more`` has that none of them holds."""
    fresh = [strip for strip in more if not any(_holds(other, strip) for other in strips)]
    return (*strips, *dict.fromkeys(fresh))


def _holds(outer: Strip, inner: Strip) -> bool:
    same = outer.passage.document_id == inner.passage.document_id
    return same and outer.start <= inner.start and inner.end <= outer.end


def carried(best: Attempt | None, strips: Sequence[Strip]) -> tuple[Strip, ...]:
    """Strips that the best draft so far cites and this pass did not bring again.

    A pass that looks for what was missing should add to what was found, not trade one half of an answer for the other.
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


def together(index: Grading | None, web: Grading | None) -> Grading | None:
    """Both gradings as one: the more sufficient set's verdict, with the grades of all passages."""
    first, second = (web, index) if outweighs(web, index) else (index, web)
    if first is None or second is None:
        return first or second
    return replace(first, grades=(*first.grades, *second.grades))


def outweighs(web: Grading | None, index: Grading | None) -> bool:
    """Whether the web's passages, as a set, are judged more sufficient than the index's; unknown is worth nothing."""
    return ((web.sufficiency if web else None) or 0.0) > ((index.sufficiency if index else None) or 0.0)
