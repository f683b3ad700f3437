"""What says the same again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.passages import Passage
from selfright.web.page_index import containment, new_passages, shingles

TEXT = (
    "The safety valve of the boiler opens at two bar and has to be checked once in every year by somebody who knows it."
)
sets = st.frozensets(st.integers(0, 20), max_size=10)


def passages(*texts: str) -> list[Passage]:
    return [Passage(f"p{n}", "d", "T", text, 0, len(text)) for n, text in enumerate(texts)]


def kept(*texts: str) -> list[str]:
    return [passage.text for passage in new_passages(passages(*texts))]


def test_a_repetition_goes_and_news_stays() -> None:
    other = "The pump of the boiler turns with three thousand turns a minute and needs oil every month without fail."
    assert kept(TEXT, TEXT.upper().replace("two bar", "two  bar,"), other) == [TEXT, other]
    assert kept(TEXT, TEXT + " It is red.") == [TEXT]
    longer = TEXT + " It is red and blue, and stands at the left of the door."
    assert kept(TEXT, longer) == [TEXT, longer]
    assert kept(longer, TEXT) == [longer]


def test_one_word_that_differs_in_a_short_text_is_news() -> None:
    texts = ["The valve opens at two bar.", "The valve opens at three bar."]
    assert kept(*texts) == texts


def test_korean() -> None:
    text = "안전 밸브는 2바에서 열리며 해마다 한 번 점검해야 하고 점검한 날을 적어 둔다."
    whole = "앞말. " + text + " 뒷말."
    assert kept(whole, text) == [whole]


@given(sets, sets)
def test_measures(a: frozenset[int], b: frozenset[int]) -> None:
    assert 0 <= containment(a, b) <= 1
    assert containment(a, b) * len(a) == pytest.approx(containment(b, a) * len(b))


def test_shingles_worked_out() -> None:
    one, two = shingles("a b c d e"), shingles("b c d e f")
    assert (len(one), len(two)) == (2, 2)
    assert containment(one, two) == 1 / 2
    assert shingles("...") == frozenset()
