"""One turn of a session at a time: who holds a session, across tasks, threads and processes."""

import asyncio
import hashlib
import os
import sys
import threading
from pathlib import Path
from typing import Protocol

from selfright.domain.errors import SessionBusy, StoreError
from selfright.storage.locks import try_lock

_PAUSES = (0.005, 0.02, 0.05, 0.0)


class SessionLocks(Protocol):
    """Holds sessions for those who run a turn of them; what a dead process held is free again by itself."""

    async def take(self, key: str) -> bool:
        """Whether ``key`` was free and is now held; the caller releases it."""
        ...

    async def release(self, key: str) -> None:
        """Frees what the caller holds; nothing happens when it does not hold it."""
        ...


async def lock_session(locks: SessionLocks, key: str) -> None:
    """Takes ``key``, or raises ``SessionBusy``; tries for a moment, for somebody may only have looked at it."""
    for pause in _PAUSES:
        if await locks.take(key):
            return
        await asyncio.sleep(pause)
    raise SessionBusy(
        "a turn of this session is still running, and a session runs one at a time; wait for its answer, then try again"
    )


class FileSessionLocks:
    """Locks shared by all processes of one machine: one locked file for each session whose turn is running.

    The system frees a lock when its process dies, however it dies. Names of files are hashes of the keys.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}
        self._lock = threading.Lock()

    async def take(self, key: str) -> bool:
        """See ``SessionLocks``. Raises ``StoreError`` when the folder cannot be written."""
        try:
            descriptor = _locked(self._path(key))
        except OSError as error:
            raise StoreError(f"{self._folder} cannot be written ({error.strerror}); allow it") from error
        if descriptor is not None:
            with self._lock:
                self._held[key] = descriptor
        return descriptor is not None

    async def release(self, key: str) -> None:
        """See ``SessionLocks``."""
        with self._lock:
            descriptor = self._held.pop(key, None)
        if descriptor is not None:
            _freed(self._path(key), descriptor)

    def sweep(self) -> None:
        """Removes the files that dead processes left behind. Raises ``StoreError`` when the folder cannot be made."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for path in self._folder.glob("*.lock"):
                descriptor = _locked(path)
                if descriptor is not None:
                    _freed(path, descriptor)
        except OSError as error:
            raise StoreError(f"{self._folder} cannot be written ({error.strerror}); allow it") from error

    def _path(self, key: str) -> Path:
        return self._folder / f"{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}.lock"


def _locked(path: Path) -> int | None:
    """A descriptor that holds the lock on ``path``, or None when somebody else holds it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if not try_lock(descriptor):
            os.close(descriptor)
            return None
        if _is_at(descriptor, path):
            return descriptor
        os.close(descriptor)  # its holder removed the file while we waited for nothing: take the new one


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":

    def _freed(path: Path, descriptor: int) -> None:
        del path  # an open file cannot be removed here, and a closed one may be another's already: sweep does it
        os.close(descriptor)

else:
    import fcntl

    def _freed(path: Path, descriptor: int) -> None:
        path.unlink(missing_ok=True)
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing alone frees nothing while a forked child has it open too
        os.close(descriptor)
