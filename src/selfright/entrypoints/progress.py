"""Progress on stderr: a bar with the time left on a terminal, elsewhere a line every few seconds."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from selfright.ingest.pipeline import Progress

_EVERY_S = 5.0


@contextmanager
def bar(label: str, every: float = _EVERY_S) -> Iterator["Progress"]:
    """Gives a function ``(done, total, name)`` that moves the bar; without a terminal a line comes ``every`` seconds.

    What is over sooner than that says nothing at all.
    """
    if not sys.stderr.isatty():
        with _Lines(label, every) as lines:
            yield lines.move
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    counts = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    columns = (TextColumn(label), *counts, TextColumn("{task.fields[name]}", markup=False))
    with Bars(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=300) as progress:
        task = progress.add_task(label, total=None, name="")

        def move(done: int, total: int, name: str) -> None:
            progress.update(task, completed=done, total=total, name=name[-40:])

        yield move


class _Lines:
    """A line every few seconds, also when nothing moves: one large file takes its time."""

    def __init__(self, label: str, every: float, tell: Callable[[str], None] | None = None) -> None:
        self._label, self._every = label, every
        self._tell = tell or (lambda line: click.echo(line, err=True))
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
    """How far the work is after so many seconds, and how long it will take at that speed."""
    share = done / total if total else 0.0
    shown = f"{100 * share:.1f}" if 0 < share < 0.1 else f"{100 * share:.0f}"
    parts = [f"selfright: {label}: {shown} % after {_span(seconds)}"]
    if 0 < share < 1:
        parts.append(f"about {_span(seconds * (1 - share) / share)} left")
    return ", ".join([*parts, name[-60:]] if name else parts)


def _span(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3_600:.1f} h"
