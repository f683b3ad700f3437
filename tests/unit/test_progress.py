"""Progress where nobody has a terminal: a line every few seconds, and none for what is over at once."""

import time

import pytest

from selfright.entrypoints.progress import bar, progress_line


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
