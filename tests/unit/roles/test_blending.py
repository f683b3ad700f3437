"""What a judge of the user's own counts: how rows tell it, and that no opinion is ever turned round."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.roles.calibration.fitting import fit_blend
from selfright.roles.calibration.measures import auc
from selfright.roles.calibration.stored import UNCALIBRATED
from selfright.roles.scoring import Blend, log_odds, read_blend

EVEN = Blend({"words": 0.5, "judge": 0.5})
FINITE = st.floats(-30, 30, allow_nan=False)
ROWS = st.lists(st.tuples(FINITE, FINITE, st.integers(0, 1)), min_size=1, max_size=60)


def drawn(rows: int, words: float, judge: float, scale: float = 1.0) -> tuple[list[dict[str, float]], list[int]]:
    """Labels, and two opinions that lean towards them so much; the judge's on another scale."""
    random = np.random.default_rng(3)
    labels = random.integers(0, 2, rows)
    said = [
        {"words": float(w), "judge": float(scale * j)}
        for w, j in zip(
            random.normal(0, 1, rows) + words * (2 * labels - 1),
            random.normal(0, 1, rows) + judge * (2 * labels - 1),
            strict=True,
        )
    ]
    return said, labels.tolist()


def test_a_blend_by_hand() -> None:
    blend = Blend({"signals": 0.5, "judge": 0.5}, 0.25)
    assert blend({"signals": 1.0, "judge": -1.5}) == pytest.approx(0.5)
    assert blend({"signals": 0.0, "judge": 99.0}) == pytest.approx(1 / (1 + math.exp(-5.25)))  # counts to ten
    assert math.isnan(blend({"signals": math.nan, "judge": 1.0}))
    assert math.isnan(blend({"signals": 1.0, "judge": math.inf}))
    assert log_odds(0.5) == 0.0
    assert log_odds(1.0) == pytest.approx(math.log(499))
    assert log_odds(0.0) == pytest.approx(-math.log(499))


def test_without_rows_worth_the_name_the_weights_stay() -> None:
    held = fit_blend([{"words": 0.0, "judge": 0.0}] * 20, [0, 1] * 10, EVEN)
    assert held.weights == pytest.approx(EVEN.weights, abs=1e-3)
    assert held.intercept == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("scale", [0.05, 1.0, 3.0])
def test_rows_tell_who_is_worth_more_on_whatever_scale_a_judge_speaks(scale: float) -> None:
    said, labels = drawn(2_000, words=0.2, judge=1.0, scale=scale)
    found = fit_blend(said[:1_000], labels[:1_000], EVEN)
    assert found.weights["judge"] * scale > 2 * found.weights["words"] > 0
    together = [found(row) for row in said[1_000:]]
    for name in ("words", "judge"):
        assert auc(together, labels[1_000:]) > auc([row[name] for row in said[1_000:]], labels[1_000:])
    assert np.mean(together) == pytest.approx(np.mean(labels), abs=0.05)


def test_a_judge_that_is_wrong_counts_nothing_and_is_not_turned_round() -> None:
    said, labels = drawn(1_000, words=0.7, judge=-0.7)
    found = fit_blend(said, labels, EVEN)
    assert found.weights["judge"] == 0.0
    assert found.weights["words"] > 0.5


@given(ROWS)
def test_whatever_the_rows_more_belief_never_makes_less_probable(rows: list[tuple[float, float, int]]) -> None:
    said = [{"signals": a, "judge": b, "behind": abs(a - b)} for a, b, _ in rows]
    found = fit_blend(said, [label for *_, label in rows], UNCALIBRATED)
    assert found.weights["signals"] >= 0
    assert found.weights["judge"] >= 0
    assert found.weights["behind"] <= 0
    assert all(0 <= found(row) <= 1 for row in said)
    again = read_blend({"weights": dict(found.weights), "intercept": found.intercept}, UNCALIBRATED)
    assert again == found


@pytest.mark.parametrize(
    "stored",
    [
        {"weights": {"signals": 1, "judge": 1}, "intercept": 0},
        {"weights": {"signals": 1, "judge": math.nan, "behind": 0}, "intercept": 0},
        {"weights": {"signals": 1, "judge": 1, "behind": 0, "more": 1}, "intercept": 0},
        {"weights": {"signals": 1, "judge": 1, "behind": 0}, "intercept": math.inf},
    ],
)
def test_a_blend_that_was_edited_into_nonsense_is_refused(stored: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="finite weight"):
        read_blend(stored, UNCALIBRATED)
