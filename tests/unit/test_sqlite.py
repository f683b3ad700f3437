import sqlite3
import threading
import time
from pathlib import Path

import pytest

from selfright.sqlite import write_ahead


def journal(path: Path) -> str:
    connection = sqlite3.connect(path)
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    connection.close()
    return str(mode)


def test_many_open_a_new_file_at_once(tmp_path: Path) -> None:
    """SQLite itself turns about one opening in ten away here, whatever its busy timeout is."""
    told: list[Exception] = []

    def opening(path: Path, gate: threading.Barrier) -> None:
        connection = sqlite3.connect(path, timeout=5)
        gate.wait()
        try:
            write_ahead(connection, 5)
            connection.execute("CREATE TABLE IF NOT EXISTS t (x)")
        except sqlite3.Error as error:
            told.append(error)
        finally:
            connection.close()

    for n in range(60):
        path, gate = tmp_path / f"{n}.sqlite", threading.Barrier(6)
        threads = [threading.Thread(target=opening, args=(path, gate)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert journal(path) == "wal"
    assert told == []


def test_a_file_that_stays_locked_is_asked_for_no_longer_than_said(tmp_path: Path) -> None:
    holder = sqlite3.connect(tmp_path / "x.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    waiting = sqlite3.connect(tmp_path / "x.sqlite", timeout=0)
    begun = time.monotonic()
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        write_ahead(waiting, 0.1)
    assert time.monotonic() - begun >= 0.1
    holder.execute("COMMIT")
    write_ahead(waiting, 5)
    assert journal(tmp_path / "x.sqlite") == "wal"


def test_what_is_no_database_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").write_bytes(b"no database, " * 100)
    begun = time.monotonic()
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        write_ahead(sqlite3.connect(tmp_path / "x.sqlite"), 30)
    assert time.monotonic() - begun < 20
