"""What the report says in words, and what it does not dare to say."""

import re
import string
from dataclasses import replace

import pytest

from selfright.domain.wordings import wordings
from selfright.evals.aggregation import aggregated
from selfright.evals.intervals import compare
from selfright.evals.measures.standard import STANDARD
from selfright.evals.report.findings import FEW, Outcome, main_metric, more_is_better, outcome, pairs, steps
from selfright.evals.report.phrases import Phrases
from selfright.evals.report.words import moves, summary, told
from selfright.evals.results import Difference, Row, RunResult, Study
from tests.support import reports, studies

EN, KO = Phrases("en"), Phrases("ko")


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


def test_a_gain_within_chance_is_called_that_and_says_what_could_not_be_seen() -> None:
    said = told("right", difference(0.023, -0.010, 0.057, p=0.4), EN)
    assert "+2.3 points (95\N{NO-BREAK SPACE}% interval −1.0 to +5.7)" in said
    assert "within chance" in said
    assert "under about 3.4 points" in said
    assert "improvement" not in said


def test_a_hint_gives_the_corrected_p_and_calls_itself_no_result() -> None:
    said = told("right", difference(0.05, 0.01, 0.09, p=0.21), EN)
    assert "p = 0.210" in said
    assert "no result" in said


def test_few_questions_conclude_nothing_however_clear_they_seem() -> None:
    study = reports.of_right([0.0] * 10, [1.0] * 10)
    said = summary(study, EN)
    assert said.outcome is Outcome.FEW
    assert said.verdict == "Too few questions to tell."
    assert not said.helped
    assert "10 questions are too few" in " ".join(said.lead)


def test_nothing_changed_is_said_as_plainly() -> None:
    said = summary(reports.of_right([1.0, 0.0] * 20, [1.0, 0.0] * 20), EN)
    assert said.verdict == "It changed nothing."
    assert any("rescued none and broke none" in sentence for sentence in said.lead)
    assert any("the same on all 40 questions" in sentence for sentence in said.lead)
    assert not said.helped
    assert not said.hurt


def test_rescued_and_broken_are_counted_and_a_small_gain_stays_within_chance() -> None:
    before = [0.0] * 12 + [1.0] * 5 + [1.0] * 150 + [0.0] * 133
    after = [1.0] * 12 + [0.0] * 5 + [1.0] * 150 + [0.0] * 133
    said = summary(reports.of_right(before, after), EN)
    lead = " ".join(said.lead)
    assert "Of 300 questions, full rescued 12 that basic got wrong, and broke 5 that basic got right." in lead
    assert "+2.3 points" in lead
    assert said.outcome is Outcome.CHANCE
    assert not said.helped
    assert len(said.open) == 1


def test_a_clear_loss_is_called_a_loss() -> None:
    said = summary(reports.of_right([1.0] * 60, [0.0] * 25 + [1.0] * 35), EN)
    assert said.verdict == "It made answers worse."
    assert "a loss beyond chance" in said.hurt[0]
    assert not said.helped


def test_what_a_gain_has_cost_is_said_only_where_there_is_a_gain() -> None:
    gained, none = summary(reports.answers(gain=0.3), EN), summary(reports.answers(gain=0.0), EN)
    assert any("more model calls for each question gained" in sentence for sentence in gained.cost)
    assert gained.helped
    assert len(none.cost) == 2
    assert not any("gained" in sentence for sentence in none.cost)


def test_refusals_among_the_rescued_are_named() -> None:
    right = studies.row("a", {"right": 1.0}, studies.turn(abstained=True))
    wrong, kept = studies.row("a", {"right": 0.0}), studies.row("b", {"right": 0.0})
    study = two([wrong, kept], [right, kept])
    (pair,) = pairs(study)
    assert steps(study) == []
    assert "Rightly refused among those rescued: 1" in moves(pair, EN)


def test_a_judge_that_likes_answers_better_which_are_not_righter_is_doubted() -> None:
    before = [studies.row(f"q{n}", {"right": float(n % 2), "quality": 0.5 + n / 1000}) for n in range(40)]
    after = [studies.row(f"q{n}", {"right": float(n % 2), "quality": 0.7 + n / 1000}) for n in range(40)]
    said = summary(two(before, after), EN)
    assert any("do not take the judge's score for a gain" in sentence for sentence in said.lead)


def test_what_is_missing_is_minded() -> None:
    study = reports.answers(24)
    failing = replace(study.runs[0].rows[0], turn=None, error="no answer", metrics={})
    degraded = replace(study.runs[1].rows[0], turn=studies.turn(degraded=True))
    runs = (
        replace(study.runs[0], rows=(failing, *study.runs[0].rows[1:])),
        replace(study.runs[1], rows=(degraded, *study.runs[1].rows[1:20])),
        *study.runs[2:],
    )
    said = " ".join(summary(replace(study, runs=runs, data=replace(study.data, of=99)), EN).caveats)
    assert "basic: questions that failed: 1" in said
    assert "budget was spent: 4" in said
    assert "the offline roles took over: 1" in said
    assert "24 of 99 questions" in said


def test_without_gold_answers_only_the_judge_speaks_and_that_is_said() -> None:
    before = [studies.row(f"q{n}", {"right": None, "quality": 0.5 + n / 1000}) for n in range(30)]
    after = [studies.row(f"q{n}", {"right": None, "quality": 0.6 + n / 900}) for n in range(30)]
    study = two(before, after)
    said = summary(study, EN)
    assert main_metric(study) == "quality"
    assert "nothing here says what is right" in " ".join(said.caveats)
    assert "rescued" not in " ".join(said.lead)


def test_one_system_is_compared_with_nothing() -> None:
    said = summary(reports.answers(systems=("full",)), EN)
    assert said.verdict == "Nothing to compare."
    assert [*said.helped, *said.hurt, *said.open, *said.cost] == []


def test_rankings_are_told_by_their_best_and_by_wins_and_losses() -> None:
    said = summary(reports.retrieval(), EN)
    assert "Highest in nDCG@10: hybrid" in said.lead[0]
    told_of = [*said.helped, *said.open]
    assert len(told_of) == 2
    wins = [
        tuple(map(int, found)) for found in re.findall(r"ranks (\d+) better, (\d+) worse and (\d+)", " ".join(told_of))
    ]
    assert [sum(found) for found in wins] == [60, 60]


def test_every_sentence_has_both_languages_and_the_same_values_in_them() -> None:
    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    texts = wordings("selfright.evals.report", "phrases")
    for table, english_texts in texts["en"].items():
        assert list(english_texts) == list(texts["ko"][table])
        for name, english in english_texts.items():
            korean = texts["ko"][table][name]
            assert fields(korean) == fields(english), name
            assert english, name
            assert korean, name
            assert table == "labels" or re.search("[가-힣]", korean) or name in ("points", "against"), name
    assert not texts["en"]["sentences"].keys() & texts["en"]["labels"].keys()


def test_korean_says_the_same_as_english() -> None:
    study = reports.answers()
    english, korean = summary(study, EN), summary(study, KO)
    assert english.outcome is korean.outcome
    for name in ("lead", "helped", "hurt", "open", "cost", "caveats"):
        assert len(getattr(english, name)) == len(getattr(korean, name))
    numbers = [re.findall(r"[+−]?\d+\.\d", " ".join(said.helped)) for said in (english, korean)]
    assert numbers[0] == numbers[1] != []


def test_every_metric_of_ours_has_a_direction_or_none_on_purpose() -> None:
    costs = {"iterations", "llm_calls", "tokens", "seconds", "infinite_loop_rate", "cut_short"}
    directions = {metric.name: more_is_better(metric.name) for metric in STANDARD}
    assert {name for name, good in directions.items() if good is False} == costs
    assert {name for name, good in directions.items() if good is None} == {"answered"}
    gains = {name for name, good in directions.items() if good}
    assert gains >= {"right", "quality", "grounding", "retrieval_recall", "targeted_retrieval_rate"}
    assert more_is_better("a_metric_of_ones_own") is None


def two(before: list[Row], after: list[Row]) -> Study:
    names = list(before[0].metrics)
    runs = [
        aggregated(RunResult(name, name, {}, {}, tuple(rows), {}), names, 1)
        for name, rows in (("basic", before), ("full", after))
    ]
    return replace(reports.study_of(runs), comparisons=compare(runs, [("basic", "full")], 1))
