"""An index in a folder that cannot be written, such as that of an image: what only reads goes on, what writes says so.

On a mount that is read-only, where tests may make one; else without the right to write.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from selfright.retrieval.catalogue_file import Connections
from tests.functional.conftest import Cli

QUESTION = "Who is the harbour master?"


@pytest.fixture
def index(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SELFRIGHT_HOME", str(tmp_path / "home"))
    folder = Path(shutil.copytree(indexed, tmp_path / "index"))
    if os.geteuid():
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o500 if path.is_dir() else 0o400)
        yield folder
        for path in (folder, *filter(Path.is_dir, folder.rglob("*"))):
            path.chmod(0o700)
        return
    for options in (["--bind", str(folder)], ["-o", "remount,ro,bind"]):
        if subprocess.run(["mount", *options, str(folder)], capture_output=True, check=False).returncode:
            pytest.skip("this machine mounts nothing read-only")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_reading_goes_on(index: Path, cli: Cli) -> None:
    for words in (("search", "harbour master"), ("ask", QUESTION)):
        done = cli(*words, "--index", index)
        assert (done.code, "Orla Keane" in done.out) == (0, True), done.err
    sound = cli("index", "verify", "--index", index)
    assert (sound.code, sound.out) == (0, "the index is sound\n"), sound.err


def test_writing_says_so(index: Path, cli: Cli) -> None:
    for words in (("remove", "harbour.md"), ("compact",)):
        refused = cli("index", *words, "--index", index)
        assert (refused.code, "cannot be written" in refused.err) == (1, True), refused.err


def test_changes_that_only_the_log_has_are_not_passed_over(
    indexed: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(indexed, tmp_path / "index"))
    (folder / "catalogue.sqlite-wal").write_bytes(b"changes")
    monkeypatch.setattr(Connections, "_reader", lambda _self: None)
    monkeypatch.setattr(os, "access", lambda *_: False)
    done = cli("index", "list", "--index", folder)
    assert done.code == 1
    assert "changes that are not in catalogue.sqlite yet" in done.err
