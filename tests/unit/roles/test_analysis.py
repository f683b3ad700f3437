"""Facts of a text: key terms, quantities, negation, what a question asks for."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.roles.quantities import quantities
from selfright.roles.questions import AnswerType, answer_type, matches_type, question_parts
from selfright.roles.words import is_negated, mask_stop_words
from tests.support.texts import PlainTokenizer, analyzer

BILINGUAL = st.text(alphabet="abcXYZ 0123456789.,%/-가나다는이?!\n년월일", max_size=120)


def surfaces(text: str) -> list[str]:
    return [term.surface for term in analyzer().key_terms(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the maximum dose of Metformin?", ["maximum", "dose", "Metformin"]),
        ("메트포르민의 하루 최대 용량은 얼마인가요?", ["메트포르민", "하루", "최대", "용량"]),
        ("API를 어떻게 설정하나요?", ["API", "설정"]),
        ("WHO는 언제 설립 발표를 했나요?", ["WHO", "설립", "발표"]),
        ("Could you please tell me about it?", []),
        ("더 설명해줘", []),
    ],
)
def test_key_terms_are_the_words_that_carry_the_topic(text: str, expected: list[str]) -> None:
    assert surfaces(text) == expected


def test_a_name_in_capitals_is_no_stop_word() -> None:
    assert "WHO" in mask_stop_words("What does the WHO recommend?")
    assert mask_stop_words("WHO ARE THEY") == " " * 12


def test_rare_terms_weigh_more_in_coverage() -> None:
    facts = analyzer("the store keeps snapshots", "the store keeps keys", "the store is small")
    question = "Does the store encrypt snapshots?"
    assert facts.coverage(question, "snapshots") > facts.coverage(question, "the store")
    assert facts.coverage(question, "the store can encrypt its snapshots") == pytest.approx(1.0)
    assert facts.coverage("And you?", "anything") == 0.0


@given(BILINGUAL, BILINGUAL)
def test_coverage_is_a_share_and_terms_stand_in_the_text(question: str, text: str) -> None:
    facts = analyzer(text)
    assert 0.0 <= facts.coverage(question, text) <= 1.0 + 1e-9
    for term in facts.key_terms(question):
        assert term.surface in question


def test_a_long_question_is_cut_into_terms_once_however_often_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    real = PlainTokenizer.tokens
    monkeypatch.setattr(PlainTokenizer, "tokens", lambda self, text: [lengths.append(len(text)), real(self, text)][1])
    facts, question = analyzer(), "학교에서친구들과점심을먹고" * 760
    for _ in range(50):
        facts.key_terms(question)
    assert sum(lengths) <= 2 * len(question)


@given(BILINGUAL)
def test_masking_moves_nothing(text: str) -> None:
    masked = mask_stop_words(text)
    assert len(masked) == len(text)
    assert all(m in (" ", c) for m, c in zip(masked, text, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500 mg twice daily", [("500", "mg"), ("2", "time")]),
        ("60세 남성은 하루 두 번 1,000mg", [("60", "year"), ("2", "time"), ("1000", "mg")]),
        ("from 5-10 mg up to 6.50 %", [("5", "mg"), ("10", "mg"), ("6.5", "%")]),
        ("version 0.3.0, v2 and 버전 1.2", [("0.3.0", "version"), ("2", "version"), ("1.2", "version")]),
        ("on March 15, 2020", [("2020-03-15", "date")]),
        ("1998년 3월 2일", [("1998-03-02", "date")]),
        ("45 mL/min", [("45", "ml/min")]),
        ("HbA1c, B12, COVID-19, FX-1007", []),
        ("", []),
    ],
)
def test_quantities_are_normalised(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(q.value, q.unit) for q in quantities(text)] == expected


def test_a_missing_unit_is_no_disagreement() -> None:
    (plain,), (milligrams,), (grams,) = quantities("500"), quantities("500 mg"), quantities("500 g")
    assert plain.agrees(milligrams)
    assert not milligrams.agrees(grams)


@given(BILINGUAL)
def test_quantities_do_not_overlap_and_come_in_order(text: str) -> None:
    found = quantities(text)
    assert all(q.start < q.end <= len(text) for q in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It does not work.", True), ("It is not only fast but small.", False), ("See No. 5", False),
        ("함께 먹으면 안 된다", True), ("안내 문서", False), ("반드시 먹지 않으면 안 된다", False),
        ("부작용이 없다", True),
    ],
)  # fmt: skip
def test_negation(text: str, expected: bool) -> None:
    assert is_negated(text) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who discovered penicillin?", AnswerType.PERSON),
        ("세종대왕은 누구인가?", AnswerType.PERSON),
        ("Where is the log kept?", AnswerType.PLACE),
        ("언제 실행되나요?", AnswerType.TIME),
        ("How many snapshots are kept?", AnswerType.NUMBER),
        ("최대 용량은 얼마인가요?", AnswerType.NUMBER),
        ("Which version introduced snapshots?", AnswerType.VERSION),
        ("Is it safe?", AnswerType.YES_NO),
        ("먹어도 되나요?", AnswerType.YES_NO),
        ("snapshot compaction", AnswerType.OTHER),
        ("Why does compaction stop?", AnswerType.OTHER),
    ],
)
def test_answer_type(question: str, expected: AnswerType) -> None:
    assert answer_type(question) is expected


def test_a_type_is_matched_by_what_the_text_shows() -> None:
    assert matches_type(AnswerType.NUMBER, "It keeps 7 snapshots.") == 1.0
    assert matches_type(AnswerType.NUMBER, "It keeps snapshots.") == 0.0
    assert matches_type(AnswerType.TIME, "매주 일요일에 실행된다") == 1.0
    assert matches_type(AnswerType.OTHER, "") == 1.0


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is X1 and how often is it taken?", ("What is X1", "how often is it taken?")),
        ("스냅샷은 무엇이고 언제 만들어지나요?", ("스냅샷은 무엇이고", "언제 만들어지나요?")),
        ("What are the pros and cons?", ("What are the pros?", "What are the cons?")),
        (
            "What are the dose and the side effects of X1?",
            ("What is the dose of X1?", "What are the side effects of X1?"),
        ),
        ("X1's battery life and noise level?", ("X1's battery life?", "X1's noise level?")),
        ("Which rate and deposit do lamps have?", ("Which rate do lamps have?", "Which deposit do lamps have?")),
        (
            "I need the fee for a permit and the hours of the desk.",
            ("I need the fee for a permit", "the hours of the desk"),
        ),
        ("If I leave the car and cycle, what does the ferry cost?",) * 2,
        ("What is the health and safety policy of X1?", ("What is the health and safety policy of X1?",)),
        ("What is the difference between the pass and the ticket?",) * 2,
        (
            "램프의 보증 기간과 무게는 어떻게 되나요?",
            ("램프의 보증 기간은 어떻게 되나요?", "램프의 무게는 어떻게 되나요?"),
        ),
        ("책 대출 권수와 대출 기간 알려줘", ("책 대출 권수 알려줘", "책 대출 기간 알려줘")),
        ("요금 및 시간은?", ("요금은?", "시간은?")),
        ("램프 가격하고 결과 나오는 시기 좀 알려줘", ("램프 가격 좀 알려줘", "램프 결과 나오는 시기 좀 알려줘")),
        ("치료 효과 언제 나타나요?",) * 2,
        ("A1과 B2의 차이는 무엇인가요?",) * 2,
        ("감기약과 술을 같이 먹어도 되나요?",) * 2,
    ],
)
def test_question_parts(question: str, parts: str | tuple[str, ...]) -> None:
    parts = (parts,) if isinstance(parts, str) else parts
    assert question_parts(question) == parts


def test_long_runs_of_blanks_do_not_hold_up_who_looks_for_parts() -> None:
    gap = " " * 4_900
    assert question_parts("What is it? 무엇인가요?")  # what is read once, word lists and patterns, does not count
    began = time.process_time()
    assert question_parts(f"What is{gap}it{gap}and how is it used?") == (f"What is{gap}it", "how is it used?")
    assert question_parts(f"세척은 무엇이고{gap}그리고 주기는 얼마인가요?") == ("세척은 무엇이고", "주기는 얼마인가요?")
    assert time.process_time() - began < 0.15


@given(
    st.lists(
        st.sampled_from(("A1", "the", "and", ",", "및", "램프와", "값은", "알려줘", "of", "what", "?", "s")), max_size=9
    )
)
def test_any_question_has_parts_that_say_something(words: list[str]) -> None:
    question = " ".join(words)
    assert all(question_parts(question)) or not question.strip()
