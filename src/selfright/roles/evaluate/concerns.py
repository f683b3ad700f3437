"""What in the user's profile conflicts with an answer: one that does not speak of it is not complete."""

from dataclasses import replace

from selfright.domain.answers import EvaluationRequest
from selfright.domain.judgements import AnswerQuality, Evaluation
from selfright.domain.slots import Concern
from selfright.roles.evaluate.scoring import COMPLETE
from selfright.roles.evaluate.wording import reason, suggestion

# Just under what counts as complete: the answer may be right in all it says.
UNHEEDED = round(COMPLETE - 0.1, 2)


def with_concerns(evaluation: Evaluation, request: EvaluationRequest) -> Evaluation:
    """The evaluation; what the answer leaves unheeded is missing info, and lowers completeness."""
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
