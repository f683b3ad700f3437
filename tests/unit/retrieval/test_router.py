"""Which collections a question is sent to, and when it is sent to all of them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.errors import InputError, UnknownName, UsageError
from selfright.domain.judgements import QueryClass
from selfright.domain.passages import Hit, Ranked
from selfright.domain.ports import Embedder
from selfright.domain.routing import Collection, RoutingDecision, RoutingReason
from selfright.domain.slots import Slot
from selfright.retrieval.router import DescriptionRouter
from tests.support.embedders import WordHashes
from tests.support.texts import CountedTerms, PlainTokenizer, hits, passage

MONEY = Collection("money", "Taxes, loans and mortgage rates: money of private people.", documents=3)
BOATS = Collection("boats", "Sailing boats, rigging and harbours.", documents=2)
PLANTS = Collection("plants", "Garden plants, soil and watering.", documents=4)
THREE = (MONEY, BOATS, PLANTS)


def route(
    question: str,
    collections: Sequence[Collection] = THREE,
    kind: QueryClass | None = QueryClass.QUESTION,
    slots: Sequence[Slot] = (),
    embedder: Embedder | None = None,
) -> RoutingDecision:
    return asyncio.run(router(collections, embedder).route(question, kind, slots))


def router(collections: Sequence[Collection], embedder: Embedder | None = None) -> DescriptionRouter:
    texts = [f"{c.name} {c.description}" for c in collections]
    return DescriptionRouter(lambda: collections, PlainTokenizer(), CountedTerms(texts), embedder)


def test_a_question_goes_where_its_meaning_points_and_the_reason_is_kept() -> None:
    decision = route("sailing boats rigging", embedder=WordHashes(dimension=512))
    assert decision.collections == ("boats",)
    assert not decision.fallback
    assert "boats" in decision.reason


@pytest.mark.parametrize("question", ["Who won the match on Sunday?", "zebra", "?", "   "])
def test_a_question_that_points_nowhere_goes_everywhere(question: str) -> None:
    decision = route(question, embedder=WordHashes(dimension=512))
    assert decision == RoutingDecision.everywhere(RoutingReason.UNCLEAR, decision.about)


def test_two_that_are_equally_near_are_both_searched() -> None:
    decision = route("mortgage rates rigging harbours", embedder=WordHashes(dimension=512))
    assert decision.collections == ("money", "boats")


def test_korean_questions_on_english_descriptions_go_everywhere() -> None:
    assert route("mortgage 금리는 얼마인가요?", embedder=WordHashes(dimension=512)).fallback


def test_korean_questions_on_korean_descriptions_are_told_apart_by_words() -> None:
    collections = (
        Collection("법령", "세금, 대출, 주택 금리", documents=1),
        Collection("배", "돛단배, 항구, 밧줄", documents=1),
        Collection("정원", "식물, 흙, 물주기", documents=1),
    )
    assert route("주택 대출 금리", collections).collections == ("법령",)


def test_a_description_in_both_languages_serves_both() -> None:
    both = (
        Collection("money", "세금, 대출, 금리. Taxes, loans, mortgage rates.", documents=1),
        Collection("boats", "돛단배, 항구. Sailing boats, rigging, harbours.", documents=1),
    )
    assert route("대출 금리", both).collections == ("money",)
    assert route("harbours rigging", both, embedder=WordHashes(dimension=512)).collections == ("boats",)


def test_what_has_no_description_is_never_left_out_for_its_words() -> None:
    decision = route("sailing boats rigging", (*THREE, Collection("misc", documents=9)), embedder=WordHashes())
    assert "misc" in decision.collections
    assert "money" not in decision.collections


def test_a_slot_points_to_the_collections_that_name_it_unless_it_is_denied() -> None:
    machines = Collection("machines", "Manuals.", slots=("version",), documents=1)
    present, denied = Slot("version", "2.1"), Slot("version", "2.1", negated=True)
    assert route("It will not start", (*THREE, machines), slots=[present]).collections == ("machines",)
    assert route("It will not start", (*THREE, machines), slots=[denied]).fallback


def test_a_slot_adds_to_what_the_words_say() -> None:
    machines = Collection("machines", "Manuals.", slots=("version",), documents=1)
    decision = route(
        "sailing boats rigging", (*THREE, machines), slots=[Slot("version", "2")], embedder=WordHashes(dimension=512)
    )
    assert decision.collections == ("boats", "machines")
    assert "slots" in decision.reason


def test_a_class_that_a_collection_does_not_serve_rules_it_out() -> None:
    digests = Collection("digests", classes=(QueryClass.SUMMARY,), documents=1)
    assert route("zebra", (*THREE, digests)).collections == ("money", "boats", "plants")
    assert route("zebra", (*THREE, digests), QueryClass.SUMMARY).fallback
    assert route("zebra", (*THREE, digests), QueryClass.UNKNOWN).fallback
    assert route("zebra", (*THREE, digests), None).fallback


def test_a_class_that_nobody_serves_is_looked_for_everywhere() -> None:
    only = [Collection(name, classes=(QueryClass.SUMMARY,), documents=1) for name in "ab"]
    assert route("zebra", only).fallback


@pytest.mark.parametrize(
    "collections",
    [(), (MONEY,), (Collection("a", documents=1), Collection("b", documents=1)), (MONEY, Collection("b", "Boats"))],
    ids=["none", "one", "undescribed", "one of two is empty"],
)
def test_where_there_is_no_choice_all_is_searched(collections: Sequence[Collection]) -> None:
    assert route("mortgage rates", collections, embedder=WordHashes()).fallback


def test_a_new_description_counts_at_once() -> None:
    collections = list(THREE)
    chooses = router(collections, WordHashes(dimension=512))
    assert asyncio.run(chooses.route("zebra")).fallback
    collections[2] = Collection("plants", "zebra", documents=1)
    assert asyncio.run(chooses.route("zebra")).collections == ("plants",)


def found(*scores: float) -> tuple[Hit, ...]:
    plain = hits(*(passage(f"text {n}", f"d{n}") for n in range(len(scores))))
    return tuple(
        Hit(hit.passage, hit.rrf_score, Ranked(rank, score))
        for rank, (hit, score) in enumerate(zip(plain, scores, strict=True), start=1)
    )


def test_a_search_suffices_when_its_best_passage_has_the_weight_of_the_question() -> None:
    chooses = router(THREE)
    (weight,) = CountedTerms([f"{c.name} {c.description}" for c in THREE]).idf(PlainTokenizer().tokens("mortgage"))
    assert chooses.suffices("What of the mortgage?", found(1.2 * weight, 0.1))
    assert not chooses.suffices("What of the mortgage?", found(0.9 * weight, 0.1))
    assert not chooses.suffices("mortgage", ())


def test_a_search_whose_best_passage_means_something_else_does_not_suffice() -> None:
    chooses = router(THREE, WordHashes(dimension=512))
    (rich,) = found(100.0)
    assert router(THREE).suffices("mortgage", [replace(rich, cosine=0.4)])  # whose cosines these are is not known
    assert chooses.suffices("mortgage", [replace(rich, cosine=0.6)])
    assert not chooses.suffices("mortgage", [replace(rich, cosine=0.4)])
    assert not chooses.suffices("mortgage", [replace(rich, bm25=None, cosine=0.9)])


WORDS = ["taxes", "loans", "boats", "rigging", "soil", "금리", "항구", "돛단배"]
COLLECTIONS = st.lists(
    st.builds(
        Collection,
        name=st.sampled_from("abcdef"),
        description=st.lists(
            st.sampled_from(["taxes", "loans", "boats", "rigging", "soil", "금리", "항구", "돛단배"])
        ).map(" ".join),
        classes=st.lists(st.sampled_from(QueryClass), max_size=2).map(tuple),
        slots=st.lists(st.sampled_from(["age", "version"]), max_size=2).map(tuple),
        documents=st.integers(0, 3),
    ),
    max_size=6,
    unique_by=lambda collection: collection.name,
)


@given(
    COLLECTIONS,
    st.lists(st.sampled_from([*WORDS, "zebra"])).map(" ".join),
    st.sampled_from([None, *QueryClass]),
    st.lists(st.builds(Slot, st.sampled_from(["age", "version"]), st.just("1"), negated=st.booleans()), max_size=2),
    st.booleans(),
)
def test_a_choice_is_a_true_part_of_what_there_is_and_does_not_depend_on_order(
    collections: list[Collection], question: str, kind: QueryClass | None, slots: list[Slot], dense: bool
) -> None:
    embedder = WordHashes() if dense else None
    decision = route(question, collections, kind, slots, embedder)
    filled = {c.name for c in collections if c.documents}
    assert set(decision.collections) < filled or decision.fallback
    assert decision.fallback == (not decision.collections)
    assert decision.reason
    turned = route(question, collections[::-1], kind, slots, embedder)
    assert set(turned.collections) == set(decision.collections)
    if not decision.fallback:
        assert all(c.serves(kind) for c in collections if c.name in decision.collections)


def test_what_an_operator_says_is_tidied_and_checked() -> None:
    said = Collection.describe_as(" notes ", "What  we\nwrote.", ["summary", "summary"], [" age ", ""])
    assert said == Collection("notes", "What we wrote.", (QueryClass.SUMMARY,), ("age",))
    with pytest.raises(UnknownName, match="did you mean 'question'"):
        Collection.describe_as("notes", "", ["questions"])
    with pytest.raises(UsageError, match="1 to 200"):
        Collection.describe_as("  ", "text")
    with pytest.raises(InputError, match="at most 2,000"):
        Collection.describe_as("notes", "x" * 2_001)
