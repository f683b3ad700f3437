"""Counts the files that one ``ask`` and one ``search`` pass: ``python -m benchmarks.path [--write]``.

A command runs as from the shell, with a profile hook in every thread, and each file of the package in which a function
runs is noted. Counted is what stands between the shell and the work: the doors (``cli``), ``api``, ``wiring``, ``flow``,
``telemetry`` and loose modules. Not counted are the nouns (``domain``), and what a node asks for (``roles``,
``retrieval`` and the rooms beside them). With ``--write`` the lists go into ``docs/architecture.md``.
"""

import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from types import FrameType
from typing import Any

import selfright

PACKAGE = Path(selfright.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
MOST = {"ask": 20, "search": 8}
WORK = ("domain", "roles", "retrieval", "models", "llm", "web", "memory", "storage", "ingest", "visibility")
"""Rooms that are not counted for ``ask``; of ``search``, which has no roles, ``retrieval`` is counted."""


def files_run(work: Callable[[], object]) -> list[str]:
    """The files of the package in which a function runs during ``work``, in the order of their first call."""
    ran: dict[str, None] = {}

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            ran.setdefault(frame.f_code.co_filename)

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    inside = (Path(name) for name in ran if Path(name).is_relative_to(PACKAGE))
    return [PurePosixPath(path.relative_to(PACKAGE)).as_posix() for path in inside]


def counted(command: str, files: list[str]) -> list[str]:
    """The files of a command's path."""
    work = [room for room in WORK if room != "retrieval"] if command == "search" else WORK
    return [name for name in files if name.split("/")[0] not in work]


def measure(command: str, index: Path) -> list[str]:
    """The path of one command over ``index``."""
    from selfright.cli.main import cli

    def run() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            cli.main([command, "How do I install the tool?", "--index", str(index)], standalone_mode=False)

    return counted(command, files_run(run))


@contextlib.contextmanager
def an_index() -> Iterator[Path]:
    """A small index, removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "install.md")
        page.write_text("# Install\n\nRun the installer to install the tool.\n", encoding="utf-8")
        with selfright.Selfright.open(Path(folder, "index")) as opened:
            opened.add([page])
        yield Path(folder, "index")


def main() -> None:
    """Prints both lists."""
    with an_index() as index:
        for command, most in MOST.items():
            files = measure(command, index)
            print(f"{command}: {len(files)} files (at most {most})")
            print("\n".join(f"{number:4}. {name}" for number, name in enumerate(files, start=1)))


if __name__ == "__main__":
    main()
