"""A lock on an open file, which the system frees when its holder's process dies; and files that are replaced whole."""

import os
import sys
import threading
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int, at: int = 0) -> bool:
        """Whether the file was free and is now held; ``at`` is the byte to lock, which others cannot read then."""
        os.lseek(descriptor, at, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def try_lock(descriptor: int, at: int = 0) -> bool:
        """Whether the file was free and is now held, all of it."""
        del at
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
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes renames in ``folder`` lasting, on systems that need to be told."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
