"""Adding documents: words at once, vectors behind, questions in between, and whoever was broken off goes on."""

import json
import time
from pathlib import Path

import pytest

from selfright import Selfright
from selfright.retrieval.stores.embedded import EmbeddedStore
from tests.functional.conftest import Cli
from tests.support.service import http_client, serving

ENGLISH = "passages are searched by words only until their vectors are made"
KOREAN = "아직 벡터가 없어 단어로만 검색했습니다"


@pytest.fixture
def half(documents: Path, tmp_path: Path) -> Path:
    """An index whose writer ended between words and vectors."""
    place = tmp_path / "index"
    with Selfright.open(place) as selfright:
        selfright.add(documents, embed=False)
    return place


def waiting_at(cli: Cli, place: Path) -> int:
    found: int = json.loads(cli("index", "info", "--index", place, "--json").out)["without_vectors"]
    return found


def test_questions_are_answered_by_words_and_the_answer_says_so(cli: Cli, half: Path) -> None:
    assert waiting_at(cli, half) == 3
    assert "without_vectors 3" in cli("index", "info", "--index", half).out
    answer = json.loads(cli("ask", "How often is the lamp of the lighthouse changed?", "--index", half, "--json").out)
    assert "90 days" in answer["answer"]
    assert f"3 of 3 {ENGLISH}" in answer["notes"]
    answer = json.loads(cli("ask", "던모어 등대의 등은 며칠마다 교체하나요?", "--index", half, "--json").out)
    assert "90일" in answer["answer"]
    assert f"문단 3개 가운데 3개는 {KOREAN}" in answer["notes"]
    assert f"3 {ENGLISH}" in cli("search", "lamp", "--index", half).err


def test_an_explicit_command_goes_on(cli: Cli, half: Path) -> None:
    assert cli("index", "embed", "--index", half).out == "3 passages embedded\n"
    assert waiting_at(cli, half) == 0
    assert json.loads(cli("index", "embed", "--index", half, "--json").out) == {"embedded": 0}
    answer = json.loads(cli("ask", "Who is the harbour master of Dunmore?", "--index", half, "--json").out)
    assert not any(ENGLISH in note for note in answer["notes"])
    assert json.loads(cli("search", "등대", "--index", half, "--json").out)[0]["dense"]


@pytest.mark.parametrize("command", [["add"], ["sync"], ["reembed"]])
def test_so_does_whatever_comes_next(cli: Cli, half: Path, documents: Path, command: list[str]) -> None:
    paths = [] if command == ["reembed"] else [documents]
    assert cli("index", *command, *paths, "--index", half).code == 0
    assert waiting_at(cli, half) == 0


def test_ctrl_c_between_the_phases_keeps_the_words(
    cli: Cli, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(EmbeddedStore, "fill", interrupted)
        assert cli("index", "add", documents, "--index", tmp_path / "index").code == 130
    assert waiting_at(cli, tmp_path / "index") == 3
    assert "90 days" in cli("ask", "How often is the lamp changed?", "--index", tmp_path / "index").out


def test_the_service_makes_the_vectors_of_uploads_and_breaks_off_when_it_ends(tmp_path: Path) -> None:
    settings = {"path": tmp_path / "index", "home": tmp_path / "home"}
    rows = [{"_id": f"row-{number}", "text": f"Berth {number} is {number + 3} metres long."} for number in range(400)]
    sent = "\n".join(map(json.dumps, rows)).encode()
    with serving(settings) as running, http_client(running.url) as http:
        taken = http.post("/v1/documents", files={"files": ("berths.jsonl", sent)}).json()["files"][0]
        assert (taken["added"], taken["errors"]) == (400, [])
        answer = http.post("/v1/ask", json={"question": "How long is berth 12?"}).json()
        assert "15 metres" in answer["answer"]
    with Selfright.open(**settings) as selfright:
        assert selfright.verify() == []
        left = selfright.info().without_vectors
    with serving(settings) as running:
        until = time.monotonic() + 60
        while (after := running.service.selfright.info().without_vectors) and time.monotonic() < until:
            time.sleep(0.1)
        assert after == 0 <= left
