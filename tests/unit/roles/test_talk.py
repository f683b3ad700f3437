"""Small talk: what is nothing else, what only has a word of it, and the fixed replies."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.roles.talk import ACTS, act_of, reply

TALK = {
    "ack": """ok / okay, got it / yes / no / yes please / no thanks! / Great. / that makes sense / stop
        네 / 알겠습니다 / 아니요 / 그렇군요 / 좋아요 / 아, 그렇군요 / 넵 알겠어요 / 이해했습니다 / ㅇㅋ / ㅋㅋㅋㅋ""",
    "thanks": """thanks / OK thanks! / Thank you so much for your help. / Thanks, that was helpful
        고마워요 / 감사합니다! / 네, 정말 감사합니다 / 답변해 주셔서 감사합니다""",
    "greeting": "hi / Hello there! / good morning / 안녕 / 안녕하세요 / 안녕하세요, 여러분 / ㅎㅇ",
    "mood": "how are you doing today? / hi, how are you? / 잘 지내? / 안녕하세요 반갑습니다",
    "bye": "bye / See you later / 잘 가 / 좋은 하루 되세요",
    "about": """help / What can you do? / Hi, what can you do? / who are you? / Can you help me? / Do you speak Korean?
        도움말 / 뭘 할 수 있어? / 도와주세요 / 넌 누구야? / 이름이 뭐예요? / 무엇을 도와줄 수 있나요?""",
    "recall": """What did I ask before? / what was my first question? / ok, what did I just ask you?
        Can you tell me what I asked first? / 아까 처음에 물어본 게 뭐였지? / 제가 방금 뭐라고 물어봤죠?
        첫 질문이 뭐였지? / 방금 내가 한 질문이 뭐였지? / 이전에 제가 뭘 물어봤나요?""",
}
ASKED = """Who can help with the boiler? / 도움을 받으려면 어디로 연락하나요? / OK 버튼은 뭘 하나요? / 네트워크 설정은?
    What does 'ok' mean in the log? / thanks, and the price? / 고마워 근데 용량은? / help desk / why? / 뭐야? / 취소
    안녕하세요, 스냅샷은 언제 만들어지나요? / 도움말 메뉴는 어디에 있나요? / What did the auditor ask first?
    첫 질문은 무엇인가요? / 감사 보고서 / 아니요를 누르면? / 취소 수수료는? / 좋은 의자는? / how do I use this?
    What can you do with a depot client? / What happens when I say no? / thank you letter / hello world program
    예약은? / 네이버 / 응급실 / 그래프 / so much / ?! /"""


def each(lines: str) -> list[str]:
    return [text.strip() for text in re.split(r" /|\n", lines)]


SMALL = [(text, act) for act, lines in TALK.items() for text in each(lines)]


@pytest.mark.parametrize(("text", "act"), SMALL)
def test_acts_of_talk(text: str, act: str) -> None:
    assert act_of(text) == act


@pytest.mark.parametrize("text", each(ASKED))
def test_one_word_more_is_a_question(text: str) -> None:
    assert act_of(text) is None


@given(st.lists(st.sampled_from([text for text, _ in SMALL]), max_size=3))
def test_acts_may_stand_together_but_with_nothing_else(texts: list[str]) -> None:
    whole = ". ".join(texts)
    assert act_of(whole) in ((*ACTS,) if 0 < len(whole) <= 80 else (None,))
    assert act_of(f"{whole} boilers") is None
    assert act_of(f"보일러 {whole}") is None


@pytest.mark.parametrize(("text", "said"), [("help", "Selfright"), ("ok", "All right"), ("tell me a joke", "I answer")])
def test_replies(text: str, said: str) -> None:
    assert said in reply(text, "en")
    assert "{" not in reply(text, "en") + reply(text, "ko")


def test_what_was_asked_before_is_told_without_the_talk_between() -> None:
    before = ["hi", "How high is {the} tower?", "ok", "언제 지어졌나요?", "고마워요", "what did I ask before?"]
    assert reply("What did I ask before?", "en", before).endswith("언제 지어졌나요?")
    assert reply("What was my first question?", "en", before).endswith("How high is {the} tower?")
    assert reply("아까 처음에 물어본 게 뭐였지?", "ko", before).endswith("How high is {the} tower?")
    assert "이전에 하신 질문이 없습니다" in reply("방금 내가 뭐 물어봤지?", "ko", ["안녕"])


@given(st.text(max_size=120))
def test_any_text(text: str) -> None:
    assert act_of(text) in (*ACTS, None)
    assert reply(text, "ko")


@pytest.mark.parametrize("word", ["네", "so much ", "내가 ", "ha", "처음에 "])
def test_the_longest_messages_take_no_time(word: str) -> None:
    began = time.process_time()
    act_of((word * 80)[:79] + "x")
    assert time.process_time() - began < 1


@pytest.mark.parametrize("text", ["tell me more", "say that more simply", "where does it say that?"])
def test_there_is_nothing_to_go_on_from_in_a_new_conversation(text: str) -> None:
    assert reply(text, "en").startswith("There is nothing before this")
    assert not reply(text, "en", ["How high is the tower?"]).startswith("There is nothing before this")
    assert reply("더 알려줘", "ko").startswith("앞서 나눈 대화가 없어")
