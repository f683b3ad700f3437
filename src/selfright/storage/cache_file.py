"""A SQLite file that only saves time: trouble with it costs one warning and the cache for a while, nothing else."""

import logging
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from selfright.domain.errors import StoreError
from selfright.storage.sqlite import Layout, SqliteFile, is_busy

T = TypeVar("T")

REST_S = 60.0
"""How long a file that failed is left alone."""

log = logging.getLogger(__name__)


class CacheFile:
    """One file of a cache. Thread-safe, and several processes may share it."""

    def __init__(self, path: Path, layout: Layout, patience_s: float) -> None:
        self._path, self._name = path, layout.name
        self._file = SqliteFile(path, layout, patience_s)
        self._turn = threading.Lock()
        self._rests_until = 0.0  # on the monotonic clock
        self._told = False

    def attempt(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What ``work`` gives for the connection; ``otherwise`` when the file is locked, fails, or failed just before.

        One thread works at a time.
        """
        with self._turn:  # who waits here learns that the file has just failed
            if time.monotonic() < self._rests_until:
                return otherwise
            try:
                with self._file.connected() as connection:
                    return work(connection)
            except (StoreError, ValueError, zlib.error) as error:
                cause = error.__cause__ or error
                if not is_busy(cause):  # else another process writes just now
                    self.warn(cause)
                    self._rests_until = time.monotonic() + REST_S
                    self.close()
                return otherwise

    def warn(self, error: BaseException) -> None:
        """Says once that the file cannot be used; after that only for debugging."""
        log.log(
            logging.DEBUG if self._told else logging.WARNING,
            "the %s %s cannot be used (%s); going on without it for now. "
            "If this stays so, delete the file: it only saves time",
            self._name,
            self._path,
            error,
        )
        self._told = True

    def close(self) -> None:
        """Closes the file; it is opened again when it is needed."""
        with suppress(sqlite3.Error):
            self._file.close()
