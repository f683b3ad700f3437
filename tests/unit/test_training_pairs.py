"""Questions made by rule for training: spans stay where they were, edits leave no answer, cuts take one away."""

import random

from hypothesis import given
from hypothesis import strategies as st

from training.pairs import Page, Question
from training.pairs_made import OPPOSITES, Maker, without_sentence

TEXT = (
    "The Mill Bridge was built in 1832 by Ada Stone. It was the longest bridge in Harrow until 1901. "
    "The engineer Paul Reed widened it for trams, which crossed it 40 times a day. Since 1950 only walkers use it."
)
QUESTIONS = tuple(
    Question(text, 1, TEXT.index(answer), TEXT.index(answer) + len(answer))
    for text, answer in (
        ("Who built the Mill Bridge in 1832?", "Ada Stone"),
        ("Until when was it the longest bridge in Harrow?", "1901"),
        ("How many times a day did trams cross the bridge of Paul Reed?", "40"),
        ("Who may use it since 1950?", "walkers"),
    )
)
PAGE = Page("set", "set/bridge", "Mill Bridge", TEXT, QUESTIONS)


@given(st.integers(0, 10_000))
def test_gaps_ask_for_words_that_stand_at_their_span(seed: int) -> None:
    for question in Maker(seed).gaps(PAGE, 4):
        answer = TEXT[question.start : question.end]
        assert question.label == 1
        assert answer
        assert answer.strip() == answer
        assert question.text.endswith("?")


@given(st.integers(0, 10_000), st.sampled_from(QUESTIONS))
def test_an_edit_changes_the_question_and_its_label_only(seed: int, question: Question) -> None:
    edited = Maker(seed).edited(question, PAGE, [PAGE])
    assert edited is None or (edited.text != question.text and edited.label == 0 and edited.start == question.start)


@given(st.integers(0, 10_000))
def test_without_a_sentence_spans_still_point_at_the_same_words(seed: int) -> None:
    cut = without_sentence(PAGE, random.Random(seed))
    assert len(cut.text) < len(TEXT)
    for before, after in zip(QUESTIONS, cut.questions, strict=True):
        if after.label:
            assert cut.text[after.start : after.end] == TEXT[before.start : before.end]
    assert sum(after.label for after in cut.questions) == len(QUESTIONS) - 1


def test_the_same_seed_makes_the_same_questions() -> None:
    assert Maker(3).gaps(PAGE, 4) == Maker(3).gaps(PAGE, 4)


def test_opposites_go_both_ways() -> None:
    assert all(word in OPPOSITES[other] for word, others in OPPOSITES.items() for other in others)
