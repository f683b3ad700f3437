"""A language model as judge of answers (S3's ``QualityEvaluator``), asked where the local judge is not sure.

Its judgement is held against what can be seen without a model: what is in dispute is not verified.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from selfright.background import run_in_thread
from selfright.domain.answers import EvaluationRequest, Message
from selfright.domain.chat import ChatRequest, Job
from selfright.domain.errors import JudgeFailed, ReplyUnusable
from selfright.domain.judgements import AnswerQuality, Claim, ClaimStatus, Evaluation, EvaluationSource, QueryClass
from selfright.domain.passages import Hit, Passage
from selfright.domain.ports import ChatModel, Evaluator
from selfright.domain.text import language_of
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.evaluate.claims import claim_facts
from selfright.roles.evaluate.completeness import AnswerReader
from selfright.roles.evaluate.concerns import with_concerns
from selfright.roles.evaluate.judgement_parsing import Judgement, SaidClaim, read_judgement
from selfright.roles.evaluate.scoring import ADEQUATE_OVERALL, Scores, is_contradicted
from selfright.roles.evaluate.wording import reason
from selfright.roles.markers import without_marks
from selfright.roles.model_calls import EVALUATION_SCHEMA, OUT_OF_REACH, JudgingMode
from selfright.roles.prompting import evaluation_prompt, prompt_evidence
from selfright.roles.visible_text import letters, sources
from selfright.roles.words import content_words

_UNSTATED_CONFIDENCE = 0.5
# Below this chance that a draft answers, the network is sure that it does not: of 900 short answers from groups that it
# has not learnt from, 5 % of those that answer are below, and 26 % of those that answer another question.
_ANSWERS_NOTHING = 0.17
_DISPUTED_CONFIDENCE = 0.5
_WORTH = {ClaimStatus.SUPPORTED: 1.0, ClaimStatus.UNKNOWN: 0.5, ClaimStatus.UNSUPPORTED: 0.0}
# A claim quoted in part counts as quoted from this share of the sentence on.
_QUOTED = 0.5


def contradictions(texts: Iterable[str], request: EvaluationRequest, analyzer: TextAnalyzer) -> frozenset[str]:
    """Those of ``texts`` that the evidence seems to contradict: another number on the same matter, or a negation."""
    evidence = sources(request.strips, request.hits)
    return frozenset(text for text in texts if is_contradicted(claim_facts(text, evidence, analyzer)))


def evaluation_of(
    said: Judgement, shown: Sequence[str], local: Sequence[Claim], disputed: frozenset[str]
) -> Evaluation:
    """The model's judgement as an evaluation with ``source=llm``.

    ``shown`` are the ids of the passages that it was shown as 1, 2, …; ``local`` is the local judge's claim for each
    sentence of the answer, which stands where the model passes over the sentence; ``disputed`` are sentences that the
    evidence seems to contradict, whatever the model says. Grounding is no higher than the model's own claims allow;
    what is mostly in dispute, or adequate with an overall score under 0.5, is not adequate.
    """
    judged = [(claim, [one for one in said.claims if _is_about(one.text, claim.text)]) for claim in local]
    claims = [_claim(claim, about, shown, disputed) for claim, about in judged]
    stated = [claim for claim, (_, about) in zip(claims, judged, strict=True) if about]
    in_dispute = [claim for claim in stated if claim.text in disputed and claim.status is ClaimStatus.UNKNOWN]
    scores = _scores(said.scores, stated)
    quality = _quality(said.label, scores, 2 * len(in_dispute) >= max(1, len(claims)))
    confidence = _UNSTATED_CONFIDENCE if said.confidence is None else said.confidence
    return Evaluation(
        grounding=scores.grounding,
        completeness=scores.completeness,
        accuracy=scores.accuracy,
        answer_quality=quality,
        confidence=min(confidence, _DISPUTED_CONFIDENCE) if in_dispute else confidence,
        source=EvaluationSource.LLM,
        needs_retrieval=said.wants_retrieval
        or quality is not AnswerQuality.ADEQUATE
        or round(scores.overall, 6) < ADEQUATE_OVERALL,
        missing_info=said.missing,
        improvement_suggestions=said.suggestions,
        reason=said.reason,
        claims=tuple(claims),
    )


def _consistent(said: Judgement, question: str) -> Judgement:
    """What the model said, without the question itself among what is missing of an answer that it finds adequate."""
    if said.label is not AnswerQuality.ADEQUATE:
        return said
    asked = content_words(question)
    return replace(said, missing=tuple(item for item in said.missing if not content_words(item) >= asked))


def _scores(given: Scores, stated: Sequence[Claim]) -> Scores:
    if not stated:
        return given
    share = sum(_WORTH[claim.status] for claim in stated) / len(stated)
    return Scores(min(given.grounding, share), given.completeness, given.accuracy)


def _quality(label: AnswerQuality, scores: Scores, disputed: bool) -> AnswerQuality:
    inconsistent = disputed or round(scores.overall, 6) < ADEQUATE_OVERALL
    return AnswerQuality.NEEDS_DOCS if label is AnswerQuality.ADEQUATE and inconsistent else label


def _is_about(said: str, sentence: str) -> bool:
    """Whether the model's claim is this sentence, or quotes a good part of it, or holds it whole."""
    ours, theirs = letters(sentence), letters(without_marks(said)[0])
    if not ours or not theirs:
        return False
    return ours in theirs or (theirs in ours and len(theirs) >= _QUOTED * len(ours))


def _claim(local: Claim, about: Sequence[SaidClaim], shown: Sequence[str], disputed: frozenset[str]) -> Claim:
    """One sentence's status: the worst that the model says of it; supported only by a passage that it was shown."""
    if not about:
        return local
    status = min((one.status for one in about), key=lambda status: _WORTH[status])
    numbers = dict.fromkeys(n for one in about for n in one.passages if 1 <= n <= len(shown))
    named = tuple(shown[n - 1] for n in numbers)
    if status is ClaimStatus.SUPPORTED and local.status is ClaimStatus.SUPPORTED:
        named = named or local.passage_ids
    elif status is ClaimStatus.SUPPORTED and (local.text in disputed or not named):
        status = ClaimStatus.UNKNOWN
    kept = named if status is ClaimStatus.SUPPORTED else ()
    return Claim(local.text, status, kept, _WORTH[status])


# With every claim supported and this confidence, the local judge's "adequate" was right on each of the 25 such answers
# (14 %) of real models in MTRAG, and on 93 % of the demo's; asking for more completeness made it no more often right.
# Its bad labels are right on half of those answers only, so they are never final where there is evidence.
SURE = 0.7

_TEMPERATURE = 0.3
_MOST_TOKENS = 2_048
_MOST_MESSAGES = 10


@dataclass(frozen=True, slots=True)
class QualityEvaluator:
    """Judges with one structured call (port ``Evaluator``); ``local`` judges first and stands in.

    ``cascade``: the model is asked only where the local judge is not sure; an answer without documents is then adequate
    only if the conversation supports it, or, before any search, if the model says so: what nothing was searched for,
    the local judge can only turn down. ``always``: it is asked each time, except about small talk and refusals, which
    have nothing in them to judge. ``analyzer`` is for checking what it says against numbers and negations;
    ``answering`` for a word where the network is sure that an answer misses the question.
    """

    chat: ChatModel
    local: Evaluator
    analyzer: TextAnalyzer
    judging: JudgingMode = "cascade"
    answering: AnswerReader | None = None

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        """The judgement: ``source`` tells whose it is.

        Raises ``JudgeFailed`` when the model answered, but with nothing that can be used; with the model out of reach
        or no budget left for it, the local judgement stands.
        """
        return with_concerns(await self._judge(request), request)

    async def _judge(self, request: EvaluationRequest) -> Evaluation:
        local = await self._local(replace(request, concerns=()))
        if not _says_something(request) or (self.judging == "cascade" and self._is_sure(local, request)):
            return local
        try:
            judgement = await self._ask_model(request)
        except OUT_OF_REACH:
            return local
        claims = local.claims if _has_evidence(request) else [_open(claim) for claim in local.claims]
        disputed = await run_in_thread(
            sum(len(claim.text) for claim in claims),
            lambda: contradictions([claim.text for claim in claims], request, self.analyzer),
        )
        judgement = _consistent(judgement, request.question)
        judged = evaluation_of(judgement, [one.passage_id for one in prompt_evidence(request)], claims, disputed)
        return await self._if_it_answers(judged, request)

    async def _if_it_answers(self, judged: Evaluation, request: EvaluationRequest) -> Evaluation:
        """The model's judgement, unless the network is sure that the draft answers something else or nothing."""
        draft, chance = request.draft, None
        if self.answering:
            chance = await asyncio.to_thread(self.answering.chance, request.question, draft)
        if chance is None or chance >= _ANSWERS_NOTHING:
            return judged
        adequate = judged.answer_quality is AnswerQuality.ADEQUATE
        return replace(
            judged,
            completeness=min(judged.completeness, round(chance, 4)),
            answer_quality=AnswerQuality.NEEDS_DOCS if adequate else judged.answer_quality,
            needs_retrieval=True,
            reason=reason(language_of(draft.text), "off_topic") if adequate else judged.reason,
        )

    async def _ask_model(self, request: EvaluationRequest) -> Judgement:
        system, user = evaluation_prompt(request)
        asked = ChatRequest(Job.EVALUATE, system, user, _TEMPERATURE, _MOST_TOKENS, EVALUATION_SCHEMA)
        try:
            reply = await self.chat.complete(asked)
        except ReplyUnusable as error:
            raise JudgeFailed("the judge's reply cannot be used; ask it again or choose another model") from error
        if reply.data is None:
            raise JudgeFailed("an object was expected of the judge, and text came; choose another model")
        return read_judgement(reply.data)

    def _is_sure(self, local: Evaluation, request: EvaluationRequest) -> bool:
        if not _has_evidence(request) and not request.unsearched:
            return True
        return is_sure(local)

    async def _local(self, request: EvaluationRequest) -> Evaluation:
        """The local judgement; of an answer without documents, what the conversation makes of it."""
        judged = await self.local.evaluate(request)
        if _has_evidence(request) or not _says_something(request):
            return judged
        if conversation := _as_hits(request.history):
            heard = await self.local.evaluate(replace(request, hits=conversation))
            if is_sure(heard):
                return replace(heard, claims=tuple(replace(claim, passage_ids=()) for claim in heard.claims))
        # Without evidence nobody can tell what the answer should have been about, only that it needs some.
        off_topic = judged.answer_quality is AnswerQuality.OFF_TOPIC
        return replace(judged, answer_quality=AnswerQuality.NEEDS_DOCS) if off_topic else judged


def is_sure(local: Evaluation) -> bool:
    """Whether the local judge's word is enough: an adequate answer, every sentence of it supported."""
    supported = all(claim.status is ClaimStatus.SUPPORTED for claim in local.claims)
    return local.answer_quality is AnswerQuality.ADEQUATE and local.confidence >= SURE and supported


def _says_something(request: EvaluationRequest) -> bool:
    small_talk = request.query_class is QueryClass.CHITCHAT
    return not small_talk and not request.draft.refused and bool(request.draft.text.strip())


def _has_evidence(request: EvaluationRequest) -> bool:
    return bool(request.strips or request.hits)


def _open(claim: Claim) -> Claim:
    """A claim that there was nothing to hold against: nobody could tell."""
    return claim if claim.status is ClaimStatus.SUPPORTED else replace(claim, status=ClaimStatus.UNKNOWN)


def _as_hits(history: Sequence[Message]) -> tuple[Hit, ...]:
    """What was said before as evidence, the last ten messages; questions say nothing."""
    said = [
        message.content
        for message in history[-_MOST_MESSAGES:]
        if message.content.strip() and not (message.role == "user" and message.content.rstrip().endswith(("?", "？")))
    ]
    return tuple(
        Hit(Passage(f"message {n}", "conversation", "", text, 0, len(text), language=language_of(text)), 1 / (60 + n))
        for n, text in enumerate(reversed(said), start=1)
    )
