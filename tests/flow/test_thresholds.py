"""The flags' thresholds take the place of the grader's own, and only theirs."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import JudgeFailed, UsageError
from selfright.domain.flags import Flags
from selfright.domain.judgements import Grade, Grading, Verdict
from selfright.domain.passages import FilteredHits, Language
from selfright.flow.nodes.search import apply_thresholds, grade_hits
from selfright.flow.presets import CRAG
from selfright.flow.state import AgentState
from tests.support.turns import Everything, Judge, Scripted, Web, evaluation, hit, run_turn, tools_of

HITS = (hit("a", "alpha is one"),)
SHARES = st.floats(0, 1)
THRESHOLDS = st.floats(0, 1, exclude_min=True)


def grading(verdict: Verdict, sufficiency: float | None) -> Grading:
    return Grading(verdict, sufficiency, (Grade("a#0", sufficiency),))


def flags(lower: float = 0.0, upper: float = 0.0) -> Flags:
    return Flags(incorrect_threshold=lower, correct_threshold=upper)


@given(st.sampled_from(Verdict), SHARES)
def test_without_thresholds_the_grader_decides(verdict: Verdict, sufficiency: float) -> None:
    assert apply_thresholds(grading(verdict, sufficiency), Flags()).verdict is verdict


@given(st.sampled_from([Verdict.CORRECT, Verdict.AMBIGUOUS, Verdict.INCORRECT]), SHARES, THRESHOLDS, THRESHOLDS)
def test_with_both_they_decide_alone(own: Verdict, sufficiency: float, one: float, two: float) -> None:
    lower, upper = sorted((one, two))
    expected = (
        Verdict.CORRECT if sufficiency >= upper else Verdict.INCORRECT if sufficiency < lower else Verdict.AMBIGUOUS
    )
    assert apply_thresholds(grading(own, sufficiency), flags(lower, upper)).verdict is expected


@given(st.sampled_from([Verdict.CORRECT, Verdict.AMBIGUOUS, Verdict.INCORRECT]), SHARES, THRESHOLDS)
def test_one_alone_leaves_the_other_side_as_it_is(own: Verdict, sufficiency: float, threshold: float) -> None:
    high = apply_thresholds(grading(own, sufficiency), flags(upper=threshold)).verdict
    assert (high is Verdict.CORRECT) is (sufficiency >= threshold)
    assert high is not Verdict.INCORRECT or own is Verdict.INCORRECT
    low = apply_thresholds(grading(own, sufficiency), flags(lower=threshold)).verdict
    assert (low is Verdict.INCORRECT) is (sufficiency < threshold)
    assert low is not Verdict.CORRECT or own is Verdict.CORRECT


def test_nothing_found_and_nothing_judged_stay_what_they_are() -> None:
    nothing = Grading(Verdict.INCORRECT, 0.0)
    unknown = Grading(Verdict.UNKNOWN, None, (Grade("a#0", None),))
    for grading_ in (nothing, unknown):
        assert apply_thresholds(grading_, flags(0.1, 0.2)) is grading_


def test_a_failed_grader_is_unknown_whatever_the_thresholds() -> None:
    for language, words in (("en", "the grader failed"), ("ko", "판정하지 못했습니다")):
        found, notes = graded(JudgeFailed("down"), language)
        assert (found.verdict, len(notes)) == (Verdict.UNKNOWN, 1)
        assert words in notes[0]


@pytest.mark.parametrize("mistake", [TypeError("ours"), ValueError("ours")])
def test_a_mistake_in_a_graders_code_is_not_taken_for_a_failed_judge(mistake: Exception) -> None:
    with pytest.raises(type(mistake)):
        graded(mistake)


def test_no_threshold_raises_a_verdict_that_trust_lowered() -> None:
    class Distrusting(Everything):
        async def cap_verdict(self, question: str, found: FilteredHits, grading: Grading) -> Grading:
            return replace(grading, verdict=Verdict.AMBIGUOUS) if grading.verdict is Verdict.CORRECT else grading

    tools = tools_of(CRAG, Judge(), role=Scripted(verdict=Verdict.CORRECT), correct_threshold=0.2)
    state: AgentState = {"question": "q", "language": "en"}  # all that is read
    found, _ = asyncio.run(grade_hits(state, replace(tools, evidence_filter=Distrusting()), FilteredHits(HITS)))
    assert found.verdict is Verdict.AMBIGUOUS


def graded(error: Exception, language: Language = "en") -> tuple[Grading, tuple[str, ...]]:
    tools = tools_of(CRAG, Judge(), role=Scripted(verdict=error), correct_threshold=0.2, incorrect_threshold=0.1)
    state: AgentState = {"question": "q", "language": language}  # all that is read
    return asyncio.run(grade_hits(state, tools, FilteredHits(HITS)))


def test_they_choose_the_path_of_a_turn() -> None:
    role = Scripted(verdict=Verdict.CORRECT, probability=0.6)
    judge = Judge(evaluation(0.9))
    web = Web(role)
    assert "web_search" not in run_turn(CRAG, judge, role=role, web=web).visits
    assert "web_search" in run_turn(CRAG, judge, role=role, web=web, correct_threshold=0.7).visits
    low = run_turn(CRAG, judge, role=role, web=web, incorrect_threshold=0.65, correct_threshold=0.7)
    assert low.state["grading"] is not None
    assert low.state["grading"].verdict is Verdict.INCORRECT


@pytest.mark.parametrize(
    "values",
    [
        {"correct_threshold": "1.1"},
        {"incorrect_threshold": "-0.1"},
        {"correct_threshold": "high"},
        {"correct_threshold": True},
        {"correct_threshold": "nan"},
        {"correct_threshold": 0.3, "incorrect_threshold": 0.6},
    ],
    ids=str,
)
def test_what_is_no_threshold_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Flags().with_values(values)
