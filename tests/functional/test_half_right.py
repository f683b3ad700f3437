"""A model that is right in part, or not at all while it calls itself adequate."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from selfright import Answer, Selfright
from selfright.domain.chat import Job
from tests.support.folders import opened_over
from tests.support.llm import EVALUATION, is_job
from tests.support.scripted.requests import Request
from tests.support.scripted.rules import Plain, Rule
from tests.support.scripted.server import ScriptedServer

DOCUMENTS = {
    "hut.md": "# Tarn Hut\n\nTarn Hut has 38 beds and is open from June to September. A night costs 42 euros for adults"
    " and 21 euros for children. Dogs may stay in the winter room only.\n",
    "office.md": "# 사무실 이용 안내\n\n사무실은 평일 오전 8시부터 오후 9시까지 엽니다. "
    "주차장은 지하 2층에 있으며 방문객은 2시간 무료입니다.\n",
}
HALVES = {
    "How much is a night for adults in Tarn Hut, and is breakfast included?": (
        "A night in Tarn Hut costs 42 euros for adults.",
        "Breakfast is included and costs 9 euros extra for guests with dogs.",
        "is breakfast included",
    ),
    "방문객은 주차가 몇 시간 무료이고 전기차 충전기는 몇 대 있나요?": (
        "방문객은 2시간 무료로 주차할 수 있습니다.",
        "주차장에는 전기차 충전기가 12대 있습니다.",
        "전기차 충전기는 몇 대 있나요",
    ),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("half-right")
    with opened_over(place, DOCUMENTS):
        return place


def ask(index: Path, question: str, rules: Sequence[Rule], preset: str) -> Answer:
    with ScriptedServer(list(rules)) as server:
        model = {"llm": "openai:scripted", "base_url": server.url, "preset": preset}
        with Selfright.open(index / "index", home=index / "home", **model) as selfright:
            return selfright.ask(question)


@pytest.mark.parametrize("question", HALVES)
def test_the_right_half_stays_and_what_went_and_is_missing_is_listed(index: Path, question: str) -> None:
    right, wrong, missing = HALVES[question]

    def judged(request: Request) -> Plain:
        claims = [{"text": right, "status": "supported", "passages": [1]}, {"text": wrong, "status": "unsupported"}]
        return {**EVALUATION, "claims": claims}

    rules = [
        Rule(lambda request: is_job(Job.ANSWER, request), f"{right} [1] {wrong} [1]"),
        Rule(lambda request: is_job(Job.EVALUATE, request), judged),
    ]
    answer = ask(index, question, rules, "full")
    assert answer.answer == f"{right} [1]"
    assert (answer.removed_claims, answer.uncovered) == ((wrong,), (missing,))
    assert missing in answer.notes[0]
    assert {claim.text for claim in answer.evaluation.claims} == {right, wrong} if answer.evaluation else False


@pytest.mark.parametrize(
    ("question", "says"),
    [("How much is a night for adults in Tarn Hut?", "42 euros"), ("사무실은 평일 몇 시에 여나요?", "오전 8시")],
)
def test_what_answers_nothing_is_no_answer_though_the_model_finds_it_adequate(
    index: Path, question: str, says: str
) -> None:
    rules = [Rule(lambda request: is_job(Job.EVALUATE, request), EVALUATION), Rule(lambda _: True, "asdf qwer")]
    answer = ask(index, question, rules, "self_correcting")
    assert says in answer.answer
    assert "asdf" not in answer.answer
    assert answer.citations


@pytest.mark.parametrize("question", ["What is the capital of France?", "프랑스의 수도는 어디인가요?"])
@pytest.mark.parametrize("preset", ["self_correcting", "full"])
def test_what_no_document_answers_is_refused_though_the_model_finds_all_adequate(
    index: Path, question: str, preset: str
) -> None:
    rules = [Rule(lambda request: is_job(Job.EVALUATE, request), EVALUATION), Rule(lambda _: True, "asdf qwer")]
    assert ask(index, question, rules, preset).abstained
