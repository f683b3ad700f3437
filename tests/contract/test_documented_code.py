"""The code that the documentation names exists, and the path of a call that it describes is the one a call takes."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from benchmarks import path as command_path
from scripts.check_house import files
from selfright.flow.presets import FULL

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "selfright"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
PLACES = ("README.md", "README.ko.md", "CONTRIBUTING.md", "docs", "training", "benchmarks", "deploy")
DOTTED = re.compile(r"\bselfright((?:\.\w+)+)")
IMPORTED = re.compile(r"\bfrom selfright((?:\.\w+)+) import (?:\(([^)]*)\)|([\w, ]+))")
MODULE_RUN = re.compile(r"-m ((?:benchmarks|training)(?:\.\w+)*)")
CODE_FILE = re.compile(r"(?<![\w*{}<>/-])((?:\w[\w-]*/)*\w[\w-]*\.py)\b")
FOLDER = re.compile(r"`([\w/-]+/)`")


def texts(*suffixes: str) -> Iterator[tuple[PurePosixPath, str]]:
    for path in files(ROOT):
        if path.suffix in suffixes and path.parts[0] in PLACES:
            yield path, (ROOT / path).read_text(encoding="utf-8")


def is_known(dotted: str) -> bool:
    """Whether a module holds it; what begins with no folder of the package is an object of that name, or a file."""
    place, *rest = PACKAGE, *dotted.strip(".").split(".")
    if not ((PACKAGE / rest[0]).is_dir() or (PACKAGE / f"{rest[0]}.py").is_file()):
        return True
    while rest and (place / rest[0]).is_dir():
        place /= rest.pop(0)
    if not rest:
        return True
    module = place / f"{rest[0]}.py"
    return module.is_file() and (len(rest) == 1 or bool(re.search(rf"\b{rest[1]}\b", module.read_text("utf-8"))))


def names_in(text: str) -> Iterator[str]:
    """Dotted names below ``selfright``, those of imports with what they import."""
    yield from DOTTED.findall(text)
    for module, *imported in IMPORTED.findall(text):
        yield from (f"{module}.{name}" for name in re.findall(r"(?<!as )\b(?!as\b)\w+", "".join(imported)))


def test_modules_that_are_named_exist() -> None:
    found = [(path, name) for path, text in texts(".md", ".py", ".toml", ".yaml") for name in names_in(text)]
    assert found
    assert not [f"{path}: selfright{name}" for path, name in found if not is_known(name)]


def test_files_and_commands_that_pages_name_exist() -> None:
    known = [f"/{path}" for path in files(ROOT)]
    found = []
    for page, text in texts(".md"):
        runs = (name.replace(".", "/") for name in MODULE_RUN.findall(text))
        names = [*CODE_FILE.findall(text), *(run if (ROOT / run).is_dir() else f"{run}.py" for run in runs)]
        found += [(page, name) for name in names if not (ROOT / name).is_dir()]
    assert found
    assert not [f"{page}: {name}" for page, name in found if not any(path.endswith(f"/{name}") for path in known)]


def test_folders_that_pages_on_the_code_name_exist() -> None:
    folders = {f"/{parent}/" for path in files(ROOT) for parent in path.parents}
    for page in (ARCHITECTURE, ROOT / "CONTRIBUTING.md"):
        names = FOLDER.findall(page.read_text(encoding="utf-8"))
        assert names
        assert not [name for name in names if not any(folder.endswith(f"/{name}") for folder in folders)]


@pytest.mark.parametrize("command", command_path.MOST)
def test_a_command_passes_the_files_that_the_page_lists(command: str) -> None:
    """The number of all files in which anything runs differs with what is installed, so it is not compared."""
    page = ARCHITECTURE.read_text(encoding="utf-8")
    with command_path.an_index() as index:
        files, ran = command_path.measure(command, index)
    assert len(files) <= command_path.MOST[command]
    listed = command_path.embedded(page, command, command_path.rendered(command, files, ran))
    number = re.compile(r"code runs in \d+")
    assert number.sub("", page) == number.sub("", listed)


def test_the_page_names_what_each_node_asks() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", ARCHITECTURE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(FULL.edges) <= set(rows)
