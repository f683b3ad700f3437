"""Who judges when judging failed: the local judge, and when that fails too one that reads nothing but counts.

The counting judge is also the baseline of the ablation.
"""

import re

from selfright.domain.answers import EvaluationRequest
from selfright.domain.judgements import AnswerQuality, Evaluation, EvaluationSource
from selfright.domain.passages import Language
from selfright.roles.evaluate.scoring import ADEQUATE_OVERALL
from selfright.roles.visible_text import letters

LENGTH, EVIDENCE, PERSONALISATION = 0.3, 0.4, 0.3
CONFIDENCE = 0.3

# An answer of this many letters is as long as need be; Hangul says more per letter.
_ENOUGH: dict[Language, int] = {"en": 160, "ko": 80}
_ENOUGH_PASSAGES = 2
_NO_PROFILE = 0.5
_ITEM = re.compile(r"[,;·]\s*")


class HeuristicEvaluator:
    """``0.3·length + 0.4·evidence + 0.3·personalisation`` [S4] (port ``Evaluator``). Never raises.

    The score stands in grounding, completeness and accuracy alike, so that ``overall`` equals it. Length is relative to
    160 letters (Korean: 80), evidence to two passages, personalisation is the share of the profile's items that the
    answer mentions in any wording that counts (0.5 without a profile).
    """

    async def evaluate(self, request: EvaluationRequest) -> Evaluation:
        """A rough score with ``source=heuristic`` and a confidence of 0.3."""
        score = round(
            LENGTH * _length(request) + EVIDENCE * _evidence(request) + PERSONALISATION * _personalisation(request), 6
        )
        enough = score >= ADEQUATE_OVERALL and not request.draft.refused
        return Evaluation(
            grounding=score,
            completeness=score,
            accuracy=score,
            answer_quality=AnswerQuality.ADEQUATE if enough else AnswerQuality.NEEDS_DOCS,
            confidence=CONFIDENCE,
            source=EvaluationSource.HEURISTIC,
            needs_retrieval=not enough,
            reason=f"0.3·{_length(request):.2f} + 0.4·{_evidence(request):.2f} + 0.3·{_personalisation(request):.2f}",
        )


def _length(request: EvaluationRequest) -> float:
    if request.draft.refused:
        return 0.0
    return min(1.0, len(letters(request.draft.text)) / _ENOUGH[request.language])


def _evidence(request: EvaluationRequest) -> float:
    passages = {strip.passage.id for strip in request.strips} | {hit.passage.id for hit in request.hits}
    return min(1.0, len(passages) / _ENOUGH_PASSAGES)


def _personalisation(request: EvaluationRequest) -> float:
    wordings = request.personal or [(item,) for item in _ITEM.split(request.profile_summary)]
    items = [[letters(word) for word in words if letters(word)] for words in wordings]
    items = [words for words in items if words]
    if not items:
        return _NO_PROFILE
    answer = letters(request.draft.text)
    return sum(any(word in answer for word in words) for words in items) / len(items)
