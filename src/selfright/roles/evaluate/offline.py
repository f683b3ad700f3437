"""The local judge: what was seen of an answer's sentences and of the question's parts becomes scores and a label."""

import asyncio
from collections.abc import Sequence

from selfright.domain.answers import Draft, EvaluationRequest
from selfright.domain.judgements import AnswerQuality, Claim, ClaimStatus, Evaluation, EvaluationSource, QueryClass
from selfright.domain.passages import Language
from selfright.domain.ports import PairJudge
from selfright.domain.text import sentence_spans
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.evaluate.claims import ClaimFacts, claim_facts
from selfright.roles.evaluate.completeness import AnswerReader, PartFacts, missing_words, open_parts
from selfright.roles.evaluate.concerns import with_concerns
from selfright.roles.evaluate.nli import ClaimNli
from selfright.roles.evaluate.scoring import (
    ADEQUATE_OVERALL,
    SUPPORTED,
    UNSUPPORTED,
    Scores,
    claim_support,
    confidence_in,
    is_contradicted,
    label_answer,
    score_answer,
)
from selfright.roles.evaluate.wording import reason, suggestion
from selfright.roles.visible_text import Source, sources

_MOST_CLAIMS = 40


class LocalEvaluator:
    """Judges an answer by what networks read in it beside the evidence and the question (port ``Evaluator``).

    ``nli`` has the last word on claims: the network that ships, and a judge that the user chose. ``reader`` says how
    probably each part of the question is answered.
    """

    def __init__(self, analyzer: TextAnalyzer, nli: ClaimNli | None = None, reader: PairJudge | None = None) -> None:
        self._analyzer = analyzer
        self._nli = nli or ClaimNli()
        self.answering = AnswerReader(analyzer, reader, self._nli.reader)

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        """The judgement, with ``source=local``. Deterministic; raises nothing of its own."""
        return with_concerns(await asyncio.to_thread(self._evaluate, request), request)

    def _evaluate(self, request: EvaluationRequest) -> Evaluation:
        if request.query_class is QueryClass.CHITCHAT and request.draft.text.strip():
            return _verdict(Scores(1.0, 1.0, 1.0), AnswerQuality.ADEQUATE, 0.95, reason(request.language, "smalltalk"))
        evidence = sources(request.strips, request.hits)
        if request.draft.refused or not request.draft.text.strip():
            return self._judge_refusal(request, evidence)
        return self._judge_draft(request, evidence)

    def _judge_refusal(self, request: EvaluationRequest, evidence: Sequence[Source]) -> Evaluation:
        parts = self.answering.parts(request.question, Draft(""), evidence)
        why = reason(request.language, "refused")
        lacking = missing_words(parts), open_parts(request.question, parts)
        return _verdict(Scores(0.0, 0.0, 0.5), AnswerQuality.NEEDS_DOCS, 0.9, why, lacking)

    def _judge_draft(self, request: EvaluationRequest, evidence: Sequence[Source]) -> Evaluation:
        seen = [claim_facts(text, evidence, self._analyzer) for text in _claims(request.draft)]
        facts = self._nli(seen, evidence)
        parts = self.answering.parts(request.question, request.draft, evidence)
        scores = score_answer(facts, parts, request.query_class)
        quality = label_answer(scores, facts, parts, request.query_class, evidence=bool(evidence))
        missing, advice = _lacking(facts, parts, quality, request.language)
        left = open_parts(request.question, parts) if missing else []
        return _verdict(
            scores,
            quality,
            confidence_in(quality, scores, bool(evidence)),
            _reason(facts, quality, left, bool(evidence), request.language),
            (missing, left),
            suggestions=advice,
            claims=[_claim(fact) for fact in facts],
        )


def _lacking(
    facts: Sequence[ClaimFacts], parts: Sequence[PartFacts], quality: AnswerQuality, language: Language
) -> tuple[list[str], list[str]]:
    """Missing info and suggestions; an adequate answer lacks nothing worth a word."""
    if quality is AnswerQuality.ADEQUATE:
        return [], []
    words = missing_words(parts)
    advice = [suggestion(language, "address", words)] if words else []
    if wrong := [fact.text for fact in facts if is_contradicted(fact)]:
        advice.append(suggestion(language, "correct", wrong))
    elif weak := [fact.text for fact in facts if claim_support(fact) < UNSUPPORTED]:
        advice.append(suggestion(language, "support", weak))
    return words, advice


def _claims(draft: Draft) -> list[str]:
    if draft.sentences:
        return [sentence.text for sentence in draft.sentences[:_MOST_CLAIMS]]
    return [draft.text[start:end] for start, end in sentence_spans(draft.text)][:_MOST_CLAIMS]


def _claim(fact: ClaimFacts) -> Claim:
    value = claim_support(fact)
    by = _bearing_out(fact)
    if value >= SUPPORTED and by and not is_contradicted(fact):
        return Claim(fact.text, ClaimStatus.SUPPORTED, by, round(value, 4))
    status = ClaimStatus.UNSUPPORTED if value < UNSUPPORTED or is_contradicted(fact) else ClaimStatus.UNKNOWN
    return Claim(fact.text, status, (), round(value, 4))


def _bearing_out(fact: ClaimFacts) -> tuple[str, ...]:
    """The passages that support a claim; the one that a judge named first."""
    named = fact.judged.passage_id if fact.judged else ""
    return tuple(dict.fromkeys((named, *fact.passage_ids))) if named else fact.passage_ids


def _reason(
    facts: Sequence[ClaimFacts],
    quality: AnswerQuality,
    missing: Sequence[str],
    has_evidence: bool,
    language: Language,
) -> str:
    if quality is AnswerQuality.ADEQUATE:
        return reason(language, "adequate")
    if quality is AnswerQuality.OFF_TOPIC:
        return reason(language, "off_topic")
    if not has_evidence:
        return reason(language, "no_evidence")
    if wrong := [fact.text for fact in facts if is_contradicted(fact)]:
        return reason(language, "contradiction", wrong)
    if quality is AnswerQuality.HALLUCINATION:
        return reason(language, "unsupported", [fact.text for fact in facts if claim_support(fact) < UNSUPPORTED])
    return reason(language, "incomplete", missing) if missing else reason(language, "off_topic")


def _verdict(
    scores: Scores,
    quality: AnswerQuality,
    confidence: float,
    why: str,
    lacking: tuple[Sequence[str], Sequence[str]] = ((), ()),
    suggestions: Sequence[str] = (),
    claims: Sequence[Claim] = (),
) -> Evaluation:
    return Evaluation(
        grounding=scores.grounding,
        completeness=scores.completeness,
        accuracy=scores.accuracy,
        answer_quality=quality,
        confidence=confidence,
        source=EvaluationSource.LOCAL,
        needs_retrieval=quality is not AnswerQuality.ADEQUATE or scores.overall < ADEQUATE_OVERALL,
        missing_info=tuple(lacking[0]),
        open_parts=tuple(lacking[1]),
        improvement_suggestions=tuple(suggestions),
        reason=why,
        claims=tuple(claims),
    )
