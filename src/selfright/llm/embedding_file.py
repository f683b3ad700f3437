"""The file of kept embeddings: how it is made and opened."""

import os
import sqlite3
import time
from pathlib import Path

from selfright.sqlite import write_ahead

_FORMAT = 1
_OPENINGS = 5
_PAGE_BYTES = 16_384  # ten vectors of 384 numbers, one of 3,072
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, used INTEGER NOT NULL, checksum INTEGER NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS vectors_by_use ON vectors (used);
"""


def open_file(path: Path, patience_s: float, log_bytes: int) -> sqlite3.Connection:
    """A connection to the file, made with access for its owner alone; its log is cut back to ``log_bytes``.

    Waits ``patience_s`` seconds for others. Raises ``sqlite3.Error`` or ``OSError``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    for attempt in range(_OPENINGS):
        connection = sqlite3.connect(path, timeout=patience_s, check_same_thread=False)
        try:
            _prepare(connection, patience_s, log_bytes)
        except sqlite3.OperationalError:
            # Two processes that make the file at once can be refused without being made to wait.
            connection.close()
            if attempt + 1 == _OPENINGS:
                raise
            time.sleep(0.05 * (attempt + 1))
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise sqlite3.OperationalError("the file could not be opened")


def _prepare(connection: sqlite3.Connection, patience_s: float, log_bytes: int) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, _FORMAT):
        raise sqlite3.DatabaseError(f"it has format {version}, this version writes {_FORMAT}")
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    write_ahead(connection, patience_s)
    # Waiting for the disk would cost more than most vectors. Only a crash of the machine can then damage the file,
    # which the checksums tell; a crash of the process cannot.
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"PRAGMA journal_size_limit = {log_bytes}")
    if not version:
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {_FORMAT}; COMMIT;")
