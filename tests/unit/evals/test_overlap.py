"""Words against gold answers: SQuAD's and KorQuAD's own definitions, worked by hand, and what must always hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfright.evals.words import contains, exact, f1, normalize, recall, spoken_text

# answer, gold, exact match, F1: SQuAD 2.0's normalising (case, punctuation, articles, blanks) and F1 over words.
SQUAD = (
    ("The cat sat.", "cat sat", True, 1.0),
    ("The cat sat", "a cat sat down", False, 0.8),  # 2 of 2, 2 of 3
    ("in 1990, after the war", "1990", False, 0.4),  # 1 of 4, 1 of 1
    ("Paris", "London", False, 0.0),
    ("the the the", "", True, 1.0),  # articles alone are nothing
    ("", "", True, 1.0),
    ("", "Paris", False, 0.0),
    ("Paris", "", False, 0.0),
    ("to be or not to be", "to be", False, 0.5),  # repeated words count as often as they stand
    ("2,550 mg", "2550 mg", True, 1.0),
    ("half-life", "halflife", True, 1.0),
)
# KorQuAD 1.0: F1 over the characters of all words.
KORQUAD = (
    ("1989년 2월 15일", "1989년 2월 15일", True, 1.0),
    ("임수경이", "임수경", False, 6 / 7),  # 3 of 4, 3 of 3
    ("《임수경》", "임수경", True, 1.0),
    ("부산", "서울", False, 0.0),
)


@pytest.mark.parametrize(("answer", "gold", "same", "overlap"), SQUAD + KORQUAD)
def test_worked_cases(answer: str, gold: str, same: bool, overlap: float) -> None:
    assert exact(answer, gold) is same
    assert f1(answer, gold) == pytest.approx(overlap, abs=1e-6)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("The dose is 2,550 mg a day.", "2550 mg"),
        ("It was below 30, so it is forbidden", "below 30"),
        ("등은 90일마다 교체합니다", "90일"),
        ("등은 90 일마다 교체합니다", "90일"),
        ("제2형당뇨병입니다", "제2형 당뇨병"),
        ("하루 500mg을 먹습니다", "500mg"),
        ("it is 2.5 mg", "2.5 mg"),
        ("10–20 mg", "10-20 mg"),
        ("THE CAPITAL is Seoul", "the capital"),
    ],
)
def test_what_stands_in_an_answer(answer: str, gold: str) -> None:
    assert contains(answer, gold)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("it takes 112 days", "12"), ("it is 25 mg", "2.5 mg"), ("therapists", "therapist"), ("서울특별시", "서울특"),
        ("안서울", "서울"), ("anything", ""), ("", "gold"), ("one two", "one two three"),
    ],
)  # fmt: skip
def test_what_does_not(answer: str, gold: str) -> None:
    assert not contains(answer, gold)


def test_markers_are_no_words() -> None:
    assert spoken_text("It costs 40 euros. [1] And more [2]") == "It costs 40 euros.   And more"
    assert spoken_text("It costs 40 euros. [Source: prices.md]") == "It costs 40 euros."
    assert not contains(spoken_text("It is late. [12]"), "12")


WORDS = st.lists(st.sampled_from(["lamp", "fog", "horn", "12", "등대", "무적은", "2.5", "a"]), max_size=8).map(" ".join)


@settings(max_examples=50)
@given(WORDS, WORDS)
def test_what_always_holds(answer: str, gold: str) -> None:
    assert 0.0 <= f1(answer, gold) <= 1.0
    assert 0.0 <= recall(answer, gold) <= 1.0
    if exact(answer, gold):
        assert f1(answer, gold) == 1.0
    if normalize(gold):
        assert contains(f"so {gold} then", gold)
        assert recall(f"so {gold} then", gold) == 1.0
