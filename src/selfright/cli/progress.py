"""What a terminal is sent: text that cannot steer it, and progress on stderr, one live line that is gone at the end."""

import io
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import ProgressColumn

    from selfright.ingest.pipeline import Progress

_PATIENCE_S = 3.0  # for which nobody wonders whether anything is being done
_LONGEST = 40
_ALL_S = 86_400.0

# All control characters but tabs and line ends, bold, dim and coloured letters. Elsewhere a carriage return lets the
# rest of a line take the place of its beginning.
_CONTROL = re.compile(r"(?!\r\n|\x1b\[(?:[0-2]|3[1-7])m)[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class TerminalText(io.TextIOWrapper):
    """Text without the control characters by which a document could move the cursor, hide what stands there, rename
    the window or fill the clipboard."""

    def write(self, text: str, /) -> int:
        """Writes the rest of ``text``."""
        super().write(_CONTROL.sub("", text))
        return len(text)


@contextmanager
def bar(label: str) -> Iterator["Progress"]:
    """Gives a function ``(done, total, name)`` that says how far the work is, and how long it will take.

    Elsewhere than on a terminal nothing is said.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total, _name: None
        return
    from rich.progress import BarColumn, TaskProgressColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = [BarColumn(20), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn()]
    with _display(*columns) as display:
        task = display.add_task(label, total=None, name="")

        def move(done: int, total: int, name: str) -> None:
            display.update(task, completed=done, total=total or None, name=_shorten(name))

        yield move


@contextmanager
def working(label: str) -> Iterator[Callable[[str], None]]:
    """Gives a function that is told what was done last, of work whose end nobody can foresee.

    A terminal shows it after some seconds; elsewhere nothing is said.
    """
    if not sys.stderr.isatty():
        yield lambda _name: None
        return
    from rich.progress import TimeElapsedColumn

    with _display(TimeElapsedColumn()) as display:
        task = display.add_task(label, total=None, name="", visible=False)
        due = time.monotonic() + _PATIENCE_S
        yield lambda name: display.update(task, name=_shorten(name), visible=time.monotonic() >= due)


def _display(*columns: "ProgressColumn") -> "Display":
    from rich.console import Console
    from rich.progress import Progress as Display
    from rich.progress import TextColumn
    from rich.table import Column

    label = TextColumn("selfright: {task.description}", markup=False)
    name = TextColumn("{task.fields[name]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
    # What is drawn anew moves the cursor, which nothing else may: it goes past ``TerminalText``.
    file = sys.__stderr__ if isinstance(sys.stderr, TerminalText) else sys.stderr
    # Steps may take a minute, so the time left goes by all of them: by the last 30 s there would be none.
    return Display(label, *columns, name, console=Console(file=file), transient=True, speed_estimate_period=_ALL_S)


def _shorten(name: str) -> str:
    """The end of a name, without anything that could steer a terminal."""
    return "".join(filter(str.isprintable, name[-_LONGEST:]))
