"""The files of an index: the old ones or the new ones whenever the machine stops, with one writer at a time."""

import json
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from selfright.domain.errors import IndexBusy, StoreError
from selfright.storage.files import sync_folder, try_lock, write_atomically

__all__ = ["sync_folder", "write_atomically"]

_FAR = 1 << 20  # a byte past the holder's name, for a locked byte cannot be read by others on Windows


def sync_file(path: Path) -> None:
    """Makes a file's content lasting that something else has written."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in ``path``; None when there is none that can be read."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def folder_bytes(folder: Path) -> int:
    """Size of all files under ``folder``, some of which may vanish meanwhile."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                continue
    return total


def erase(path: Path) -> None:
    """Removes a file or a folder, as far as that is possible now; what stays is tried again by the next writer."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        try:
            path.unlink(missing_ok=True)
        except PermissionError:  # a reader on Windows has it open
            return


def link_files(old: Path, new: Path, files: Iterable[str], root: Path) -> None:
    """Makes ``new`` a copy of ``old``; all but JSON is linked, and must never be changed."""
    for name in files:
        source = root / name
        target = new / source.relative_to(old)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".json":
            shutil.copyfile(source, target)
            continue
        try:
            os.link(source, target)
        except OSError:  # a file system without links
            shutil.copyfile(source, target)


class WriterLock:
    """A lock on an index folder, held by at most one process; the file names its holder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_error: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Takes the lock; raises ``IndexBusy``, which names the holder, when someone else has it.

        Raises ``StoreError`` when the folder cannot be written at all.
        """
        if self.held:
            return
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreError(
                f"the index {self._path.parent} cannot be written ({error}); allow it, then try again"
            ) from error
        if not try_lock(descriptor, _FAR):
            holder = os.read(descriptor, 100).decode("utf-8", "replace").strip() or "unknown"
            os.close(descriptor)
            raise IndexBusy(
                f"the index {self._path.parent} is being written by process {holder}; only one can write at a time: "
                "wait until it is done, then try again"
            )
        self._descriptor = descriptor
        with suppress(OSError):  # the name is for others to read: a full disk keeps nobody from writing what fits
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())

    def release(self) -> None:
        """Frees the lock; nothing happens when it is not held."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                os.ftruncate(descriptor, 0)
            os.close(descriptor)  # closing frees the lock
