"""The rolling summary: bounded, newest first to stay, and never lost to a model that fails."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfright.domain.answers import Message
from selfright.domain.chat import ChatReply, Finish, Job
from selfright.domain.errors import BudgetSpent, ModelUnavailable, ReplyUnusable
from selfright.domain.passages import Language
from selfright.roles.summarize import LONGEST, ModelSummarizer, OfflineSummarizer
from tests.support.chat import Scripted, ScriptedChat

OFFLINE = OfflineSummarizer()


def exchange(question: str, answer: str) -> tuple[Message, Message]:
    return Message("user", question), Message("assistant", answer)


def offline(summary: str, *messages: Message, language: Language = "en") -> str:
    return asyncio.run(OFFLINE.summarize(summary, messages, language))


def test_worked_example() -> None:
    said = (*exchange("What is\nFxStore?", "A store [1]. It keeps maps."), *exchange("Its version?", "0.3.0 [2]"))
    assert offline("", *said) == "User: What is FxStore? → Answer: A store.\nUser: Its version? → Answer: 0.3.0"


def test_korean_is_labelled_in_korean() -> None:
    said = exchange("FxStore가 뭐야?", "영속 컬렉션 라이브러리입니다 [1]. 자바로 쓰였습니다.")
    assert offline("", *said, language="ko") == "사용자: FxStore가 뭐야? → 답변: 영속 컬렉션 라이브러리입니다."


def test_the_summary_rolls_on() -> None:
    first = offline("", *exchange("One?", "1."))
    assert offline(first, *exchange("Two?", "2.")) == f"{first}\nUser: Two? → Answer: 2."


def test_without_news_nothing_changes() -> None:
    assert offline("as it was") == "as it was"
    assert offline("as it was", Message("user", "  \n")) == "as it was"


def test_the_oldest_answers_go_first_then_the_oldest_questions() -> None:
    summary = ""
    for n in range(40):
        summary = offline(summary, *exchange(f"What is number {n}?", "It is a number that follows the one before it."))
    lines = summary.splitlines()
    assert len(summary) <= LONGEST
    assert lines[-1] == "User: What is number 39? → Answer: It is a number that follows the one before it."
    answered = ["→" in line for line in lines]
    assert answered == sorted(answered)
    assert not answered[0]
    assert len(lines) > 15


def test_a_models_prose_is_taken_up_by_its_sentences() -> None:
    prose = " ".join(f"The user asked for fact {n} of the matter and got it." for n in range(25))[:LONGEST]
    summary = offline(prose, *exchange("And now?", "Now this."))
    assert "fact 20" in summary
    assert "fact 0 " in summary, "what was asked first"
    assert "fact 1 " not in summary
    assert summary.endswith("User: And now? → Answer: Now this.")
    assert len(summary) <= LONGEST


@given(
    summary=st.text(max_size=3_000),
    said=st.lists(
        st.builds(Message, st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=3_000)), max_size=12
    ),
)
def test_always_bounded_and_never_lost(summary: str, said: list[Message]) -> None:
    found = offline(summary[:LONGEST], *said)
    assert len(found) <= LONGEST
    assert bool(found.strip()) or not any(any(map(str.isalnum, message.content)) for message in said)


def model(*replies: Scripted, summary: str = "before") -> tuple[str, ScriptedChat]:
    chat = ScriptedChat(replies)
    found = asyncio.run(ModelSummarizer(chat, OFFLINE).summarize(summary, exchange("Two?", "2."), "en"))
    return found, chat


def test_the_model_gets_the_summary_and_all_messages_in_one_call() -> None:
    found, chat = model("The user asked for two.")
    assert found == "The user asked for two."
    assert (chat.request.job, chat.request.temperature) == (Job.SUMMARIZE, 0)
    assert all(part in chat.request.user for part in ("before", "User: Two?", "Assistant: 2."))


def test_what_the_model_writes_is_bounded() -> None:
    assert 0 < len(model("word " * 1_000)[0]) <= LONGEST


@pytest.mark.parametrize(
    "reply",
    [
        ModelUnavailable("down"), BudgetSpent("x"), ReplyUnusable("x"), "  ", ChatReply("half", Finish.LENGTH),
        ChatReply("no", Finish.REFUSED),
    ],
)  # fmt: skip
def test_the_offline_summary_stands_in(reply: Scripted) -> None:
    assert model(reply)[0] == offline("before", *exchange("Two?", "2."))


def test_nothing_new_is_no_call() -> None:
    assert asyncio.run(ModelSummarizer(ScriptedChat(), OFFLINE).summarize("s", (Message("user", " "),), "en")) == "s"
