"""A model's judgement held against what can be seen without one: what is in dispute is not verified."""

from collections.abc import Iterable, Sequence

from selfright.domain.answers import EvaluationRequest
from selfright.domain.judgements import AnswerQuality, Claim, ClaimStatus, Evaluation, EvaluationSource
from selfright.roles.analysis import TextAnalyzer
from selfright.roles.evaluate.claims import claim_facts
from selfright.roles.evaluate.evidence import letters, sources
from selfright.roles.evaluate.reading import Judgement, SaidClaim
from selfright.roles.evaluate.scoring import ADEQUATE_OVERALL, Scores, contradicted
from selfright.roles.markers import without_marks

_UNSTATED_CONFIDENCE = 0.5
_DISPUTED_CONFIDENCE = 0.5
_WORTH = {ClaimStatus.SUPPORTED: 1.0, ClaimStatus.UNKNOWN: 0.5, ClaimStatus.UNSUPPORTED: 0.0}
# A claim quoted in part counts as quoted from this share of the sentence on.
_QUOTED = 0.5


def contradictions(texts: Iterable[str], request: EvaluationRequest, analyzer: TextAnalyzer) -> frozenset[str]:
    """Those of ``texts`` that the evidence seems to contradict: another number on the same matter, or a negation."""
    evidence = sources(request.strips, request.hits)
    return frozenset(text for text in texts if contradicted(claim_facts(text, evidence, analyzer)))


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
