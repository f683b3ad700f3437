"""What may be left of a folder when the power goes: of each file what was synced last, or what was written since.

Names are taken to last (a journaling file system keeps their order); contents only once they are synced.
"""

import os
import random
import shutil
from pathlib import Path

from tests.support.points import Point


class Disk:
    """Remembers what of ``folder`` is safe, by looking on at the writer's calls; ``shadow`` is where it keeps that."""

    def __init__(self, folder: Path, shadow: Path) -> None:
        self._folder = folder
        self._shadow = shadow
        shutil.rmtree(shadow, ignore_errors=True)
        shadow.mkdir(parents=True)
        for path in _files(folder):
            self._keep(path)  # an earlier process has written it, long ago

    def observe(self, point: Point) -> None:
        """Keeps the content of a file that is being synced."""
        if point.call in ("fsync", "fdatasync") and (self._folder / point.file).is_file():
            self._keep(self._folder / point.file)

    def lose(self, chance: random.Random) -> None:
        """Takes files back to what was synced of them, each with a probability of one half."""
        for path in _files(self._folder):
            kept = self._shadow / f"{path.stat().st_ino}.synced"
            if chance.random() < 0.5:
                path.write_bytes(kept.read_bytes() if kept.exists() else b"")

    def _keep(self, path: Path) -> None:
        number = path.stat().st_ino
        shutil.copyfile(path, self._shadow / f"{number}.synced")
        held = self._shadow / f"{number}.held"
        if not held.exists():
            os.link(path, held)  # so that no later file gets its number


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
