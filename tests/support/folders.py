"""Folders of files: written from keywords, indexed, and changed at random by a machine that others build upon."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from selfright import Selfright

_FILES = st.sampled_from([f"{top}/{name}" for top in ("a", "b", "a/sub", "b/sub") for name in ("README.md", "x.md")])


def folder(root: Path, **files: str) -> Path:
    """The folder with these files: ``a__b_md`` is ``a/b.md``."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path = path.with_name(path.name.replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@contextmanager
def opened_over(place: Path, documents: Mapping[str, str], **settings: Any) -> Iterator[Selfright]:
    """Selfright over an index of these documents; they, the ``index`` and the ``home`` are in ``place``."""
    for name, text in documents.items():
        (place / name).write_text(text, encoding="utf-8")
    with Selfright.open(place / "index", home=place / "home", **settings) as selfright:
        selfright.add([place / name for name in documents])
        yield selfright


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
