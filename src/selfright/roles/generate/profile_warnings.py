"""Adds warnings from the user's profile to an answer, where the evidence states them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from selfright.domain.answers import Draft, GenerationRequest
from selfright.domain.chat import Say
from selfright.domain.composing import compose
from selfright.domain.ports import Generator
from selfright.domain.slots import Concern
from selfright.roles.extractive_units import Piece, pieces_of
from selfright.roles.generate.citing import draft_of
from selfright.roles.visible import visible_part

_MOST = 2
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class ProfileWarningGenerator:
    """A ``Generator`` around another one: adds a cited sentence for each concern that the draft passes over."""

    inner: Generator

    @property
    def needs_documents(self) -> bool:
        """As the inner one."""
        return self.inner.needs_documents

    async def generate(self, request: GenerationRequest, say: Say | None = None) -> Draft:
        """The inner draft, with at most two sentences of the evidence more; raises what the inner one raises."""
        draft = await self.inner.generate(request, say)
        if draft.refused or not draft.sentences:
            return draft
        heeded = draft
        for concern in request.concerns:
            if len(heeded.sentences) < len(draft.sentences) + _MOST and not concern.is_met_by(heeded.text):
                piece = _bearing(concern, request)
                heeded = _joined(heeded, draft_of([(piece,)])) if piece else heeded
        if say is not None and heeded.text.startswith(draft.text):
            say(heeded.text[len(draft.text) :])
        return heeded


def _bearing(concern: Concern, request: GenerationRequest) -> Piece | None:
    """The sentence of the evidence that deals with the concern; of several the one that is about nothing else."""
    strips = [s for s in request.strips if concern.bears(s.passage.heading, visible_part(s))]
    return min(_fitting(pieces_of(strips), concern), key=lambda piece: len(piece.text), default=None)


def _fitting(pieces: Sequence[Piece], concern: Concern) -> list[Piece]:
    fits = (p for p in pieces if p.kind in ("sentence", "item") and len(p.text) <= _LONGEST)
    return [p for p in fits if concern.is_met_by(p.text)]


def _joined(draft: Draft, more: Draft) -> Draft:
    last = max((citation.n for citation in draft.citations), default=0)
    sentences = [replace(s, citations=tuple(n + last for n in s.citations)) for s in more.sentences]
    together = (*draft.sentences, *sentences)
    citations = (*draft.citations, *(replace(c, n=c.n + last) for c in more.citations))
    return replace(draft, text=compose(together), sentences=together, citations=citations)
