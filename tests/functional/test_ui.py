"""``selfright ui`` up to the point where a browser is needed, and its process."""

import importlib.util
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from selfright.cli.commands import ui as pages
from selfright.cli.commands.ui import PageEnded, PageProcess
from tests.functional.conftest import Cli


def test_a_missing_package_is_named_with_the_extra(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "streamlit" else there(name))
    outcome = cli("ui")
    assert outcome.code == 1
    assert 'pip install "selfright[ui]"' in outcome.err


def test_a_service_that_runs_already_takes_no_settings(cli: Cli) -> None:
    outcome = cli("ui", "--service", "http://127.0.0.1:1", "--preset", "full")
    assert outcome.code == 2
    assert "--service" in outcome.err


def test_a_taken_port_is_told_before_anything_starts(cli: Cli, indexed: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        outcome = cli("ui", "--index", indexed, "--port", taken.getsockname()[1])
    assert outcome.code == 1
    assert "choose another --port" in outcome.err


def test_a_page_that_ends_by_itself_ends_the_service_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_MODULE", "selfright.ui.words_that_are_not_there")
    ended = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: ended.set())
    page = PageProcess(0, None, lambda _: None)
    try:
        page.start("http://127.0.0.1:1")
        assert ended.wait(30)
        with pytest.raises(PageEnded, match="exit code 1"):
            page.end()
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(importlib.util.find_spec("streamlit") is None, reason="streamlit is not installed")
def test_the_page_ends_when_whoever_started_it_is_killed() -> None:
    port = str(pages.free_port())
    page = subprocess.Popen(
        [sys.executable, "-m", "selfright.ui", port], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        assert page.stdin is not None
        page.stdin.close()
        assert page.wait(60) in (0, -signal.SIGTERM)
    finally:
        page.kill()
        page.wait()
