"""Rows summed up and held against one another: counts that can be done by hand."""

import pytest

from selfright.evals.aggregation import abstention, aggregate, compare, ladder
from selfright.evals.results import Row, RunResult
from tests.support.studies import judgement, row, turn


def run(system: str, *rows: Row) -> RunResult:
    made = RunResult(system, system, {}, {}, rows, {})
    return aggregate(made, ["right", "quality"], 0)


def known(name: str, right: float | None, quality: float | None = None, **given: object) -> Row:
    return row(name, {"right": right, "quality": quality}, turn(**given))


def test_means_are_over_the_rows_where_a_metric_applies() -> None:
    found = run("a", known("1", 1.0, 0.4), known("2", 0.0), known("3", None, 0.8))
    assert (found.summary["right"].mean, found.summary["right"].n) == (0.5, 2)
    assert (found.summary["quality"].mean, found.summary["quality"].n) == (pytest.approx(0.6), 2)
    assert found.verdicts == {"correct": 3}
    assert found.stop_reasons == {"adequate": 3}


def test_correction_accounting_by_hand() -> None:
    base = run("base", *[known(str(n), value) for n, value in enumerate((1.0, 1.0, 0.0, 0.0, None, 1.0))])
    other = run("other", *[known(str(n), value) for n, value in enumerate((1.0, 0.0, 1.0, 0.0, 1.0))])
    (found,) = compare([base, other], [("base", "other")], 0)
    moves = found.moves
    assert moves is not None
    assert [moves.right_right, moves.right_wrong, moves.wrong_right, moves.wrong_wrong, moves.unknown] == [1] * 5
    assert (found.rescued, found.broken, found.questions) == (("2",), ("1",), 5)
    assert (found.differences["right"].mean, found.differences["right"].n) == (0.0, 4)


def test_p_values_are_corrected_over_all_pairs() -> None:
    runs = [
        run(name, *[known(str(n), float(n < good)) for n in range(30)])
        for name, good in (("a", 2), ("b", 14), ("c", 16))
    ]
    found = compare(runs, ladder(["a", "b", "c"]), 0)
    assert [(one.base, one.other) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    for one in found:
        assert one.differences["right"].p_holm >= one.differences["right"].p
    assert found[0].differences["right"].p_holm > found[0].differences["right"].p


def test_nothing_known_is_no_move() -> None:
    (found,) = compare([run("a", known("1", None)), run("b", known("1", None))], [("a", "b")], 0)
    assert (found.moves, found.differences) == (None, {})


def test_how_well_a_system_knew_its_limits() -> None:
    rows = [
        known("1", 1.0, judged=judgement(0.9)), known("2", 0.0, judged=judgement(0.8)),
        known("3", 1.0, judged=judgement(0.7)), known("4", 0.0, judged=judgement(0.6)),
        known("5", 1.0, abstained=True), known("6", 0.0, abstained=True),
    ]  # fmt: skip
    found = abstention(rows)
    assert found is not None
    assert (found.answered_right, found.answered_wrong, found.refused_rightly, found.refused_wrongly) == (2, 2, 1, 1)
    assert found.coverage == pytest.approx(4 / 6)
    assert found.risk == 0.5
    assert found.aurc == pytest.approx((0 + 1 / 2 + 1 / 3 + 2 / 4) / 4)
    assert found.aurc_ratio == pytest.approx(found.aurc / 0.5)
    assert [(point.coverage, point.risk) for point in found.curve] == [
        (pytest.approx(1 / 6, abs=1e-6), 0.0), (pytest.approx(2 / 6, abs=1e-6), 0.5),
        (pytest.approx(3 / 6, abs=1e-6), pytest.approx(1 / 3, abs=1e-6)), (pytest.approx(4 / 6, abs=1e-6), 0.5),
    ]  # fmt: skip


def test_who_never_answers_takes_no_risk() -> None:
    found = abstention([known("1", 1.0, abstained=True)])
    assert found is not None
    assert (found.coverage, found.risk, found.aurc, found.curve) == (0.0, None, None, ())
    assert abstention([known("1", None)]) is None


def test_without_a_judge_there_is_no_curve() -> None:
    found = abstention([known("1", 1.0, judged=None), known("2", 0.0, judged=None)])
    assert found is not None
    assert (found.risk, found.aurc, found.curve) == (0.5, None, ())


def test_long_curves_are_thinned_and_keep_their_end() -> None:
    rows = [known(str(n), float(n % 3 > 0), judged=judgement(n / 1000)) for n in range(999)]
    found = abstention(rows)
    assert found is not None
    assert len(found.curve) <= 201
    assert (found.curve[-1].coverage, found.curve[-1].risk) == (1.0, pytest.approx(1 / 3, abs=1e-6))


def test_the_ladder_is_against_the_first_and_step_by_step() -> None:
    assert ladder(["a"]) == []
    assert ladder(["a", "b"]) == [("a", "b")]
    assert ladder(["a", "b", "c", "d"]) == [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("c", "d")]
