"""Two chances as one: the joint score is that of both at once; weights of one step are read as ever."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.roles.grade.two_steps import TwoSteps, joint_score, read_steps

LOGITS = st.floats(-20, 20)
STORED: dict[str, Any] = {
    "weights": {"words": 4.0},
    "intercept": -2.0,
    "calibration": {"scores": [-2.0, 2.0], "probabilities": [0.1, 0.9]},
    "answers": {"weights": {"numbers_missing": -6.0}, "intercept": 3.0},
    "joint": {"scores": [-10.0, 10.0], "probabilities": [0.0, 1.0]},
}


def chance(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


@given(LOGITS, LOGITS)
def test_the_joint_score_is_the_log_odds_of_the_product(a: float, b: float) -> None:
    assert chance(joint_score(a, b)) == pytest.approx(chance(a) * chance(b), rel=1e-6)
    assert joint_score(a, b) == joint_score(b, a) <= min(a, b)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_stays_none(broken: float) -> None:
    assert math.isnan(joint_score(broken, 1.0))
    assert math.isnan(read_steps(STORED).probability({"words": broken, "numbers_missing": 0.0}))


def test_a_passage_must_be_about_it_and_answer_it() -> None:
    scorer = read_steps(STORED)
    both = scorer.probability({"words": 1.0, "numbers_missing": 0.0})
    assert both > scorer.probability({"words": 1.0, "numbers_missing": 1.0})
    assert both > scorer.probability({"words": 0.0, "numbers_missing": 0.0})


def test_weights_of_one_step_are_read_as_before() -> None:
    single = {name: value for name, value in STORED.items() if name not in ("answers", "joint")}
    scorer = read_steps(single)
    assert not isinstance(scorer, TwoSteps)
    assert scorer.probability({"words": 0.5}) == pytest.approx(0.5)
