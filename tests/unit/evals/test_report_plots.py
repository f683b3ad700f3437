"""What plots are made of: scales, fronts, flows, calibration, scores by pass."""

import math
from dataclasses import replace
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfright.evals.report import figures
from selfright.evals.report.plots.canvas import STYLES, Axis, Scale, mark
from selfright.evals.report.plots.lines import Series, Spread, bars, chart, rows
from selfright.evals.report.plots.sankey import Dress, sankey
from selfright.evals.report.series import (
    by_pass,
    calibration_error,
    cut_passes,
    flows,
    front,
    outcome_of,
    passes_shown,
    reliability,
    times,
    wilson,
)
from selfright.evals.results import Pass, RunResult
from tests.support import studies

numbers = st.floats(-1e6, 1e6, allow_nan=False)


def run_of(*given_rows: object) -> RunResult:
    return RunResult("full", "full", {}, {}, given_rows, {})  # type: ignore[arg-type]


def judged_row(name: str, score: float, right: float, **turn: object) -> object:
    return studies.row(name, {"right": right}, studies.turn(judged=studies.judgement(score), **turn))


@settings(max_examples=50, deadline=None)
@given(numbers, st.floats(1e-6, 1e6), st.floats(-10, 10))
def test_ticks_lie_within_the_scale_and_are_few(low: float, width: float, value: float) -> None:
    scale = Scale(low, low + width, 60, 460)
    ticks = scale.ticks()
    assert len(ticks) <= 12
    assert all(60 <= scale(tick) <= 460 for tick in ticks)
    assert 60 <= scale(value) <= 460


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(1.2, 1e5))
def test_logarithmic_ticks_are_at_least_two(low: float, factor: float) -> None:
    ticks = Scale(low, low * factor, 0, 100, log=True).ticks()
    assert 2 <= len(ticks) <= 16


def test_every_system_has_a_mark_of_its_own() -> None:
    assert len({mark(10, 10, place) for place in range(STYLES)}) == STYLES
    assert len({mark(10, 10, place).split("class")[0] for place in range(STYLES)}) == STYLES  # not by colour alone


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20))
def test_charts_are_well_formed_whatever_they_hold(spots: list[tuple[float, float]]) -> None:
    series = Series("<a>", 3, spots, sizes=[abs(x) for x, _ in spots], rises=spots, label="&")
    drawn = chart("label", Axis("<x>", 0, 1), Axis("y", -1, 1), [series], guide=[(0, 0), (1, 1)])
    root = fromstring(drawn)
    assert root.get("viewBox") == "0 0 480 300"
    assert "nan" not in drawn
    fromstring(rows("label", Axis("x", -1, 1), [Spread("<a>", 1, -1, 0, 1, "s", (0, 0.5), 2)], zero=True))
    fromstring(bars("label", Axis("", -1, 1), [x for x, _ in spots]))


def test_thousands_of_bars_are_thinned() -> None:
    drawn = bars("label", Axis("", -1, 1), [1 - number / 5_000 for number in range(10_000)])
    assert len(drawn) < 60_000


def test_the_front_holds_what_nothing_beats_in_both() -> None:
    spots = [(1.0, 0.4), (2.0, 0.6), (3.0, 0.5), (4.0, 0.8), (4.0, 0.7), (1.0, 0.3)]
    assert front(spots) == [0, 1, 3]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_no_spot_beats_one_of_the_front(spots: list[tuple[int, int]]) -> None:
    places = front(spots)
    assert places
    for place in places:
        cost, good = spots[place]
        assert not any((x <= cost and y > good) or (x < cost and y >= good) for x, y in spots)


def test_scores_by_pass_are_of_turns_that_went_on_and_keep_the_last() -> None:
    def passes(*scores: float | None) -> tuple[Pass, ...]:
        return tuple(studies.one_pass("a", overall=score) for score in scores)

    run = run_of(
        studies.row("one", {}, studies.turn(passes=passes(0.9))),
        studies.row("two", {}, studies.turn(passes=passes(0.2, 0.4))),
        studies.row("three", {}, studies.turn(passes=passes(0.4, None, 0.8))),
    )
    found = by_pass(run)
    assert [count for _, count in found] == [2, 2, 1]
    assert [round(mean, 6) for mean, _ in found] == [0.3, 0.4, 0.6]


def test_calibration_is_of_answers_and_agrees_with_hand_counting() -> None:
    run = run_of(
        judged_row("a", 0.91, 1.0),
        judged_row("b", 0.93, 0.0),
        judged_row("c", 0.15, 0.0),
        judged_row("d", 0.99, 1.0, abstained=True),
    )
    low, high = reliability(run)
    assert (low.n, high.n) == (1, 2)
    assert math.isclose(high.said, 0.92)
    assert high.right == 0.5
    error = calibration_error(run)
    assert error is not None
    assert math.isclose(error, (0.15 + 2 * 0.42) / 3)
    assert calibration_error(run_of()) is None


def test_wilson_agrees_with_its_published_example() -> None:
    low, high = wilson(0.0, 10)  # Brown, Cai and DasGupta (2001): 0 of 10 gives 0 to 0.2775
    assert low == 0.0
    assert math.isclose(high, 0.2775, abs_tol=5e-4)
    assert wilson(0.5, 0) == (0.0, 1.0)


def test_every_turn_takes_one_way_and_long_ones_are_cut_in_the_middle() -> None:
    verdicts = ("incorrect", "ambiguous", "ambiguous", "unknown", "correct", "correct")
    long = tuple(replace(studies.one_pass("a"), verdict=verdict) for verdict in verdicts)
    run = run_of(
        studies.row("a", {"right": 1.0}, studies.turn(passes=long, stop_reason="max_iterations")),
        studies.row("b", {"right": 0.0}, studies.turn(passes=long[:1], stop_reason="declined")),
        studies.row("c", {"right": 1.0}, studies.turn(passes=(), stop_reason="abstained", abstained=True)),
        studies.row("d", {}, studies.turn(passes=(), stop_reason="fast_path")),
    )
    assert passes_shown([run]) == 4
    assert cut_passes(run)
    found = flows(run, 4)
    assert sum(found.values()) == 4
    assert ("incorrect", "ambiguous", "ambiguous", "correct", "max_iterations", "right") in found
    assert ("incorrect", None, None, None, "declined", "wrong") in found
    assert [outcome_of(row) for row in run.rows] == ["right", "wrong", "rightly refused", "answered"]


ways = st.lists(st.tuples(*[st.sampled_from(["a", "b", None])] * 2, st.sampled_from("xy")), min_size=1, max_size=9)


@settings(max_examples=40, deadline=None)
@given(ways, st.integers(1, 500))
def test_a_flow_loses_nobody(taken: list[tuple[str | None, ...]], count: int) -> None:
    paths = {("a", *way): count for way in taken}
    dress = Dress({"a": "v-correct", "b": "v-none", "x": "v-stop", "y": "v-correct"}, {"x": "<x>"}, plain=("v-stop",))
    root = fromstring(sankey("flow", ["1", "2", "3", "end"], paths, dress))
    shown = [one.text or "" for one in root.iter("text")]
    ends = [int(one.split()[1].replace(",", "")) for one in shown if one.startswith(("<x>", "y "))]
    assert sum(ends) == sum(paths.values())
    assert all(float(one.get("height") or 0) > 0 for one in root.iter("rect"))


def test_a_flow_of_other_lengths_is_refused() -> None:
    with pytest.raises(ValueError, match="a state for each"):
        sankey("flow", ["1", "2"], {("a",): 1}, Dress({}, {}))


def test_times_are_quantiles_and_none_without_turns() -> None:
    run = run_of(*(studies.row(f"q{n}", {}, studies.turn(seconds=float(n))) for n in range(101)))
    assert times(run) == [5.0, 25.0, 50.0, 75.0, 95.0, 100.0]
    assert times(run_of()) == []


@pytest.mark.parametrize(
    ("metric", "number", "shown"),
    [
        ("right", 0.4133, "41.3 %"),
        ("quality", 0.41349, "0.413"),
        ("llm_calls", 2.1, "2.10"),
        ("tokens", 12345.6, "12,346"),
        ("seconds", 0.34, "340 ms"),
        ("seconds", 0.9996, "1.00 s"),
        ("seconds", 75.2, "75 s"),
        ("nDCG@10", None, "–"),
    ],
)
def test_figures_are_shown_as_people_read_them(metric: str, number: float | None, shown: str) -> None:
    assert figures.value(metric, number).replace("\N{NO-BREAK SPACE}", " ") == shown


def test_differences_have_a_sign_unless_they_are_nothing() -> None:
    assert figures.signed("right", 0.0234) == "+2.3"
    assert figures.signed("right", -0.0234) == "−2.3"
    assert figures.signed("right", -0.0001) == "0.0"
    assert figures.signed("quality", 0.0) == "0.000"
    assert figures.signed("seconds", -1.234) == "−1.23\N{NO-BREAK SPACE}s"
    assert figures.chance(0.0005) == "< 0.001"
