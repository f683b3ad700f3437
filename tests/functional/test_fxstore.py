"""The scenarios of self-correcting chat [S2], with a scripted model, as S2 has them set and as settings come."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from selfright import Answer, DraftWithdrawn, Message, Selfright, TurnFinished
from selfright.domain.chat import Job
from selfright.domain.judgements import StopReason
from tests.support.folders import opened_over
from tests.support.llm import EVALUATION, is_job
from tests.support.scripted.rules import Rule
from tests.support.scripted.server import ScriptedServer

DOCUMENTS = {
    "api.md": "# FxStore API\n\nFxStore API는 FxStore.open(path)로 저장소를 열고 openMap(name)으로 맵을 얻습니다. "
    "맵은 put, get, remove를 제공합니다.\n",
    "installation.md": "# 설치\n\nFxStore의 최신 버전은 0.3.0입니다. Gradle 의존성 한 줄로 설치합니다.\n",
}
WHAT = "FxStore는 Java 기반 영속 컬렉션 라이브러리입니다."


def judged(quality: str, score: float = 0.9) -> dict[str, object]:
    scores = dict.fromkeys(("grounding", "completeness", "accuracy", "confidence"), score)
    return {**EVALUATION, **scores, "answer_quality": quality}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fxstore")
    with opened_over(place, DOCUMENTS, embedder="none"):
        return place / "index"


AS_SET: dict[str, Any] = {"llm_judging": "always", "citation_style": "source"}


def chat(
    index: Path,
    question: str,
    drafts: list[str],
    judgements: list[dict[str, object]],
    history: tuple[Message, ...] = (),
    settings: Mapping[str, Any] = AS_SET,
) -> tuple[Answer, list[str], ScriptedServer]:
    """The answer, the labels with which drafts were withdrawn, and the server that was asked."""
    rules = [
        Rule(lambda request: is_job(Job.ANSWER, request), drafts),
        Rule(lambda request: is_job(Job.EVALUATE, request), judgements),
        Rule(lambda request: is_job(Job.CLASSIFY, request), {"query_class": "question"}),
        Rule(lambda request: is_job(Job.STANDALONE, request), question),
    ]
    with ScriptedServer(rules) as server:
        model = {"llm": "openai:scripted", "base_url": server.url, **settings}
        with Selfright.open(index, preset="self_correcting", embedder="none", **model) as selfright:
            events = list(selfright.stream(question, history=history))
    last = events[-1]
    assert isinstance(last, TurnFinished)
    return last.answer, [event.reason for event in events if isinstance(event, DraftWithdrawn)], server


def nodes(answer: Answer) -> list[str]:
    return [step.node for step in answer.trace]


def test_a_follow_up_is_answered_without_looking_anything_up(index: Path) -> None:
    history = (Message("user", "FxStore가 뭐야?"), Message("assistant", WHAT))
    answer, withdrawn, server = chat(index, "FxStore가 뭐라고 했지?", [WHAT], [judged("adequate")], history)
    assert answer.answer == WHAT
    assert "retrieve" not in nodes(answer)
    assert answer.stop_reason is StopReason.FAST_PATH
    assert withdrawn == []
    assert len([request for request in server.calls() if is_job(Job.ANSWER, request)]) == 1


def test_what_is_known_is_answered_at_once_with_the_settings_as_they_come(index: Path) -> None:
    answer, withdrawn, _ = chat(index, "FxStore가 뭐야?", [WHAT], [judged("adequate")], settings={})
    assert (answer.answer, answer.stop_reason, withdrawn) == (WHAT, StopReason.FAST_PATH, [])


VERSION = "FxStore 최신 버전이 뭐야?"


@pytest.mark.parametrize("settings", [AS_SET, {}], ids=["as set", "as they come"])
@pytest.mark.parametrize(
    ("question", "drafts", "first", "again", "document", "said"),
    [
        (
            "FxStore API 사용법 알려줘",
            [
                "FxStore API는 여러 가지 기능을 제공합니다.",
                "FxStore API는 FxStore.open(path)로 저장소를 열고 openMap(name)으로 맵을 얻습니다. [1]",
            ],
            judged("needs_docs", 0.3),
            "generate",
            "api.md",
            "openMap(name)",
        ),
        (
            VERSION,
            ["FxStore 최신 버전은 2.0.0입니다.", "문서에 따르면 FxStore의 최신 버전은 0.3.0입니다. [1]"],
            judged("hallucination", 0.2),
            "generate",
            "installation.md",
            "0.3.0",
        ),
        (
            VERSION,
            ["오늘은 날씨가 좋습니다.", "FxStore의 최신 버전은 0.3.0입니다. [1]"],
            judged("off_topic", 0.1),
            "classify",
            "installation.md",
            "0.3.0",
        ),
    ],
    ids=["vague", "invented", "off topic"],
)
def test_a_draft_that_does_not_hold_is_replaced_by_the_documents(
    index: Path,
    settings: dict[str, Any],
    question: str,
    drafts: list[str],
    first: dict[str, object],
    again: str,
    document: str,
    said: str,
) -> None:
    answer, withdrawn, _ = chat(index, question, drafts, [first, judged("adequate")], settings=settings)
    assert len(withdrawn) == 1
    assert said in answer.answer
    assert "2.0.0" not in answer.answer
    assert [citation.document_id for citation in answer.citations] == [document]
    if settings:
        assert withdrawn == [first["answer_quality"]]
        assert nodes(answer).count(again) == 2
        assert f"[Source: {document}]" in answer.answer
        assert answer.stop_reason is StopReason.ADEQUATE


def test_after_two_retries_the_best_answer_is_given(index: Path) -> None:
    drafts = ["하나.", "FxStore API는 맵을 제공합니다. [1]", "셋."]
    verdicts = [judged("needs_docs", 0.2), judged("needs_docs", 0.45), judged("needs_docs", 0.5)]
    answer, withdrawn, _ = chat(index, "FxStore API 사용법 알려줘", drafts, verdicts)
    assert len(withdrawn) <= 2
    assert answer.stop_reason in (StopReason.MAX_ITERATIONS, StopReason.DUPLICATE_DOCUMENTS, StopReason.ABSTAINED)
