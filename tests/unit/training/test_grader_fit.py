"""The grader's fit on rows made up for it: held out, weights with the right sign, thresholds with a stated risk."""

import math
from dataclasses import replace

import numpy as np
import pytest

from selfright.roles.grade.features import FEATURES
from selfright.roles.grade.model import set_names_of
from selfright.roles.scoring import read_scorer
from training.fit_grader import Fitted, Sets, equal_sets, fit_passages, known_to, sign, thresholds
from training.fitting import auc
from training.grader_rows import Rows, compared_anew, on_their_own, pick, place_in_set

USED = ("sentence_coverage", "names_missing", "cosine")


def made(cases: int, seed: int) -> Rows:
    """Sets of four: the first passage is near and helps, unless a name is missing; the reader has read two of each."""
    chance = np.random.default_rng(seed)
    count = 4 * cases
    x = np.zeros((count, len(FEATURES)))
    own = np.arange(count) % 4 == 0
    missing = chance.uniform(size=count) < 0.5
    x[:, FEATURES.index("sentence_coverage")] = np.where(own, 0.8, 0.3) + chance.normal(0, 0.15, count)
    x[:, FEATURES.index("cosine")] = np.where(own, 0.7, 0.4) + chance.normal(0, 0.12, count)
    x[:, FEATURES.index("names_missing")] = missing
    helps = (own & (chance.uniform(size=count) < np.where(missing, 0.15, 0.85))).astype(int)
    score = np.where(np.arange(count) % 4 < 2, 4.0 * helps - 2 + chance.normal(0, 1, count), math.nan)
    case = np.arange(count) // 4
    kind = np.where(own, "own", "retrieved")
    return compared_anew(Rows(x, helps, score, np.full(count, "squad2"), kind, case, case % 5))


def fitted(rows: Rows) -> Fitted:
    return Fitted(pick(rows, USED), rows.y.astype(float), rows.fold, np.ones(len(rows.y)), USED)


def test_the_fit_tells_what_helps_on_folds_that_it_has_not_seen() -> None:
    rows = made(300, 1)
    assert auc(fitted(rows).held_out, rows.y) > 0.8


def test_every_set_has_the_same_say() -> None:
    weight = equal_sets(np.array(["a"] * 3 + ["b"] * 9))
    assert weight[:3].sum() == pytest.approx(weight[3:].sum())


def test_a_signal_that_is_wrong_about_its_meaning_counts_nothing() -> None:
    rows = made(120, 2)
    rows.x[:, FEATURES.index("cosine")] *= -1
    weights = dict(zip(USED, fitted(rows).weights, strict=False))
    assert weights["cosine"] == 0.0
    assert all(weights[name] * sign(name) >= 0 for name in USED)


def test_what_is_stored_judges_like_what_was_fitted() -> None:
    rows = made(120, 3)
    one = fitted(rows)
    scorer = read_scorer(one.stored())
    for row in pick(rows, USED)[:20]:
        wanted = np.interp(row @ one.weights[:-1] + one.weights[-1], *one.curve)
        assert scorer.probability(dict(zip(USED, row.tolist(), strict=True))) == pytest.approx(wanted, abs=0.01)


def test_a_variant_with_a_reader_learns_from_what_was_read_only() -> None:
    rows = made(40, 4)
    assert len(known_to(rows, "both").y) == len(rows.y) / 2
    assert (known_to(rows, "cosines").x[:, FEATURES.index("reader")] == 0).all()


def test_sets_hold_what_a_variant_knows() -> None:
    rows = made(60, 5)
    one = {variant: fit_passages(rows, variant) for variant in ("cosines", "both")}
    sets = Sets(rows, "both", one)
    assert sets.names == set_names_of("both")
    assert set(sets.size) == {1, 3}  # of sets of four, five and eight would bring nothing new
    assert 0 < sets.y.mean() < 1


def test_alone_nothing_is_behind() -> None:
    rows = made(10, 6)
    apart = on_their_own(rows)
    assert (apart.x[:, FEATURES.index("behind_cosine")] == 0).all()
    assert (apart.x[:, FEATURES.index("alone")] == 1).all()
    assert place_in_set(rows)[:8].tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    assert (rows.x[:, FEATURES.index("alone")] == 0).all()


def test_unread_is_not_a_reading_of_even_odds() -> None:
    rows = made(10, 7)
    unread = np.isnan(rows.score)
    assert (rows.x[unread, FEATURES.index("reader")] == 0).all()
    assert compared_anew(replace(rows, score=np.zeros(len(rows.y)))).x[0, FEATURES.index("reader")] == 0.5


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
