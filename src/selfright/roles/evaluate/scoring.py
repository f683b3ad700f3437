"""From what was seen of an answer to scores and a label: every weight and threshold of the local judge."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from selfright.domain.judgements import AnswerQuality, Evaluation, QueryClass
from selfright.roles.evaluate.claims import ClaimFacts
from selfright.roles.evaluate.completeness import PartFacts

# Support of a claim: a logistic of its facts. Set by hand next to fits on KLUE-NLI (encyclopaedia, news) and on human
# faithfulness votes of MTRAG, which they match in AUC; conflicts weigh more than fitted, for missing one costs more.
BIAS, COVERAGE, ANYWHERE = -2.6, 4.5, 1.0
NAMES_MISSING, NUMBERS_MISSING, NUMBER_CONFLICT, NEGATION_CONFLICT = -1.2, -2.5, -1.5, -3.5
SUPPORTED, UNSUPPORTED = 0.5, 0.35

# The same where an edit was looked for (English), by ``training/fit_claims.py``; more shared words than CAP stands for
# say nothing.
CAP = 0.5
SHARED, EXPLAINED, MISNAMED, TURNED, ABSOLUTE, EDITED = 0.54, 4.77, -3.06, -3.02, -1.96, -0.68
WEIGHTS = "claims-3"  # what a calibration was made for: another number with other weights

# An answer less complete than this speaks of something else, and what it says, however well supported, is no ground
# for an answer.
BEARING = 0.5

# Completeness: a logistic of the share of the question that is answered and of the belief in the evidence (log-odds).
# The weights are the best of a coarse grid by the mean AUC of right answers on
# the demo, SQuAD 2.0, CLAPNQ, COVID-QA and KorQuAD; a fit on the English sets alone forgets the share, which is what
# tells unanswerable questions about a known thing.
ANSWERED, BELIEF, EVEN = 4.0, 0.2, 0.6
NAMES_ABSENT, TYPE_ABSENT = 0.4, 0.1
# Of an answer in another language than the question words say nothing but what names are there: it is taken for
# half an answer before what is believed of its evidence.
UNKNOWN = 0.5
SURE = 4.0

COMPLETE = 0.6
ADEQUATE_OVERALL = 0.5

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
    if fact.verbatim:
        return 1.0
    shared = _shared(fact)
    if fact.edits is None:
        return _sigmoid(shared)
    logit = (
        EDITED
        + SHARED * min(shared, CAP)
        + EXPLAINED * fact.edits.explained
        + MISNAMED * fact.edits.misnamed
        + TURNED * fact.edits.turned
        + ABSOLUTE * fact.edits.absolute
    )
    # Whatever speaks for a rewording, a contradiction is none.
    return _sigmoid(min(logit, shared) if fact.number_conflict or fact.negation_conflict else logit)


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


def score_answer(
    facts: Sequence[ClaimFacts],
    parts: Sequence[PartFacts],
    query_class: QueryClass,
    helps: float | None,
    answers: float | None = None,
    *,
    same_language: bool,
) -> Scores:
    """The scores. ``helps`` is the probability that what the answer cites helps to answer, as judged before it was
    written, and ``answers`` that the answer does, by a reader; None where nobody can tell.

    Grounding: weighted share of supported claims. Completeness: how far, and how probably, the question is answered.
    Accuracy: absence of contradiction. An answer to something else is no good ground and no accurate answer, so both
    are lowered.
    """
    total = sum(fact.weight for fact in facts)
    supported = sum(fact.weight * claim_support(fact) for fact in facts) / total
    true = sum(fact.weight * _accuracy(fact) for fact in facts) / total
    # A summary answers by what it condenses: the topic is enough.
    if query_class is QueryClass.SUMMARY:
        complete = min(1.0, 0.5 + _mean([(part.weight, part.titled) for part in parts]) / 2)
    else:
        complete = _completeness(parts, helps, same_language) if answers is None else answers
    bearing = 0.25 + 0.75 * min(1.0, complete / BEARING)
    return Scores(*(round(min(1.0, value), 4) for value in (supported * bearing, complete, true * bearing)))


def _completeness(parts: Sequence[PartFacts], helps: float | None, same_language: bool) -> float:
    if not same_language:
        absent = _mean([(1.0, part.names_missing) for part in parts])
        return (1.0 - NAMES_ABSENT * absent) * (UNKNOWN + (1.0 - UNKNOWN) * (helps or 0.0))
    answered = _mean([(1.0, _answered(part)) for part in parts])
    logit = ANSWERED * (answered - EVEN)
    if helps is not None:
        logit += BELIEF * max(-SURE, min(SURE, _log_odds(helps)))
    return _sigmoid(logit)


def _answered(part: PartFacts) -> float:
    """How far (0…1) one part of the question is answered: its words are taken up, and the type asked for is there."""
    return part.direct * (1.0 - NAMES_ABSENT * part.names_missing) * (1.0 - TYPE_ABSENT * (1.0 - part.offered))


def _log_odds(p: float) -> float:
    return math.log(max(p, 1e-6) / max(1.0 - p, 1e-6))


def _mean(pairs: Sequence[tuple[float, float]]) -> float:
    total = sum(weight for weight, _ in pairs)
    return sum(weight * value for weight, value in pairs) / total if total else pairs[0][1]


def contradicted(fact: ClaimFacts) -> bool:
    """Whether the evidence says otherwise: another number, or the opposite."""
    denied = fact.judged is not None and fact.judged.denied
    return not fact.verbatim and (fact.number_conflict or fact.negation_conflict or denied)


def _accuracy(fact: ClaimFacts) -> float:
    """Nothing speaks against a supported claim; against an unsupported one nobody can tell."""
    return _CONTRADICTED if contradicted(fact) else 0.5 + 0.5 * claim_support(fact)


def label_answer(
    scores: Scores,
    facts: Sequence[ClaimFacts],
    parts: Sequence[PartFacts],
    *,
    has_evidence: bool,
    same_language: bool,
) -> AnswerQuality:
    """The label: contradictions and inventions first, then whether it speaks of the question, then the scores."""
    unsupported = [fact for fact in facts if claim_support(fact) < UNSUPPORTED]
    invented = any(fact.specific for fact in unsupported)
    if any(contradicted(fact) for fact in facts) or (invented and 2 * len(unsupported) >= len(facts)):
        return AnswerQuality.HALLUCINATION
    if same_language and all(part.titled == 0.0 and part.weight > 0 for part in parts) and not has_evidence:
        return AnswerQuality.OFF_TOPIC
    if scores.completeness < COMPLETE or scores.overall < ADEQUATE_OVERALL or not has_evidence:
        return AnswerQuality.NEEDS_DOCS
    return AnswerQuality.ADEQUATE


def confidence_in(label: AnswerQuality, scores: Scores, has_evidence: bool) -> float:
    """How sure the label is: for a good one as far as the answer holds, for a bad one as far as it does not."""
    held = math.sqrt(scores.grounding * scores.completeness)
    if label is AnswerQuality.ADEQUATE:
        return round(0.4 + 0.6 * held, 4)
    return round(0.4 + 0.6 * (1.0 - held), 4) if has_evidence else 0.5


# The rule: about one in ten answerable questions may be refused on the set where that happens first, which is the demo
# with its everyday wording (11 %, for 64 % of its unanswerable ones). Other sets lie higher: under the same threshold
# CLAPNQ refuses under 1 % for 28 %, SQuAD 2.0 (whose unanswerable questions are edits of answerable ones) 2 % for 5 %.
DEFAULT_THRESHOLD = 0.13

_UNVERIFIED = 0.5


def support(evaluation: Evaluation) -> float:
    """How well (0…1) the answer is supported by evidence and covers the question.

    The least of grounding, completeness and accuracy, for an answer is as good as what it lacks most; a judgement that
    only a heuristic made counts half, for it looked at no evidence.
    """
    worth = min(evaluation.grounding, evaluation.completeness, evaluation.accuracy)
    return round(worth if evaluation.verified else _UNVERIFIED * worth, 6)
