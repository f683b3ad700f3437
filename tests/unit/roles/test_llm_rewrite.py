"""Queries by a model: what it is told, what passes for a query, and what stands in for what does not."""

import asyncio
from typing import Any

import pytest

from selfright.domain.answers import Message, RewriteRequest
from selfright.domain.chat import ChatReply, Finish, Job
from selfright.domain.errors import BudgetSpent, ModelRejected, ModelUnavailable, ReplyUnusable
from selfright.domain.slots import Slot
from selfright.roles.model_calls import JudgingMode
from selfright.roles.rewrite.llm import QueryRewriter
from selfright.roles.rewrite.offline import OfflineRewriter
from tests.support.chat import Scripted, ScriptedChat
from tests.support.texts import analyzer

QUESTION = "당뇨병 환자에게 메트포르민의 부작용은 무엇인가요?"
MISSING = ("위장 장애(설사, 구토)", "유산증(lactic acidosis) 위험", "금기 사항(신부전, 심부전)", "비타민 B12 결핍")
PROFILE = "60세 남성, 2형 당뇨병, 신장 기능 경미한 저하"
EXAMPLE = RewriteRequest(
    QUESTION,
    QUESTION,
    "ko",
    previous_answer="메트포르민은 혈당을 낮추는 약물입니다. 일반적으로 안전합니다.",
    missing_info=MISSING,
    improvement_suggestions=("문서에 명시된 부작용을 구체적으로 나열", "금기 사항 추가"),
    profile_summary=PROFILE,
    iteration=1,
    slots=(Slot("나이", "60", "세"), Slot("성별", "남성"), Slot("질환", "2형 당뇨병")),
)
REWRITTEN = (
    "당뇨병 환자(60세 남성, 신장 기능 경미한 저하)에게 메트포르민의 부작용은 무엇인가요?\n특히 위장 장애(설사, 구토), "
    "유산증(lactic acidosis) 위험, 금기 사항(신부전, 심부전), 비타민 B12 결핍을 포함하여 설명해주세요."
)
OFFLINE = OfflineRewriter(
    analyzer("메트포르민의 부작용", "당뇨병 환자", "How is a kettle descaled?", "kettle", "bread")
)
DOWN: list[Scripted] = [
    ModelUnavailable("down"), ModelRejected("no key"), BudgetSpent("spent"), ReplyUnusable("empty"),
    ChatReply("", Finish.REFUSED), ChatReply("half a que", Finish.LENGTH), " \n", "?!", "word " * 100,
]  # fmt: skip


def rewriter(*replies: Scripted, judging: JudgingMode = "cascade") -> tuple[QueryRewriter, ScriptedChat]:
    chat = ScriptedChat(replies)
    return QueryRewriter(chat, OFFLINE, judging), chat


def rewrite(request: RewriteRequest, *replies: Scripted) -> tuple[str, ScriptedChat]:
    role, chat = rewriter(*replies)
    return asyncio.run(role.rewrite(request)), chat


def standalone(
    question: str, *replies: Scripted, judging: JudgingMode = "cascade", said: tuple[Message, ...] | None = None
) -> tuple[str, ScriptedChat]:
    role, chat = rewriter(*replies, judging=judging)
    earlier = (
        (Message("user", "How is a kettle descaled?"), Message("assistant", "With acid.")) if said is None else said
    )
    return asyncio.run(role.standalone(question, earlier)), chat


def for_web(question: str, *replies: Scripted, judging: JudgingMode = "always") -> str:
    return asyncio.run(rewriter(*replies, judging=judging)[0].for_web(question, ["dose of acid"]))


def test_worked_example_holds_profile_and_all_missing_items() -> None:
    """Seed 003, section 8."""
    query, chat = rewrite(EXAMPLE, f"재작성된 질의: {REWRITTEN}")
    assert query == REWRITTEN.replace("\n", " ")
    told = chat.request.user
    assert (chat.request.job, chat.request.temperature, chat.request.schema) == (Job.REWRITE, 0.5, None)
    assert all(item in told for item in (*MISSING, *EXAMPLE.improvement_suggestions, PROFILE, QUESTION))
    assert all(
        fact in told for fact in ("나이: 60 세", "성별: 남성", "질환: 2형 당뇨병", "반복 횟수:\n1", "안전합니다.")
    )


def test_the_model_hears_200_characters_of_the_answer() -> None:
    request = RewriteRequest("q", "q", "en", previous_answer="y" * 500, missing_info=("dose",))
    user = rewrite(request, "kettle dose")[1].request.user
    assert "y" * 200 in user
    assert "y" * 201 not in user


def test_without_feedback_only_the_profile_is_added_and_nothing_is_asked() -> None:
    request = RewriteRequest("How is a kettle descaled?", "", "en", profile_summary="lives in Seoul")
    assert rewrite(request)[0] == "How is a kettle descaled? (lives in Seoul)"


KETTLE = RewriteRequest(
    "How is a kettle descaled?", "kettle dose", "en", missing_info=("dose of acid",), tried=("Kettle acid",)
)


@pytest.mark.parametrize("reply", [*DOWN, "how is a  KETTLE descaled", "Query: kettle dose.", "kettle acid"])
def test_what_is_no_new_query_is_rewritten_offline(reply: Scripted) -> None:
    assert rewrite(KETTLE, reply)[0] == asyncio.run(OFFLINE.rewrite(KETTLE))


@pytest.mark.parametrize("written", ['Rewritten query: "kettle acid dose"', "**검색어**: kettle\nacid dose"])
def test_decoration_is_taken_off(written: str) -> None:
    assert rewrite(KETTLE, written)[0] == "kettle acid dose"


def test_a_question_that_stands_alone_is_not_sent() -> None:
    assert standalone("How is bread toasted?")[0] == "How is bread toasted?"
    assert standalone("And why?", said=())[0] == "And why?"


def test_a_follow_up_is_the_models_and_temperature_is_zero() -> None:
    query, chat = standalone("And how often?", "Standalone question: How often is a kettle descaled?")
    assert query == "How often is a kettle descaled?"
    assert (chat.request.job, chat.request.temperature) == (Job.STANDALONE, 0)
    assert "With acid." in chat.request.user


def test_always_asks_for_every_question_with_a_past() -> None:
    assert standalone("How is bread toasted?", "How is rye bread toasted?", judging="always")[0].count("rye") == 1


@pytest.mark.parametrize("reply", [*DOWN, "Every three months, with citric acid."])
def test_what_is_no_question_is_completed_offline(reply: Scripted) -> None:
    question = "And what about bread?"
    history = (Message("user", "How is a kettle descaled?"),)
    assert standalone(question, reply, said=history)[0] == asyncio.run(OFFLINE.standalone(question, history))


def test_a_web_query_is_short_and_the_models_only_when_always_asked() -> None:
    assert for_web("How is a kettle descaled?", "kettle descaling dose") == "kettle descaling dose"
    offline = asyncio.run(OFFLINE.for_web("How is a kettle descaled?", ["dose of acid"]))
    assert for_web("How is a kettle descaled?", judging="cascade") == offline
    too_long: Any = "one two three four five six seven eight nine"
    for reply in (*DOWN, too_long):
        assert for_web("How is a kettle descaled?", reply) == offline
