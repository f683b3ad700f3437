"""The mode [S4], ``ai_agent`` or ``llm``, at every door: the command line and the service (the page: tests/browser)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selfright.domain.chat import Job
from tests.functional.conftest import Cli
from tests.support.llm import is_job
from tests.support.scripted.rules import Rule
from tests.support.scripted.server import ScriptedServer
from tests.support.service import QUESTION, http_client, serving, write_index

FROM_MEMORY = "Lamps of lighthouses are changed now and then."
FROM_DOCUMENTS = "The lamp of the Dunmore lighthouse is changed every 90 days. [1]"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """An index, and a model that says what it knows where it is given no documents."""
    rules = [
        Rule(lambda r: is_job(Job.ANSWER, r) and "every 90 days" in r.user, FROM_DOCUMENTS),
        Rule(lambda r: not is_job(Job.EVALUATE, r), FROM_MEMORY),
    ]
    with ScriptedServer(rules) as server:
        model = {"llm": "openai:scripted", "base_url": server.url}
        yield {**write_index(tmp_path_factory.mktemp("mode")), **model}


@pytest.mark.parametrize(("mode", "says", "preset"), [("llm", "now and then", "llm"), ("ai_agent", "90 days", "full")])
def test_the_service_hears_the_mode(settings: dict[str, Any], mode: str, says: str, preset: str) -> None:
    with serving(settings) as running, http_client(running.url) as http:
        reply = http.post("/v1/ask", json={"question": QUESTION, "mode": mode}).json()
        assert says in reply["answer"]
        assert reply["preset"] == preset
        assert bool(reply["citations"]) == (mode == "ai_agent")
        assert bool(reply["evaluation"]) == (mode == "ai_agent")
        streamed = http.post("/v1/ask", json={"question": QUESTION, "mode": mode, "stream": True}).text
        assert ('"node":"retrieve"' in streamed) == (mode == "ai_agent")
        refused = http.post("/v1/ask", json={"question": QUESTION, "mode": "llm", "preset": "crag"})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "mode")


@pytest.mark.parametrize(("mode", "says", "preset"), [("llm", "now and then", "llm"), ("ai_agent", "90 days", "full")])
def test_the_command_line_hears_the_mode(
    cli: Cli,
    settings: dict[str, Any],
    mode: str,
    says: str,
    preset: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SELFRIGHT_HOME", str(tmp_path))
    sets = [part for name in ("embedder", "llm", "base_url") for part in ("--set", f"{name}={settings[name]}")]
    outcome = cli("ask", QUESTION, "--index", settings["path"], "--mode", mode, "--json", *sets)
    assert outcome.code == 0, outcome.err
    reply = json.loads(outcome.out)
    assert says in reply["answer"]
    assert reply["preset"] == preset
    assert cli("ask", QUESTION, "--index", settings["path"], "--mode", "robot").code == 2


def test_a_mode_that_needs_a_model_says_so_without_one(cli: Cli, settings: dict[str, Any]) -> None:
    ask = ("ask", QUESTION, "--index", settings["path"], "--set", f"embedder={settings['embedder']}")
    for way in (("--mode", "llm"), ("--preset", "llm")):
        outcome = cli(*ask, *way)
        assert (outcome.code, outcome.out) == (2, "")
        assert "none is configured" in outcome.err
    offline = {name: value for name, value in settings.items() if name not in ("llm", "base_url")}
    with serving(offline) as running, http_client(running.url) as http:
        reply = http.post("/v1/ask", json={"question": QUESTION, "mode": "llm"})
        assert (reply.status_code, "none is configured" in reply.json()["error"]["message"]) == (400, True)
