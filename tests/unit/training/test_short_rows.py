"""Answers in few words, which answer, and what only looks like one."""

import pytest

from training.reading_rows import Row
from training.short_rows import asks, short_rows

TEXT = "The lamp was lit in 1874. Edda Marsh keeps it. It burns oil because gas never came to the cape."


def row(question: str, answer: str) -> Row:
    start = TEXT.index(answer)
    return Row(False, "set", "set/cape", question, "Cape", TEXT, 1, 1, start, start + len(answer))


ROWS = (
    row("When was the lamp lit?", "1874"),
    row("Who keeps the lamp?", "Edda Marsh"),
    row("Why does it burn oil?", "gas never came to the cape"),
)


@pytest.mark.parametrize("seed", range(10))
def test_the_answer_alone_answers_and_another_s_or_the_question_does_not(seed: int) -> None:
    answers = {one.asked: TEXT[one.start : one.end] for one in ROWS}
    made = list(short_rows(ROWS, seed))
    assert {one.asked for one in made if one.label} == set(answers)
    for one in made:
        has_answer = answers[one.asked].casefold() in one.text.casefold()
        assert has_answer == bool(one.label), one
        assert (one.start, one.end) == ((0, len(one.text)) if one.label else (-1, -1))


def test_a_reason_may_begin_with_because() -> None:
    said = {one.text for seed in range(20) for one in short_rows(ROWS[2:], seed) if one.label}
    assert "Because gas never came to the cape." in said


def test_a_share_of_nothing_makes_nothing() -> None:
    assert list(short_rows(ROWS, 1, 0.0)) == []


@pytest.mark.parametrize(
    ("question", "word"),
    [("How long is it?", "how long"), ("Is it open?", ""), ("언제 여나요?", "언제"), ("몇 시에 여나요?", "몇|얼마")],
)
def test_the_word_that_asks(question: str, word: str) -> None:
    assert asks(question) == word
