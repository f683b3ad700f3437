"""What documents hold does nothing to the terminal it is shown on."""

import io
import os
import pty
import subprocess
import sys

import pytest

from selfright.cli.progress import TerminalText

HOSTILE = {
    "window title": "\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;cm0gLXJm\x1b\\",
    "link": "\x1b]8;;https://bait.example\x1b\\",
    "erased screen": "\x1b[2J\x1b[1;1H",
    "hidden letters": "\x1b[8m",
    "C1": "\x9b2J",
    "backspaces": "a\x08\x08",
    "bell": "\x07\x00\x7f",
    "overwritten line": "Take 5 mg.\rTake 50 mg.",
    "erased line": "Take 5 mg.\r\x1b[KTake 50 mg.",
}


def shown(text: str) -> str:
    behind = io.BytesIO()
    terminal = TerminalText(behind, encoding="utf-8", newline="")
    assert terminal.write(text) == len(text)
    terminal.flush()
    return behind.getvalue().decode()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_a_document_holds_does_nothing(text: str) -> None:
    assert not any(sign in shown(text) for sign in "\x00\x07\x08\r\x1b\x7f\x9b")


@pytest.mark.parametrize("text", ["Tab\tand\nline\r\n", "한글 — “quotes” 👩‍👧", "\x1b[1mbold\x1b[0m \x1b[2m\x1b[36m"])
def test_text_and_our_own_marks_are_shown(text: str) -> None:
    assert shown(text) == text


def test_the_command_line_shows_it_so_and_gives_programs_all() -> None:
    script = "from selfright.cli import main as cli; cli.main = lambda: print('a\\x1b]0;b\\x07c') or 3; cli.run()"
    ours, its = pty.openpty()
    shell = subprocess.run([sys.executable, "-c", script], stdout=its, stderr=subprocess.PIPE, check=False)
    os.close(its)
    assert (os.read(ours, 100), shell.returncode, shell.stderr) == (b"a]0;bc\r\n", 3, b"")
    os.close(ours)
    piped = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert piped.stdout == b"a\x1b]0;b\x07c\n"
