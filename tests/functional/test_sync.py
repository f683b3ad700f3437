"""``selfright index sync`` as people run it: once, dry, and watching a folder that they edit."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.functional.conftest import Cli

_WORDS = ("--set", "embedder=none")


def folder(root: Path) -> Path:
    root.mkdir()
    (root / "valve.md").write_text("# Valve\n\nThe relief valve opens at seven bar.")
    (root / "pump.md").write_text("# Pump\n\nThe pump is serviced every ninety days.")
    (root / "picture.png").write_bytes(b"\x89PNG")
    return root


def listed(cli: Cli, index: Path) -> list[str]:
    return [row["id"] for row in json.loads(cli("index", "list", "--index", index, "--json").out)]


def test_sync_adds_and_removes(cli: Cli, tmp_path: Path) -> None:
    docs, index = folder(tmp_path / "docs"), tmp_path / "index"
    dry = cli("index", "sync", docs, "--index", index, "--dry-run", *_WORDS)
    assert dry.out.splitlines()[:2] == ["added\tpump.md", "added\tvalve.md"]
    assert "nothing was changed: --dry-run" in dry.out
    assert "picture.png (.png: not a kind that is read)" in dry.err
    assert not index.exists()
    cli("index", "sync", docs, "--index", index, *_WORDS)
    (docs / "old").mkdir()
    (docs / "pump.md").rename(docs / "old" / "pump-1.md")
    (docs / "valve.md").unlink()
    (docs / "hatch.md").write_text("# Hatch\n\nThe hatch is sealed with wax.")
    report = json.loads(cli("index", "sync", docs, "--index", index, *_WORDS, "--json").out)
    assert {name: report[name] for name in ("added", "replaced", "removed", "unchanged")} == {
        "added": 2, "replaced": 0, "removed": 2, "unchanged": 0,
    }  # fmt: skip
    assert listed(cli, index) == ["hatch.md", "old/pump-1.md"]
    found = json.loads(cli("search", "relief valve seven bar", "--index", index, *_WORDS, "--json").out)
    assert "valve.md" not in {hit["document_id"] for hit in found}


def test_add_with_prune_is_the_same(cli: Cli, tmp_path: Path) -> None:
    docs, index = folder(tmp_path / "docs"), tmp_path / "index"
    cli("index", "add", docs, "--index", index, *_WORDS)
    (docs / "pump.md").unlink()
    assert listed(cli, index) == ["pump.md", "valve.md"]
    assert cli("index", "add", docs, "--prune", "--ray", "local", "--index", index).code == 2
    assert "removed 1" in cli("index", "add", docs, "--prune", "--index", index, *_WORDS).out
    assert listed(cli, index) == ["valve.md"]


def test_an_emptied_folder_is_asked_about(cli: Cli, tmp_path: Path) -> None:
    docs, index = folder(tmp_path / "docs"), tmp_path / "index"
    cli("index", "sync", docs, "--index", index, *_WORDS)
    for path in docs.iterdir():
        path.unlink()
    refused = cli("index", "sync", docs, "--index", index, *_WORDS)
    assert (refused.code, "--allow-empty" in refused.err) == (1, True)
    assert len(listed(cli, index)) == 2
    assert "removed 2" in cli("index", "sync", docs, "--index", index, "--allow-empty", *_WORDS).out


def test_watching_follows_edits(cli: Cli, tmp_path: Path) -> None:
    docs, index = folder(tmp_path / "docs"), tmp_path / "index"
    command = [sys.executable, "-m", "selfright", "index", "sync", docs, "--index", index, *_WORDS]
    log = tmp_path / "log"
    with log.open("w") as out:
        watching = subprocess.Popen([*command, "--watch", "--json"], stdout=out)
        try:
            _wait(log, added=2)
            (docs / "valve.md").write_text("# Valve\n\nThe relief valve opens at nine bar.")
            (docs / "pump.md").unlink()
            _wait(log, added=2, replaced=1, removed=1)  # in one pass or two
        finally:
            watching.send_signal(signal.SIGINT)
            assert watching.wait(30) == 0
    assert listed(cli, index) == ["valve.md"]


def _wait(log: Path, **expected: int) -> None:
    """Until all passes together have done so much."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        passes = [json.loads(line) for line in log.read_text().splitlines()]
        if all(sum(done[name] for done in passes) == number for name, number in expected.items()):
            return
        time.sleep(0.05)
    raise AssertionError(f"expected {expected}, but the passes were: {log.read_text()!r}")
