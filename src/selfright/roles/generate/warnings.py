"""What in the user's profile conflicts with an answer: the draft gets a sentence that warns of it."""

from collections.abc import Sequence
from dataclasses import replace

from selfright.domain.answers import Draft, GenerationRequest
from selfright.domain.composing import compose
from selfright.domain.slots import Concern
from selfright.roles.answer_units import AnswerUnit, answer_units
from selfright.roles.generate.layout import draft_of
from selfright.roles.visible_text import visible_part

_MOST = 2
_LONGEST = 300


def with_warnings(draft: Draft, request: GenerationRequest) -> Draft:
    """The draft, with a cited sentence of the evidence for each concern that it passes over; at most two."""
    if draft.refused or not draft.sentences:
        return draft
    heeded = draft
    for concern in request.concerns:
        if len(heeded.sentences) < len(draft.sentences) + _MOST and not concern.is_met_by(heeded.text):
            unit = _bearing(concern, request)
            heeded = _append(heeded, draft_of([(unit,)])) if unit else heeded
    return heeded


def _bearing(concern: Concern, request: GenerationRequest) -> AnswerUnit | None:
    """The sentence of the evidence that deals with the concern; of several the one that is about nothing else."""
    strips = [s for s in request.strips if concern.bears(s.passage.heading, visible_part(s))]
    return min(_fitting(answer_units(strips), concern), key=lambda unit: len(unit.text), default=None)


def _fitting(units: Sequence[AnswerUnit], concern: Concern) -> list[AnswerUnit]:
    fits = (p for p in units if p.kind in ("sentence", "item") and len(p.text) <= _LONGEST)
    return [p for p in fits if concern.is_met_by(p.text)]


def _append(draft: Draft, more: Draft) -> Draft:
    last = max((citation.n for citation in draft.citations), default=0)
    sentences = [replace(s, citations=tuple(n + last for n in s.citations)) for s in more.sentences]
    together = (*draft.sentences, *sentences)
    citations = (*draft.citations, *(replace(c, n=c.n + last) for c in more.citations))
    return replace(draft, text=compose(together), sentences=together, citations=citations)
