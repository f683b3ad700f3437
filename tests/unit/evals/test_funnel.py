"""Counting what each step kept and lost."""

from dataclasses import astuple, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Message
from selfright.domain.errors import InputError
from selfright.evals import reading
from selfright.evals.aggregation import STEPS, first_rank, funnels
from selfright.evals.measures import STANDARD
from selfright.evals.reading import Question
from selfright.evals.results import Retrieved, Row
from selfright.evals.systems import System
from selfright.evals.words import gold_in
from selfright.evals.worker import read_task, task_of
from tests.support.studies import row, sample, turn

NOTHING = Retrieved(*[False] * 5)


def of(name: str, held: Retrieved | None, right: float | None, **given: Any) -> Row:
    return row(name, {"right": right}, turn(held=held, **given))


@pytest.mark.parametrize(
    ("held", "right", "steps"),
    [
        (NOTHING, 0.0, 0),
        (replace(NOTHING, found=True), 0.0, 1),
        (replace(NOTHING, found=True, looked=True, strips=True), 0.0, 3),
        (replace(NOTHING, draft=True), 0.0, 4),  # a step counts when a later one had it
        (replace(NOTHING, final=True), 0.0, 5),
        (NOTHING, 1.0, 6),  # from a model's head, or in other words than those of the passages
        (None, 1.0, None),
    ],
)
def test_a_question_got_as_far_as_the_last_step_that_had_its_answer(
    held: Retrieved | None, right: float, steps: int | None
) -> None:
    assert first_rank(of("q", held, right)) == steps


held = st.builds(Retrieved, *[st.booleans()] * 5)


@given(st.lists(st.tuples(held, st.sampled_from([0.0, 1.0]), st.booleans(), st.sampled_from(["en", "ko"])), min_size=1))
def test_every_question_is_kept_or_lost_once(rows: list[tuple[Retrieved, float, bool, str]]) -> None:
    made = [
        of(f"q{n}", one, right, abstained=refused, language=language)
        for n, (one, right, refused, language) in enumerate(rows)
    ]
    found = funnels(made)
    assert sum(one.asked for one in found) == len(rows)
    for one in found:
        kept = [one.asked, *(one.kept[step] for step in STEPS)]
        assert kept == sorted(kept, reverse=True)
        assert [len(one.lost[step]) for step in STEPS] == [a - b for a, b in pairwise(kept)]
        names = [name for step in STEPS for name in one.lost[step]]
        assert len(names) == len(set(names))
        outcomes = (one.answered_right, one.answered_wrong, one.refused_rightly, one.refused_wrongly)
        assert sum(outcomes) == one.asked
        assert one.kept["right"] == one.answered_right + one.refused_rightly


def test_languages_stand_apart_and_refusals_of_what_cannot_be_answered_count_as_outcomes_only() -> None:
    through = Retrieved(*[True] * 5)
    english, korean = funnels(
        [
            of("a", through, 1.0), of("b", replace(through, final=False), 0.0),
            of("c", through, 0.0, language="ko", abstained=True), of("d", None, 1.0, language="ko", abstained=True),
            of("e", None, None),
        ]
    )  # fmt: skip
    assert (english.language, english.asked, english.lost["final"], english.answered_wrong) == ("en", 2, ("b",), 1)
    assert (korean.language, korean.asked, korean.lost["right"]) == ("ko", 1, ("c",))
    assert (korean.refused_rightly, korean.refused_wrongly) == (1, 1)
    assert funnels([of("e", None, None)]) == ()
    assert len(astuple(NOTHING)) + 1 == len(STEPS)


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
    assert read_task(task_of(system, question)) == (system, question)
