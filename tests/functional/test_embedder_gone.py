"""An embedding service that was there for the documents and is gone for the question: words find the answer."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from selfright import Selfright
from selfright.cli.main import main
from selfright.domain.errors import EmbeddingFailed
from selfright.evals.beir import JudgedQuery, RetrievalSet
from selfright.evals.retrieval import evaluate_retrieval
from tests.functional.conftest import Cli
from tests.support.model_server import Asked, Said, serving
from tests.support.service import http_client
from tests.support.service import serving as service

QUESTION = "How often is the lamp of the lighthouse changed?"
ENGLISH = "the embedding model could not be used: passages were searched by words only"
KOREAN = "임베딩 모델을 쓸 수 없어 단어로만 검색했습니다"


def embeddings(asked: Asked) -> Said:
    rows = [
        {"object": "embedding", "index": at, "embedding": [float(len(text)), 9.0]}
        for at, text in enumerate(asked.body["input"])
    ]
    return Said({"object": "list", "data": rows, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}})


@pytest.fixture(scope="module")
def place(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An index, and the name of its embedder, which nobody is left to answer for."""
    index = tmp_path_factory.mktemp("gone") / "index"
    with serving(embeddings) as server, pytest.MonkeyPatch.context() as patch:
        name = f"openai:m@{server.url}/v1"
        patch.setenv("SELFRIGHT_EMBEDDER", name)
        assert main(["index", "add", str(documents), "--index", str(index)]) == 0
    return index, name


@pytest.fixture(autouse=True)
def named(place: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SELFRIGHT_EMBEDDER", place[1])


def test_questions_are_answered_by_words_and_the_answer_says_so(cli: Cli, place: tuple[Path, str]) -> None:
    began = time.monotonic()
    answer = json.loads(cli("ask", QUESTION, "--index", place[0], "--json").out)
    assert "90 days" in answer["answer"]
    assert (answer["degraded"], ENGLISH in answer["notes"]) == (True, True)
    told = cli("ask", "던모어 등대의 등은 며칠마다 교체하나요?", "--index", place[0])
    assert (told.code, "90일" in told.out, KOREAN in told.out) == (0, True, True)
    found = cli("search", "lamp", "--index", place[0])
    assert (found.code, "by words alone: the embedder cannot be used now" in found.err) == (0, True)
    assert time.monotonic() - began < 10  # it was 13 seconds for each


def test_so_does_the_service(place: tuple[Path, str], tmp_path: Path) -> None:
    settings = {"path": place[0], "embedder": place[1], "home": tmp_path}
    with service(settings) as running, http_client(running.url) as http:
        assert http.get("/readyz").status_code == 200
        answer = http.post("/v1/ask", json={"question": QUESTION}).json()
        assert ("90 days" in answer["answer"], answer["degraded"], ENGLISH in answer["notes"]) == (True, True, True)
        found = http.post("/v1/search", json={"query": "lamp"}).json()
        assert "cannot be used now" in json.dumps(found)


def test_a_service_that_is_back_is_asked_again(documents: Path, tmp_path: Path) -> None:
    away = False

    def answers(asked: Asked) -> Said:
        return Said({"error": {"message": "away"}}, 503) if away else embeddings(asked)

    with serving(answers) as server:
        settings: dict[str, Any] = {"path": tmp_path / "index", "embedder": f"openai:m@{server.url}/v1"}
        with Selfright.open(**settings) as selfright:
            selfright.add(documents)
        away = True
        with Selfright.open(**settings) as selfright:
            assert selfright.retrieve("lamp").lacks_meaning
            away = False
            found = selfright.retrieve("lamp")
            assert (found.lacks_meaning, found.query_vector is not None) == (False, True)


def test_another_service_s_vectors_are_still_refused(cli: Cli, place: tuple[Path, str]) -> None:
    told = cli("search", "lamp", "--index", place[0], "--set", "embedder=openai:other@http://127.0.0.1:9/v1")
    assert told.code != 0
    assert "made with the embedder" in told.err


def test_nothing_is_measured_without_half_of_it(place: tuple[Path, str]) -> None:
    data = RetrievalSet("lamps", place[0], (JudgedQuery("1", QUESTION, {"lighthouse.md": 1}),), "0", 1)
    with Selfright.open(place[0]) as selfright, pytest.raises(EmbeddingFailed, match="cannot be used now"):
        evaluate_retrieval(selfright, data)
