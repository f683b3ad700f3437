"""A progress bar on stderr; silent where nobody watches."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfright.ingest.pipeline import Progress


@contextmanager
def bar(label: str) -> Iterator["Progress"]:
    """Gives a function ``(done, total, name)`` that moves the bar; without a terminal it does nothing."""
    if not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    counts = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    columns = (TextColumn(label), *counts, TextColumn("{task.fields[name]}"))
    with Bars(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=None, name="")

        def move(done: int, total: int, name: str) -> None:
            progress.update(task, completed=done, total=total, name=name[-40:])

        yield move


def _silent(done: int, total: int, name: str) -> None:
    del done, total, name
