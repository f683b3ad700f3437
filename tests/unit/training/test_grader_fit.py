"""The grader's fit on rows made up for it: two steps, weights with the right sign, thresholds with a stated risk."""

import numpy as np
import pytest

from selfright.roles.grade.two_steps import joint_score, read_steps
from training.fit_grader_reader_data import NAMES, on_their_own, pick
from training.fit_grader_reader_model import Fitted, Steps, equal_sets, fit_passages, place_in_set, sign, thresholds
from training.fitting import auc
from training.grader_rows import Rows

USED = ("sentence_coverage", "names_missing", "cosine")


def made(cases: int, seed: int, dataset: str = "squad2") -> Rows:
    """Sets of four: the own passage is near, and helps unless a name is missing; the others are far."""
    chance = np.random.default_rng(seed)
    x = np.zeros((4 * cases, len(NAMES)))
    own = np.arange(4 * cases) % 4 == 0
    missing = chance.uniform(size=len(x)) < 0.5
    x[:, NAMES.index("sentence_coverage")] = np.where(own, 0.8, 0.3) + chance.normal(0, 0.15, len(x))
    x[:, NAMES.index("cosine")] = np.where(own, 0.7, 0.4) + chance.normal(0, 0.12, len(x))
    x[:, NAMES.index("names_missing")] = missing
    helps = (own & (chance.uniform(size=len(x)) < np.where(missing, 0.15, 0.85))).astype(int)
    kind = np.where(own, "own", "retrieved")
    case = np.arange(4 * cases) // 4
    return Rows(x, helps, np.full(len(x), dataset), kind, case, case % 5)


def test_two_steps_see_that_the_near_passage_does_not_answer() -> None:
    rows = made(300, 1)
    own = rows.kind == "own"
    fitted = Steps(rows, USED)
    assert fitted.answers is not None
    assert auc(fitted.held_out[own], rows.y[own]) > 0.75
    assert auc(fitted.about.held_out[own], rows.y[own]) < 0.65  # the first step only knows what is near


def test_without_pairs_that_are_near_and_do_not_answer_one_step_is_left() -> None:
    fitted = Steps(made(100, 8, "covidqa"), USED)
    assert fitted.answers is None
    assert "answers" not in fitted.stored()


def test_every_set_has_the_same_say() -> None:
    weight = equal_sets(np.array(["a"] * 3 + ["b"] * 9))
    assert weight[:3].sum() == pytest.approx(weight[3:].sum())


def test_a_signal_that_is_wrong_about_its_meaning_counts_nothing() -> None:
    rows = made(120, 2)
    rows.x[:, NAMES.index("cosine")] *= -1
    weights = dict(zip(USED, Steps(rows, USED).about.weights, strict=False))
    assert weights["cosine"] == 0.0
    assert all(weights[name] * sign(name) >= 0 for name in USED)


@pytest.mark.parametrize("dataset", ["squad2", "covidqa"])
def test_what_is_stored_judges_like_what_was_fitted(dataset: str) -> None:
    rows = made(120, 3, dataset)
    fitted = fit_passages(rows, USED)
    scorer = read_steps(fitted.stored())
    for row in pick(rows, USED)[:20]:
        score = weighed(row, fitted.about)
        if fitted.answers:
            second = row[[USED.index(name) for name in fitted.second]]
            score = joint_score(score, weighed(second, fitted.answers))
        wanted = np.interp(score, *fitted.curve)
        assert scorer.probability(dict(zip(USED, row.tolist(), strict=True))) == pytest.approx(wanted, abs=0.01)


def weighed(row: np.ndarray, fitted: Fitted) -> float:
    return float(row @ fitted.weights[:-1] + fitted.weights[-1])


def test_alone_nothing_is_behind() -> None:
    rows = made(10, 6)
    rows.x[:, NAMES.index("behind_cosine")] = 0.3
    apart = on_their_own(rows)
    assert (apart.x[:, NAMES.index("behind_cosine")] == 0).all()
    assert (apart.x[:, NAMES.index("alone")] == 1).all()
    assert place_in_set(rows)[:8].tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_the_stated_risk_holds_in_nine_of_ten_draws() -> None:
    """Chances of known truth: how often the share of answers below ``lower`` is above a tenth."""
    broken = 0
    for seed in range(100):
        chance = np.random.default_rng(seed)
        p = chance.uniform(size=400)
        y = (chance.uniform(size=400) < p).astype(float)
        lower, upper = thresholds(p, y, np.ones(400))
        assert 0 <= lower <= upper <= 1
        broken += lower / 2 > 0.10  # of chances spread evenly below ``lower`` half of it come true
    assert broken <= 10
