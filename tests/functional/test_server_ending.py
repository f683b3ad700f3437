"""The service as a program: what ends it, what a crash leaves, and the way from nothing to a first answer."""

import concurrent.futures
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from selfright.cli.main import main
from selfright.memory.session_rows import LEASE_S
from tests.support.scripted.server import ScriptedServer
from tests.support.service import DOCUMENTS, QUESTION, Spawned, http_client, spawned, write_index
from tests.support.waiting import wait_for

if sys.platform == "win32":
    pytest.skip("processes are ended by signals here", allow_module_level=True)

PAGE = Path(__file__).parents[2] / "docs" / "openai-clients.md"
CALLERS = 8


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    return write_index(tmp_path)


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer(latency_s=0.3) as model:
        yield model


def variables(settings: dict[str, Any], model: ScriptedServer) -> dict[str, str]:
    return {
        "SELFRIGHT_INDEX": str(settings["path"]), "SELFRIGHT_HOME": str(settings["home"]),
        "SELFRIGHT_EMBEDDER": "none", "SELFRIGHT_PRESET": "basic", "SELFRIGHT_LLM": "openai:scripted",
        "SELFRIGHT_BASE_URL": model.url, "OPENAI_API_KEY": "key-of-a-test",
    }  # fmt: skip


class Caller:
    """Asks question after question until the service is gone; remembers what it was answered."""

    def __init__(self, url: str, name: str) -> None:
        self.url, self.name = url, name
        self.answered = 0
        self.broken: list[str] = []

    def __call__(self) -> None:
        with http_client(self.url) as http:
            for _ in range(200):
                try:
                    reply = http.post("/v1/ask", json={"question": QUESTION, "session": self.name})
                except httpx.ConnectError:
                    return  # the door is closed: this question was never taken
                except httpx.HTTPError as error:
                    self.broken.append(repr(error))
                    return
                if reply.status_code != 200:
                    self.broken.append(reply.text)
                    return
                assert reply.json()["answer"]
                self.answered += 1


def told(running: Spawned, message: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in list(running.said) if line.startswith("{")]
    return [line for line in lines if line["message"] == message]


def test_sigterm_under_load_loses_no_turn(settings: dict[str, Any], model: ScriptedServer) -> None:
    with spawned(environment=variables(settings, model)) as running:
        callers = [Caller(running.url, f"caller {n}") for n in range(CALLERS)]
        with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
            at_work = [pool.submit(caller) for caller in callers]
            wait_for(lambda: sum(caller.answered for caller in callers) >= CALLERS, 120)
            running.process.send_signal(signal.SIGTERM)
            for each in at_work:
                each.result()
        code = running.ended()
    assert code == 0
    turns, asked = told(running, "turn"), [line for line in told(running, "request") if line["route"] == "/v1/ask"]
    answered = sum(caller.answered for caller in callers)
    assert len(turns) == len(asked) == answered, [caller.broken for caller in callers]
    assert {line["status"] for line in asked} == {200}
    # A connection that was idle when the door closed may lose a request that the service never saw.
    broken = [said for caller in callers for said in caller.broken]
    assert all("disconnected" in said.lower() or "reset" in said.lower() for said in broken), broken
    with httpx.Client() as http, pytest.raises(httpx.ConnectError):
        http.get(f"{running.url}/healthz")
    from selfright import Selfright

    with Selfright.open(**settings) as selfright:
        assert sum(info.turns for info in selfright.sessions()) == answered


def test_sigterm_lets_a_stream_come_to_its_end(settings: dict[str, Any], model: ScriptedServer) -> None:
    with spawned(environment=variables(settings, model)) as running, http_client(running.url) as http:
        with http.stream("POST", "/v1/ask", json={"question": QUESTION, "stream": True}) as reply:
            lines = reply.iter_lines()
            heard = [next(lines)]
            running.process.send_signal(signal.SIGTERM)
            heard += lines
        code = running.ended()
    assert code == 0
    assert "event: done" in heard


def test_after_kill_9_under_load_sessions_go_on(settings: dict[str, Any], model: ScriptedServer) -> None:
    with spawned(environment=variables(settings, model)) as running:
        callers = [Caller(running.url, f"caller {n}") for n in range(CALLERS)]
        with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
            at_work = [pool.submit(caller) for caller in callers]
            # Each turn is one call of the model: some wait for theirs right now.
            wait_for(
                lambda: (
                    min(caller.answered for caller in callers) >= 1
                    and model.count >= sum(caller.answered for caller in callers) + 2
                ),
                120,
            )
            running.process.send_signal(signal.SIGKILL)
            for each in at_work:
                each.result()
        assert running.ended() == -signal.SIGKILL
    time.sleep(LEASE_S)  # until then nobody knows that it died
    assert all("disconnected" in said or "reset" in said for caller in callers for said in caller.broken)
    with spawned(environment=variables(settings, model)) as again, http_client(again.url) as http:
        kept = {each["session"]: each for each in http.get("/v1/sessions").json()["sessions"]}
        unfinished = 0
        for caller in callers:
            session = kept[caller.name]
            # What was answered is kept; of a turn whose answer was on its way, the end may be kept too.
            assert caller.answered <= session["turns"] <= caller.answered + 1
            unfinished += session["unfinished"]
            if session["unfinished"]:
                assert http.get(f"/v1/sessions/{caller.name}").json()["unfinished"] == QUESTION
            reply = http.post("/v1/ask", json={"question": QUESTION, "session": caller.name})
            assert reply.status_code == 200, reply.text
            now = http.get(f"/v1/sessions/{caller.name}").json()
            assert (now["turns"], now["unfinished"]) == (session["turns"] + 1, None)
        assert unfinished > 0


def test_without_keys_it_listens_for_this_machine_only(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SELFRIGHT_HOME", str(settings["home"]))
    for host in ("0.0.0.0", "::", "example.org"):
        assert main(["serve", "--host", host, "--port", "0", "--index", str(settings["path"])]) == 2
        said = capsys.readouterr().err
        assert "selfright keys add" in said
        assert "Traceback" not in said


def test_a_port_that_is_taken_is_told(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import socket

    settings["home"].mkdir(exist_ok=True)
    monkeypatch.setenv("SELFRIGHT_HOME", str(settings["home"]))
    monkeypatch.setenv("SELFRIGHT_EMBEDDER", "none")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port), "--index", str(settings["path"])]) == 1
    assert "choose another --port" in capsys.readouterr().err


def test_keys_are_added_listed_and_revoked(
    settings: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SELFRIGHT_INDEX", str(settings["path"]))
    assert main(["keys", "list", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == []
    assert "there are no keys" in said.err
    assert main(["keys", "add", "--user", "ana", "--collection", "letters", "--note", "laptop"]) == 0
    said = capsys.readouterr()
    token = said.out.strip()
    assert "no document is in 'letters' yet" in said.err
    assert re.fullmatch(r"sr-[0-9a-f]{10}-[\w-]{43}", token)
    assert main(["keys", "add", "--user", "root", "--admin", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["admin"]
    assert made["key"].startswith("sr-")
    assert main(["keys", "list"]) == 0
    listed = capsys.readouterr().out
    assert "ana\tletters\tvalid" in listed
    assert token not in listed
    key_id = token.split("-")[1]
    assert main(["keys", "revoke", key_id]) == 0
    assert main(["keys", "revoke", key_id]) == 1
    assert "no valid key" in capsys.readouterr().err
    assert main(["keys", "list"]) == 0
    assert "ana\tletters\trevoked" in capsys.readouterr().out


def test_from_nothing_to_a_first_answer_as_the_page_says(tmp_path: Path) -> None:
    """The commands of docs/openai-clients.md but for the installation, run as they stand there."""
    block = re.search(r"<!-- three commands -->\s*```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert block
    install, serve, ask = [command for command in block[1].strip().split("\n") if command]
    assert install.startswith("pip install")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "lighthouse.md").write_text(DOCUMENTS["default"]["lighthouse.md"], encoding="utf-8")
    assert serve.endswith("&")
    program, *arguments = shlex.split(serve.removesuffix("&"))
    assert (program, arguments) == ("selfright", ["serve", "docs/"])
    with spawned(tmp_path / "docs", "--set", "embedder=none") as running:
        python, *rest = shlex.split(ask.replace("http://127.0.0.1:8000", running.url))
        assert python == "python"
        done = subprocess.run(
            [sys.executable, *rest],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
    assert done.returncode == 0, done.stderr
    assert "90 days" in done.stdout
