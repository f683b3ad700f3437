"""The page in a browser: opened, asked, and watched for requests that leave this machine."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

WAIT_MS = 60_000
_START_S = 240.0
# What Streamlit's front end logs on its own account when a frame is shown.
_HARMLESS = re.compile(r"Unrecognized feature|allow-scripts|sandboxed")


@dataclass
class Visit:
    """A browser tab with the page in it; ``strange`` are requests elsewhere and errors that the page had."""

    page: "Page"
    strange: list[str] = field(default_factory=list)
    turns: int = 0

    def ask(self, question: str) -> "Locator":
        """Asks, waits until the turn is over, and gives back its answer's section."""
        box = self.page.get_by_test_id("stChatInput").locator("textarea")
        box.fill(question)
        box.press("Enter")
        answer = self.answer(self.turns)
        answer.wait_for(timeout=WAIT_MS)
        self.turns += 1
        return answer

    def answer(self, turn: int) -> "Locator":
        """The section of a turn that is over, by its place in the conversation."""
        return self.page.locator("section.selfright:not(.live)").nth(turn)

    def go(self, name: str) -> None:
        """Opens another page by its link."""
        self.page.get_by_role("link", name=name).first.click()
        title = "Selfright" if name == "Chat" else name
        self.page.get_by_role("heading", name=title, level=1).wait_for(timeout=WAIT_MS)


def desktop(browser: "Browser", **options: Any) -> "BrowserContext":
    """A browser of its own, with a cache that its tabs share."""
    return browser.new_context(**{"locale": "en-GB", "viewport": {"width": 1280, "height": 900}, **options})


@contextmanager
def visiting(context: "BrowserContext", url: str) -> Iterator[Visit]:
    """A new tab on the page, once it is ready; fails when it asked for anything outside of this machine."""
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    visit = Visit(page)
    page.on("request", lambda request: _look(visit, request.url))
    page.on("pageerror", lambda error: visit.strange.append(str(error)))
    page.on("console", lambda said: _hear(visit, said.type, said.text))
    page.goto(url)
    page.get_by_test_id("stChatInput").wait_for()
    try:
        yield visit
    finally:
        page.close()
    assert visit.strange == []


def _look(visit: Visit, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("data", "blob", "about") and parts.hostname != "127.0.0.1":
        visit.strange.append(url)


def _hear(visit: Visit, kind: str, said: str) -> None:
    if kind == "error" and not _HARMLESS.search(said):
        visit.strange.append(said)


@dataclass
class Started:
    """``selfright ui`` as a process; ``url`` is the page's, ``said`` what it wrote on standard error."""

    process: "subprocess.Popen[str]"
    url: str = ""
    said: list[str] = field(default_factory=list)

    def end(self) -> int:
        """The exit code after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@contextmanager
def started(*arguments: object, environment: Mapping[str, str]) -> Iterator[Started]:
    """``selfright ui`` with these arguments, once its page can be opened."""
    process = subprocess.Popen(
        [sys.executable, "-m", "selfright", "ui", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    running, listening = Started(process), threading.Event()
    reader = threading.Thread(target=_read, args=(running, listening), daemon=True)
    reader.start()
    try:
        listening.wait(_START_S)
        assert running.url, "\n".join(running.said)
        yield running
    finally:
        process.kill()
        process.wait()
        reader.join(10)
        if process.stderr is not None:
            process.stderr.close()


def _read(running: Started, listening: threading.Event) -> None:
    assert running.process.stderr is not None
    for line in running.process.stderr:
        running.said.append(line.rstrip())
        if found := re.search(r"page is at (http://\S+?);", line):
            running.url = found[1]
            listening.set()
    listening.set()
