"""Progress on stderr, with the time left: one line on a terminal, elsewhere a line every few seconds."""

import shutil
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from selfright.ingest.pipeline import Progress

_EVERY_S = 5.0
_REDRAWN_S = 0.2
_PATIENCE_S = 3.0  # for which nobody wonders whether anything is being done
_LEAST_SHARE = 0.01  # of the work, to foresee the rest by: the first file also waits for what is loaded
_ERASE = "\r\x1b[K"  # to the beginning of the line, and erase it

_Line = Callable[[str, int, int, str, float], str]
"""What a line says: the label, how much is done of how much, the name of what is worked on, and the seconds."""


@contextmanager
def bar(label: str, every: float = _EVERY_S) -> Iterator["Progress"]:
    """Gives a function ``(done, total, name)`` that says how far the work is.

    A terminal shows it in one line, which is erased at the end. Elsewhere a line comes ``every`` seconds; what is over
    sooner than that says nothing at all.
    """
    if not sys.stderr.isatty():
        with _Lines(label, every, lambda line: click.echo(line, err=True), progress_line) as lines:
            yield lines.move
        return
    with _drawn(label, progress_line) as lines:
        yield lines.move


@contextmanager
def working(label: str) -> Iterator[Callable[[str], None]]:
    """Gives a function that is told what was done last, of work whose end nobody can foresee.

    A terminal shows it in one line after some seconds, which is erased at the end; elsewhere nothing is said.
    """
    if not sys.stderr.isatty():
        yield lambda _name: None
        return
    with _drawn(label, _working_line) as lines:
        yield lambda name: lines.move(0, 0, name)


@contextmanager
def _drawn(label: str, line: _Line) -> Iterator["_Lines"]:
    try:
        with _Lines(label, _REDRAWN_S, _redraw, line) as lines:
            yield lines
    finally:
        click.echo(_ERASE, err=True, nl=False)


def _working_line(label: str, _done: int, _total: int, name: str, seconds: float) -> str:
    return f"selfright: {label} for {_span(seconds)}; {name}".rstrip("; ") if seconds >= _PATIENCE_S else ""


def _redraw(line: str) -> None:
    columns = shutil.get_terminal_size().columns
    click.echo(_ERASE + _cut(line, columns - 1), err=True, nl=False)


def _cut(line: str, columns: int) -> str:
    """As much of the line as fits; Hangul takes two columns."""
    taken = 0
    for place, character in enumerate(line):
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if taken > columns:
            return line[:place]
    return line


class _Lines:
    """A line every few seconds, also when nothing moves: one large file takes its time."""

    def __init__(self, label: str, every: float, tell: Callable[[str], None], line: _Line) -> None:
        self._label, self._every, self._tell, self._line = label, every, tell, line
        self._begun = time.monotonic()
        self._last: tuple[int, int, str] = 0, 0, ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="selfright-progress", daemon=True)

    def __enter__(self) -> "_Lines":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def move(self, done: int, total: int, name: str) -> None:
        """Told how far the work is."""
        self._last = done, total, name

    def _run(self) -> None:
        while not self._over.wait(self._every):
            if line := self._line(self._label, *self._last, time.monotonic() - self._begun):
                self._tell(line)


def progress_line(label: str, done: int, total: int, name: str, seconds: float) -> str:
    """How far the work is after so many seconds, and from a hundredth of it on how long it will take at that speed."""
    share = done / total if total else 0.0
    shown = f"{100 * share:.1f}" if 0 < share < 0.1 else f"{100 * share:.0f}"
    parts = [f"selfright: {label}: {shown} % after {_span(seconds)}"]
    if _LEAST_SHARE <= share < 1:
        parts.append(f"about {_span(seconds * (1 - share) / share)} left")
    return ", ".join([*parts, name[-60:]] if name else parts)


def _span(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3_600:.1f} h"
