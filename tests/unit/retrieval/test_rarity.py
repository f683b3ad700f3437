"""How rare a term is, among the passages that could hold it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.retrieval.ranking import Population, idf


@given(st.integers(0, 1_000), st.integers(0, 1_000), st.integers(0, 1_000))
def test_a_term_is_never_in_more_passages_than_could_hold_it(passages: int, korean: int, frequency: int) -> None:
    population = Population(passages, min(korean, passages))
    frequency = min(frequency, passages)
    for term in ("cors", "해결", "500mg"):
        assert frequency <= population.of(term, frequency) <= passages
        assert population.idf([term], [frequency])[0] > 0


@pytest.mark.parametrize("korean", [None, 0, 1_000])
def test_in_an_index_of_one_language_all_passages_count(korean: int | None) -> None:
    assert Population(1_000, korean).idf(["해결", "cors"], [7, 7]) == [idf(7, 1_000)] * 2


def test_among_few_korean_passages_a_word_is_not_called_common() -> None:
    population = Population(1_000, 2)
    assert population.idf(["해결"], [1]) == [pytest.approx(math.log(1 + (10 - 1 + 0.5) / (1 + 0.5)))]
    assert population.idf(["해결"], [40]) == [idf(40, 40)]
