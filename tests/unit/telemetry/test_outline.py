import json
from dataclasses import replace

import pytest

from selfright.domain.answers import Step
from selfright.domain.errors import ModelUnavailable
from selfright.domain.judgements import StopReason
from selfright.domain.scopes import Scope
from selfright.telemetry.outline import broken, finished, trace_form, trace_of
from tests.support.traces import ORIGINS, SAID, answer


def test_an_outline_holds_no_content() -> None:
    written = json.dumps(trace_form(finished(answer(), 1.0, Scope("u"), ORIGINS, content=False)))
    assert SAID not in written
    assert "ambiguous" in written
    assert "again: rewrite" in written


def test_a_full_trace_holds_the_answer_as_ask_gives_it() -> None:
    trace = finished(answer(), 1.0, Scope("u"), ORIGINS, content=True)
    assert trace.answer is not None
    assert trace.answer["answer"] == SAID
    assert trace.kind == "full"


@pytest.mark.parametrize("collections", [None, ("ann", "default")])
@pytest.mark.parametrize("content", [True, False])
def test_a_trace_comes_back_from_its_form(content: bool, collections: tuple[str, ...] | None) -> None:
    trace = finished(answer(), 12.25, Scope("u", collections), ORIGINS, content=content)
    again = trace_of(json.loads(json.dumps(trace_form(trace))))
    assert again == trace


def test_an_error_is_kept_by_its_class_alone() -> None:
    trace = broken("ab" * 16, 1.0, Scope("u"), ORIGINS, [Step("retrieve", 0.5)], 2.0, ModelUnavailable(SAID))
    assert trace.error == "ModelUnavailable"
    assert trace.stop_reason is StopReason.ERROR
    assert SAID not in json.dumps(trace_form(trace))


def test_scores_by_pass_are_kept() -> None:
    trace = finished(answer(), 1.0, Scope("u"), ORIGINS, content=False)
    assert [one.overall for one in trace.passes] == [0.25, 0.82]
    assert [one.documents for one in trace.passes] == [1, 2]
    assert trace.scores["overall"] == 0.82


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"kind": "off"},
        {"verdict": "certain"},
        {"stop_reason": 3},
        {"steps": [{"node": "retrieve"}]},
        {"steps": 3},
        {"cost": {"dollars": 3}},
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
    form = trace_form(finished(answer(), 1.0, Scope("u"), ORIGINS, content=True))
    with pytest.raises(ValueError, match=r".+"):
        trace_of({**form, **change})


def test_a_trace_that_lacks_a_part_is_refused() -> None:
    form = trace_form(replace(finished(answer(), 1.0, Scope("u"), ORIGINS, content=False), user="v"))
    del form["passes"]
    with pytest.raises(ValueError, match="lacks a part"):
        trace_of(form)


def test_a_trace_kept_before_scopes_were_is_taken_for_one_that_saw_everything() -> None:
    form = trace_form(finished(answer(), 1.0, Scope("u", ("ann",)), ORIGINS, content=False))
    del form["collections"]
    assert trace_of(form).collections is None
    assert not Scope("u", ("ann",)).covers(trace_of(form).collections)
