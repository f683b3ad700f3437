"""Small talk gets a fixed reply without a search, a new subject within a conversation is found, and more is told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from selfright import Answer, Selfright
from tests.support.folders import opened_over
from tests.support.scripted.server import ScriptedServer

HUTS = """# Tarn Hut

Tarn Hut has 38 beds and is open from June to September. A night costs 42 euros for adults. Dogs may stay in the winter
room only.

# Gletsch Hut

Gletsch Hut has 64 beds and is open all year. Its warden is Lotte Brandt.
"""
COURSES = """# 환불 규정

온라인 강의는 결제 후 7일 이내에 전액 환불됩니다. 수강률이 30%를 넘으면 환불되지 않습니다.

# 교재

교재는 배송비 3,000원을 내면 교환할 수 있습니다.
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Selfright]:
    with opened_over(tmp_path_factory.mktemp("talk"), {"huts.md": HUTS, "강의.md": COURSES}) as selfright:
        yield selfright


def searched(answer: Answer) -> bool:
    return any(step.node == "retrieve" for step in answer.trace)


@pytest.mark.parametrize(
    "text", ["ok", "okay, got it", "help", "What can you do?", "What did I ask before?", "네", "알겠습니다", "도움말"]
)
def test_small_talk_is_not_looked_up(opened: Selfright, text: str) -> None:
    answer = opened.ask(text)
    assert not searched(answer)
    assert not answer.citations
    assert not answer.abstained
    assert len(answer.answer) < 200


@pytest.mark.parametrize("text", ["???", "!!", "👍"])
def test_a_message_without_words_is_told_that_it_asks_nothing(opened: Selfright, text: str) -> None:
    answer = opened.ask(text)
    assert not searched(answer)
    assert answer.answer.startswith("I see no question there.")


def test_a_model_is_not_asked_for_listed_small_talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has nothing to add, and its reply would fail the checks that documents are held to."""
    with (
        ScriptedServer([]) as server,
        opened_over(tmp_path, {"huts.md": HUTS}, llm="openai:x", base_url=server.url) as selfright,
    ):
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        assert selfright.ask("tell me more").answer.startswith("There is nothing before this")
        selfright.ask("How many beds does Tarn Hut have?", session="s")
        for text, said in (("ok", "All right!"), ("help", "I am Selfright"), ("what did I ask first?", "Tarn Hut")):
            answer = selfright.ask(text, session="s")
            assert said in answer.answer
            assert (answer.cost.llm_calls, answer.notes) == (0, ())


def test_sources_that_share_no_word_with_the_question_are_not_called_near(opened: Selfright) -> None:
    for preset in ("full", "self_correcting"):
        assert opened.ask("Blorp fizzle zwick?", preset=preset).answer.endswith("Nothing related was found.")
    assert "Tarn Hut" in opened.ask("Does Tarn Hut have a sauna?").answer


@pytest.mark.parametrize(
    "text", ["Who can help with the hut?", "도움을 받으려면 어디로 연락하나요?", "OK, and the beds?"]
)
def test_a_question_with_a_word_of_talk_is(opened: Selfright, text: str) -> None:
    assert searched(opened.ask(text))


def test_a_new_subject_is_looked_for_by_its_own_words(opened: Selfright) -> None:
    for text in ("How many beds does Gletsch Hut have?", "Who is its warden?"):
        opened.ask(text, session="huts")
    assert "winter\nroom" in opened.ask("What about dogs?", session="huts").citations[0].text
    for text in ("온라인 강의 환불은 언제까지 되나요?", "수강률이 30%를 넘으면요?"):
        opened.ask(text, session="강의")
    assert "3,000원" in opened.ask("교재는?", session="강의").answer


def test_a_follow_up_is_about_what_the_last_answer_cites(opened: Selfright) -> None:
    opened.ask("온라인 강의 환불은 언제까지 되나요?", session="cited")
    assert opened.ask("30% 넘게 들었으면?", session="cited").question == "환불 규정: 30% 넘게 들었으면?"
    other = "How many beds does Tarn Hut have?"
    assert opened.ask(other, session="cited").question == other


def test_what_no_document_is_about_is_not_asked_of_the_last_one(opened: Selfright) -> None:
    opened.ask("온라인 강의 환불은 언제까지 되나요?", session="elsewhere")
    other = opened.ask("비트코인 지금 얼마야?", session="elsewhere")
    assert other.question == "비트코인 지금 얼마야?"
    assert other.abstained


@pytest.mark.parametrize(
    "text", ["방금 뭐라고 했지?", "다시 말해줘", "출처가 어디예요?", "what did you just say?", "really?"]
)
def test_the_last_answer_is_said_again(opened: Selfright, text: str) -> None:
    said = opened.ask("How many beds does Tarn Hut have?", session=text)
    again = opened.ask(text, session=text)
    assert not searched(again)
    assert again.citations == said.citations
    assert "38 beds" in again.answer
    assert ("huts.md" in again.answer) == ("출처" in text)


def test_signs_alone_are_answered_in_the_conversation_s_language(opened: Selfright) -> None:
    opened.ask("온라인 강의 환불은 언제까지 되나요?", session="signs")
    assert opened.ask("???", session="signs").language == "ko"


def test_the_first_question_is_known_in_a_long_session(opened: Selfright) -> None:
    for text in ("How many beds does Gletsch Hut have?", *["Who is its warden?", "ok"] * 4):
        opened.ask(text, session="long")
    assert opened.ask("What did I ask first?", session="long").answer.endswith("How many beds does Gletsch Hut have?")
    assert opened.ask("What did I ask before?", session="long").answer.endswith("Who is its warden?")


def test_more_and_another_language_take_up_the_question_before(opened: Selfright) -> None:
    asked = "How many beds does Gletsch Hut have?"
    opened.ask(asked, session="more")
    more, korean = (opened.ask(text, session="more") for text in ("tell me more", "in Korean, please"))
    assert more.question == korean.question == asked
    assert korean.language == "ko"
    assert "64" in more.answer
