"""A progress bar on stderr; silent where nobody watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(label: str) -> Iterator[Callable[[int, int, str], None]]:
    """Gives a function ``(done, total, name)`` that moves the bar; without a terminal it does nothing."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, _name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    counts = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    columns = (TextColumn(label), *counts, TextColumn("{task.fields[name]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=None, name="")

        def move(done: int, total: int, name: str) -> None:
            progress.update(task, completed=done, total=total, name=name[-40:])

        yield move
