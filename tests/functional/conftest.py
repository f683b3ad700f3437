"""The command line, run in this process as the installed script runs it; and a small index to ask."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from selfright.cli.main import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]

DOCUMENTS = {
    "lighthouse.md": "# Lighthouse\n\n## Lamp\n\nThe lamp of the Dunmore lighthouse is changed every 90 days. "
    "The keeper signs the log after each change.\n\n## Fog horn\n\nThe fog horn sounds twice a minute.\n",
    "harbour.md": "# Harbour\n\nThe harbour master of Dunmore is Orla Keane. Mooring costs 12 euros a night. "
    "Boats over 20 metres anchor outside.\n",
    "ko/등대.md": "# 등대\n\n## 등\n\n던모어 등대의 등은 90일마다 교체합니다. "
    "등대지기는 교체할 때마다 일지에 서명합니다.\n\n"
    "## 무적\n\n무적은 1분에 두 번 울립니다.\n",
}


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def run(*arguments: object) -> Outcome:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for name, text in DOCUMENTS.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def indexed(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index over the documents; tests that change an index make their own."""
    place = tmp_path_factory.mktemp("indexed") / "index"
    assert main(["index", "add", str(documents), "--index", str(place)]) == 0
    return place


@pytest.fixture
def own_index(cli: Cli, documents: Path, tmp_path: Path) -> Path:
    """An index of words for one test, which may change it."""
    place = tmp_path / "index"
    assert cli("index", "add", documents, "--index", place, "--set", "embedder=none").code == 0
    return place
