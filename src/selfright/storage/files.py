"""Files that are replaced whole or not at all, copied and erased; and one writer at a time."""

import json
import os
import shutil
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from selfright.domain.errors import IndexBusy, StoreError

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 20  # a byte past the holder's name, for a locked byte cannot be read by others

    def _try_lock(descriptor: int) -> bool:
        """Whether the file was free and is now held."""
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        """Whether the file was free and is now held."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def write_atomically(path: Path, content: bytes) -> None:
    """Replaces ``path`` in one step, after its content is safe on disk. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)


def sync(path: Path) -> None:
    """Makes a file's content lasting, or the names in a folder, on systems that need to be told of those."""
    is_folder = path.is_dir()
    if is_folder and os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
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
        if not _try_lock(descriptor):
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
