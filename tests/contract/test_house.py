"""Each house rule fires on a small tree that breaks it; that they hold on this one, ``make check`` finds out."""

from pathlib import Path

import pytest

from scripts.check_house import breaches, main

# Joined here so that this file does not hold what the rule looks for.
REGISTRY = "https://" + "pypi" + ".org/simple"
PERSONAL = "/" + "home/ada/notes.md"

BAD = {
    "a long module": ("src/selfright/flow/long.py", "x = 1\n" * 301, "module of 301 lines"),
    "a long function": ("src/selfright/flow/a.py", "def f():\n" + "    x = 1\n" * 60, "'f' has 61 lines"),
    "pickle": ("src/selfright/memory/a.py", "import pickle\n", "imports pickle"),
    "pickle in numpy": ("src/selfright/memory/a.py", "np.load(p, allow_pickle=True)\n", "sets allow_pickle"),
    "eval": ("benchmarks/a.py", "eval('1')\n", "calls eval()"),
    "exec": ("scripts/a.py", "exec('1')\n", "calls exec()"),
    "a swallowed error": (
        "src/selfright/web/a.py",
        "try:\n    f()\nexcept Exception:\n    pass\n",
        "swallows Exception",
    ),
    "a bare except": ("src/selfright/web/a.py", "try:\n    f()\nexcept:\n    ...\n", "swallows everything"),
    "a hidden extra": (
        "src/selfright/a.py",
        "try:\n    import x\nexcept (ImportError, OSError):\n    pass\n",
        "ImportError",
    ),
    "a suppressed error": (
        "src/selfright/a.py",
        "with contextlib.suppress(Exception):\n    f()\n",
        "suppresses Exception",
    ),
    "code in a package": ("src/selfright/web/__init__.py", '"""Web."""\nfrom a import b\n', "code in __init__.py"),
    "code in the root": ("src/selfright/__init__.py", '"""S."""\nimport a\na.start()\n', "code in __init__.py"),
    "a vague file": ("src/selfright/web/utils.py", "", "'utils' says nothing"),
    "a vague folder": ("tests/helpers/texts.py", "", "'helpers' says nothing"),
    "a print": ("src/selfright/web/a.py", "print(1)\n", "print() outside"),
    "a library in the domain": ("src/selfright/domain/a.py", "import numpy\n", "imports numpy"),
    "a library in a node": ("src/selfright/flow/nodes/a.py", "from lxml import etree\n", "imports lxml"),
    "medicine in the engine": ("src/selfright/roles/a.py", 'TERMS = ["Warfarin"]\n', "'Warfarin' belongs"),
    "Korean medicine in a text file": ("src/selfright/roles/stop.txt", "당뇨\n", "'당뇨' belongs"),
    "a registry": ("docs/install.md", f"see {REGISTRY}\n", "names a package registry"),
    "somebody's path": ("README.md", f"open {PERSONAL}\n", "absolute path of one machine"),
    "a broken file": ("src/selfright/a.py", "def\n", "not valid Python"),
}

GOOD = {
    "a long module with a reason": ("src/selfright/a.py", '"""A.\n\nLong because: one table.\n"""\n' + "x = 1\n" * 300),
    "a long function with a reason": (
        "src/selfright/a.py",
        "# Long because: one table.\n@d\ndef f():\n" + "    x = 1\n" * 70,
    ),
    "an expected error": ("src/selfright/a.py", "try:\n    f()\nexcept FileNotFoundError:\n    pass\n"),
    "a handled error": ("src/selfright/a.py", "try:\n    f()\nexcept Exception as error:\n    log(error)\n"),
    "public names": (
        "src/selfright/__init__.py",
        '"""S."""\nfrom selfright.api.selfright import Selfright\n__all__ = ["Selfright"]\n',
    ),
    "a print in the command line": ("src/selfright/cli/main.py", "print(1)\n"),
    "numpy for types": ("src/selfright/domain/a.py", "if TYPE_CHECKING:\n    import numpy\n"),
    "medicine at home": ("src/selfright_medical/lexicon.py", 'TERMS = ["warfarin", "당뇨"]\n'),
    "a question of the demo": ("src/selfright/cli/commands/demo.py", 'QUESTION = "insulin?"\n'),
    "medicine in a test": ("tests/unit/test_a.py", 'QUESTION = "warfarin?"\n'),
    "the lock": ("requirements.lock", f"# {REGISTRY}\n"),
    "a path on a server": ("docs/a.md", "https://example.org/home/page and docs/work/plan\n"),
    "a binary": ("src/selfright/demo/a.bin", "\0print(1)"),
}


def plant(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("path", "text", "message"), BAD.values(), ids=BAD.keys())
def test_each_rule_fires(tmp_path: Path, path: str, text: str, message: str) -> None:
    plant(tmp_path, path, text)
    [found] = breaches(tmp_path)
    assert found.startswith(f"{path}:")
    assert message in found


@pytest.mark.parametrize(("path", "text"), GOOD.values(), ids=GOOD.keys())
def test_what_is_allowed_passes(tmp_path: Path, path: str, text: str) -> None:
    plant(tmp_path, path, text)
    assert breaches(tmp_path) == []


def test_the_exit_code_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    plant(tmp_path, "src/misc.py", "")
    assert main([str(tmp_path)]) == 1
    assert "src/misc.py:1:" in capsys.readouterr().out


def test_a_folder_of_modules_needs_an_init(tmp_path: Path) -> None:
    for name in ("src/selfright/__init__.py", "src/selfright/web/fetch.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('"""Text."""\n', encoding="utf-8")
    assert breaches(tmp_path) == ["src/selfright/web:1: a folder of modules needs an __init__.py"]
