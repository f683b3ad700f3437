"""The import contracts hold, and each of them breaks when its rule is broken."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from selfright.flow.walk import NODES

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]

# One breach per contract, in the order of the contracts.
PLANTED = {
    "memory/bad.py": "from selfright.llm import bad",
    "llm/bad.py": "",
    "domain/bad.py": "import pydantic",
    "flow/bad.py": "import langgraph.graph",
    "ingest/bad.py": "import langchain_core",
    "retrieval/bad.py": "import click",
    "ui/bad.py": "from selfright.domain import errors",
    "flow/nodes/bad_one.py": "from selfright.flow import bad_table",
    "flow/bad_table.py": "",
    "flow/nodes/bad_two.py": "from selfright.flow.nodes import bad_one",
    "wiring/bad.py": "from selfright_medical import bad",
    "../selfright_medical/bad.py": "from selfright.roles import bad_one",
    "roles/bad_one.py": "from selfright.roles import bad_two",
    "roles/bad_two.py": "from selfright.roles import bad_one",
}


def lint(source: Path) -> str:
    """The report of import-linter on the package in ``source``."""
    command = [
        str(Path(sys.executable).with_name("lint-imports")),
        "--config",
        str(ROOT / "pyproject.toml"),
        "--no-cache",
    ]
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONIOENCODING": "utf-8", "COLUMNS": "200"}
    return subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False).stdout


def plant(source: Path, path: str, text: str) -> None:
    place = source / "selfright" / path
    for folder in [place.parent, *place.parent.parents]:
        if folder == source:
            break
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
    place.write_text(text + "\n", encoding="utf-8")


def test_imports_go_down() -> None:
    report = lint(ROOT / "src")
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken." in report, report


def test_no_node_calls_another() -> None:
    paths = (ROOT / "src" / "selfright" / "flow" / "nodes").glob("*.py")
    inside = [one for path in paths for one in ast.walk(ast.parse(path.read_text("utf-8")))]
    assert set(NODES) <= {one.name for one in inside if isinstance(one, ast.AsyncFunctionDef)}
    called = {getattr(one.func, "id", "") for one in inside if isinstance(one, ast.Call)}
    assert not called & set(NODES)


@pytest.fixture(scope="module")
def broken_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    source = tmp_path_factory.mktemp("src")
    shutil.copytree(ROOT / "src" / "selfright" / "domain", source / "selfright" / "domain")
    for path, text in PLANTED.items():
        plant(source, path, text)
    return lint(source)


@pytest.mark.parametrize("name", [contract["name"] for contract in CONTRACTS])
def test_each_contract_bites(broken_report: str, name: str) -> None:
    assert f"{name} BROKEN" in broken_report, broken_report


def test_a_module_without_a_layer_is_refused(tmp_path: Path) -> None:
    plant(tmp_path, "domain/nouns.py", "")
    plant(tmp_path, "stray.py", "")
    assert "selfright.stray" in lint(tmp_path)
