import json
from dataclasses import fields, replace

import pytest

from selfright.domain.answers import Step
from selfright.domain.errors import ModelUnavailable
from selfright.domain.judgements import AnswerQuality, EvaluationSource, QueryClass, StopReason, Verdict, WithheldReason
from selfright.domain.node_outcomes import NodeOutcome, WithheldPassage
from selfright.domain.routing import RoutingDecision, RoutingReason
from selfright.domain.turns import Scope
from selfright.schemas import trace_form, trace_of
from selfright.telemetry.outline import broken, finished_trace
from tests.support.traces import ORIGINS, SAID, answer


def test_an_outline_holds_no_content() -> None:
    written = json.dumps(trace_form(finished_trace(answer(), 1.0, Scope("u"), ORIGINS, content=False)))
    assert SAID not in written
    assert "ambiguous" in written
    assert "again: rewrite" in written


def test_a_full_trace_holds_the_answer_as_ask_gives_it() -> None:
    trace = finished_trace(answer(), 1.0, Scope("u"), ORIGINS, content=True)
    assert trace.answer is not None
    assert trace.answer["answer"] == SAID
    assert trace.kind == "full"


@pytest.mark.parametrize("collections", [None, ("ann", "default")])
@pytest.mark.parametrize("content", [True, False])
def test_a_trace_comes_back_from_its_form(content: bool, collections: tuple[str, ...] | None) -> None:
    trace = finished_trace(answer(), 12.25, Scope("u", collections), ORIGINS, content=content)
    again = trace_of(json.loads(json.dumps(trace_form(trace))))
    assert again == trace


def test_every_fact_of_a_step_comes_back() -> None:
    routing = RoutingDecision(("ann",), RoutingReason.TOO_LITTLE, fallback=True, about="bob")
    whole = NodeOutcome(
        1, QueryClass.QUESTION, True, 2, Verdict.CORRECT, 0.5, 0.25, 3, "static", routing, 4, True, True, 0.75,
        AnswerQuality.ADEQUATE, EvaluationSource.LOCAL, StopReason.ADEQUATE, "rewrite", StopReason.BUDGET, 5,
        (WithheldPassage(WithheldReason.TRUST, "a#0"),),
    )  # fmt: skip
    assert None not in [getattr(whole, field.name) for field in fields(whole)]
    trace = finished_trace(answer(trace=(Step("grade", 0.5, whole),)), 1.0, Scope("u"), ORIGINS, content=True)
    (step,) = trace_of(json.loads(json.dumps(trace_form(trace)))).steps
    assert step.outcome == whole
    assert [type(getattr(step.outcome, f.name)) for f in fields(whole)] == [
        type(getattr(whole, f.name)) for f in fields(whole)
    ]


def test_an_outline_says_why_passages_were_withheld_and_not_which() -> None:
    step = Step("grade", 0.5, NodeOutcome(withheld=(WithheldPassage(WithheldReason.NAMED_THING, SAID),)))
    broken_off = broken("ab" * 16, 1.0, Scope("u"), ORIGINS, [step], 2.0, ModelUnavailable(SAID))
    for trace in (finished_trace(answer(trace=(step,)), 1.0, Scope("u"), ORIGINS, content=False), broken_off):
        written = json.dumps(trace_form(trace))
        assert "1 withheld (on another thing than you named)" in written
        assert SAID not in written
    assert SAID in json.dumps(trace_form(finished_trace(answer(trace=(step,)), 1.0, Scope("u"), ORIGINS, content=True)))


def test_an_error_is_kept_by_its_class_alone() -> None:
    trace = broken("ab" * 16, 1.0, Scope("u"), ORIGINS, [Step("retrieve", 0.5)], 2.0, ModelUnavailable(SAID))
    assert trace.error == "ModelUnavailable"
    assert trace.stop_reason is StopReason.ERROR
    assert SAID not in json.dumps(trace_form(trace))


def test_scores_by_pass_are_kept() -> None:
    trace = finished_trace(answer(), 1.0, Scope("u"), ORIGINS, content=False)
    assert [one.overall for one in trace.passes] == [0.25, 0.82]
    assert [one.documents for one in trace.passes] == [1, 2]
    assert trace.scores["overall"] == 0.82


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"kind": "whole"},
        {"verdict": "certain"},
        {"stop_reason": 3},
        {"steps": [{"node": "retrieve"}]},
        {"steps": 3},
        {"steps": [{"node": "retrieve", "seconds": 0.1, "said": "", "outcome": {"passages": "many"}}]},
        {"steps": [{"node": "retrieve", "seconds": 0.1, "said": "", "outcome": {"verdict": "certain"}}]},
        {"steps": [{"node": "retrieve", "seconds": 0.1, "said": "", "outcome": {"routing": {}}}]},
        {"steps": [{"node": "retrieve", "seconds": 0.1, "said": "", "outcome": []}]},
        {"cost": {"seconds": "long"}},
        {"rating": "sideways"},
        {"at": "yesterday"},
        {"scores": {"overall": None}},
        {"answer": "text"},
        {"origins": []},
        {"collections": "ann"},
        {"collections": [3]},
    ],
    ids=str,
)
def test_what_is_no_trace_is_refused(change: dict[str, object]) -> None:
    form = trace_form(finished_trace(answer(), 1.0, Scope("u"), ORIGINS, content=True))
    with pytest.raises(ValueError, match=r".+"):
        trace_of({**form, **change})


def test_a_trace_that_lacks_a_part_is_refused() -> None:
    form = trace_form(replace(finished_trace(answer(), 1.0, Scope("u"), ORIGINS, content=False), user="v"))
    del form["origins"]
    with pytest.raises(ValueError, match="lacks a part"):
        trace_of(form)
