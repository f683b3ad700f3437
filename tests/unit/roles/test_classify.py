"""Question, summary, small talk, or nothing that can be told."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Message
from selfright.domain.judgements import QueryClass
from selfright.roles.classify import OfflineClassifier
from tests.support.texts import analyzer

SAID = (Message("user", "스냅샷이 뭐야?"), Message("assistant", "스냅샷은 …"))
QUESTIONS = [
    "What is the maximum dose of metformin?",
    "What can I do about CORS errors?",
    "How is it going to scale to ten nodes?",
    "asdkjh qwe",
    "회사 노트북으로 게임해도 되나요? 주말에는 괜찮을 수 있죠?",
    "재택근무할 때 회의에 빠질 수 있죠?",
    "메트포르민 부작용 알려주세요",
    "fxstore 설치 방법",
    "메트포르민",
    "안녕하세요, 스냅샷은 언제 만들어지나요?",
    "Hello! How do I configure snapshots? Thank you.",
    "how are you different from redis?",
    "고마워 근데 용량은?",
    "정리해고란 무엇인가",
    "FX-1007 오류",
    "thanks, and the price?",
]


def classify(text: str, *, after: tuple[Message, ...] = ()) -> QueryClass:
    return asyncio.run(OfflineClassifier().classify(text, after))


@pytest.mark.parametrize("text", QUESTIONS)
def test_one_word_that_is_no_greeting_is_looked_up(text: str) -> None:
    assert classify(text) is QueryClass.QUESTION


@pytest.mark.parametrize(
    "text",
    ["요약해줘", "이 문서 핵심만 정리해 주세요", "summarize the release notes", "Give me an overview of backups"],
)
def test_summaries(text: str) -> None:
    assert classify(text) is QueryClass.SUMMARY


@pytest.mark.parametrize("text", ["", "👍", "?!"])
def test_what_says_nothing_is_unknown(text: str) -> None:
    assert classify(text) is QueryClass.UNKNOWN


@pytest.mark.parametrize("text", ["그럼 부작용은?", "what about children?", "in Korean, please", "더 짧게"])
def test_a_follow_up_is_a_question(text: str) -> None:
    assert classify(text, after=SAID) is QueryClass.QUESTION


@pytest.mark.parametrize("text", ["더 자세히 설명해줘", "tell me more", "say that in English"])
def test_what_asks_for_more_of_nothing_is_small_talk(text: str) -> None:
    assert classify(text) is QueryClass.CHITCHAT
    assert classify(text, after=SAID) is (QueryClass.QUESTION if "English" in text else QueryClass.SUMMARY)


def test_a_few_words_that_the_index_has_none_of_may_be_talk() -> None:
    role = OfflineClassifier(analyzer("스냅샷 생성 주기", "snapshot files are kept"))
    for text, sure in [
        ("tell me a joke", False),
        ("오늘 기분이 이상해", False),
        ("스냅샷이 안 돼", True),
        ("files?", True),
    ]:
        assert role.classify_text(text) == (QueryClass.QUESTION, sure)
    assert OfflineClassifier().classify_text("a message of more than five words is a question").sure


@given(st.text(max_size=300))
def test_any_text_gets_a_class(text: str) -> None:
    assert OfflineClassifier().classify_text(text).kind in QueryClass
