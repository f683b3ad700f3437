"""The three scenarios of self-correcting chat [S2] with the settings as they come: only preset and model are named."""

from pathlib import Path

import pytest

from selfright import Answer, DraftWithdrawn, Selfright, TurnFinished
from selfright.domain.chat import Job
from selfright.domain.judgements import StopReason
from tests.functional.test_fxstore import DOCUMENTS, WHAT, judged
from tests.support.llm import is_job
from tests.support.scripted.rules import Rule
from tests.support.scripted.server import ScriptedServer


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fxstore")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    with Selfright.open(folder / "index", embedder="none") as selfright:
        selfright.add([folder / name for name in DOCUMENTS])
    return folder / "index"


def chat(index: Path, question: str, drafts: list[str], verdicts: list[dict[str, object]]) -> tuple[Answer, list[str]]:
    """The answer, and the labels with which drafts were withdrawn."""
    rules = [
        Rule(lambda request: is_job(Job.ANSWER, request), drafts),
        Rule(lambda request: is_job(Job.EVALUATE, request), verdicts),
        Rule(lambda request: is_job(Job.CLASSIFY, request), {"query_class": "question"}),
    ]
    with ScriptedServer(rules) as server:
        model = {"llm": "openai:scripted", "base_url": server.url}
        with Selfright.open(index, preset="self_correcting", embedder="none", **model) as selfright:
            events = list(selfright.stream(question))
    last = events[-1]
    assert isinstance(last, TurnFinished)
    return last.answer, [event.reason for event in events if isinstance(event, DraftWithdrawn)]


def test_what_is_known_is_answered_at_once(index: Path) -> None:
    answer, withdrawn = chat(index, "FxStore가 뭐야?", [WHAT], [judged("adequate")])
    assert answer.answer == WHAT
    assert withdrawn == []
    assert answer.stop_reason is StopReason.FAST_PATH


def test_a_vague_answer_sends_for_documents(index: Path) -> None:
    drafts = [
        "FxStore API는 여러 가지 기능을 제공합니다.",
        "FxStore API는 FxStore.open(path)로 저장소를 열고 openMap(name)으로 맵을 얻습니다. [1]",
    ]
    answer, withdrawn = chat(
        index, "FxStore API 사용법 알려줘", drafts, [judged("needs_docs", 0.3), judged("adequate")]
    )
    assert withdrawn == ["needs_docs"]
    assert "openMap(name)" in answer.answer
    assert [citation.document_id for citation in answer.citations] == ["api.md"]


def test_an_invented_version_is_replaced_by_the_documents(index: Path) -> None:
    drafts = ["FxStore 최신 버전은 2.0.0입니다.", "문서에 따르면 FxStore의 최신 버전은 0.3.0입니다. [1]"]
    answer, withdrawn = chat(
        index, "FxStore 최신 버전이 뭐야?", drafts, [judged("hallucination", 0.2), judged("adequate")]
    )
    assert len(withdrawn) == 1
    assert "0.3.0" in answer.answer
    assert "2.0.0" not in answer.answer
