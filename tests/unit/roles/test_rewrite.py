"""The offline rewriter: what was missing, who asks, what the hits talk about, and what a follow-up leaves out."""

import asyncio
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from selfright.domain.answers import Message, RewriteRequest
from selfright.domain.text import language_of
from selfright.roles.analysis import Term, distinct, phrases
from selfright.roles.rewrite.offline import OfflineRewriter
from selfright.roles.rewrite.query_text import LONGEST_QUERY, bound_query, strip_prefix
from tests.support.texts import analyzer, hits, passage

KETTLES = (
    passage("To free a kettle of limescale, descale it with citric acid.", "a.md"),
    passage("Descale a kettle with citric acid or vinegar, so that no limescale is left.", "b.md"),
    passage("Toast bread until it is brown.", "c.md"),
)
ANALYZER = analyzer(*(p.text for p in KETTLES), "What is bread?", "메트포르민의 부작용", "당뇨병 환자")
REWRITER = OfflineRewriter(ANALYZER)
METFORMIN = "당뇨병 환자에게 메트포르민의 부작용은 무엇인가요?"
MISSING = ("위장 장애(설사, 구토)", "유산증(lactic acidosis) 위험", "금기 사항(신부전, 심부전)", "비타민 B12 결핍")


def rewrite(question: str, **fields: Any) -> str:
    request = RewriteRequest(question, fields.pop("query", question), language_of(question), **fields)
    return asyncio.run(REWRITER.rewrite(request))


def standalone(question: str, *earlier: str) -> str:
    history = [message for text in earlier for message in (Message("user", text), Message("assistant", "Yes."))]
    return asyncio.run(REWRITER.standalone(question, history))


def for_web(question: str, *missing: str) -> str:
    return asyncio.run(REWRITER.for_web(question, missing))


def test_worked_example_holds_profile_and_all_missing_items() -> None:
    """Seed 003, section 8."""
    query = rewrite(
        METFORMIN,
        previous_answer="메트포르민은 혈당을 낮추는 약물입니다. 일반적으로 안전합니다.",
        missing_info=MISSING,
        profile_summary="60세 남성, 2형 당뇨병, 신장 기능 경미한 저하",
        iteration=1,
    )
    assert query == (
        f"{METFORMIN} (60세 남성, 2형 당뇨병, 신장 기능 경미한 저하) 특히 위장 장애(설사, 구토), "
        "유산증(lactic acidosis) 위험, 금기 사항(신부전, 심부전), 비타민 B12 결핍"
    )


def test_english_template() -> None:
    query = rewrite("How is the kettle descaled?", missing_info=("dose of acid",), profile_summary="lives in Seoul")
    assert query == "How is the kettle descaled? (lives in Seoul) Especially: dose of acid"


def test_without_feedback_only_the_profile_is_added() -> None:
    assert rewrite("How is bread toasted?", profile_summary="coeliac") == "How is bread toasted? (coeliac)"
    assert (
        rewrite("How is coeliac bread toasted?", profile_summary="coeliac", query="x")
        == "How is coeliac bread toasted?"
    )


def test_missing_words_of_the_question_itself_make_a_barer_query() -> None:
    question = "How often do I have to descale a kettle with limescale in Seoul?"
    query = rewrite(question, missing_info=("Seoul",), profile_summary="coeliac")
    assert query == "descale kettle limescale Seoul (coeliac)"  # the rarer words alone would lose the subject
    assert rewrite(question, missing_info=("Seoul",), tried=(question, query[:-10])) == "descale Seoul"


def test_the_open_one_of_two_questions_is_asked_alone_and_gets_a_topic_where_it_has_none() -> None:
    question = "What is limescale of a kettle, and how is bread toasted?"
    assert rewrite(question, missing_info=("how is bread toasted",)) == "how is bread toasted?"
    question = "What is limescale of a kettle, and how is it removed?"
    assert rewrite(question, missing_info=("how is it removed",)) == "limescale how is it removed?"
    question = "메트포르민은 무엇이고 얼마나 자주 먹나요?"
    assert rewrite(question, missing_info=("얼마나 자주 먹나요",)) == "메트포르민 얼마나 자주 먹나요?"


def test_tried_queries_are_not_tried_again_while_there_is_anything_to_vary() -> None:
    question = "How do I descale a kettle with vinegar?"
    tried = [question]
    for _ in range(3):
        tried.append(rewrite(question, missing_info=("boiling time",), tried=tuple(tried)))
    assert len(set(tried)) == len(tried)
    for _ in range(8):
        tried.append(rewrite(question, missing_info=("boiling time",), tried=tuple(tried)))
    assert all(tried)


TEXTS = st.text(st.sampled_from("ab한글 ,.?()\n\"'"), max_size=600)


@given(
    question=TEXTS.filter(str.strip),
    missing=st.lists(TEXTS, max_size=8).map(tuple),
    profile=TEXTS,
    tried=st.lists(TEXTS, max_size=3).map(tuple),
)
@example(question="''", missing=(), profile="", tried=())
def test_queries_are_bounded_and_never_empty(
    question: str, missing: tuple[str, ...], profile: str, tried: tuple[str, ...]
) -> None:
    fields = {"missing_info": missing, "profile_summary": profile, "tried": tried, "hits": hits(*KETTLES)}
    for query in (rewrite(question, **fields), for_web(question, *missing), standalone(question, "What is bread?")):
        assert query.strip()
        assert len(query) <= max(LONGEST_QUERY, len(question))


@pytest.mark.parametrize(
    ("written", "query"),
    [
        ("재작성된 질의: 메트포르민 부작용", "메트포르민 부작용"),
        ("Rewritten query: metformin side effects", "metformin side effects"),
        ('**Rewritten Query:** "metformin side effects"', "metformin side effects"),
        ("The improved search query is: metformin", "metformin"),
        ("질문: 수정된 질의: 부작용은?", "부작용은?"),
        ("  “두 줄\n질의”  ", "두 줄 질의"),
        ("Query planning: how does it work?", "Query planning: how does it work?"),
        ("쿼리 최적화: 방법은?", "쿼리 최적화: 방법은?"),
        ("질의:", "질의:"),
    ],
)
def test_prefixes_are_stripped(written: str, query: str) -> None:
    assert strip_prefix(written) == query


def test_bounded_cuts_between_words() -> None:
    assert bound_query("one two three", 9) == "one two"
    assert bound_query("가" * 50, 9) == "가" * 9


def test_web_query_is_topic_and_at_most_three_terms() -> None:
    assert for_web("How often do I have to descale the kettle?") == "descale kettle"
    assert for_web("메트포르민의 부작용은 무엇인가요?") == "메트포르민 부작용"
    query = for_web("How do I descale a Gaggia kettle safely?", "boiling time", "citric dose", "rinsing", "price")
    assert "Gaggia" in query
    assert "boiling time" in query
    assert "price" not in query


def test_web_query_keeps_names_and_whole_korean_words() -> None:
    common = analyzer(*["FxStore"] * 9, "replication draft title month planned")
    query = asyncio.run(OfflineRewriter(common).for_web("What is planned for replication in the FxStore draft title?"))
    assert "FxStore" in query
    assert len(query.split()) == 4


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (
            "My name is Anna Berg and I moved here in May. How much does a parking permit for residents cost?",
            "And for visitors?",
            "parking permit residents cost: for visitors?",
        ),
        (
            "저는 입사 2개월 차 신입입니다. 재택근무는 일주일에 며칠까지 할 수 있나요?",
            "그럼 연차는요?",
            "재택근무 일주일 며칠 연차는요?",
        ),
    ],
)
def test_what_was_told_beside_a_question_is_not_what_a_follow_up_is_about(
    before: str, question: str, expected: str
) -> None:
    assert standalone(question, before) == expected


def test_phrases_join_neighbours() -> None:
    text = "What is the guaranteed service life of the kettle in Korea?"
    assert phrases(text, ANALYZER.key_terms(text)) == ["guaranteed service life of the kettle", "Korea"]


def test_words_inside_other_words_are_left_out() -> None:
    whole, part, other = (
        Term("전기주전자", 2.0, "전기주전자", 0),
        Term("주전자", 1.0, "주전자", 2),
        Term("청소", 1.0, "청소", 6),
    )
    assert distinct([part, other, whole]) == [whole, other]
