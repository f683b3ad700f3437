"""Where a gold answer is looked for, and how questions are sent to workers."""

from dataclasses import replace

import pytest

from selfright.domain.answers import Message
from selfright.domain.errors import InputError
from selfright.evals import reading
from selfright.evals.measures import STANDARD
from selfright.evals.reading import Question
from selfright.evals.systems import System
from selfright.evals.words import gold_in
from selfright.evals.worker import TASK
from tests.support.studies import sample, turn


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("You get **27**\ndays at most.", False),
        ("You get 27\n days at most.", True),
        ("최대 27일까지 쌓입니다.", True),
        ("127 days", False),
    ],
)
def test_a_pattern_is_searched_in_a_text_as_one_line(text: str, found: bool) -> None:
    question = Question("q", "?", patterns=(r"\b27 days", r"27\s?일"))
    assert gold_in(text, question) is found
    asked = sample(replace(question, answerable=True), turn(text))
    by_name = {metric.name: metric.measure(asked).value for metric in STANDARD}
    assert (by_name["right"], by_name["containment"]) == (float(found), float(found))


def test_a_pattern_that_would_go_on_for_ever_is_ended_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PATIENCE_S", 0.2)
    with pytest.raises(InputError, match="could not be searched"):
        gold_in("a" * 5_000 + "!", Question("q", "?", patterns=("a*" * 100 + "$",)))


def test_questions_are_sent_to_workers() -> None:
    question = Question("q", "How long?", patterns=("27일",), history=(Message("user", "hello"),))
    system = System("basic", "basic")
    assert TASK.validate_python(TASK.dump_python((system, question), mode="json")) == (system, question)
