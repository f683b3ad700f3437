"""Question, summary, small talk, or nothing that can be told."""

import asyncio
import base64
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from selfright.domain.answers import Message
from selfright.domain.judgements import QueryClass
from selfright.roles.classify import (
    IndexTopics,
    OfflineClassifier,
    SmallTalkJudge,
    SmallTalkWeights,
    is_greeting,
    read_weights,
    shipped_weights,
    small_talk_judge,
)
from tests.support.embedders import WordHashes
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
GREETINGS = [
    "안녕하세요",
    "hi",
    "Hello there!",
    "감사합니다!",
    "Thank you so much for your help.",
    "ㅎㅇ",
    "bye",
    "ㅋㅋㅋ",
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


@pytest.mark.parametrize("text", GREETINGS)
def test_greetings_and_thanks_need_no_encoder(text: str) -> None:
    assert classify(text) is QueryClass.CHITCHAT


@pytest.mark.parametrize("text", ["", "👍", "?!", "네", "stop"])
def test_what_says_nothing_is_unknown(text: str) -> None:
    assert classify(text) is QueryClass.UNKNOWN


@pytest.mark.parametrize("text", ["더 자세히 설명해줘", "tell me more", "그럼 부작용은?", "what about children?"])
def test_a_follow_up_is_a_question(text: str) -> None:
    assert classify(text, after=SAID) is QueryClass.QUESTION


def test_without_a_conversation_a_bare_follow_up_is_unknown() -> None:
    assert classify("더 자세히 설명해줘") is QueryClass.UNKNOWN


class Chatty:
    """An encoder whose vectors say that everything is small talk but what speaks of keys."""

    name = "chatty"
    dimension = 1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[-1.0 if "key" in text else 1.0] for text in texts], np.float32)


CHATTY = SmallTalkJudge(Chatty(), SmallTalkWeights("chatty", np.array([9.0], np.float32), 0.0, 0.9))


def test_the_encoder_tells_small_talk_that_is_on_no_list() -> None:
    role = OfflineClassifier(small_talk=CHATTY)
    assert role.judge("how was your day") is QueryClass.CHITCHAT
    assert role.judge("how was your key rotated") is QueryClass.QUESTION
    assert role.judge("kettles") is QueryClass.QUESTION, "one word is looked up"
    assert role.judge("my day was long " * 10) is QueryClass.QUESTION, "so is a long message"


def test_what_the_index_speaks_of_is_a_question_however_chatty() -> None:
    texts = ["스냅샷 생성 주기", "로그 위치", "백업 복원", "snapshot files", "logging", "keys"]
    role = OfflineClassifier(IndexTopics(analyzer(*texts)), CHATTY)
    assert role.judge("스냅샷이 안 돼") is QueryClass.QUESTION
    assert role.judge("오늘 기분 좋다") is QueryClass.CHITCHAT


def test_the_weights_are_those_of_one_encoder() -> None:
    assert small_talk_judge(None) is None
    assert small_talk_judge(WordHashes()) is None
    assert len(shipped_weights().weights) == 384
    assert 0.5 <= shipped_weights().threshold < 1


def test_what_ships_loses_no_question_and_knows_small_talk() -> None:
    from selfright.models.encoder import E5

    role = OfflineClassifier(small_talk=small_talk_judge(E5()))
    assert [text for text in QUESTIONS if role.judge(text) is not QueryClass.QUESTION] == []
    chatty = [
        "who are you?",
        "are you a robot",
        "how are you doing today",
        "tell me a joke",
        "넌 누구야",
        "오늘 너무 우울해",
    ]
    assert sum(role.judge(text) is QueryClass.CHITCHAT for text in chatty) >= 4


@given(st.text(max_size=300))
def test_any_text_gets_a_class(text: str) -> None:
    assert OfflineClassifier().judge(text) in QueryClass
    assert 0.0 <= CHATTY.probability(text) <= 1.0


@given(st.lists(st.sampled_from(["hi", "thanks", "안녕하세요", "감사합니다", "so much", "정말", "there"]), max_size=8))
def test_a_word_among_greetings_makes_them_none(words: list[str]) -> None:
    assert not is_greeting(" ".join([*words, "backups"]))
    assert not is_greeting(" ".join([*words, "백업"]))


def test_weights_of_another_size_are_refused() -> None:
    stored = {"weights": base64.b64encode(bytes(2)).decode(), "dimension": 384, "scale": 0.1, "encoder": "e"}
    with pytest.raises(ValueError, match="384 weights were expected, but there are 2"):
        read_weights({**stored, "intercept": 0, "threshold": 0.5})
