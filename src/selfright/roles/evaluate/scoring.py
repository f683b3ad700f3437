"""From what was seen of an answer to scores and a label: every weight and threshold of the local judge."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from selfright.domain.judgements import AnswerQuality, Evaluation, QueryClass
from selfright.roles.evaluate.claims import ClaimFacts
from selfright.roles.evaluate.completeness import PartFacts

# Support of a claim: a logistic of its facts. Set by hand next to fits on KLUE-NLI (encyclopaedia, news) and on human
# faithfulness votes of MTRAG, which they match in AUC; conflicts weigh more than fitted, for missing one costs more.
BIAS, COVERAGE, ANYWHERE = -2.6, 4.5, 1.0
NAMES_MISSING, NUMBERS_MISSING, NUMBER_CONFLICT, NEGATION_CONFLICT = -1.2, -2.5, -1.5, -3.5
SUPPORTED, UNSUPPORTED = 0.5, 0.35

COMPLETE = 0.6
ADEQUATE_OVERALL = 0.5  # below it no answer is adequate
MISSED = ADEQUATE_OVERALL - 0.01  # an answer to something else counts at most this, however well it is supported

_CONTRADICTED = 0.1


@dataclass(frozen=True, slots=True)
class Scores:
    """The three scores of an answer, each 0…1."""

    grounding: float
    completeness: float
    accuracy: float

    @property
    def overall(self) -> float:
        """As ``Evaluation.overall``."""
        return 0.4 * self.grounding + 0.4 * self.completeness + 0.2 * self.accuracy


def claim_support(fact: ClaimFacts) -> float:
    """The probability (0…1) that the evidence supports the claim."""
    if fact.verbatim:
        return 1.0
    return fact.judged.support if fact.judged else words_support(fact)


def words_support(fact: ClaimFacts) -> float:
    """The same by what was seen alone, without calibration and without a judge of the user's own."""
    return 1.0 if fact.verbatim else _sigmoid(_shared(fact))


def _shared(fact: ClaimFacts) -> float:
    """Log-odds of support by shared words, names and numbers, and by what conflicts."""
    return (
        BIAS
        + COVERAGE * fact.coverage
        + ANYWHERE * fact.anywhere
        + NAMES_MISSING * fact.names_missing
        + NUMBERS_MISSING * fact.numbers_missing
        + NUMBER_CONFLICT * fact.number_conflict
        + NEGATION_CONFLICT * fact.negation_conflict
    )


def _sigmoid(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))


def score_answer(facts: Sequence[ClaimFacts], parts: Sequence[PartFacts], query_class: QueryClass) -> Scores:
    """The scores.

    Grounding: weighted share of supported claims. Completeness: the mean, over the parts of the question, of how
    probably they are answered; a summary is complete as far as it keeps to the topic. Accuracy: absence of
    contradiction. An answer to something else is no good ground and no accurate answer: where no part of the question
    is answered, both are lowered until all together is less than a half.
    """
    total = sum(fact.weight for fact in facts)
    supported = sum(fact.weight * claim_support(fact) for fact in facts) / total
    true = sum(fact.weight * _accuracy(fact) for fact in facts) / total
    if query_class is QueryClass.SUMMARY:
        complete, misses = min(1.0, 0.5 + fmean(part.share for part in parts) / 2), False
    else:
        complete, misses = fmean(part.chance for part in parts), all(part.is_open for part in parts)
    most = MISSED - 0.1 * (0.5 - complete)  # of two that miss, the one that comes nearer is better
    bearing = min(0.25 + 1.5 * complete, (most - 0.4 * complete) / 0.6) if misses else 1.0
    return Scores(*(round(min(1.0, value), 4) for value in (supported * bearing, complete, true * bearing)))


def is_contradicted(fact: ClaimFacts) -> bool:
    """Whether the evidence says otherwise: another number, or the opposite."""
    denied = fact.judged is not None and fact.judged.denied
    return not fact.verbatim and (fact.number_conflict or fact.negation_conflict or denied)


def _accuracy(fact: ClaimFacts) -> float:
    """Nothing speaks against a supported claim; against an unsupported one nobody can tell."""
    return _CONTRADICTED if is_contradicted(fact) else 0.5 + 0.5 * claim_support(fact)


def label_answer(
    scores: Scores, facts: Sequence[ClaimFacts], parts: Sequence[PartFacts], query_class: QueryClass, *, evidence: bool
) -> AnswerQuality:
    """The label: contradictions and inventions first, then whether each part of the question is answered.

    ``evidence``: whether there is any.
    """
    unsupported = [fact for fact in facts if claim_support(fact) < UNSUPPORTED]
    invented = any(fact.specific for fact in unsupported)
    if any(is_contradicted(fact) for fact in facts) or (invented and 2 * len(unsupported) >= len(facts)):
        return AnswerQuality.HALLUCINATION
    if not evidence:
        return AnswerQuality.NEEDS_DOCS if any(part.share for part in parts) else AnswerQuality.OFF_TOPIC
    is_open = query_class is not QueryClass.SUMMARY and any(part.is_open for part in parts)
    if is_open or scores.overall < ADEQUATE_OVERALL:
        return AnswerQuality.NEEDS_DOCS
    return AnswerQuality.ADEQUATE


def confidence_in(label: AnswerQuality, scores: Scores, has_evidence: bool) -> float:
    """How sure the label is: for a good one as far as the answer holds, for a bad one as far as it does not."""
    held = math.sqrt(scores.grounding * scores.completeness)
    if label is AnswerQuality.ADEQUATE:
        return round(0.4 + 0.6 * held, 4)
    return round(0.4 + 0.6 * (1.0 - held), 4) if has_evidence else 0.5


# Of answers that no grader's reading stands behind. Presets without one refuse by it 5 to 7 % of the demo's answerable
# questions and 28 to 36 % of its unanswerable ones; no right answer of theirs lies between 0.13 and 0.15. At 0.18 four
# of 125 would be lost, for four wrong and six unanswerable ones.
DEFAULT_THRESHOLD = 0.15

_UNVERIFIED = 0.5


def support(evaluation: Evaluation) -> float:
    """How well (0…1) the answer is supported by evidence and covers the question.

    The least of grounding, completeness and accuracy, for an answer is as good as what it lacks most; a judgement that
    only a heuristic made counts half, for it looked at no evidence.
    """
    worth = min(evaluation.grounding, evaluation.completeness, evaluation.accuracy)
    return round(worth if evaluation.verified else _UNVERIFIED * worth, 6)
