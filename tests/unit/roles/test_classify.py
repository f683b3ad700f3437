"""Question, summary, small talk, or nothing that can be told."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Message
from selfright.domain.judgements import QueryClass
from selfright.roles.classify.chattiness import BUCKETS, read_model, shipped_model
from selfright.roles.classify.offline import OfflineClassifier
from selfright.roles.classify.topics import IndexTopics
from tests.support.texts import analyzer

SAID = (Message("user", "스냅샷이 뭐야?"), Message("assistant", "스냅샷은 …"))


def classify(text: str, *, after: tuple[Message, ...] = ()) -> QueryClass:
    return asyncio.run(OfflineClassifier().classify(text, after))


@pytest.mark.parametrize(
    "text",
    [
        "What is the maximum dose of metformin?",
        "메트포르민 부작용 알려주세요",
        "fxstore 설치 방법",
        "메트포르민",
        "안녕하세요, 스냅샷은 언제 만들어지나요?",
        "Hello! How do I configure snapshots? Thank you.",
        "how are you different from redis?",
        "고마워 근데 용량은?",
        "정리해고란 무엇인가",
        "FX-1007 오류",
    ],
)
def test_questions(text: str) -> None:
    assert classify(text) is QueryClass.QUESTION


@pytest.mark.parametrize(
    "text",
    ["요약해줘", "이 문서 핵심만 정리해 주세요", "summarize the release notes", "Give me an overview of backups"],
)
def test_summaries(text: str) -> None:
    assert classify(text) is QueryClass.SUMMARY


@pytest.mark.parametrize(
    "text",
    [
        "안녕하세요",
        "hi",
        "감사합니다!",
        "thanks, that's clear",
        "넌 누구야",
        "who are you?",
        "tell me a joke",
        "ㅎㅇ",
        "bye",
    ],
)
def test_small_talk(text: str) -> None:
    assert classify(text) is QueryClass.CHITCHAT


@pytest.mark.parametrize("text", ["", "👍", "?!", "네", "stop"])
def test_what_says_nothing_is_unknown(text: str) -> None:
    assert classify(text) is QueryClass.UNKNOWN


@pytest.mark.parametrize("text", ["더 자세히", "tell me more", "그럼 부작용은?", "what about children?"])
def test_a_follow_up_is_a_question(text: str) -> None:
    assert classify(text, after=SAID) is QueryClass.QUESTION


def test_without_a_conversation_a_bare_follow_up_is_unknown() -> None:
    assert classify("더 자세히") is QueryClass.UNKNOWN


def test_what_the_index_speaks_of_is_a_question_however_chatty() -> None:
    texts = ["스냅샷 생성 주기", "로그 위치", "백업 복원", "snapshot files", "logging", "keys"]
    plain, informed = OfflineClassifier(), OfflineClassifier(IndexTopics(analyzer(*texts)))
    assert plain.judge("스냅샷이 안 돼") is QueryClass.CHITCHAT
    assert informed.judge("스냅샷이 안 돼") is QueryClass.QUESTION
    assert informed.judge("오늘 기분 좋다") is QueryClass.CHITCHAT


@given(st.text(max_size=300))
def test_any_text_gets_a_class(text: str) -> None:
    assert OfflineClassifier().judge(text) in QueryClass
    assert 0.0 <= shipped_model().probability(text) <= 1.0


def test_weights_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match=str(BUCKETS)):
        read_model({"weights": [1, 2], "intercept": 0, "threshold": 0.5})
