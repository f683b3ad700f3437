"""A disk without a byte left: what only reads goes on, what writes says so and leaves everything as it was.

On a small file system that is filled, where tests may mount one; else in a process that may write no byte to any file.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from selfright import Selfright
from tests.functional.conftest import Cli, Outcome

QUESTION = "Who is the harbour master?"
_MIB = 2**20


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    mounted = shutil.which("mount") and os.geteuid() == 0
    mount = ["mount", "-t", "tmpfs", "-o", f"size={8 * _MIB}", "tmpfs", str(folder)]
    if not mounted or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system can be mounted by root only")
    try:
        yield folder
    finally:
        subprocess.run(
            ["umount", "--lazy", str(folder)],  # what has mapped its files lets go of it later
            check=True,
        )


@pytest.fixture(params=["full", "forbidden"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Where the index and the home folder are."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if request.param == "full":
        with small_disk(folder):
            yield folder
    else:
        yield folder


@pytest.fixture
def run(disk: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs the command line while nothing can be written there, in a process of its own where that is forbidden."""
    monkeypatch.setenv("SELFRIGHT_HOME", str(disk / "home"))
    monkeypatch.setenv("SELFRIGHT_INDEX", str(disk / "index"))

    def one(*words: str) -> Outcome:
        if os.path.ismount(disk):
            fill(disk)
            return cli(*words)
        # By a shell: what runs between fork and exec here may be at odds with threads that other tests started.
        command = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", str(Path(sys.executable).with_name("selfright")), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return one


def fill(disk: Path) -> None:
    with (disk / "filling").open("ab", buffering=0) as file:
        for size in (_MIB, 4_096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass


_KILLED = """
import os, signal, sys
from selfright import Selfright
from selfright.retrieval.maintenance import ProjectionSync
if sys.argv[1] == "before the search indexes followed":
    ProjectionSync.sync = lambda self: os.kill(os.getpid(), signal.SIGKILL)
selfright = Selfright.open()
selfright.add(sys.argv[2])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def index(disk: Path, run: Cli, indexed: Path) -> Path:
    return Path(shutil.copytree(indexed, disk / "index"))


def test_reading_goes_on(index: Path, run: Cli) -> None:
    for words in (("search", "harbour master"), ("ask", QUESTION)):
        done = run(*words)
        assert (done.code, "Orla Keane" in done.out) == (0, True), done.err
    listed = run("index", "list")
    assert (listed.code, len(listed.out.splitlines())) == (0, 3), listed.err
    sound = run("index", "verify")
    assert (sound.code, sound.out) == (0, "the index is sound\n"), sound.err


def test_writing_says_so_and_changes_nothing(index: Path, disk: Path, run: Cli) -> None:
    for words in (("index", "remove", "harbour.md"), ("ask", QUESTION, "--session", "s")):
        refused = run(*words)
        assert (refused.code, refused.out) == (1, ""), refused.err
        assert refused.err.startswith("selfright: ")
    (disk / "filling").unlink(missing_ok=True)
    with Selfright.open() as selfright:
        assert [finding.problem for finding in selfright.verify()] == []
        assert selfright.remove("harbour.md") == ["harbour.md"]


def test_new_vectors_need_room(index: Path, disk: Path, run: Cli) -> None:
    refused = run("index", "reembed", "--set", "embedder=none")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("selfright: ")
    (disk / "filling").unlink(missing_ok=True)
    with Selfright.open() as selfright:
        assert selfright.verify() == []
        assert "Orla Keane" in selfright.search(QUESTION)[0].passage.text
    with Selfright.open(embedder="none") as selfright:
        assert selfright.reembed().embedder == "none"


@pytest.mark.parametrize("when", ["afterwards", "before the search indexes followed"])
def test_what_a_killed_writer_had_committed_is_found(index: Path, tmp_path: Path, run: Cli, when: str) -> None:
    (tmp_path / "kiln.md").write_text("# Kiln\n\nThe kiln of the pottery is fired with oak.\n")
    killed = subprocess.run([sys.executable, "-c", _KILLED, when, str(tmp_path / "kiln.md")], check=False)
    assert killed.returncode == -signal.SIGKILL
    found = run("search", "harbour master, kiln")
    assert (found.code, "Orla Keane" in found.out) == (0, True), found.err
    if when == "afterwards":  # else it is found only where the search indexes could still follow
        assert "kiln.md" in found.out


def test_what_was_found_before_is_found_when_the_search_index_would_be_made_anew(
    index: Path, tmp_path: Path, run: Cli
) -> None:
    kilns = tmp_path / "kilns"
    kilns.mkdir()
    for number in range(30):
        (kilns / f"{number}.md").write_text(f"# Kiln {number}\n\nKiln {number} of the pottery is fired with oak.\n")
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, "before the search indexes followed", str(kilns)], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    for words in (("search", "harbour master"), ("ask", QUESTION)):
        found = run(*words)
        assert (found.code, "Orla Keane" in found.out) == (0, True), found.err
