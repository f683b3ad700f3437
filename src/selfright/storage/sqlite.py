"""SQLite files: how they are made, opened, shared by threads, written in transactions, erased from and closed."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from selfright.domain.errors import StoreError

T = TypeVar("T")

LOG_BYTES = "journal_size_limit = 16777216"
"""For ``Layout.pragmas``: the write-ahead log is cut back to this size."""

_APART_S = 0.01
_NOT_WRITABLE = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN})


@dataclass(frozen=True, slots=True)
class Layout:
    """What a kind of file holds.

    ``name`` is its content in messages ("keys"), ``version`` the number in its header (``user_version``). ``tables``
    are made in a file of an older version, a new one has 0; ``pragmas`` are set on every connection. ``damaged`` is the
    advice for a file that cannot be used. ``anew``: erasing makes the file anew, and is refused while others read it; a
    large file's log is only emptied as far as they let it. ``upgrades``: the first makes of version 1 version 2, and so
    on, before the tables are made.
    """

    name: str
    version: int
    tables: Sequence[str] = ()
    pragmas: Sequence[str] = ()
    damaged: str = "if the file is damaged, put a backup in its place, or move it away to begin with an empty one"
    anew: bool = True
    upgrades: Sequence[Sequence[str]] = ()

    def explain_errors(self, path: Path | None, error: sqlite3.Error | OSError) -> StoreError:
        """What SQLite or the system says of a file, as an error of this package."""
        where = f"the {self.name} in {path}"
        if isinstance(error, OSError) or _code(error) in _NOT_WRITABLE:
            return StoreError(f"{where} cannot be written ({getattr(error, 'strerror', None) or error}); allow it")
        if is_busy(error):
            return StoreError(f"{where} are held by another process ({error}); try again")
        return StoreError(f"{where} cannot be used ({error}); {self.damaged}")


class SqliteFile:
    """One file and its one connection, opened when it is first used; threads take turns, and so do processes.

    The file is made with access for its owner alone. Others are waited for, ``patience_s`` seconds at most. Without a
    ``path`` everything is in memory, and with ``or_memory`` also where the file cannot be written: ``path`` is None
    then.
    """

    def __init__(self, path: Path | None, layout: Layout, patience_s: float = 10.0, *, or_memory: bool = False) -> None:
        self.path, self.layout = path, layout
        self._patience_s, self._or_memory = patience_s, or_memory
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time. It commits each statement; see ``transaction``.

        Raises ``StoreError`` for what SQLite and the system say, and for a file of a newer version.
        """
        with self._lock:
            try:
                yield self._open()
            except (sqlite3.Error, OSError) as error:
                raise self.layout.explain_errors(self.path, error) from error

    def scrub(self, connection: sqlite3.Connection) -> None:
        """Leaves no byte of what was deleted: makes the file anew (``Layout.anew``) and empties its log.

        Raises ``StoreError`` while another process keeps the log open.
        """
        if self.path is None:
            return
        if self.layout.anew:
            connection.execute("VACUUM")
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy and self.layout.anew:
            raise StoreError(
                f"what was erased from {self.path} is gone from the {self.layout.name}, but another process keeps "
                "SQLite's log open; run it again when that process is done, so that the log is emptied too"
            )

    def close(self) -> None:
        """Closes the file; it is opened again when it is needed."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                connection.close()

    def _open(self) -> sqlite3.Connection:
        # A connection must not be used across a fork.
        if self._connection is None or self._process != os.getpid():
            if self._or_memory and self.path is not None and not _is_writable(self.path):
                self.path = None
            self._connection, self._process = open_file(self.path, self.layout, self._patience_s), os.getpid()
        return self._connection


def open_file(path: Path | None, layout: Layout, patience_s: float) -> sqlite3.Connection:
    """A connection to the file, which is made when it is missing; ``None`` is a database in memory.

    With a write-ahead log, so that readers and one writer do not wait for each other. Raises ``StoreError`` for a file
    of a newer version, ``sqlite3.Error`` and ``OSError``.
    """
    if path is not None and not path.exists():
        _make(path)
    connection = connect(path or ":memory:", patience_s)
    try:
        # The first to open a file changes its header for the log, and SQLite's own busy timeout does not cover that
        # moment: who opens the file just then is told at once that it is locked (https://sqlite.org/wal.html, 9).
        retry_locked(lambda: _set_up(connection, path, layout), patience_s)
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: Path | str, patience_s: float = 5.0) -> sqlite3.Connection:
    """A connection that any thread may use, one at a time, and that commits each statement."""
    return sqlite3.connect(path, timeout=patience_s, isolation_level=None, check_same_thread=False)


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "DEFERRED") -> Iterator[None]:
    """One transaction: committed at the end, rolled back when anything is raised.

    ``IMMEDIATE`` makes other writers wait from the beginning.
    """
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        if connection.in_transaction:  # LangGraph's checkpointer commits by itself
            connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk ends it
            connection.execute("ROLLBACK")
        raise


def retry_locked(work: Callable[[], T], patience_s: float) -> T:
    """What ``work`` gives, run again while the file is busy, for ``patience_s`` seconds at most."""
    end = time.monotonic() + patience_s
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > end:
                raise
        time.sleep(_APART_S)


def is_busy(error: BaseException) -> bool:
    """Whether another connection has locked the file."""
    return isinstance(error, sqlite3.Error) and _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _set_up(connection: sqlite3.Connection, path: Path | None, layout: Layout) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchall()[0]
    if version > layout.version:
        raise StoreError(
            f"the {layout.name} in {path} are of format {version}, but this version reads up to {layout.version}; "
            "update it"
        )
    for pragma in layout.pragmas:  # before the log: some hold only for a file that has no pages yet
        connection.execute(f"PRAGMA {pragma}").close()
    connection.execute("PRAGMA journal_mode = WAL").close()
    if version != layout.version:
        with transaction(connection, "IMMEDIATE"):
            (version,) = connection.execute("PRAGMA user_version").fetchall()[0]  # others may have been quicker
            for statement in chain(*(layout.upgrades[version - 1 :] if version else ()), layout.tables):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {max(version, layout.version)}")


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _is_writable(path: Path) -> bool:
    try:
        _make(path)
    except OSError:
        return False
    return os.access(path.parent, os.W_OK)  # SQLite's log is a file beside it
