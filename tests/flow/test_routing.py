"""Where a turn goes, by label, by score, by verdict and by flag."""

from collections.abc import Mapping
from typing import Any

import pytest

from selfright.domain.answers import Message
from selfright.domain.budget import Meter
from selfright.domain.errors import JudgeFailed, UnknownName
from selfright.domain.flags import Flags
from selfright.domain.judgements import AnswerQuality, EvaluationSource, QueryClass, StopReason, Verdict
from selfright.flow.presets import PRESETS, find_preset
from selfright.flow.strategies import BasicRAGStrategy, by_label, by_score, create_strategy, register_strategy
from tests.support.turns import FreshLibrary, Judge, Scripted, Web, evaluation, run_turn


def test_a_score_of_0_42_is_under_the_threshold() -> None:
    """SPEC 7: 0.4, 0.3, 0.7 → 0.42 → under 0.5 → retrieve again."""
    from selfright.domain.judgements import Evaluation

    judged = Evaluation(0.4, 0.3, 0.7, AnswerQuality.NEEDS_DOCS, 0.8, EvaluationSource.LLM)
    assert judged.overall == 0.42
    assert by_score(judged, Flags()) == "rewrite"
    assert run_turn(PRESETS["self_refine"], Judge(judged, evaluation(0.9))).visits.count("retrieve") == 2


def test_a_score_at_the_threshold_is_good_enough() -> None:
    assert [by_score(evaluation(score), Flags()) for score in (0.49, 0.5)] == ["rewrite", None]


@pytest.mark.parametrize(
    ("quality", "confidence", "used", "target"),
    [
        (AnswerQuality.ADEQUATE, 0.9, True, None),
        (AnswerQuality.ADEQUATE, 0.9, False, None),
        (AnswerQuality.ADEQUATE, 0.6, False, "retrieve"),
        (AnswerQuality.ADEQUATE, 0.6, True, None),
        (AnswerQuality.NEEDS_DOCS, 0.9, False, "retrieve"),
        (AnswerQuality.NEEDS_DOCS, 0.9, True, "rewrite"),
        (AnswerQuality.HALLUCINATION, 0.9, False, "retrieve"),
        (AnswerQuality.HALLUCINATION, 0.9, True, "rewrite"),
        (AnswerQuality.OFF_TOPIC, 0.9, True, "classify"),
    ],
)
def test_routing_by_label(quality: AnswerQuality, confidence: float, used: bool, target: str | None) -> None:
    judged = evaluation(0.9, quality, confidence=confidence)
    assert by_label(judged, Flags(), used_retrieval=used) == target


def test_retry_limit_ends_routing_by_label() -> None:
    judge = Judge(*(evaluation(0.1 * n, AnswerQuality.NEEDS_DOCS) for n in range(1, 9)))
    turn = run_turn(PRESETS["self_correcting"], judge, max_refine_iterations=1)
    assert turn.visits.count("retrieve") == 2
    assert turn.state["stop_reason"] is StopReason.MAX_ITERATIONS


def test_off_topic_is_classified_again_and_then_looked_up() -> None:
    role = Scripted(query_class=QueryClass.CHITCHAT)
    turn = run_turn(PRESETS["full"], Judge(evaluation(0.2, AnswerQuality.OFF_TOPIC), evaluation(0.9)), role=role)
    assert turn.visits.count("classify") == 2
    assert turn.visits.count("retrieve") == 1
    assert turn.state["query_class"] is QueryClass.QUESTION


def test_fast_path_answers_first_and_looks_up_when_the_judge_wants_documents() -> None:
    role = Scripted(offline_generator=False)
    good = run_turn(PRESETS["self_correcting"], Judge(evaluation(0.9)), role=role)
    assert "retrieve" not in good.visits
    assert good.state["stop_reason"] is StopReason.FAST_PATH
    judge = Judge(evaluation(0.4, AnswerQuality.HALLUCINATION), evaluation(0.9))
    wanting = run_turn(PRESETS["self_correcting"], judge, role=Scripted(offline_generator=False))
    assert [asked.unsearched for asked in judge.requests] == [True, False]
    assert wanting.visits.index("retrieve") > wanting.visits.index("quality_check")
    assert wanting.state["stop_reason"] is StopReason.ADEQUATE


def test_offline_there_is_no_fast_path_for_questions() -> None:
    turn = run_turn(PRESETS["self_correcting"], Judge(evaluation(0.9)), fast_path_enabled=True)
    assert "retrieve" in turn.visits


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (Verdict.CORRECT, ["grade", "refine_knowledge", "assemble_context"]),
        (Verdict.INCORRECT, ["grade", "web_search", "refine_knowledge", "assemble_context"]),
        (Verdict.AMBIGUOUS, ["grade", "refine_knowledge", "web_search", "assemble_context"]),
        (Verdict.UNKNOWN, ["grade", "refine_knowledge", "web_search", "assemble_context"]),
        (JudgeFailed("down"), ["grade", "refine_knowledge", "web_search", "assemble_context"]),
    ],
)
def test_the_verdict_decides_what_is_looked_at(verdict: Verdict | Exception, expected: list[str]) -> None:
    role = Scripted(verdict=verdict)
    turn = run_turn(PRESETS["full"], Judge(evaluation(0.9)), role=role, web=Web(role))
    begin = turn.visits.index("grade")
    assert turn.visits[begin : begin + len(expected)] == expected
    assert turn.visits.count("generate") == 1


def test_ambiguous_refines_and_searches_at_the_same_time_and_merges() -> None:
    role = Scripted(verdict=Verdict.AMBIGUOUS, slow=0.02)
    turn = run_turn(PRESETS["crag"], Judge(), role=role, web=Web(role))
    assert set(role.calls[:2]) == {"refine begins", "web begins"}
    assert {strip.passage.origin for strip in turn.state["strips"]} == {"index", "web"}


def test_incorrect_is_answered_from_the_web_alone_unless_that_is_judged_no_better() -> None:
    for index, of_web, origins in ((0.2, 0.3, {"web"}), (0.2, 0.2, {"index", "web"}), (0.2, 0.1, {"index", "web"})):
        role = Scripted(verdict=Verdict.INCORRECT, probability=index, web_probability=of_web)
        turn = run_turn(PRESETS["crag"], Judge(), role=role, web=Web(role))
        assert {strip.passage.origin for strip in turn.state["strips"]} == origins


def test_incorrect_without_a_web_goes_on_and_says_so() -> None:
    turn = run_turn(PRESETS["crag"], Judge(), role=Scripted(verdict=Verdict.INCORRECT))
    assert "web_search" not in turn.visits
    assert any("no web search is configured" in note for note in turn.state["notes"])


def test_a_web_that_fails_costs_the_web_and_not_the_turn() -> None:
    role = Scripted(verdict=Verdict.INCORRECT)
    turn = run_turn(PRESETS["full"], Judge(evaluation(0.9)), role=role, web=Web(role, error=OSError("down")))
    assert turn.state["strips"]
    assert any("web search failed" in note for note in turn.state["notes"])


def test_correct_that_refinement_cannot_confirm_drops_a_step_and_asks_the_web() -> None:
    role = Scripted(verdict=Verdict.CORRECT, fell_back=True)
    turn = run_turn(PRESETS["crag"], Judge(), role=role, web=Web(role))
    assert turn.state["verdict"] is Verdict.AMBIGUOUS
    assert turn.visits[3:6] == ["refine_knowledge", "web_search", "assemble_context"]
    assert {strip.passage.origin for strip in turn.state["strips"]} == {"index"}  # of the web nothing was left either
    assert "web_search" not in run_turn(PRESETS["crag"], Judge(), role=role).visits


def test_a_grader_that_says_nan_is_unknown_and_not_a_yes() -> None:
    turn = run_turn(PRESETS["crag"], Judge(), role=Scripted(probability=float("nan")))
    assert turn.state["grading"].verdict is Verdict.UNKNOWN


def test_an_evaluator_that_fails_is_replaced_and_never_verifies() -> None:
    fallback = Judge(evaluation(0.8, source=EvaluationSource.HEURISTIC))
    turn = run_turn(PRESETS["full"], Judge(TimeoutError()), fallback=fallback)
    assert turn.state["evaluation"].source is EvaluationSource.HEURISTIC
    assert not turn.state["evaluation"].verified
    assert any("not verified" in note for note in turn.state["notes"])


@pytest.mark.parametrize("flag", ["self_refine_enabled", "quality_check_enabled"])
def test_flags_off_mean_one_pass(flag: str) -> None:
    judge = Judge(evaluation(0.1))
    turn = run_turn(PRESETS["full"], judge, **{flag: False})
    assert turn.visits.count("retrieve") == 1
    assert turn.state["stop_reason"] is StopReason.BASIC
    assert bool(judge.requests) is (flag == "quality_check_enabled")


def test_basic_has_full_marks_unseen_and_never_looks_again() -> None:
    judge = Judge(evaluation(0.1))
    for preset, values in (("basic", {}), ("full", {"refine_strategy": "basic_rag"})):
        turn = run_turn(PRESETS[preset], judge, **values)
        assert turn.state["quality_score"] == 1.0
        assert turn.state["evaluation"] is None
        assert turn.state["stop_reason"] is StopReason.BASIC
    assert not judge.requests


def test_a_static_query_is_searched_again_unchanged() -> None:
    library = FreshLibrary()
    turn = run_turn(PRESETS["self_refine"], Judge(evaluation(0.1)), retriever=library, query_rewrite_enabled=False)
    assert len({i.query for i in turn.state["iterations"]}) == 1
    assert library.searches == 2


@pytest.mark.parametrize("score", [0.1, 0.9])
def test_deadline_and_budget_end_the_loop_with_an_answer(score: float) -> None:
    """SPEC 8: they come before the question whether anything more is needed."""
    late = run_turn(PRESETS["full"], Judge(evaluation(score)), deadline_s=0)
    assert late.state["stop_reason"] is StopReason.DEADLINE
    assert late.state["answer"] == "draft 1"
    meter = Meter(max_llm_calls=3, max_tokens=10_000, deadline_s=60, llm_calls=2)
    spent = run_turn(PRESETS["full"], Judge(evaluation(score)), meter=meter)
    assert spent.state["stop_reason"] is StopReason.BUDGET


def test_small_talk_is_looked_up_by_its_label_and_not_by_its_score() -> None:
    role = Scripted(query_class=QueryClass.CHITCHAT)
    for quality, looked_up in ((AnswerQuality.ADEQUATE, False), (AnswerQuality.NEEDS_DOCS, True)):
        turn = run_turn(PRESETS["full"], Judge(evaluation(0.2, quality), evaluation(0.9)), role=role)
        assert ("retrieve" in turn.visits) is looked_up


def test_a_follow_up_is_made_to_stand_alone() -> None:
    history = [Message("user", "What is beta?"), Message("assistant", "beta is two")]
    turn = run_turn(PRESETS["full"], Judge(evaluation(0.9)), messages=history)
    assert turn.state["question"] == "What is alpha? (about beta is two)"


def test_mode_llm_takes_the_text_as_it_is() -> None:
    turn = run_turn(PRESETS["llm"], Judge())
    assert turn.visits == ["contextualize", "assemble_context", "generate", "finalize"]
    assert turn.state["user_prompt"] == "What is alpha?"


def test_abstention_replaces_the_answer_and_keeps_the_loop_s_reason() -> None:
    turn = run_turn(PRESETS["full"], Judge(evaluation(0.1), evaluation(0.05)), role=Scripted(abstain=True))
    assert turn.state["abstained"]
    assert turn.state["stop_reason"] is StopReason.ABSTAINED
    assert any("searching again brought nothing better" in note for note in turn.state["notes"])


def test_unknown_presets_and_strategies_name_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'full'"):
        find_preset("ful")
    with pytest.raises(UnknownName, match="corrective_rag"):
        create_strategy(Flags(refine_strategy="corrective"), Judge(), (Judge(),), "both")


def test_a_third_strategy_can_be_registered() -> None:
    class Never(BasicRAGStrategy):
        def get_strategy_name(self) -> str:
            return "never"

    register_strategy("never", lambda *_: Never())
    assert create_strategy(Flags(refine_strategy="never"), Judge(), (Judge(),), "both").get_strategy_name() == "never"


def test_a_strategy_that_scores_no_number_has_failed() -> None:
    class Dizzy(BasicRAGStrategy):
        async def refine(self, state: Mapping[str, Any]) -> dict[str, Any]:
            return {**await super().refine(state), "quality_score": float("nan")}

    register_strategy("dizzy", lambda *_: Dizzy())
    with pytest.raises(JudgeFailed, match="finite quality_score"):
        run_turn(PRESETS["self_refine"], Judge(), refine_strategy="dizzy")


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_draws_every_one_of_its_nodes(name: str) -> None:
    from selfright.flow.compile import mermaid

    drawing = mermaid(PRESETS[name])
    assert all(node in drawing for node in PRESETS[name].edges)
