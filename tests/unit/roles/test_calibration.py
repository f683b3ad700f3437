"""Figures, curves and thresholds of calibration: worked examples by hand, and what must hold for any rows."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import InputError, SettingsError
from selfright.domain.judgements import Verdict
from selfright.roles.calibration.fitting import (
    apply_curve,
    binomial_tail,
    certify_threshold,
    fewest_to_certify,
    fit_curve,
    isotonic,
    keeping,
    platt,
)
from selfright.roles.calibration.measures import (
    auc,
    aurc,
    brier,
    calibration_error,
    quality,
    reliability,
    risk_coverage,
)
from selfright.roles.calibration.refit import JudgedSet, refit
from selfright.roles.calibration.stored import CalibrationSource, GraderCalibration, read_calibration
from selfright.roles.scoring import Curve

ORIGIN = CalibrationSource("2025-01-01T00:00:00+00:00", 4, 2, "0" * 64, "words+abc", 0.1)
# Few different values, so that ties are common.
SHARES = st.integers(0, 20).map(lambda n: n / 20)
PAIRS = st.lists(st.tuples(SHARES, st.integers(0, 1)), min_size=1, max_size=40)


def columns(pairs: list[tuple[float, int]]) -> tuple[list[float], list[int]]:
    return [p for p, _ in pairs], [y for _, y in pairs]


def drawn(rows: int, seed: int, bend: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Scores s, and labels that come true with probability s ** bend."""
    random = np.random.default_rng(seed)
    s = random.uniform(0, 1, rows)
    return s, (random.uniform(0, 1, rows) < s**bend).astype(int)


# Figures


def test_figures_of_four_rows_by_hand() -> None:
    p, y = [0.9, 0.6, 0.6, 0.1], [1, 0, 1, 0]
    assert auc(p, y) == pytest.approx(3.5 / 4)  # of four pairs three are in order and one is a tie
    assert brier(p, y) == pytest.approx((0.01 + 0.36 + 0.16 + 0.01) / 4)
    assert calibration_error(p, y, "width") == pytest.approx((0.1 + 2 * 0.1 + 0.1) / 4)
    assert [(b.rows, b.said, b.came_true) for b in reliability(p, y)] == [(1, 0.1, 0.0), (2, 0.6, 0.5), (1, 0.9, 1.0)]


def test_equal_probabilities_share_a_bin_of_equal_mass() -> None:
    table = reliability([0.2] * 7 + [0.8] * 3, [0] * 7 + [1] * 3, "mass", 5)
    assert [b.rows for b in table] == [7, 3]


@given(PAIRS, st.sampled_from(["mass", "width"]))
def test_bins_hold_every_row_once_and_the_error_is_a_share(pairs: list[tuple[float, int]], bins: str) -> None:
    p, y = columns(pairs)
    table = reliability(p, y, bins)
    assert sum(b.rows for b in table) == len(p)
    assert sum(b.rows * b.came_true for b in table) == pytest.approx(sum(y))
    assert all(a.high < b.low for a, b in pairwise(table))
    assert 0 <= calibration_error(p, y, bins) <= 1


@given(PAIRS)
def test_auc_is_the_share_of_ordered_pairs(pairs: list[tuple[float, int]]) -> None:
    p, y = columns(pairs)
    ups, downs = ([a for a, label in pairs if label == side] for side in (1, 0))
    if not ups or not downs:
        assert math.isnan(auc(p, y))
        return
    share = sum((a > b) + 0.5 * (a == b) for a in ups for b in downs) / (len(ups) * len(downs))
    assert auc(p, y) == pytest.approx(share)


@pytest.mark.parametrize(
    ("scores", "labels", "why"),
    [([0.1, math.nan], [0, 1], "finite"), ([0.1, 0.2], [0, 2], "0 or 1"), ([0.1], [0, 1], "one length")],
)
def test_what_is_no_row_of_numbers_is_refused(scores: list[float], labels: list[int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        auc(scores, labels)


# Risk and coverage


def test_the_curve_of_four_answers_by_hand() -> None:
    points = risk_coverage([0.9, 0.7, 0.7, 0.1], [0, 1, 0, 1])
    assert [(p.coverage, p.risk) for p in points] == [(0.25, 0.0), (0.75, pytest.approx(1 / 3)), (1.0, 0.5)]
    # In the tie half an error is expected at the first place: 0, 1/4, 1/3, 1/2.
    assert aurc([0.9, 0.7, 0.7, 0.1], [0, 1, 0, 1]) == pytest.approx((0 + 1 / 4 + 1 / 3 + 1 / 2) / 4)


@given(PAIRS, st.randoms())
def test_the_area_knows_no_order_of_rows_and_lies_between_best_and_worst(
    pairs: list[tuple[float, int]], random: object
) -> None:
    s, w = columns(pairs)
    area = aurc(s, w)
    mixed = list(pairs)
    random.shuffle(mixed)
    assert aurc(*columns(mixed)) == pytest.approx(area)
    assert aurc([-label for label in w], w) - 1e-9 <= area <= aurc(w, w) + 1e-9
    assert risk_coverage(s, w)[-1].risk == pytest.approx(np.mean(w))


@given(st.integers(1, 30), st.integers(0, 30))
def test_without_any_order_the_area_is_the_risk(rows: int, errors: int) -> None:
    wrong = [1] * min(errors, rows) + [0] * (rows - min(errors, rows))
    assert aurc([0.5] * rows, wrong) == pytest.approx(np.mean(wrong))


# Curves


@given(PAIRS)
def test_curves_rise_and_stay_inside(pairs: list[tuple[float, int]]) -> None:
    for curve in (platt(*columns(pairs)), isotonic(*columns(pairs))):
        said = apply_curve(curve, np.linspace(0, 1, 41))
        assert (np.diff(said) >= 0).all()
        assert said.min() >= 0.002
        assert said.max() <= 0.998
        read_calibration(
            {**CALIBRATION.as_json(), "sets": {"scores": curve.scores, "probabilities": curve.probabilities}}, "x"
        )


def test_the_isotonic_curve_pools_what_is_out_of_order() -> None:
    # 0.2 → 1 of 100, 0.4 → 60 of 100, 0.6 → 40 of 100 (pooled with 0.4 to a half), 0.8 → 99 of 100.
    s = np.repeat([0.2, 0.4, 0.6, 0.8], 100)
    y = np.concatenate([np.arange(100) < n for n in (1, 60, 40, 99)]).astype(int)
    curve = isotonic(s, y)
    assert curve.scores == pytest.approx((0.2, 0.5, 0.8))
    assert curve.probabilities == pytest.approx((1.5 / 101, 100.5 / 201, 99.5 / 101))


def test_a_bent_score_is_straightened_by_either_curve() -> None:
    s, y = drawn(4_000, seed=1, bend=3.0)
    fresh, true = drawn(4_000, seed=2, bend=3.0)
    assert calibration_error(fresh, true) > 0.2
    for fit in (platt, isotonic):
        assert calibration_error(apply_curve(fit(s, y), fresh), true) < 0.04


def test_a_score_that_ranks_backwards_says_the_same_of_all() -> None:
    s, y = drawn(500, seed=3)
    said = apply_curve(platt(1 - s, y), s)
    assert said.max() - said.min() < 1e-6
    assert said.mean() == pytest.approx(y.mean(), abs=0.02)


def test_figures_are_of_groups_the_curve_has_not_seen() -> None:
    # Each question has one score of its own and one label: a curve that had seen the question would be perfect.
    random = np.random.default_rng(4)
    of_group = random.uniform(0, 1, 300)
    s, groups = np.repeat(of_group, 4), np.repeat(np.arange(300), 4)
    y = np.repeat(random.integers(0, 2, 300), 4)
    _, _, unseen = fit_curve(s, y, groups.tolist())
    assert auc(unseen, y) < 0.65
    assert brier(unseen, y) > 0.2


# Thresholds


@given(st.integers(0, 60), st.integers(1, 60), st.sampled_from([0.01, 0.1, 0.5, 0.9]))
def test_the_binomial_tail_is_the_sum_of_its_terms(errors: int, rows: int, risk: float) -> None:
    terms = [math.comb(rows, k) * risk**k * (1 - risk) ** (rows - k) for k in range(min(errors, rows) + 1)]
    assert binomial_tail(errors, rows, risk) == pytest.approx(sum(terms), abs=1e-9)


def test_how_many_rows_prove_a_tenth() -> None:
    assert fewest_to_certify(0.1, 0.1) == 22  # 0.9^22 = 0.098
    assert certify_threshold(np.linspace(0, 1, 30), np.zeros(30), 0.1) is None  # four walks need 0.9^n ≤ 0.025: 36
    assert certify_threshold(np.linspace(0, 1, 36), np.zeros(36), 0.1) == 0.0


def test_keeping_takes_the_order_statistic_that_one_more_positive_would_need() -> None:
    scores = [0.05 * n for n in range(1, 20)]
    assert keeping([*scores, 0.0], [1] * 19 + [0], 0.1) == pytest.approx(0.10)  # the ⌊0.1 · 20⌋ = 2nd lowest
    assert keeping(scores[:8], [1] * 8, 0.1) is None


def test_both_promises_hold_on_new_rows() -> None:
    """Over 200 draws of 300 rows the certified risk is broken in at most about a tenth, the kept share on average."""
    broken, lost, found = 0, [], 0
    fresh, true = drawn(20_000, seed=999)
    for seed in range(200):
        s, y = drawn(300, seed)
        upper, lower = certify_threshold(s, 1 - y, 0.2), keeping(s, y, 0.1)
        assert lower is not None
        lost.append(float((fresh[true == 1] < lower).mean()))
        if upper is not None:
            found += 1
            broken += float((1 - true[fresh >= upper]).mean()) > 0.2
    assert found > 150
    assert broken / 200 <= 0.12
    assert np.mean(lost) == pytest.approx(0.1, abs=0.01)


@given(PAIRS, st.sampled_from([0.05, 0.2, 0.5]))
def test_thresholds_keep_their_promise_on_their_own_rows(pairs: list[tuple[float, int]], risk: float) -> None:
    s, y = map(np.array, columns(pairs))
    lower, upper = keeping(s, y, risk), certify_threshold(s, y, risk)
    if lower is not None:
        assert (s[y == 1] < lower).mean() <= risk
    if upper is not None:
        assert y[s >= upper].mean() <= risk


def test_a_risk_that_is_no_share_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        certify_threshold([0.5], [0], 1.0)


# Refit


def judged(rows: int, seed: int) -> list[JudgedSet]:
    """Questions with four passages each; the grader says p, and p² comes true."""
    random = np.random.default_rng(seed)
    sets = []
    for n in range(rows):
        p = random.uniform(0, 1, 4)
        labels = (random.uniform(0, 1, 4) < p**2).astype(int)
        sets.append(JudgedSet(f"question {n}", tuple(labels.tolist()), tuple(p.tolist()), float(1 - np.prod(1 - p))))
    return sets


def test_a_refit_mends_the_probabilities_and_keeps_the_order() -> None:
    report = refit(judged(400, seed=5), 0.1, ORIGIN, (0.2, 0.8))
    assert report.before.ece_mass > 0.1
    assert report.after.ece_mass < 0.05
    assert report.after.brier < report.before.brier
    assert report.after.auc == pytest.approx(report.before.auc, abs=0.02)
    found = report.calibration
    assert 0 < found.lower <= found.upper
    correct, ambiguous, incorrect = report.verdicts
    assert correct.share + ambiguous.share + incorrect.share == pytest.approx(1)
    if correct.share:
        assert correct.help >= 0.9


def test_with_too_few_rows_for_a_proof_the_upper_threshold_is_the_curves() -> None:
    report = refit(judged(10, seed=6), 0.05, ORIGIN, (0.2, 0.8))
    assert not report.calibration.certified
    assert report.method == "platt"


def test_too_few_rows_and_one_label_are_refused() -> None:
    with pytest.raises(InputError, match="at least 20 rows, 5 of each label, but got 8"):
        refit(judged(2, seed=7), 0.1, ORIGIN, (0.2, 0.8))
    same = [replace(one, labels=(1, 1, 1, 1)) for one in judged(20, seed=8)]
    with pytest.raises(InputError, match="80 with label 1 and 0 with label 0"):
        refit(same, 0.1, ORIGIN, (0.2, 0.8))


# Stored

CALIBRATION = GraderCalibration(Curve((0.0, 1.0), (0.1, 0.9)), Curve((0.5,), (0.5,)), 0.2, 0.7, True, ORIGIN)


def test_a_calibration_survives_json() -> None:
    assert read_calibration(json.loads(json.dumps(CALIBRATION.as_json())), "x") == CALIBRATION


def test_verdicts_change_at_the_thresholds() -> None:
    said = [CALIBRATION.verdict(value) for value in (0.1999, 0.2, 0.6999, 0.7)]
    assert said == [Verdict.INCORRECT, Verdict.AMBIGUOUS, Verdict.AMBIGUOUS, Verdict.CORRECT]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"lower": 0.8},
        {"lower": True},
        {"upper": math.inf},
        {"passages": {"scores": [0.0, 1.0], "probabilities": [0.9, 0.1]}},
        {"passages": {"scores": [1.0, 0.0], "probabilities": [0.1, 0.9]}},
        {"sets": {"scores": [], "probabilities": []}},
        {"sets": {"scores": [0.1], "probabilities": ["0.5"]}},
        {"sets": None},
        {"origin": {"made": "today"}},
    ],
)
def test_a_calibration_that_makes_no_sense_is_refused_by_name(change: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=r"here/calibration.json cannot be used .*calibrate"):
        read_calibration({**CALIBRATION.as_json(), **change}, "here/calibration.json")


def test_quality_counts_rows() -> None:
    found = quality([0.2, 0.8], [0, 1])
    assert (found.rows, found.positives, found.auc) == (2, 1, 1.0)
    assert found.brier == pytest.approx(0.04)
