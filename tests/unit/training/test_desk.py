"""Questions as people type them: what counts as an answer to them, and that the stored ones are whole."""

import json
from collections import Counter

import pytest

from training.desk import HELD, QUESTIONS, SOURCES, DeskQuestion, pattern
from training.desk_rows import place

REFUND = DeskQuestion(
    "how long till i can send it back",
    "en/returns.md",
    answer="30 days",
    quote="You can return **unused** goods within 30 days of delivery.",
    near="",
)
PRICE = DeskQuestion("what's the courier cost", "en/returns.md", "", "", near="A courier collects heavy goods.")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Returns\nYou can return unused goods within 30\ndays of delivery.", 1),
        ("The warranty is 30 days.", None),  # the same words, said of something else
        ("You can return unused goods within a month of delivery.", None),  # perhaps the answer in other words
        ("We deliver within two weeks.", 0),
    ],
)
def test_a_text_answers_that_has_the_answer_and_says_it_of_the_thing(text: str, label: int | None) -> None:
    assert REFUND.label(text) == label


def test_nothing_answers_what_the_documents_leave_open() -> None:
    assert PRICE.label("A courier collects heavy goods.") == 0


@pytest.mark.parametrize(
    ("answer", "text", "found"),
    [
        ("30 days", "within **30  days**", "30  days"),
        ("₩3,000", "| adult | ₩3,000 |", "₩3,000"),
        ("a | b", "nothing", ""),
    ],
)
def test_the_answer_is_found_whatever_the_blanks(answer: str, text: str, found: str) -> None:
    start, end = place(answer, text)
    assert (text[start:end] if start >= 0 else "") == found


def test_a_pattern_takes_the_answer_literally() -> None:
    assert pattern("1.5 (beta)") == r"1\.5[\s|*_`]+\(beta\)"


@pytest.mark.parametrize("name", SOURCES)
def test_the_stored_questions_are_whole(name: str) -> None:
    rows = [json.loads(line) for line in (QUESTIONS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len({row["id"] for row in rows}) == len(rows) >= 150
    kinds = Counter(row["id"].startswith("no-") for row in rows)
    assert kinds[True] >= 0.3 * len(rows)
    for row in rows:
        start, end = row["span"]
        assert 0 <= start < end
        assert row["question"].strip()
        assert bool(row["answer"]) != row["id"].startswith("no-")


def test_no_set_is_both_learnt_from_and_held_back() -> None:
    assert set(HELD) < set(SOURCES)
