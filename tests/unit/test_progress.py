"""Progress: a line that is drawn anew on a terminal; elsewhere one every few seconds, none for what is over at once."""

import re
import sys
import time

import pytest

from selfright.entrypoints import progress
from selfright.entrypoints.progress import bar, progress_line, working


@pytest.mark.parametrize(
    ("done", "seconds", "expected"),
    [
        (0, 5.0, "selfright: Indexing: 0 % after 5 s, a.pdf"),
        (2, 60.0, "selfright: Indexing: 2.0 % after 60 s, about 49 min left, a.pdf"),
        (25, 60.0, "selfright: Indexing: 25 % after 60 s, about 3 min left, a.pdf"),
        (50, 7_000.0, "selfright: Indexing: 50 % after 1.9 h, about 1.9 h left, a.pdf"),
        (100, 59.0, "selfright: Indexing: 100 % after 59 s, a.pdf"),
    ],
)
def test_a_line_says_how_far_and_how_long(done: int, seconds: float, expected: str) -> None:
    assert progress_line("Indexing", done, 100, "a.pdf", seconds) == expected


def test_no_time_is_foreseen_from_next_to_nothing() -> None:
    line = progress_line("Indexing", 1, 100_000, "a.pdf", 37.0)
    assert line == "selfright: Indexing: 0.0 % after 37 s, a.pdf"


def test_lines_come_while_one_file_takes_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("Indexing", every=0.02) as move:
        move(1, 2, "large.json")
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("selfright: Indexing: 50 % after ") and "large.json" in line for line in lines)
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_what_is_over_at_once_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("Indexing") as move:
        move(1, 1, "small.md")
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_one_line_that_fits_and_is_erased(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress, "_REDRAWN_S", 0.02)
    monkeypatch.setenv("COLUMNS", "60")
    with bar("Indexing") as move:
        move(1, 4, "안내서.md" * 10)
        time.sleep(0.2)
    written = capsys.readouterr().err
    assert "\n" not in written
    drawn = re.split(r"\r\x1b\[K", written)
    assert len(drawn) >= 3
    assert drawn[0] == drawn[-1] == ""
    for line in drawn[1:-1]:
        assert line.startswith("selfright: Indexing: 25 % after ")
        assert len(line) + sum("가" <= character <= "힣" for character in line) <= 59


def test_a_terminal_shows_what_a_long_turn_did_last_and_a_pipe_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_REDRAWN_S", 0.02)
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    for is_terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda shown=is_terminal: shown)
        with working("answering") as tell:
            time.sleep(0.1)
            tell("retrieve: 3 passages")
            time.sleep(0.1)
        written = capsys.readouterr().err
        lines = [line for line in written.split("\r\x1b[K") if line]
        said = {"selfright: answering for 0 s", "selfright: answering for 0 s; retrieve: 3 passages"}
        assert set(lines) == (said if is_terminal else set())
        assert written.endswith("\r\x1b[K") == is_terminal


def test_work_that_is_soon_over_is_not_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_REDRAWN_S", 0.01)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with working("answering"):
        time.sleep(0.05)
    assert not capsys.readouterr().err.replace("\r\x1b[K", "")
