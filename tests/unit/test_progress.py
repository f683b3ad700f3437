"""Progress: one live line on a terminal that is gone at the end; elsewhere nothing."""

import os
import pty
import subprocess
import sys
import time

import pytest

from selfright.cli import progress
from selfright.cli.progress import bar, working

SCRIPT = """
import time
from selfright.cli import main as cli
from selfright.cli import progress
progress._PATIENCE_S = 0.0
def main():
    with progress.bar("Indexing") as move:
        for done in range(3):
            move(done, 4, "안내서\\x1b]0;owned\\x07" * 20)
            time.sleep(0.2)
    with progress.working("answering") as tell:
        tell("retrieve: 3 passages")
        time.sleep(0.3)
    return 0
cli.main = main
cli.run()
"""


def test_a_terminal_shows_one_line_that_is_gone_at_the_end() -> None:
    ours, its = pty.openpty()
    environment = {**os.environ, "COLUMNS": "70", "TERM": "xterm"}
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stderr=its, env=environment) as child:
        os.close(its)
        written = b""
        try:
            while part := os.read(ours, 65_536):
                written += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    said = written.decode()
    assert "selfright: Indexing" in said
    assert "50%" in said
    assert "retrieve: 3 passages" in said
    assert "owned\x07" not in said
    assert child.returncode == 0
    # What was drawn is erased: every line that was begun is gone up to and cleared.
    assert said.count("\n") == said.count("\x1b[1A")


def test_elsewhere_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("Indexing") as move:
        move(1, 2, "a.md")
    with working("answering") as tell:
        tell("anything")
        time.sleep(0.01)
    assert capsys.readouterr().err == ""


def test_the_time_left_goes_by_all_steps() -> None:
    """Steps may be a minute apart: rich forgets what is older than 30 s, and then knows nothing."""
    display = progress._display()
    display.get_time = iter((0.0, 0.0, *(60.0 * n for n in range(1, 9)))).__next__
    task = display.add_task("Indexing", total=8, name="")
    for done in (1, 2, 3):
        display.update(task, completed=done)
    (shown,) = display.tasks
    assert shown.speed == pytest.approx(1 / 60)
