"""Intervals and tests against what can be computed otherwise: exactly, by theory, or by hand."""

from itertools import product

import numpy as np
import pytest

from selfright.evals.aggregation import difference, estimate, holm, quantiles


def test_the_same_seed_gives_the_same_numbers_and_another_others() -> None:
    values = [0.1, 0.9, 0.4, 0.7, 0.2, 0.8]
    assert estimate(values, 3, "quality") == estimate(values, 3, "quality")
    assert estimate(values, 3, "quality") != estimate(values, 4, "quality")
    assert estimate(values, 3, "quality") != estimate(values, 3, "grounding")


def test_an_interval_is_that_of_the_normal_theory_where_it_holds() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.1, 400).tolist()
    found = estimate(values, 0, "x")
    half = 1.96 * float(np.std(values)) / 20
    assert found.mean == pytest.approx(float(np.mean(values)), abs=1e-12)
    assert found.low == pytest.approx(found.mean - half, abs=0.15 * half)
    assert found.high == pytest.approx(found.mean + half, abs=0.15 * half)


def test_nothing_has_no_mean() -> None:
    assert (estimate([], 0, "x").mean, estimate([], 0, "x").n) == (None, 0)
    assert difference([], [], 0, "x") is None


def test_a_paired_p_is_that_of_the_exact_test() -> None:
    base = [0.1, 0.5, 0.3, 0.6, 0.2, 0.4, 0.7, 0.1, 0.3]
    other = [0.3, 0.6, 0.3, 0.9, 0.1, 0.6, 0.9, 0.2, 0.5]
    gain = np.array(other) - np.array(base)
    sums = [abs(float(gain @ signs)) for signs in product((-1, 1), repeat=len(gain))]  # all there are
    exact = np.mean([total >= abs(float(gain.sum())) - 1e-12 for total in sums])
    found = difference(base, other, 0, "x")
    assert found is not None
    assert found.mean == pytest.approx(float(gain.mean()))
    assert found.p == pytest.approx(float(exact), abs=0.02)
    assert found.low < found.mean < found.high


def test_systems_that_do_the_same_differ_by_nothing() -> None:
    found = difference([1.0, 0.0, 1.0], [1.0, 0.0, 1.0], 0, "x")
    assert found is not None
    assert (found.mean, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_a_clear_difference_is_none_by_chance() -> None:
    found = difference([0.0] * 40, [1.0] * 40, 0, "x")
    assert found is not None
    assert found.p == pytest.approx(1 / 2001)


def test_holms_correction_by_hand() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"d": 0.02, "a": 0.03, "c": 0.06, "b": 0.06}
    )
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_many_rows_are_drawn_in_pieces() -> None:
    values = [float(n % 2) for n in range(4_000)]
    found = estimate(values, 0, "x")
    assert found.low == pytest.approx(0.5 - 1.96 * 0.5 / 4_000**0.5, abs=0.003)


def test_quantiles() -> None:
    assert quantiles([float(n) for n in range(101)]) == (50.0, 95.0, 100.0)
