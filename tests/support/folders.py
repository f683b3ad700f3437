"""Folders of files: written from keywords, and changed at random by a machine that others build upon."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

_FILES = st.sampled_from([f"{top}/{name}" for top in ("a", "b", "a/sub", "b/sub") for name in ("README.md", "x.md")])


def folder(root: Path, **files: str) -> Path:
    """The folder with these files: ``a__b_md`` is ``a/b.md``."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path = path.with_name(path.name.replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


class ChangingFolder(RuleBasedStateMachine):
    """Files come, change, move and go."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @rule(file=_FILES, text=st.sampled_from(["one", "two", "three"]))
    def write(self, file: str, text: str) -> None:
        (self.root / file).parent.mkdir(parents=True, exist_ok=True)
        (self.root / file).write_text(text)

    @rule(file=_FILES)
    def delete(self, file: str) -> None:
        (self.root / file).unlink(missing_ok=True)

    @rule(file=_FILES, to=_FILES)
    def move(self, file: str, to: str) -> None:
        if (self.root / file).exists():
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            (self.root / file).rename(self.root / to)
