"""Reciprocal rank fusion: the worked example of the specification, and what holds for all rankings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnknownName
from selfright.domain.passages import Ranked
from selfright.retrieval.fusion import LanguageAwareFusion, ReciprocalRankFusion, fusion_named, reciprocal_rank_fusion

ids = st.sampled_from("ABCDEFGH")
rankings = st.lists(st.lists(ids, max_size=8), max_size=3)
distinct_rankings = st.lists(st.lists(ids, max_size=8, unique=True), max_size=3)


def places(order: str) -> list[tuple[str, Ranked]]:
    return [(item, Ranked(rank, 1 / rank)) for rank, item in enumerate(order, start=1)]


def test_worked_example() -> None:
    # BM25: A first, B third, C fifth; dense: A second, B first, D third.
    fused = reciprocal_rank_fusion([["A", "x", "B", "y", "C"], ["B", "A", "D"]])
    rounded = {item: round(score, 4) for item, score in fused}
    assert [item for item, _ in fused if item in "ABCD"] == ["A", "B", "D", "C"]
    assert {item: rounded[item] for item in "ABCD"} == {"A": 0.0325, "B": 0.0323, "D": 0.0159, "C": 0.0154}


def test_repeats_count_once_at_their_best_rank() -> None:
    assert dict(reciprocal_rank_fusion([["A", "A", "B"]])) == pytest.approx({"A": 1 / 61, "B": 1 / 63})


def test_ties_go_to_the_better_single_rank_then_to_the_smaller_id() -> None:
    assert [item for item, _ in reciprocal_rank_fusion([["B", "A"], ["A", "B"]])] == ["A", "B"]
    even = reciprocal_rank_fusion([["B", "C"], ["A"]], k=60)
    assert [item for item, _ in even] == ["A", "B", "C"]


def test_a_ranking_of_weight_zero_adds_neither_score_nor_ids() -> None:
    assert reciprocal_rank_fusion([["A"], ["B"]], weights=(1.0, 0.0)) == [("A", 1 / 61)]


@given(rankings)
def test_every_id_comes_once_in_falling_order(given_rankings: list[list[str]]) -> None:
    fused = reciprocal_rank_fusion(given_rankings)
    assert sorted(item for item, _ in fused) == sorted({item for ranking in given_rankings for item in ranking})
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= len(given_rankings) / 61 for score in scores)


@given(distinct_rankings)
def test_the_order_of_the_rankings_does_not_matter(given_rankings: list[list[str]]) -> None:
    assert reciprocal_rank_fusion(given_rankings) == reciprocal_rank_fusion(given_rankings[::-1])


@given(st.lists(ids, unique=True), st.integers(1, 1_000))
def test_a_ranking_alone_keeps_its_order(ranking: list[str], k: int) -> None:
    assert [item for item, _ in reciprocal_rank_fusion([ranking], k)] == ranking


def test_an_unknown_language_leaves_the_dense_half_out() -> None:
    fusion = LanguageAwareFusion(dense_languages=("en",))
    assert fusion.wants_dense("What is gout?")
    assert not fusion.wants_dense("통풍이란 무엇입니까?")
    assert [item for item, _ in fusion.fuse("통풍이란 무엇입니까?", places("AB"), places("CD"))] == ["A", "B"]
    assert [item for item, _ in fusion.fuse("What is gout?", places("AB"), places("CD"))] == ["A", "C", "B", "D"]


def test_an_embedder_that_declares_no_language_knows_all() -> None:
    assert LanguageAwareFusion().wants_dense("통풍이란 무엇입니까?")


def test_plain_fusion_always_takes_both() -> None:
    fused = ReciprocalRankFusion().fuse("통풍", places("A"), places("B"))
    assert dict(fused) == {"A": 1 / 61, "B": 1 / 61}


def test_fusions_by_name() -> None:
    assert fusion_named("rrf").name == "rrf"
    assert fusion_named("language_aware", 60, ("en",)).name == "language_aware"
    with pytest.raises(UnknownName, match="'rff': did you mean 'rrf'"):
        fusion_named("rff")
