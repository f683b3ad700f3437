"""The code that the documentation names exists, and the path of a call that it describes is the one a call takes."""

import inspect
import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from types import FrameType
from typing import Any

import pytest

from scripts.check_house import files
from selfright import Selfright
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
LISTED = re.compile(r"^\d+\. `([\w/]+\.py)`", re.MULTILINE)


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


def section(heading: str) -> str:
    return ARCHITECTURE.read_text(encoding="utf-8").split(f"\n## {heading}", 1)[1].split("\n## ", 1)[0]


def run_through(call: Callable[[], Any]) -> set[str]:
    """The files whose functions a call runs, on whichever thread; code of modules and classes does not count."""
    ran: set[str] = set()
    on = True

    def heard(frame: FrameType, event: str, _argument: object) -> None:
        if on and event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            ran.add(frame.f_code.co_filename)

    before = sys.getprofile()
    threading.setprofile(heard)
    sys.setprofile(heard)
    try:
        call()
    finally:
        on = False
        sys.setprofile(before)
        threading.setprofile(None)
    return {PurePosixPath(name).relative_to(PACKAGE).as_posix() for name in ran if Path(name).is_relative_to(PACKAGE)}


@pytest.fixture
def an_index(tmp_path: Path) -> Path:
    (tmp_path / "install.md").write_text("# Install\n\nRun the installer to install the tool.\n", encoding="utf-8")
    with Selfright.open(tmp_path / "index") as selfright:
        selfright.add([tmp_path / "install.md"])
    return tmp_path / "index"


def test_an_ask_takes_the_path_that_is_described(an_index: Path) -> None:
    page = section("One `ask`")
    with Selfright.open(an_index) as selfright:
        ran = run_through(lambda: selfright.ask("How do I install the tool?"))
    assert not set(LISTED.findall(page)) - ran
    assert len(LISTED.findall(page)) <= 20
    before_roles = {name for name in ran if name.startswith(("api/", "background.py", "wiring/", "flow/"))}
    assert not {name for name in before_roles if f"`{name}`" not in page}
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(FULL.edges)


def test_a_search_takes_the_path_that_is_described(an_index: Path) -> None:
    with Selfright.open(an_index) as selfright:
        ran = run_through(lambda: selfright.search("How do I install the tool?"))
    described = LISTED.findall(section("One `search`"))
    assert described
    assert not set(described) - ran
