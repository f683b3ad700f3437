"""Single sentences cut from passages that answer."""

import random

import pytest

from training.reading_rows import Row
from training.sentence_rows import MOST_ROWS, cut

TEXT = (
    "The lamp of the cape was lit in 1874. It burns oil that comes by boat. Edda Marsh keeps the lamp. "
    "The keeper of the lamp lives in the tower. Boats anchor outside."
)


@pytest.mark.parametrize("seed", range(20))
def test_what_answers_holds_the_answer_and_the_others_do_not(seed: int) -> None:
    start = TEXT.index("Edda Marsh")
    row = Row(False, "set", "set/cape", "Who keeps the lamp?", "Cape", TEXT, 1, 1, start, start + len("Edda Marsh"))
    first, *others = cut(row, random.Random(seed))
    assert first.label == 1
    assert first.text[first.start : first.end] == "Edda Marsh"
    assert len(others) == MOST_ROWS
    assert not any(other.label or "Edda Marsh" in other.text or other.start >= 0 for other in others)
    assert all(one.text in TEXT and one.heading == "Cape" for one in (first, *others))


def test_a_passage_of_one_sentence_gives_nothing() -> None:
    row = Row(False, "set", "set/cape", "Who keeps the lamp?", "", "Edda Marsh keeps it.", 1, 1, 0, 10)
    assert list(cut(row, random.Random(1))) == []
