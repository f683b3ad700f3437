"""BM25 in memory."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.web.page_index import Bm25

terms = st.lists(st.sampled_from("abcdef"), max_size=8)


def test_a_score_worked_out_by_hand() -> None:
    index = Bm25([["valve", "valve", "open"], ["pump"], []])
    (match,) = index.rank(["valve", "nothing"])
    idf = math.log(1 + 2.5 / 1.5)
    assert match.index == 0
    assert match.score == pytest.approx(idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / (4 / 3))))
    assert match.share == pytest.approx(0.5)


@given(st.lists(terms, max_size=12), terms)
def test_matches_are_sorted_and_share_a_term(texts: list[list[str]], query: list[str]) -> None:
    matches = Bm25(texts).rank(query)
    assert [match.score for match in matches] == sorted((match.score for match in matches), reverse=True)
    assert {match.index for match in matches} == {n for n, text in enumerate(texts) if set(text) & set(query)}
    assert all(0 < match.share <= 1.000001 for match in matches)
