"""The files that one ``ask`` and one ``search`` pass: ``python -m benchmarks.path [--write]``.

A command runs as from the shell, with a profile hook in every thread. ``ask`` passes a file if a function of it is on
the call stack when a node asks a role; ``search`` if one is when the search makes a ranking or reads a passage. What is
built on the way (settings, the index, the roles) has returned by then; the second number counts that, too: all files of
the doors, ``api``, ``wiring``, ``flow`` and ``telemetry`` in which anything runs. With ``--write`` the lists go into
``docs/architecture.md``.
"""

import contextlib
import io
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import FrameType
from typing import Any

import selfright

PACKAGE = Path(selfright.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
MOST = {"ask": 20, "search": 8}
GOALS = {"ask": ("roles/",), "search": ("retrieval/lexical.py", "retrieval/dense.py", "retrieval/catalogue.py")}
"""Where a command's path ends."""
THROUGH = {"ask": "flow/nodes/", "search": "retrieval/search_request.py"}
"""What has to be on the stack there: opening an index also reads its parts."""
_WAY = ("cli", "api", "wiring", "flow", "retrieval")
_ALL = ("cli", "api", "wiring", "flow", "telemetry")


class Walker:
    """Notes the files in which a function runs, and those on the stack above the ``goals``."""

    def __init__(self, goals: tuple[str, ...], through: str) -> None:
        self._goals, self._through = goals, through
        self._main = threading.main_thread().ident or 0
        self.passed: dict[str, None] = {}
        self.ran: dict[str, None] = {}

    def note(self, frame: FrameType, event: str, _argument: Any) -> None:
        """The profile hook."""
        name = _place(frame)
        if event != "call" or not name or frame.f_code.co_name in ("<module>", "__init__"):
            return
        self.ran.setdefault(name)
        if name.startswith((*self._goals, self._through)):
            above = list(_above(frame))
            if any(place.startswith(self._through) for place in above):
                waiting = _above(sys._current_frames().get(self._main))  # the command, for the loop's thread
                self.passed.update(dict.fromkeys(reversed([*above, *waiting])))


def _above(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        name = _place(frame)
        if name.split("/")[0] in _WAY or name == "background.py":
            yield name
        frame = frame.f_back


def _place(frame: FrameType) -> str:
    path = Path(frame.f_code.co_filename)
    return PurePosixPath(path.relative_to(PACKAGE)).as_posix() if path.is_relative_to(PACKAGE) else ""


def measure(command: str, index: Path) -> tuple[list[str], int]:
    """The files that a command over ``index`` passes, and how many run at all."""
    from selfright.cli.main import main

    walker = Walker(GOALS[command], THROUGH[command])
    before = sys.getprofile()
    threading.setprofile(walker.note)
    sys.setprofile(walker.note)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main([command, "How do I install the tool?", "--index", str(index)])
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    passed = [name for name in walker.passed if not name.startswith(GOALS[command])]
    return passed, sum(name.split("/")[0] in _ALL for name in walker.ran)


@contextlib.contextmanager
def an_index() -> Iterator[Path]:
    """A small index, removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "install.md")
        page.write_text("# Install\n\nRun the installer to install the tool.\n", encoding="utf-8")
        with selfright.Selfright.open(Path(folder, "index")) as opened:
            opened.add([page])
        yield Path(folder, "index")


def rendered(command: str, files: list[str], ran: int) -> str:
    """The list as it stands in the page."""
    head = f"`{command}`: {len(files)} files are on the call path (limit {MOST[command]}); code runs in {ran}.\n\n"
    return head + "\n".join(f"{number}. `{name}`" for number, name in enumerate(files, start=1)) + "\n"


def embedded(page: str, command: str, text: str) -> str:
    """The page with the list of a command between its marks."""
    marks = f"<!-- path of {command} -->\n", "<!-- end -->"
    pattern = re.escape(marks[0]) + r".*?" + re.escape(marks[1])
    return re.sub(pattern, lambda _: marks[0] + text + marks[1], page, flags=re.DOTALL)


def main() -> None:
    """Prints both lists, and writes them where that is asked for."""
    page = PAGE.read_text(encoding="utf-8")
    with an_index() as index:
        for command in MOST:
            text = rendered(command, *measure(command, index))
            print(text)
            page = embedded(page, command, text)
    if "--write" in sys.argv:
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
