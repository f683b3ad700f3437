"""Checks what linters do not know: the house's own rules. Prints one line per breach and exits 1 if there is any.

Usage: ``python scripts/check_house.py [ROOT]``; ROOT is the repository, by default the one this script lies in.
Checked are the files git tracks or would track; in a folder that is no repository, all files.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

MODULE_LINES = 300
FUNCTION_LINES = 60
TEXT_BYTES = 5_000_000
REASON = "Long because:"

VAGUE_NAMES = {"util", "utils", "misc", "helper", "helpers", "common"}
UNSAFE_MODULES = {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
UNSAFE_CALLS = {"eval", "exec"}
TOO_BROAD = {"Exception", "BaseException", "ImportError", "ModuleNotFoundError"}

# Only the standard library and selfright itself may be imported here.
PURE = ("src/selfright/domain/", "src/selfright/flow/nodes/")
DEMO = ("src/selfright/demo/", "src/selfright/cli/commands/demo.py")
MEDICAL_HOME = ("src/selfright_medical/", "src/selfright/models/tokenizer.json", *DEMO)
# Tell-tales, not a dictionary: names of common drugs, diseases and measurements.
MEDICAL_WORDS = re.compile(
    r"\b(?:metformin|warfarin|apixaban|aspirin|ibuprofen|paracetamol|acetaminophen|statins?|insulin|diabet\w+|hypertensi\w+"
    r"|asthma|pneumonia|creatinine|hba1c|egfr|dyspn\w+|chest pain)\b"
    r"|메트포르민|와파린|아스피린|이부프로펜|아세트아미노펜|인슐린|당뇨|고혈압|저혈압|천식|폐렴|크레아티닌|당화혈색소|흉통|호흡곤란",
    re.IGNORECASE,
)
# Each of these is written so that it does not match its own source line.
PLACES = (
    ("names a package registry", re.compile(r"(?:pypi|pythonhosted|npmjs|anaconda|crates)\.(?:org|com|io)\b")),
    ("names a package index", re.compile(r"index-url[ =]+\S*:[/]/")),
    ("holds an absolute path of one machine", re.compile(r"(?<![\w.~}/-])/(?:home|Users|root|work|workspace)[/]\w")),
    ("holds an absolute path of one machine", re.compile(r"\b[A-Z]:\\+Users\\+\w")),
)

Breach = tuple[int, str]


@dataclass(frozen=True)
class Source:
    """A file under test: its path relative to the root, and its text."""

    path: PurePosixPath
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, str(self.path))

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def under(self, *places: str) -> bool:
        return str(self.path).startswith(places)


def long_modules(source: Source) -> Iterator[Breach]:
    reason = any(line.strip().startswith(REASON) for line in (ast.get_docstring(source.tree) or "").splitlines())
    if source.under("src/") and len(source.lines) > MODULE_LINES and not reason:
        yield 1, f"module of {len(source.lines)} lines (at most {MODULE_LINES}, or a docstring line '{REASON} ...')"


def long_functions(source: Source) -> Iterator[Breach]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and source.under("src/"):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            above = source.lines[first - 2] if first > 1 else ""
            if length > FUNCTION_LINES and not above.strip().startswith(f"# {REASON}"):
                yield node.lineno, f"'{node.name}' has {length} lines (at most {FUNCTION_LINES}, or '# {REASON} ...')"


def unsafe_code(source: Source) -> Iterator[Breach]:
    for line, module in _imports(source.tree):
        if module.split(".")[0] in UNSAFE_MODULES:
            yield line, f"imports {module}: reading such files can run code"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in UNSAFE_CALLS:
            yield node.lineno, f"calls {node.func.id}()"
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and not _is_constant(node.value, False):
            yield node.lineno, "sets allow_pickle"


def swallowed_errors(source: Source) -> Iterator[Breach]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler) and _does_nothing(node.body) and (caught := _too_broad(node.type)):
            yield node.lineno, f"swallows {caught} without a word"
        if isinstance(node, ast.Call) and _last_name(node.func) == "suppress":
            for caught in (name for argument in node.args if (name := _too_broad(argument))):
                yield node.lineno, f"suppresses {caught}"


def package_code(source: Source) -> Iterator[Breach]:
    """Packages hold a docstring; the root may also re-export, at once or through a lazy ``__getattr__``."""
    if source.path.name != "__init__.py":
        return
    root = len(source.path.parts) == 3 and source.under("src/")
    for statement in source.tree.body:
        if not _is_docstring(statement) and not (root and _re_exports(statement)):
            yield statement.lineno, "code in __init__.py"


def vague_names(source: Source) -> Iterator[Breach]:
    for part in source.path.parts:
        if (stem := part.removesuffix(".py")) in VAGUE_NAMES:
            yield 1, f"'{stem}' says nothing; name it for what it does"


def prints(source: Source) -> Iterator[Breach]:
    if not source.under("src/") or source.under("src/selfright/cli/"):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield node.lineno, "print() outside of the command line"


def impure_imports(source: Source) -> Iterator[Breach]:
    if not source.under(*PURE):
        return
    only_types = {id(child) for node in ast.walk(source.tree) if _is_type_checking(node) for child in ast.walk(node)}
    for line, module in _imports(source.tree, without=only_types):
        if (top := module.split(".")[0]) != "selfright" and top not in sys.stdlib_module_names:
            yield line, f"imports {top}; only the standard library and selfright may be imported here"


def medicine(source: Source) -> Iterator[Breach]:
    if source.under("src/") and not source.under(*MEDICAL_HOME):
        for number, line in enumerate(source.lines, 1):
            if found := MEDICAL_WORDS.search(line):
                yield number, f"'{found[0]}' belongs to the medical pack or the demo"


def places(source: Source) -> Iterator[Breach]:
    for number, line in enumerate(source.lines, 1):
        for what, pattern in PLACES:
            if found := pattern.search(line):
                yield number, f"{what}: {found[0]}"


def unparsable(_: Source) -> Iterator[Breach]:
    yield 1, "is not valid Python"


Rule = Callable[[Source], Iterator[Breach]]
PYTHON_RULES: tuple[Rule, ...] = (
    long_modules, long_functions, unsafe_code, swallowed_errors, package_code, vague_names, prints, impure_imports,
)  # fmt: skip
TEXT_RULES: tuple[Rule, ...] = (medicine, places)


def breaches(root: Path) -> list[str]:
    """All breaches of the tree at ``root`` as ``path:line: what``, ordered by path and line."""
    paths = files(root)
    found = [(str(folder), 1, "a folder of modules needs an __init__.py") for folder in _without_init(paths)]
    for path in paths:
        source = _read(root, path)
        if source is None:
            continue
        found += [(str(path), line, what) for rule in _rules(source) for line, what in rule(source)]
    return [f"{path}:{line}: {what}" for path, line, what in sorted(found)]


def _without_init(paths: Sequence[PurePosixPath]) -> set[PurePosixPath]:
    """Packages that import-linter would not see, and so would not hold to the contracts."""
    modules = [path for path in paths if path.suffix == ".py" and path.parts[0] == "src"]
    packages = {module.parent for module in modules if module.name == "__init__.py"}
    return {module.parent for module in modules} - packages if PurePosixPath("src/selfright") in packages else set()


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]
    found = breaches(root)
    for line in found:
        print(line)
    print(f"house rules: {len(found)} breaches" if found else "house rules: kept", file=sys.stderr)
    return 1 if found else 0


def _rules(source: Source) -> tuple[Rule, ...]:
    if source.path.suffix != ".py":
        return TEXT_RULES
    try:
        ast.parse(source.text)
    except SyntaxError:
        return (*TEXT_RULES, unparsable)
    return TEXT_RULES + PYTHON_RULES


def files(root: Path) -> list[PurePosixPath]:
    """The files that git tracks or would track, relative to ``root``; all files of a folder that is no repository."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
        names = [PurePosixPath(name) for name in listed if name and (root / name).is_file()]
    else:
        names = [PurePosixPath(path.relative_to(root).as_posix()) for path in root.rglob("*") if path.is_file()]
    return sorted({name for name in names if name.name != "requirements.lock"})


def _read(root: Path, path: PurePosixPath) -> Source | None:
    """The file as text; None when it is binary or too large to be written by hand."""
    data = (root / path).read_bytes() if (root / path).stat().st_size <= TEXT_BYTES else b"\0"
    if b"\0" in data[:8192]:
        return None
    text = data.decode("utf-8", "replace")
    return Source(path, text)


def _imports(tree: ast.Module, without: set[int] | None = None) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if without and id(node) in without:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING"


def _is_constant(node: ast.AST, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _re_exports(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return [_last_name(target) for target in node.targets] in (["__all__"], ["__version__"])
    lazy = isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__dir__")
    return lazy or isinstance(node, ast.Import | ast.ImportFrom) or _is_type_checking(node)


def _does_nothing(body: list[ast.stmt]) -> bool:
    return all(
        isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and _is_constant(node.value, ...)) for node in body
    )


def _too_broad(caught: ast.expr | None) -> str | None:
    """The first caught name that is too broad to be ignored; a bare except catches everything."""
    if caught is None:
        return "everything"
    names = [_last_name(item) for item in (caught.elts if isinstance(caught, ast.Tuple) else [caught])]
    return next((name for name in names if name in TOO_BROAD), None)


def _last_name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
