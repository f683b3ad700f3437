"""The classifier with a model: asked where rules are unsure, and never the worse for what the model says."""

import asyncio

import pytest

from selfright.domain.answers import Message
from selfright.domain.chat import Job
from selfright.domain.errors import BudgetSpent, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.judgements import QueryClass
from selfright.roles.classify import ModelClassifier, OfflineClassifier
from selfright.roles.model_calls import JudgingMode
from tests.support.chat import Scripted, ScriptedChat
from tests.support.texts import analyzer

OFFLINE = OfflineClassifier()
UNSURE = "I could eat"
QUESTION, CHITCHAT = QueryClass.QUESTION, QueryClass.CHITCHAT


def classify(
    text: str, *replies: Scripted, judging: JudgingMode = "cascade", history: tuple[Message, ...] = ()
) -> tuple[QueryClass, ScriptedChat]:
    chat = ScriptedChat(replies)
    return asyncio.run(ModelClassifier(chat, OFFLINE, judging).classify(text, history)), chat


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Summarize the manual", QueryClass.SUMMARY),
        ("안녕하세요!", CHITCHAT),
        ("욕실 타일 물때 제거 방법을 좀 알려줘", QUESTION),
        ("What is limescale in kettles made of?", QUESTION),
        ("stop", CHITCHAT),
        ("?!", QueryClass.UNKNOWN),
    ],
)
def test_rules_that_are_sure_need_no_call(text: str, kind: QueryClass) -> None:
    assert classify(text)[0] is kind  # a call would have failed the test


def test_the_unsure_message_is_the_models() -> None:
    assert not OFFLINE.classify_text(UNSURE).sure
    history = (Message("user", "hello there"),)
    for kind in QueryClass:
        found, chat = classify(UNSURE, {"query_class": kind.value}, history=history)
        assert found is kind
    assert chat.request.job is Job.CLASSIFY
    assert chat.request.temperature == 0
    assert "hello there" in chat.request.user
    assert UNSURE in chat.request.user


def test_always_means_always() -> None:
    assert classify("안녕하세요!", {"query_class": "question"}, judging="always")[0] is QUESTION


@pytest.mark.parametrize(
    "reply",
    [
        ModelUnavailable("down"),
        ModelRejected("no key"),
        BudgetSpent("no call left"),
        ReplyUnusable("empty"),
        "chitchat",
        {},
        {"query_class": None},
        {"query_class": ["question"]},
        {"query_class": "greeting"},
    ],
)
def test_the_rules_stand_in_when_no_class_comes(reply: Scripted) -> None:
    assert classify(UNSURE, reply)[0] is OFFLINE.classify_text(UNSURE).kind


def test_case_and_blanks_of_a_class_do_not_matter() -> None:
    assert classify(UNSURE, {"query_class": " Chitchat\n"})[0] is CHITCHAT


def test_nothing_is_asked_about_nothing() -> None:
    assert classify("  ", judging="always")[0] is QueryClass.UNKNOWN


def test_whether_the_conversation_answers_is_no_call() -> None:
    words = analyzer("Descale the kettle.")
    history = (Message("user", "How is it done?"), Message("assistant", "Descale the kettle with acid every month."))
    role = ModelClassifier(ScriptedChat(), OfflineClassifier(analyzer=words), "always")
    assert asyncio.run(role.conversational("더 설명해줘", history))
    assert not asyncio.run(role.conversational("What does bread cost in Seoul?", history))
    assert not asyncio.run(ModelClassifier(ScriptedChat(), OFFLINE).conversational("더 설명해줘", history))
