"""What in the user's profile conflicts with an answer: the answer warns of it, or is not complete."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from selfright.domain.answers import Draft, EvaluationRequest, GenerationRequest
from selfright.domain.chat import OnText
from selfright.domain.composing import compose
from selfright.domain.judgements import AnswerQuality, Evaluation
from selfright.domain.ports import Evaluator, Generator
from selfright.domain.slots import Concern
from selfright.roles.answer_units import AnswerUnit, answer_units
from selfright.roles.evaluate.offline import reason, suggestion
from selfright.roles.evaluate.scoring import COMPLETE
from selfright.roles.evidence import visible_part
from selfright.roles.generate.offline import draft_of

# Just under what counts as complete: the answer may be right in all it says.
UNHEEDED = round(COMPLETE - 0.1, 2)


@dataclass(frozen=True, slots=True)
class ConcernedEvaluator:
    """An ``Evaluator`` around another one: what the answer leaves unheeded is missing info, and lowers completeness."""

    inner: Evaluator

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        """The inner judgement, unless a concern is passed over; raises what the inner one raises."""
        evaluation = await self.inner.evaluate(request)
        left = open_concerns(request)
        return _lacking(evaluation, left, request) if left else evaluation


def open_concerns(request: EvaluationRequest) -> list[Concern]:
    """The concerns that the draft does not take up; a draft that says nothing has none."""
    if request.draft.refused or not request.draft.text.strip():
        return []
    return [concern for concern in request.concerns if not concern.is_met_by(request.draft.text)]


def _lacking(evaluation: Evaluation, left: list[Concern], request: EvaluationRequest) -> Evaluation:
    texts = [concern.text for concern in left]
    adequate = evaluation.answer_quality is AnswerQuality.ADEQUATE
    return replace(
        evaluation,
        completeness=min(evaluation.completeness, UNHEEDED),
        answer_quality=AnswerQuality.NEEDS_DOCS if adequate else evaluation.answer_quality,
        needs_retrieval=True,
        missing_info=tuple(dict.fromkeys((*texts, *evaluation.missing_info))),
        improvement_suggestions=(suggestion(request.language, "heed", texts), *evaluation.improvement_suggestions),
        reason=reason(request.language, "unheeded", texts) if adequate else evaluation.reason,
    )


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

    async def generate(self, request: GenerationRequest, on_text: OnText | None = None) -> Draft:
        """The inner draft, with at most two sentences of the evidence more; raises what the inner one raises."""
        draft = await self.inner.generate(request, on_text)
        if draft.refused or not draft.sentences:
            return draft
        heeded = draft
        for concern in request.concerns:
            if len(heeded.sentences) < len(draft.sentences) + _MOST and not concern.is_met_by(heeded.text):
                piece = _bearing(concern, request)
                heeded = _joined(heeded, draft_of([(piece,)])) if piece else heeded
        if on_text is not None and heeded.text.startswith(draft.text):
            on_text(heeded.text[len(draft.text) :])
        return heeded


def _bearing(concern: Concern, request: GenerationRequest) -> AnswerUnit | None:
    """The sentence of the evidence that deals with the concern; of several the one that is about nothing else."""
    strips = [s for s in request.strips if concern.bears(s.passage.heading, visible_part(s))]
    return min(_fitting(answer_units(strips), concern), key=lambda piece: len(piece.text), default=None)


def _fitting(pieces: Sequence[AnswerUnit], concern: Concern) -> list[AnswerUnit]:
    fits = (p for p in pieces if p.kind in ("sentence", "item") and len(p.text) <= _LONGEST)
    return [p for p in fits if concern.is_met_by(p.text)]


def _joined(draft: Draft, more: Draft) -> Draft:
    last = max((citation.n for citation in draft.citations), default=0)
    sentences = [replace(s, citations=tuple(n + last for n in s.citations)) for s in more.sentences]
    together = (*draft.sentences, *sentences)
    citations = (*draft.citations, *(replace(c, n=c.n + last) for c in more.citations))
    return replace(draft, text=compose(together), sentences=together, citations=citations)
