"""What every SQLite file of this package is opened with."""

import sqlite3
import time

_APART_S = 0.01


def write_ahead(connection: sqlite3.Connection, patience_s: float) -> None:
    """Turns the write-ahead log on, so that readers and one writer do not wait for each other.

    The first to open a file changes its header for this, and SQLite's own busy timeout does not cover that moment:
    whoever opens the file just then is told at once that it is locked (https://sqlite.org/wal.html, section 9). So
    this asks again, for ``patience_s`` seconds at most. Raises ``sqlite3.OperationalError`` after that.
    """
    end = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").close()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(_APART_S)
        else:
            return
