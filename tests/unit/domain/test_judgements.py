"""A judgement is what the judge said, or it is refused: never clamped into a good one."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import JudgeFailed
from selfright.domain.judgements import AnswerQuality, Evaluation, EvaluationSource, Grade, Grading, Verdict

SHARES = st.floats(0.0, 1.0)
SCORES = ("grounding", "completeness", "accuracy", "confidence")


def evaluation(**changed: Any) -> Evaluation:
    said: dict[str, Any] = {
        "grounding": 0.4, "completeness": 0.3, "accuracy": 0.7, "answer_quality": AnswerQuality.NEEDS_DOCS,
        "confidence": 0.5, "source": EvaluationSource.LOCAL,
    }  # fmt: skip
    return Evaluation(**{**said, **changed})


@given(SHARES, SHARES, SHARES)
def test_overall_is_the_weighted_mean(grounding: float, completeness: float, accuracy: float) -> None:
    overall = evaluation(grounding=grounding, completeness=completeness, accuracy=accuracy).overall
    assert overall == pytest.approx(0.4 * grounding + 0.4 * completeness + 0.2 * accuracy, abs=1e-6)
    assert 0.0 <= overall <= 1.0


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.7, -1, -0.0001, "0.9", None])
def test_a_score_out_of_range_is_refused(name: str, value: object) -> None:
    with pytest.raises(JudgeFailed, match=f"{name} must be a number from 0 to 1"):
        evaluation(**{name: value})


def test_only_a_real_judge_verifies() -> None:
    verified = {source: evaluation(source=source).verified for source in EvaluationSource}
    assert verified == {EvaluationSource.LLM: True, EvaluationSource.LOCAL: True, EvaluationSource.HEURISTIC: False}


def test_verdicts_drop_one_step() -> None:
    assert Verdict.CORRECT.one_step_down() is Verdict.AMBIGUOUS
    assert Verdict.AMBIGUOUS.one_step_down() is Verdict.INCORRECT
    assert Verdict.INCORRECT.one_step_down() is Verdict.INCORRECT
    assert Verdict.UNKNOWN.one_step_down() is Verdict.UNKNOWN


def test_a_grading_gives_the_probability_of_a_passage() -> None:
    grading = Grading(Verdict.CORRECT, 0.9, (Grade("a#0", 0.8), Grade("a#1", None)))
    assert grading.probability("a#0") == 0.8
    assert grading.probability("a#1") is None
    assert grading.probability("b#0") is None


@pytest.mark.parametrize(
    ("verdict", "sufficiency", "confidence"),
    [
        (Verdict.CORRECT, 0.9, 0.9),
        (Verdict.INCORRECT, 0.1, 0.9),
        (Verdict.AMBIGUOUS, 0.5, 1.0),
        (Verdict.AMBIGUOUS, 0.2, 0.4),
        (Verdict.UNKNOWN, None, None),
    ],
)
def test_a_verdict_says_how_sure_it_is(verdict: Verdict, sufficiency: float | None, confidence: float | None) -> None:
    assert Grading(verdict, sufficiency).confidence == (confidence if confidence is None else pytest.approx(confidence))
