"""``selfright serve --workers``: several processes behind one address."""

import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.service import QUESTION, Spawned, http_client, spawned, write_index
from tests.support.waiting import wait_for

if sys.platform != "linux":
    pytest.skip("workers are looked up in /proc", allow_module_level=True)

_PATIENCE_S = 60.0


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    settings = write_index(tmp_path)
    return {
        "SELFRIGHT_INDEX": str(settings["path"]),
        "SELFRIGHT_HOME": str(settings["home"]),
        "SELFRIGHT_EMBEDDER": "none",
        "SELFRIGHT_PRESET": "basic",
    }


def workers_of(running: Spawned) -> set[int]:
    """Those that have begun to serve, as each says in its log, and still run."""
    said = (re.search(r'"worker ready".*"pid": (\d+)', line) for line in list(running.said))
    return {int(found[1]) for found in said if found and Path(f"/proc/{found[1]}").exists()}


def ask(url: str, session: str = "") -> dict[str, Any]:
    """On a connection of its own, so that any worker may take it."""
    with http_client(url) as http:
        reply = http.post("/v1/ask", json={"question": QUESTION, **({"session": session} if session else {})})
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def ended(pids: set[int]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_workers_share_index_sessions_and_metrics_and_end_when_their_parent_is_killed(
    environment: dict[str, str],
) -> None:
    with spawned("--workers", 2, environment=environment) as running:
        wait_for(lambda: len(workers_of(running)) == 2)
        assert sum("no API keys in" in line and environment["SELFRIGHT_HOME"] in line for line in running.said) == 1
        answers = {ask(running.url, "shared")["answer"] for _ in range(8)}
        assert len(answers) == 1
        with http_client(running.url) as http:
            history = http.get("/v1/sessions/shared").json()
            assert history["turns"] == 8
            # What one worker takes in, all of them find.
            text = b"The osprey of the lighthouse is called Ferdinand."
            done = http.post("/v1/documents", files={"files": ("osprey.md", text, "text/markdown")})
            assert done.status_code == 200, done.text
        for _ in range(8):
            with http_client(running.url) as http:
                hits = http.post("/v1/search", json={"query": "What is the osprey called?"}).json()
                assert any("Ferdinand" in hit["text"] for hit in hits["hits"])
                metrics = http.get("/metrics").text
                counted = re.search(r'selfright_turns_total{preset="basic",stop_reason="basic"} (\S+)', metrics)
                assert counted is not None
                assert float(counted[1]) == 8.0
        workers = workers_of(running)
        assert len(workers) == 2
        running.process.kill()
        wait_for(lambda: ended(workers))


def test_a_worker_that_dies_is_replaced_and_sigterm_ends_all_of_them(environment: dict[str, str]) -> None:
    with spawned("--workers", 2, environment=environment) as running:
        wait_for(lambda: len(workers_of(running)) == 2)
        before = workers_of(running)
        os.kill(min(before), signal.SIGKILL)
        wait_for(lambda: len(workers_of(running)) == 2 and workers_of(running) != before)
        for _ in range(6):
            assert ask(running.url)["answer"]
        workers = workers_of(running)
        running.process.terminate()
        assert running.process.wait(_PATIENCE_S) == 0
        wait_for(lambda: ended(workers))


def test_workers_that_cannot_start_are_not_started_again(environment: dict[str, str]) -> None:
    broken = {**environment, "SELFRIGHT_LLM": "nobody:nothing"}
    with pytest.raises(AssertionError, match="nobody"), spawned("--workers", 2, environment=broken):
        pass
