"""The page over a service with a scripted model: a chat that corrects itself before the reader's eyes [S2]."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from selfright import Selfright
from selfright.domain.chat import Job
from tests.functional.test_fxstore import DOCUMENTS, WHAT, judged
from tests.support.llm import is_job
from tests.support.page import Visit, desktop, started, visiting
from tests.support.scripted.rules import Rule
from tests.support.scripted.server import ScriptedServer
from tests.support.service import serving

pytest.importorskip("streamlit", reason="streamlit is not installed")
if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext


SLOW = "FxStore를 아주 자세히 설명해줘"
# What the model drafts for each question, and what it says of each draft.
SCENARIOS = {
    "FxStore가 뭐야?": ([WHAT], [judged("adequate")]),
    SLOW: (["FxStore는 라이브러리입니다. " * 300], [judged("adequate")]),
    "FxStore API 사용법 알려줘": (
        [
            "FxStore API는 여러 가지 기능을 제공합니다.",
            "FxStore API는 FxStore.open(path)로 저장소를 열고 openMap(name)으로 맵을 얻습니다. [1]",
        ],
        [judged("needs_docs", 0.3), judged("adequate")],
    ),
    "FxStore 최신 버전이 뭐야?": (
        ["FxStore 최신 버전은 2.0.0입니다.", "문서에 따르면 FxStore의 최신 버전은 0.3.0입니다. [1]"],
        [judged("hallucination", 0.2), judged("adequate")],
    ),
}


@dataclass
class Stack:
    """The page's address, and the model behind the service."""

    url: str
    model: ScriptedServer


def rules() -> list[Rule]:
    found = [
        rule
        for question, (drafts, judgements) in SCENARIOS.items()
        for rule in (
            Rule(lambda r, q=question: is_job(Job.ANSWER, r) and q in r.user, drafts),
            Rule(lambda r, q=question: is_job(Job.EVALUATE, r) and q in r.user, judgements),
        )
    ]
    return [*found, Rule(lambda request: is_job(Job.CLASSIFY, request), {"query_class": "question"})]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with stacked(tmp_path_factory.mktemp("corrections")) as found:
        yield found


@contextmanager
def stacked(folder: Path) -> Iterator[Stack]:
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    settings = {"path": folder / "index", "embedder": "none", "home": folder / "home", "pack": "none"}
    with Selfright.open(**settings) as selfright:
        selfright.add([folder / name for name in DOCUMENTS])
    with ScriptedServer(rules(), pace_s=0.02) as model:
        talking = {"preset": "self_correcting", "llm": "openai:scripted", "base_url": model.url, "llm_attempts": 1}
        flags = {"llm_judging": "always", "citation_style": "source"}
        with serving({**settings, **talking, **flags}) as service:
            with started("--service", service.url, environment={}) as page:
                yield Stack(page.url, model)
                assert page.end() == 0
            assert service.server.started


@pytest.fixture(scope="module")
def context(browser: "Browser") -> Iterator["BrowserContext"]:
    with desktop(browser) as context:
        yield context


@pytest.fixture
def visit(context: "BrowserContext", stack: Stack) -> Iterator[Visit]:
    with visiting(context, stack.url) as visit:
        yield visit


def steps(visit: Visit) -> str:
    """The steps of the only turn, as a reader finds them."""
    visit.answer(0).locator("details.account > summary").click()
    return visit.answer(0).locator(".path").inner_text()


def test_what_is_known_is_answered_without_looking_anything_up(visit: Visit) -> None:
    answer = visit.ask("FxStore가 뭐야?")
    assert answer.locator(".answer").inner_text() == WHAT
    told = steps(visit)
    assert "withdrawn" not in told
    assert "retrieve" not in told
    assert "No documents were needed." in answer.inner_text()


def test_the_model_alone_answers_without_documents_where_that_mode_is_chosen(visit: Visit) -> None:
    assert visit.page.get_by_role("link", name="Profile").count() == 0  # no pack says what could be remembered
    visit.page.get_by_text("Language model alone").click()
    visit.page.get_by_role("combobox", name="Preset").and_(visit.page.locator(":disabled")).wait_for()
    answer = visit.ask("FxStore가 뭐야?")
    assert (
        answer.locator(".answer").inner_text() == "문서 없이는 알 수 없습니다."
    )  # what the scripted model knows by itself
    told = steps(visit)
    assert "Search the index" not in told
    assert "Judge" not in told
    assert "llm" in answer.locator("details.account dl").first.inner_text()


def test_a_vague_draft_is_withdrawn_and_documents_are_searched(visit: Visit) -> None:
    answer = visit.ask("FxStore API 사용법 알려줘")
    assert "openMap(name)" in answer.locator(".answer").inner_text()
    told = steps(visit)
    assert "Draft 1 withdrawn: it needs documents" in told
    assert "여러 가지 기능을 제공합니다" in told
    assert told.index("withdrawn") < told.index("Search the index")
    answer.get_by_role("link", name="[Source: api.md]").click()
    cited = visit.page.locator("#turn-0-source-1")
    cited.wait_for(state="visible")
    assert "FxStore.open(path)" in cited.locator("xpath=ancestor::mark").inner_text()


def test_an_invented_version_gives_way_to_the_documented_one(visit: Visit) -> None:
    answer = visit.ask("FxStore 최신 버전이 뭐야?")
    assert "0.3.0" in answer.locator(".answer").inner_text()
    assert "2.0.0" not in answer.locator(".answer").inner_text()
    assert "Draft 1 withdrawn: nothing supports parts of it" in steps(visit)
    assert answer.get_by_role("link", name="[Source: installation.md]").count() == 1
    bars = answer.locator("details.account").get_by_role("img").get_attribute("aria-label") or ""
    assert "Pass 1" in bars


def test_a_turn_can_be_stopped(visit: Visit, stack: Stack) -> None:
    box = visit.page.get_by_test_id("stChatInput")
    box.locator("textarea").fill(SLOW)
    box.locator("textarea").press("Enter")
    visit.page.locator(".live .path").wait_for()
    assert not visit.page.get_by_text("interrupted").is_visible()
    box.get_by_role("button", name="Stop").click()
    visit.page.get_by_text("This turn was interrupted").wait_for()
    assert not visit.page.locator(".live .working").is_visible()
    until = time.monotonic() + 20
    while not any(request.hung_up for request in stack.model.calls()) and time.monotonic() < until:
        time.sleep(0.1)
    assert any(request.hung_up for request in stack.model.calls())  # the service has let go of the model, too
    visit.turns = 1
    assert WHAT in visit.ask("FxStore가 뭐야?").inner_text()


def test_an_answer_without_the_model_says_that_it_is_degraded(context: "BrowserContext", tmp_path: Path) -> None:
    with stacked(tmp_path) as stack, visiting(context, stack.url) as visit:
        stack.model.close()
        answer = visit.ask("FxStore 설치는 어떻게 하나요?")
        assert "⚠ Degraded" in " ".join(answer.get_by_role("note").all_inner_texts())
        assert "모델 없이 처리했습니다" in answer.inner_text()
