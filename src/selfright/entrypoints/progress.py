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
_LEAST_SHARE = 0.01  # of the work, to foresee the rest by: the first file also waits for what is loaded
_ERASE = "\r\x1b[K"  # to the beginning of the line, and erase it


@contextmanager
def bar(label: str, every: float = _EVERY_S) -> Iterator["Progress"]:
    """Gives a function ``(done, total, name)`` that says how far the work is.

    A terminal shows it in one line, which is erased at the end. Elsewhere a line comes ``every`` seconds; what is over
    sooner than that says nothing at all.
    """
    if not sys.stderr.isatty():
        with _Lines(label, every, lambda line: click.echo(line, err=True)) as lines:
            yield lines.move
        return
    try:
        with _Lines(label, _REDRAWN_S, _redraw) as lines:
            yield lines.move
    finally:
        click.echo(_ERASE, err=True, nl=False)


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

    def __init__(self, label: str, every: float, tell: Callable[[str], None]) -> None:
        self._label, self._every, self._tell = label, every, tell
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
            self._tell(progress_line(self._label, *self._last, seconds=time.monotonic() - self._begun))


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
