"""Whatever the judges say, a turn ends within its bound, with the right reason, and gives back the best answer."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import JudgeFailed
from selfright.domain.flags import Flags
from selfright.domain.judgements import AnswerQuality, Evaluation, EvaluationSource, QueryClass, StopReason, Verdict
from selfright.domain.passages import Refinement
from selfright.flow.presets import PRESETS
from tests.support.turns import FreshLibrary, Judge, Library, Scripted, Web, evaluation, hit, run_turn

SCORES = st.floats(0, 1)
QUALITIES = st.sampled_from(AnswerQuality)


def nonsense() -> Evaluation:
    return evaluation(float("nan"))


def too_good() -> Evaluation:
    return evaluation(1.7)


JUDGEMENTS = st.one_of(
    st.builds(evaluation, SCORES, QUALITIES, confidence=SCORES, source=st.sampled_from(EvaluationSource)),
    st.sampled_from([nonsense, too_good, JudgeFailed("down"), TimeoutError()]),
)
SCRIPTS = st.one_of(
    st.lists(JUDGEMENTS, min_size=1, max_size=8),
    st.sampled_from(
        [
            [evaluation(0.0, AnswerQuality.OFF_TOPIC)] * 9,
            [evaluation(0.1, AnswerQuality.HALLUCINATION), evaluation(0.2, AnswerQuality.OFF_TOPIC)] * 5,
            [evaluation(0.1 + 0.05 * n, AnswerQuality.NEEDS_DOCS) for n in range(9)],
            [nonsense] * 9,
        ]
    ),
)
ROLES = st.builds(
    Scripted,
    query_class=st.sampled_from(QueryClass),
    verdict=st.one_of(st.sampled_from(Verdict), st.just(JudgeFailed("down"))),
    probability=st.one_of(SCORES, st.just(float("nan")), st.just(-1.0)),
    offline_generator=st.booleans(),
    fell_back=st.booleans(),
)
LIBRARIES = st.sampled_from([FreshLibrary, Library, lambda: Library(())])


@given(
    name=st.sampled_from(sorted(PRESETS)),
    script=SCRIPTS,
    role=ROLES,
    library=LIBRARIES,
    web=st.booleans(),
    limit=st.integers(0, 4),
    guards=st.booleans(),
)
def test_every_preset_ends_within_its_bound_with_the_best_answer(
    name: str, script: list, role: Scripted, library: type, web: bool, limit: int, guards: bool
) -> None:
    preset = PRESETS[name]
    limits = {"max_refine_iterations": limit}
    turn = run_turn(
        preset,
        Judge(*script),
        role=role,
        retriever=library(),
        web=Web(role) if web else None,
        safety_guards_enabled=guards,
        **limits,
    )
    flags = Flags().with_values({**preset.flags, **limits})
    assert len(turn.visits) <= preset.max_visits(flags)
    assert turn.visits[-1] == "finalize"
    scores = turn.state.get("quality_score_history", ())
    # Scores of several judges are compared by none; ``fallback`` is a local one.
    if scores and all(said.source is EvaluationSource.LOCAL for said in script if isinstance(said, Evaluation)):
        highest = [n for n, score in enumerate(scores) if score == max(scores)]
        # Of several with that score the first with documents.
        best = next((n for n in highest if turn.state["iterations"][n].documents), highest[0])
        assert turn.state["best"].score == max(scores)
        assert turn.state["answer"] == f"draft {best + 1}"
    assert_reason_is_right(turn.state, Flags().with_values({**preset.flags, **limits}))


def assert_reason_is_right(state: dict, flags: Flags) -> None:
    scores = state.get("quality_score_history", ())
    match state["stop_reason"]:
        case StopReason.MAX_ITERATIONS:
            assert state["needs_retrieval"]
            assert max(state["iteration_count"], state["retry_count"]) == flags.max_refine_iterations
        case StopReason.DECLINED:
            assert state["iterations"][-1].improvement < 0
            assert scores[-1] < scores[-2]
        case StopReason.STAGNATED:
            assert 0 <= round(scores[-1] - scores[-2], 6) < 0.05
        case StopReason.DUPLICATE_DOCUMENTS:
            previous, current = state["retrieved_docs_history"][-2:]
            assert previous == current
        case StopReason.ADEQUATE:
            assert not state["needs_retrieval"]
            assert state["used_retrieval"]
        case StopReason.FAST_PATH:
            assert not state["needs_retrieval"]
            assert not state.get("used_retrieval")
        case StopReason.DEGRADED:
            assert not state["needs_retrieval"]
            # The last judge failed; where an earlier answer is the best, that one's judgement stands in the end.
            assert not state["evaluation"].verified or state["best"].iteration < state["iteration_count"]
        case reason:
            assert reason is StopReason.BASIC
            assert not scores or state["evaluation"] is None


@given(st.lists(SCORES, min_size=3, max_size=3))
def test_a_run_that_goes_on_was_improving(scores: list[float]) -> None:
    judge = Judge(*(evaluation(score * 0.49) for score in scores))
    turn = run_turn(PRESETS["self_refine"], judge)
    seen = turn.state["quality_score_history"]
    for before, after in list(pairwise(seen))[:-1]:
        assert after - before >= 0.05 - 1e-6


@pytest.mark.parametrize(("limit", "reason"), [(3, StopReason.STAGNATED), (2, StopReason.MAX_ITERATIONS)])
def test_worked_example_of_the_progress_guard(limit: int, reason: StopReason) -> None:
    """SPEC 8: 0.45 → 0.68 (+0.23, go on) → 0.71 (+0.03, stop), unless the limit comes first."""
    judge = Judge(*(evaluation(score) for score in (0.45, 0.68, 0.71, 0.9)))
    turn = run_turn(PRESETS["self_refine"], judge, quality_threshold=0.8, max_refine_iterations=limit)
    assert turn.state["quality_score_history"] == (0.45, 0.68, 0.71)
    assert [i.improvement for i in turn.state["iterations"]] == [None, 0.23, 0.03]
    assert turn.state["stop_reason"] is reason


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (0.35, StopReason.ADEQUATE),
        (0.349, StopReason.STAGNATED),
        (0.3, StopReason.STAGNATED),
        (0.299, StopReason.DECLINED),
    ],
)
def test_a_gain_of_just_what_is_wanted_goes_on(second: float, reason: StopReason) -> None:
    turn = run_turn(PRESETS["self_refine"], Judge(*map(evaluation, (0.3, second, 0.9))))
    assert turn.state["stop_reason"] is reason


def test_scores_of_two_judges_are_not_compared() -> None:
    """The model is harsher than the local judge: 0.6 of it may be more than 0.9 of a heuristic, and no decline."""
    checked = evaluation(0.6, AnswerQuality.NEEDS_DOCS, source=EvaluationSource.LLM)
    guessed = evaluation(0.9, AnswerQuality.NEEDS_DOCS, source=EvaluationSource.HEURISTIC)
    for first, second, best in ((checked, guessed, 1), (guessed, checked, 2)):
        turn = run_turn(PRESETS["full"], Judge(first, second), max_refine_iterations=1)
        assert turn.state["answer"] == f"draft {best}"
        assert turn.state["evaluation"] is checked
        assert [one.improvement for one in turn.state["iterations"]] == [None, None]
        assert turn.state["stop_reason"] is StopReason.MAX_ITERATIONS


@pytest.mark.parametrize(("worth", "best"), [({1: 0.3, 2: 0.7}, 2), ({1: 0.7, 2: 0.3}, 1)])
def test_drafts_that_two_judges_scored_are_compared_by_one(worth: dict[int, float], best: int) -> None:
    low, high = (evaluation(s, AnswerQuality.NEEDS_DOCS, source=j) for s, j in ((0.2, "llm"), (0.8, "local")))
    for judge in (Judge(low, high), Judge(high, low)):
        referee = Judge(*(evaluation(score) for score in worth.values()))
        turn = run_turn(PRESETS["full"], judge, max_refine_iterations=1, referee=referee)
        assert turn.state["answer"] == f"draft {best}"
        assert [asked.draft.text for asked in referee.requests] == ["draft 1", "draft 2"]


def test_a_referee_that_fails_leaves_the_first_draft() -> None:
    judge = Judge(evaluation(0.2, AnswerQuality.NEEDS_DOCS, source=EvaluationSource.LLM), evaluation(0.9))
    turn = run_turn(PRESETS["full"], judge, max_refine_iterations=1, referee=Judge(JudgeFailed("down")))
    assert turn.state["answer"] == "draft 1"


class Careless(Scripted):
    """Cannot refine."""

    async def refine(self, *_: object) -> Refinement:
        raise JudgeFailed("no")


@pytest.mark.parametrize("web", [True, False])
@pytest.mark.parametrize("verdict", [Verdict.CORRECT, Verdict.AMBIGUOUS, Verdict.INCORRECT])
def test_a_refiner_that_fails_costs_the_refining_and_not_the_turn(verdict: Verdict, web: bool) -> None:
    role = Careless(verdict=verdict)
    turn = run_turn(PRESETS["full"], Judge(evaluation(0.9)), role=role, web=Web(role) if web else None)
    assert turn.state["stop_reason"] is StopReason.ADEQUATE
    assert {strip.text for strip in turn.state["strips"]} & {"text number 1", "web text 0"}
    assert any("used whole" in note for note in turn.state["notes"])


def test_a_mistake_in_the_code_is_not_taken_for_a_judge_that_failed() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        run_turn(PRESETS["full"], Judge(lambda: list(zip([1], [], strict=True))))


def test_a_decline_is_not_what_the_user_gets() -> None:
    turn = run_turn(PRESETS["full"], Judge(evaluation(0.4), evaluation(0.2)))
    assert turn.state["stop_reason"] is StopReason.DECLINED
    assert turn.state["answer"] == "draft 1"
    assert turn.state["quality_score"] == 0.4


def test_of_equal_answers_the_first_stands_unless_only_a_later_one_has_documents() -> None:
    assert run_turn(PRESETS["full"], Judge(evaluation(0.4))).state["answer"] == "draft 1"
    role, judge = Scripted(offline_generator=False), Judge(evaluation(0.4, AnswerQuality.HALLUCINATION))
    fast = run_turn(PRESETS["self_correcting"], judge, role=role, max_refine_iterations=1)
    assert [one.documents for one in fast.state["iterations"]] == [(), ("d1",)]
    assert fast.state["answer"] == "draft 2"


def test_the_same_documents_again_stop_the_loop() -> None:
    """Guard 1 asks for a Jaccard similarity of at least 0.8: 7 of 9 texts are not enough."""
    first = [hit("a", f"text {n}", n + 1) for n in range(8)]
    similar = [*first[:7], hit("b", "new", 8)]
    turn = run_turn(PRESETS["self_refine"], Judge(evaluation(0.1)), retriever=Library(first, first))
    assert turn.state["stop_reason"] is StopReason.DUPLICATE_DOCUMENTS
    assert turn.state["iterations"][-1].duplicate_share == 1.0
    turn = run_turn(PRESETS["self_refine"], Judge(evaluation(0.1), evaluation(0.3)), retriever=Library(first, similar))
    assert turn.state["iterations"][1].duplicate_share == pytest.approx(7 / 9)
    assert turn.state["stop_reason"] is not StopReason.DUPLICATE_DOCUMENTS
    for threshold in (0.75, 7 / 9):
        judge, library = Judge(evaluation(0.1), evaluation(0.3)), Library(first, similar)
        turn = run_turn(PRESETS["self_refine"], judge, retriever=library, duplicate_threshold=threshold)
        assert turn.state["stop_reason"] is StopReason.DUPLICATE_DOCUMENTS
    # Each pass is held against the one before it, and two that find nothing find the same.
    for library in (Library(first, [hit("c", "other")]), Library(first, ())):
        judge = Judge(*map(evaluation, (0.1, 0.2, 0.3, 0.4)))
        turn = run_turn(PRESETS["self_refine"], judge, retriever=library, max_refine_iterations=3)
        assert [one.duplicate_share for one in turn.state["iterations"]] == [None, 0.0, 1.0]
        assert turn.state["stop_reason"] is StopReason.DUPLICATE_DOCUMENTS
