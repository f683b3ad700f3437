"""What the report says of a difference, and the figures that it and its charts show."""

import pytest

from selfright.evals.measures import STANDARD
from selfright.evals.report import findings as figures
from selfright.evals.report.charts import by_pass
from selfright.evals.report.findings import FEW, Outcome, main_metric, more_is_better, outcome
from selfright.evals.results import Difference, Pass, RunResult
from tests.support import reports, studies


def difference(mean: float, low: float, high: float, n: int = 300, p: float = 0.001) -> Difference:
    return Difference(mean, low, high, n, p, p)


@pytest.mark.parametrize(
    ("found", "metric", "expected"),
    [
        (difference(0.05, 0.02, 0.08), "right", Outcome.BETTER),
        (difference(-0.05, -0.08, -0.02), "right", Outcome.WORSE),
        (difference(1.2, 1.0, 1.4), "llm_calls", Outcome.WORSE),
        (difference(-1.2, -1.4, -1.0), "seconds", Outcome.BETTER),
        (difference(-0.2, -0.3, -0.1), "answered", Outcome.DIFFERENT),
        (difference(0.2, 0.1, 0.3), "a_metric_of_ones_own", Outcome.DIFFERENT),
        (difference(0.2, 0.1, 0.3), "nDCG@10", Outcome.BETTER),
        (difference(0.023, -0.01, 0.057), "right", Outcome.CHANCE),
        (difference(0.023, 0.0, 0.057), "right", Outcome.CHANCE),
        (difference(0.05, 0.01, 0.09, p=0.2), "right", Outcome.HINT),
        (difference(0.0, 0.0, 0.0), "right", Outcome.SAME),
        (difference(0.5, 0.3, 0.7, n=FEW - 1), "right", Outcome.FEW),
    ],
)
def test_a_difference_counts_only_when_interval_and_test_agree(
    found: Difference, metric: str, expected: Outcome
) -> None:
    assert outcome(metric, found) is expected


def test_every_metric_of_ours_has_a_direction_or_none_on_purpose() -> None:
    costs = {"iterations", "llm_calls", "tokens", "seconds", "infinite_loop_rate", "cut_short"}
    directions = {metric.name: more_is_better(metric.name) for metric in STANDARD}
    assert {name for name, good in directions.items() if good is False} == costs
    assert {name for name, good in directions.items() if good is None} == {"answered"}


def test_without_gold_answers_systems_are_told_apart_by_the_judge() -> None:
    assert main_metric(reports.answers()) == "right"
    assert main_metric(reports.retrieval()) == "nDCG@10"
    study = reports.of_right([0.0], [1.0])
    runs = tuple(RunResult(run.system, None, {}, {}, (), {}) for run in study.runs)
    assert main_metric(reports.study_of(runs)) == "right"


def test_scores_by_pass_are_of_turns_that_went_on_and_keep_the_last() -> None:
    def passes(*scores: float | None) -> tuple[Pass, ...]:
        return tuple(studies.one_pass("a", overall=score) for score in scores)

    rows = (
        studies.row("one", {}, studies.turn(passes=passes(0.9))),
        studies.row("two", {}, studies.turn(passes=passes(0.2, 0.4))),
        studies.row("three", {}, studies.turn(passes=passes(0.4, None, 0.8))),
    )
    assert [round(mean, 6) for mean in by_pass(RunResult("full", "full", {}, {}, rows, {}))] == [0.3, 0.4, 0.6]


@pytest.mark.parametrize(
    ("metric", "number", "shown"),
    [
        ("right", 0.4133, "41.3 %"), ("quality", 0.41349, "0.413"), ("llm_calls", 2.1, "2.10"),
        ("tokens", 12345.6, "12,346"), ("seconds", 0.34, "340 ms"), ("seconds", 0.9996, "1.00 s"),
        ("seconds", 75.2, "75 s"), ("nDCG@10", None, "–"),
    ],
)  # fmt: skip
def test_figures_are_shown_as_people_read_them(metric: str, number: float | None, shown: str) -> None:
    assert figures.value(metric, number).replace("\N{NO-BREAK SPACE}", " ") == shown


def test_differences_have_a_sign_unless_they_are_nothing() -> None:
    assert figures.format_signed("right", 0.0234) == "+2.3"
    assert figures.format_signed("right", -0.0234) == "−2.3"
    assert figures.format_signed("right", -0.0001) == "0.0"
    assert figures.format_signed("quality", 0.0) == "0.000"
    assert figures.format_signed("seconds", -1.234) == "−1.23\N{NO-BREAK SPACE}s"
    assert figures.chance(0.0005) == "< 0.001"
