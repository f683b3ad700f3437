"""SQLite connections of one file: a pool for readers on any thread, and one for the writer."""

import queue
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from selfright.domain.errors import IndexDamaged, InputError, StoreError
from selfright.storage.sqlite import connect, retried

_IDLE = 8
_BUSY_SECONDS = 30.0
_WRITER_CACHE_KB = 65_536  # so that a large transaction does not write its pages again and again
_NO_ROOM = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN})


class Connections:
    """Opens and keeps the connections of the database ``path``; close it when done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._closed = False
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue(_IDLE)
        self._alone = threading.Lock()
        self._writer: sqlite3.Connection | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for one thread's reads, at the last committed state; more open while more read at once."""
        if self._closed:
            raise StoreError(f"the index {self.path.parent} was closed; open it again")
        with explained(self.path):
            try:
                connection = self._idle.get_nowait()
            except queue.Empty:
                connection = None
            if connection is None and (connection := self._reader()) is None:
                with self._without_room() as alone:
                    yield alone
                return
            try:
                yield connection
            finally:
                self._give_back(connection)

    @property
    def writer(self) -> sqlite3.Connection:
        """The one connection that writes; transactions are begun and ended by hand."""
        if self._writer is None:
            with explained(self.path):
                writer = self._connect()
                # The search indexes must never be ahead of the catalogue, so a commit has to reach the disk.
                writer.execute("PRAGMA synchronous = FULL")
                writer.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KB}")
            self._writer = writer
        return self._writer

    @property
    def writing(self) -> bool:
        """Whether the writer has begun a transaction."""
        return self._writer is not None and self._writer.in_transaction

    def shrink(self) -> None:
        """Gives the writer's memory back."""
        if self._writer is not None:
            self._writer.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        """Closes all idle connections and the writer's, dropping what it had not committed."""
        self._closed = True
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        while not self._idle.empty():
            self._idle.get_nowait().close()

    def _reader(self) -> sqlite3.Connection | None:
        """A connection that reads; None where the disk has no room for what processes share of the log."""
        try:
            return self._ready("PRAGMA query_only = ON")
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NO_ROOM:
                return None
            raise

    @contextmanager
    def _without_room(self) -> Iterator[sqlite3.Connection]:
        """The connection of a reader that has the file to itself for as long: then nothing need be shared.

        https://sqlite.org/wal.html, section 8. Others wait as they do for a writer.
        """
        with self._alone, closing(self._exclusive()) as connection:
            yield connection

    def _exclusive(self) -> sqlite3.Connection:
        pragmas = ("PRAGMA locking_mode = EXCLUSIVE", "PRAGMA temp_store = MEMORY", "PRAGMA query_only = ON")
        return retried(lambda: self._ready(*pragmas), _BUSY_SECONDS)

    def _ready(self, *pragmas: str) -> sqlite3.Connection:
        """A connection that has read once: only that shows whether it can."""
        connection = self._connect()
        try:
            for command in (*pragmas, "SELECT 1 FROM sqlite_master LIMIT 1"):
                connection.execute(command).fetchall()
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        return connect(self.path, _BUSY_SECONDS)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        try:
            if self._closed:
                raise queue.Full
            self._idle.put_nowait(connection)
        except queue.Full:
            connection.close()


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns what SQLite says of the file ``path`` into the errors of this package."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise InputError(f"documents and passages need ids of their own, but some are shared ({error})") from error
    except sqlite3.OperationalError as error:
        if "decode" in str(error):  # text that is none
            raise _unreadable(path, error) from error
        why = "there is no room left on its disk" if _is_full(error) else error
        raise StoreError(f"{path} could not be used ({why}); see to that, then try again") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error


def _is_full(error: sqlite3.OperationalError) -> bool:
    return getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)


def _unreadable(path: Path, error: Exception) -> IndexDamaged:
    return IndexDamaged(
        f"{path} cannot be read ({error}); save what can be saved with: selfright index verify --repair, "
        "or restore the index from a backup"
    )
