"""Fusion: the worked example of the specification, what holds for all rankings, and what moves trust."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import UnknownName
from selfright.retrieval.fusion import AdaptiveFusion, ReciprocalRankFusion, fusion_named, reciprocal_rank_fusion
from selfright.retrieval.fusion_weights import FusionWeightModel, SearchedQuery, load_model, measure, read_model
from tests.support.embedders import WordHashes

ids = st.sampled_from("ABCDEFGH")
rankings = st.lists(st.lists(ids, max_size=8), max_size=3)
distinct_rankings = st.lists(st.lists(ids, max_size=8, unique=True), max_size=3)
lists = st.dictionaries(st.integers(0, 60), st.floats(0.01, 30), max_size=40).map(
    lambda scores: sorted(scores.items(), key=lambda pair: -pair[1])
)
EVEN = FusionWeightModel({"spread": 0.0}, {"spread": 0.0}, 0.0)


def places(order: str) -> list[tuple[str, float]]:
    return [(item, 1 / rank) for rank, item in enumerate(order, start=1)]


def searched(text: str = "why does the pump stall", idf: tuple[float, ...] = (3.0, 5.0)) -> SearchedQuery:
    return SearchedQuery(text, "en", idf)


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
    both = reciprocal_rank_fusion([["Z", "A"], ["C", "A", "D", "E", "Z"]], k=1)  # 1/2 + 1/6 is 1/3 + 1/3
    assert [item for item, _ in both if item in "AZ"] == ["Z", "A"]


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


def test_plain_fusion_always_takes_both() -> None:
    fused = ReciprocalRankFusion().fuse(searched("통풍"), places("A"), places("B"))
    assert dict(fused.items) == {"A": 1 / 61, "B": 1 / 61}


def test_adaptive_fusion_by_hand() -> None:
    # Both halves weigh 0.5. BM25 could reach 2.2 * (3 + 5) = 17.6 and reaches 4.4: 1 lies at sqrt(17.6 * 4.4) = 8.8.
    # Under ten cosines count as usually spread, by 0.0135: 0.054 above the lowest is 4 spreads, 0.04 * 4 ** 1.5 = 0.32.
    words, near = [(1, 4.4), (2, 2.2)], [(2, 0.554), (3, 0.5135), (4, 0.5)]
    fused = AdaptiveFusion(model=EVEN).fuse(searched(), words, near)
    assert fused.items == [
        (2, pytest.approx(0.5 * 0.25 + 0.5 * 0.32)),
        (1, pytest.approx(0.5 * 0.5)),
        (3, pytest.approx(0.5 * 0.04)),
        (4, pytest.approx(0.0)),
    ]
    assert (fused.trust.bm25, fused.trust.dense) == (0.5, 0.5)


def test_a_long_query_does_not_silence_its_words() -> None:
    # Nothing comes near the highest score thinkable of a long query. Ten times as long, the best passage by words may
    # lose at most sqrt(10) of its score, not ten times as much.
    words, near = [(1, 8.0)], [(2, 0.5)]
    short, long = (
        AdaptiveFusion(model=EVEN).fuse(SearchedQuery("", "en", (3.0,) * terms), words, near).items[0]
        for terms in (5, 50)
    )
    assert short[0] == long[0] == 1
    assert long[1] == pytest.approx(short[1] / 10**0.5)


def test_equal_scores_go_to_the_better_rank_then_to_the_smaller_item() -> None:
    words, near = [(9, 2.0), (4, 2.0), (7, 1.0)], [(3, 0.4), (2, 0.4), (1, 0.4)]
    assert [item for item, _ in AdaptiveFusion(model=EVEN).fuse(searched(), words, near).items] == [9, 4, 7, 3, 2, 1]
    alike = AdaptiveFusion(model=EVEN).fuse(searched(), [(9, 2.0)], [(5, 0.4), (8, 0.4)])
    assert [item for item, _ in alike.items] == [9, 5, 8]
    # As by hand above: the second by words is worth 0.25 of its half, and the first by meaning hardly less.
    near = [(3, 0.5 + 0.0135 * (0.2499999 / 0.04) ** (1 / 1.5)), (4, 0.5)]
    assert [item for item, _ in AdaptiveFusion(model=EVEN).fuse(searched(), [(1, 4.4), (2, 2.2)], near).items] == [
        1, 3, 2, 4,
    ]  # fmt: skip


@given(lists, lists)
def test_every_item_comes_once_best_first(words: list[tuple[int, float]], near: list[tuple[int, float]]) -> None:
    fused = AdaptiveFusion().fuse(searched(), words, near)
    assert sorted(item for item, _ in fused.items) == sorted({item for item, _ in (*words, *near)})
    scores = [score for _, score in fused.items]
    assert all(later < earlier + 1e-4 for earlier, later in pairwise(scores))
    assert fused.trust.bm25 + fused.trust.dense == pytest.approx(1)
    assert fused.trust.why


@given(lists, lists, st.floats(-0.5, 0.5))
def test_shifting_all_cosines_changes_nothing(
    words: list[tuple[int, float]], near: list[tuple[int, float]], shift: float
) -> None:
    shifted = [(item, score + shift) for item, score in near]
    before, after = (AdaptiveFusion().fuse(searched(), words, each) for each in (near, shifted))
    if words:
        assert dict(after.items) == pytest.approx(dict(before.items), abs=1e-6)


@given(lists, st.sets(st.integers(0, 60)))
def test_one_list_alone_keeps_its_order_whatever_waits(places_: list[tuple[int, float]], waiting: set[int]) -> None:
    order = [item for item, _ in places_]
    for fusion in (AdaptiveFusion(), ReciprocalRankFusion()):
        by_words = fusion.fuse(searched(), places_, [], (), waiting & set(order))
        assert [item for item, _ in by_words.items] == order
        assert [item for item, _ in fusion.fuse(searched(), [], places_).items] == order


def test_words_alone_are_worth_their_share_of_the_highest_score_thinkable() -> None:
    assert AdaptiveFusion().fuse(searched(), [(1, 4.4)], []).items == [(1, pytest.approx(4.4 / 17.6))]


def test_repeats_in_a_list_keep_their_first_place() -> None:
    twice = [(7, 9.0), (7, 1.0)]
    once = AdaptiveFusion(model=EVEN).fuse(searched(), twice[:1], [(8, 0.5)])
    assert AdaptiveFusion(model=EVEN).fuse(searched(), twice, [(8, 0.5)]).items[0] == once.items[0]


def test_codes_and_a_lead_move_trust_to_words_and_a_spread_list_to_meaning() -> None:
    words = [(n, 9.0 - n / 10) for n in range(20)]
    ahead = [(n, 9.0 if n == 0 else 4.0 - n / 10) for n in range(20)]
    tight, wide = ([(n, 0.6 - n * step) for n in range(20)] for step in (0.001, 0.02))
    fuse = AdaptiveFusion().fuse
    plain = fuse(searched("error of the pump"), words, tight).trust
    assert fuse(searched("error E-104 of the pump"), words, tight).trust.bm25 > plain.bm25
    assert fuse(searched("error of the pump"), ahead, tight).trust.bm25 > plain.bm25
    assert fuse(searched("error of the pump"), words, wide).trust.dense > plain.dense


def test_the_reason_names_what_moved_the_weights_most() -> None:
    model = FusionWeightModel({"codes": 2.0, "lead": 0.1}, {"codes": 0.0, "lead": 1.0}, 0.0)
    measured = measure(searched("E-104 stall"), [9.0], [0.5])
    assert (
        model.fusion_weights(measured.signals).why
        == "words count for 75%, meaning for 25%, because the query names numbers or codes"
    )


def test_extreme_lists_do_not_break_it() -> None:
    nothing_known = SearchedQuery("", "en", ())
    fused = AdaptiveFusion().fuse(nothing_known, [(1, 0.0)], [(n, 0.5) for n in range(30)])
    assert len(fused.items) == 30


def test_the_shipped_model_has_a_reason_for_each_of_its_signals() -> None:
    signals = measure(searched(), [9.0], [0.5]).signals
    model = load_model()
    assert set(model.weights) == set(model.usual) == set(signals)
    for name in signals:
        model.fusion_weights({**model.usual, name: 9.0})
        model.fusion_weights({**model.usual, name: -9.0})


def test_a_model_is_read_from_its_json_form() -> None:
    stored = json.loads('{"weights": {"lead": 1}, "usual": {"lead": 0.5}, "intercept": -1, "embedder": "e"}')
    assert read_model(stored).embedder == "e"
    assert read_model(stored).words_share({"lead": 1.0}) == pytest.approx(0.5)


def test_fusions_by_name() -> None:
    assert fusion_named("rrf").name == "rrf"
    assert fusion_named("adaptive").name == "adaptive"
    unfitted = fusion_named("adaptive", 7, WordHashes("another encoder", languages=()))
    for fusion in (fusion_named("rrf", 7), unfitted):
        assert fusion.fuse(searched(), places("A"), []).items == [("A", 1 / 8)]
    with pytest.raises(UnknownName, match="'rff': did you mean 'rrf'"):
        fusion_named("rff")


def test_an_embedder_that_nothing_was_fitted_for_is_fused_by_ranks_alone() -> None:
    words, near = [(1, 9.0), (2, 8.0)], [(2, 0.93), (3, 0.92)]
    fitted = fusion_named("adaptive", embedder=WordHashes(load_model().embedder, languages=()))
    assert isinstance(fitted, AdaptiveFusion)
    other = fusion_named("adaptive", embedder=WordHashes("another encoder", languages=()))
    fused = other.fuse(searched(), words, near)
    assert fused == replace(fusion_named("rrf").fuse(searched(), words, near), trust=fused.trust)
    assert fused.trust.why.endswith("nothing was fitted for this embedder")
    assert (fused.trust.bm25, fused.trust.dense) == (0.5, 0.5)


def test_a_foreign_passage_is_judged_by_meaning_alone() -> None:
    # As by hand above; 3 is foreign and gets for its cosine what it would be worth if meaning alone counted.
    words, near = [(1, 4.4), (2, 2.2)], [(2, 0.554), (3, 0.5135), (4, 0.5)]
    fused = AdaptiveFusion(model=EVEN).fuse(searched(), words, near, {3, 99})
    assert dict(fused.items) == pytest.approx({2: 0.5 * 0.25 + 0.5 * 0.32, 1: 0.5 * 0.5, 3: 0.04, 4: 0.0})
    assert ReciprocalRankFusion().fuse(searched(), words, near, {3}) == ReciprocalRankFusion().fuse(
        searched(), words, near
    )


@given(lists, lists, st.sets(st.integers(0, 60)))
def test_no_foreign_passage_falls_and_the_others_keep_their_order(
    words: list[tuple[int, float]], near: list[tuple[int, float]], foreign: set[int]
) -> None:
    before, after = (AdaptiveFusion().fuse(searched(), words, near, some).items for some in ((), foreign))
    own, own_after = ([item for item, _ in items if item not in foreign] for items in (before, after))
    assert own_after == own
    scores = dict(after)
    assert scores.keys() == dict(before).keys()
    assert all(scores[item] >= score for item, score in before)
    assert all(scores[item] == score for item, score in before if item not in foreign)
