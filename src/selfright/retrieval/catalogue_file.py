"""The catalogue's file: how it is made, the connections to it, and the sealed record of what it holds, in counts."""

import os
import queue
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from selfright.domain.errors import IndexDamaged, IndexNotFound, InputError, NotAnIndex, StoreError
from selfright.retrieval.records import IndexCounts, damage_error, seal
from selfright.retrieval.schema import APPLICATION_ID, FORMAT_VERSION, PAGE_BYTES, TABLES, IndexMeta, check_format
from selfright.retrieval.vectors import FIRST_FILE
from selfright.storage.files import sync
from selfright.storage.sqlite import connect, retry_locked

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
        with explain_errors(self.path):
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
            with explain_errors(self.path):
                writer = connect(self.path, _BUSY_SECONDS)
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
        """A connection that reads; None where there is no room for what processes share of the log, or no leave."""
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
        pragmas = ("PRAGMA locking_mode = EXCLUSIVE", "PRAGMA temp_store = MEMORY", "PRAGMA query_only = ON")
        with self._alone:
            if not os.access(self.path.parent, os.W_OK):
                opened = self._immutable()
            else:
                opened = retry_locked(lambda: self._ready(*pragmas), _BUSY_SECONDS)
            with closing(opened) as connection:
                yield connection

    def _immutable(self) -> sqlite3.Connection:
        """A connection to a file in a folder that must not be written, where no lock can be had either."""
        log = self.path.with_name(f"{self.path.name}-wal")
        if log.exists() and log.stat().st_size:
            raise StoreError(
                f"{self.path.parent} cannot be written, and {log.name} has changes that are not in {self.path.name} "
                "yet; run 'selfright index info' once where it can be written"
            )
        address = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)

    def _ready(self, *pragmas: str) -> sqlite3.Connection:
        """A connection that has read once: only that shows whether it can."""
        connection = connect(self.path, _BUSY_SECONDS)
        try:
            for command in (*pragmas, "SELECT 1 FROM sqlite_master LIMIT 1"):
                connection.execute(command).fetchall()
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        try:
            if self._closed:
                raise queue.Full
            self._idle.put_nowait(connection)
        except queue.Full:
            connection.close()


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turns what SQLite says of the file ``path`` into the errors of this package."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise InputError(f"documents and passages need ids of their own, but some are shared ({error})") from error
    except sqlite3.OperationalError as error:
        if "decode" in str(error):  # text that is none
            raise _unreadable(path, error) from error
        full = getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
        why = "there is no room left on its disk" if full else error
        raise StoreError(f"{path} could not be used ({why}); see to that, then try again") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> IndexDamaged:
    return IndexDamaged(
        f"{path} cannot be read ({error}); restore {path.parent} from a backup, or move it away and make it "
        f"anew with: selfright index add PATH --index {path.parent}"
    )


@dataclass(slots=True)
class IndexStats(IndexCounts):
    """Counts, and how far the vectors reach: ``rows`` of the file ``vectors``; ``waiting`` passages have none yet."""

    rows: int = 0
    vectors: str = FIRST_FILE
    waiting: int = 0


FILE_NAME = "catalogue.sqlite"
LOCK_NAME = "writer.lock"
_UNFINISHED = ".new"
_SEALED = ("identity", "tokenizer", "embedder", "dimension", "tally")


def read_stats(connection: sqlite3.Connection, path: Path, opened: IndexMeta | None = None) -> IndexStats:
    """The counts, after checking the seal on them and on how the index was made; raises ``IndexDamaged``.

    Raises ``IncompatibleIndex`` when that is no longer how it was made when it was ``opened``.
    """
    found = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    if found.get("seal") != str(seal(*(found.get(name) for name in _SEALED))):
        raise damage_error(path, "the record of how the index was made")
    if opened is not None:
        opened.check_unchanged(path.parent, found["embedder"], int(found["dimension"]))
    return IndexStats.of(found["tally"])


def read_meta(connections: Connections) -> IndexMeta:
    """How an index was made; raises ``IndexNotFound``, ``NotAnIndex``, ``IncompatibleIndex`` or ``IndexDamaged``."""
    path, where = connections.path, connections.path.parent
    if not where.exists() or (where.is_dir() and not any(map(_is_content, where.iterdir()))):
        raise IndexNotFound(f"there is no index at {where}; make one with: selfright index add PATH --index {where}")
    if not path.is_file():
        raise NotAnIndex(f"{where} is not a Selfright index: expected a folder with {FILE_NAME}; choose another place")
    with connections.reading() as connection:
        if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
            raise NotAnIndex(f"{path} is a database of another program; choose another place")
        check_format(where, *connection.execute("PRAGMA user_version").fetchone())
        found = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        read_stats(connection, path)
    return IndexMeta.of(found)


def write_stats(connection: sqlite3.Connection, stats: IndexStats) -> None:
    """Writes the counts and seals them within the open transaction."""
    found = {**dict(connection.execute("SELECT name, value FROM meta").fetchall()), "tally": stats.text()}
    sealed = seal(*(found.get(name) for name in _SEALED))
    connection.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)", [("tally", found["tally"]), ("seal", str(sealed))]
    )


def make_file(folder: Path, meta: IndexMeta) -> None:
    """An empty catalogue; under another name until it is whole, so that a crash leaves no half-made one."""
    unfinished = folder / f"{FILE_NAME}{_UNFINISHED}"
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(unfinished)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.executescript(TABLES)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.facts.items())
        write_stats(connection, IndexStats())
        connection.commit()
        connection.execute("PRAGMA journal_mode = WAL")
    unfinished.replace(folder / FILE_NAME)
    sync(folder)


def check_unused(folder: Path) -> None:
    """Raises ``NotAnIndex`` for a folder that has content."""
    if folder.exists() and (not folder.is_dir() or any(map(_is_content, folder.iterdir()))):
        raise NotAnIndex(f"cannot make an index at {folder}: expected an empty or new folder, but it has content")


def _is_content(path: Path) -> bool:
    """Whether a file means that a folder is in use; what a crash while making an index may leave does not."""
    return path.name != LOCK_NAME and not path.name.startswith(f"{FILE_NAME}{_UNFINISHED}")
