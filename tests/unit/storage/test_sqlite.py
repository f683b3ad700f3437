import sqlite3
import threading
import time
from pathlib import Path

import pytest

from selfright.domain.errors import StoreError
from selfright.storage.sqlite import Layout, SqliteFile, open_file

LAYOUT = Layout("things", 1, ("CREATE TABLE IF NOT EXISTS t (x)",))


def journal(path: Path) -> str:
    connection = sqlite3.connect(path)
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    connection.close()
    return str(mode)


def test_many_open_a_new_file_at_once(tmp_path: Path) -> None:
    """SQLite itself turns about one opening in ten away here, whatever its busy timeout is."""
    told: list[Exception] = []

    def opening(path: Path, gate: threading.Barrier) -> None:
        gate.wait()
        try:
            open_file(path, LAYOUT, 5).close()
        except sqlite3.Error as error:
            told.append(error)

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
    begun = time.monotonic()
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        open_file(tmp_path / "x.sqlite", LAYOUT, 0.1)
    assert time.monotonic() - begun >= 0.1
    holder.execute("COMMIT")
    open_file(tmp_path / "x.sqlite", LAYOUT, 5).close()
    assert journal(tmp_path / "x.sqlite") == "wal"


@pytest.mark.parametrize("content", [b"no database, " * 100, b"SQLite format 3\0" + b"\x7f" * 5_000])
def test_what_is_no_database_is_said_at_once_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.sqlite").write_bytes(content)
    begun = time.monotonic()
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        open_file(tmp_path / "x.sqlite", LAYOUT, 30)
    assert time.monotonic() - begun < 20
    assert (tmp_path / "x.sqlite").read_bytes() == content


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    open_file(tmp_path / "new" / "x.sqlite", LAYOUT, 5).close()
    assert (tmp_path / "new" / "x.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_newer_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"the things in .*x\.sqlite are of format 2, but .* up to 1; update it"):
        open_file(path, LAYOUT, 5)
    assert path.read_bytes() == before


def test_what_hinders_is_told_apart(tmp_path: Path) -> None:
    hindering = (PermissionError(13, "Permission denied"), sqlite3.DatabaseError("malformed"))
    told = [str(LAYOUT.explain_errors(tmp_path, error)) for error in hindering]
    file = SqliteFile(tmp_path / "x.sqlite", LAYOUT, 0.05)
    with file.connect() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
    holder = open_file(tmp_path / "x.sqlite", LAYOUT, 5)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"held by another process .*try again"), file.connect() as connection:
        connection.execute("DELETE FROM t")
    holder.close()
    file.close()
    assert "cannot be written (Permission denied); allow it" in told[0]
    assert "cannot be used (malformed); if the file is damaged" in told[1]


def test_a_folder_that_cannot_be_made_means_memory_where_that_will_do(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    path = tmp_path / "home" / "x.sqlite"
    file = SqliteFile(path, LAYOUT, or_memory=True)
    with file.connect() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
    assert file.path is None
    with pytest.raises(StoreError, match="cannot be written"), SqliteFile(path, LAYOUT).connect():
        pass


def test_scrubbing_makes_the_file_anew_and_empties_its_log(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    file = SqliteFile(path, LAYOUT, 5)
    with file.connect() as connection:
        connection.executemany("INSERT INTO t VALUES (?)", [("blue-whale" * 500,)] * 100)
        connection.execute("DELETE FROM t")
        file.scrub(connection)
        assert path.stat().st_size < 50_000
        assert (tmp_path / "x.sqlite-wal").stat().st_size == 0
        assert b"blue-whale" not in path.read_bytes()
    file.close()
