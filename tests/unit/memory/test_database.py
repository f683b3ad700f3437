import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from selfright.background import LoopThread
from selfright.domain.errors import StoreError
from selfright.memory.database import FORMAT, Database
from selfright.memory.opening import open_sessions


def with_database(path: Path, work: Callable[[Database], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        database = Database(path)
        await database.open()
        try:
            return await work(database)
        finally:
            await database.close()

    return asyncio.run(run())


def numbers(connection: sqlite3.Connection) -> list[int]:
    return [n for (n,) in connection.execute("SELECT n FROM t ORDER BY n")]


TABLE = [("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY)", [()])]


def insert(n: int) -> list[tuple[str, list[tuple[int]]]]:
    return [("INSERT INTO t VALUES (?)", [(n,)])]


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "home" / "s.sqlite"

    async def modes(database: Database) -> list[int]:
        await database.write(TABLE)
        return [file.stat().st_mode & 0o777 for file in path.parent.iterdir()]

    assert set(with_database(path, modes)) == {0o600}


def test_many_writes_at_once_are_all_there(tmp_path: Path) -> None:
    async def work(database: Database) -> list[int]:
        await database.write(TABLE)
        await asyncio.gather(*(database.write(insert(n)) for n in range(300)))
        return await database.run(numbers)

    assert with_database(tmp_path / "s.sqlite", work) == list(range(300))


def test_a_failed_write_is_told_and_leaves_nothing_open(tmp_path: Path) -> None:
    async def work(database: Database) -> list[int]:
        await database.write([*TABLE, *insert(1)])
        with pytest.raises(StoreError, match=r"s\.sqlite"):
            await database.write([*insert(2), *insert(1)])
        await database.write(insert(3))
        return await database.run(numbers)

    assert with_database(tmp_path / "s.sqlite", work) == [1, 3]


def test_it_can_be_used_from_several_event_loops(tmp_path: Path) -> None:
    background = LoopThread()

    async def work(database: Database) -> list[int]:
        await database.write(TABLE)
        theirs = asyncio.to_thread(lambda: background.run(database.write(insert(1))))
        await asyncio.gather(theirs, database.write(insert(2)))
        return await database.run(numbers)

    try:
        assert with_database(tmp_path / "s.sqlite", work) == [1, 2]
    finally:
        background.close()


def test_a_write_that_nobody_waits_for_any_more_harms_no_other(tmp_path: Path) -> None:
    async def work(database: Database) -> list[int]:
        await database.write(TABLE)
        given_up = asyncio.ensure_future(database.write(insert(1)))
        await asyncio.sleep(0)
        given_up.cancel()
        await database.write(insert(2))
        return await database.run(numbers)

    assert 2 in with_database(tmp_path / "s.sqlite", work)


@pytest.mark.parametrize("content", [b"no database at all, only words", b"SQLite format 3\0" + b"\x7f" * 5_000])
def test_a_damaged_file_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"s\.sqlite.*move it away"):
        asyncio.run(open_sessions(path))
    assert path.read_bytes() == content


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()
    with pytest.raises(StoreError, match="update"):
        asyncio.run(open_sessions(path))


def test_what_is_closed_says_so(tmp_path: Path) -> None:
    async def run() -> None:
        database = Database(tmp_path / "s.sqlite")
        await database.open()
        await database.close()
        await database.close()
        with pytest.raises(StoreError, match="closed"):
            await database.write(TABLE)

    asyncio.run(run())


FORGETFUL = """
import asyncio, sys, pathlib
from selfright.background import LoopThread
from selfright.memory.opening import open_sessions
loop = LoopThread()
sessions = loop.run(open_sessions(pathlib.Path(sys.argv[1])))
loop.run(sessions.begin("u", "s", "q"))
print("left open")
"""


def test_a_program_that_forgets_to_close_still_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORGETFUL, str(tmp_path / "s.sqlite")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("left open\n", "")


BAD = [
    ("INSERT INTO nowhere VALUES (?)", [(0,)]),  # what SQLite refuses
    ("INSERT INTO t VALUES (?)", [(2**70,)]),  # what the binding refuses: OverflowError
    ("INSERT INTO t VALUES (?)", [("\ud800",)]),  # UnicodeEncodeError
    ("INSERT INTO t VALUES (?)", [(object(),)]),
]


def test_a_bad_statement_costs_nobody_else_a_write(tmp_path: Path) -> None:
    async def work(database: Database) -> tuple[list[Any], list[int]]:
        await database.write(TABLE)
        busy, go = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()
        # While the thread is held up here, all that follow come into one batch.
        held = asyncio.create_task(database.run(lambda _: (loop.call_soon_threadsafe(busy.set), go.wait(10))))
        await busy.wait()
        writes = [insert(1), *([*insert(100 + n), bad] for n, bad in enumerate(BAD)), insert(2)]
        waiting = asyncio.gather(*map(database.write, writes), return_exceptions=True)
        await asyncio.sleep(0)
        go.set()
        ends = await asyncio.wait_for(waiting, 10)
        await held
        await asyncio.wait_for(database.write(insert(3)), 10)
        return ends, await database.run(numbers)

    ends, kept = with_database(tmp_path / "s.sqlite", work)
    assert kept == [1, 2, 3]
    assert [end is None for end in ends] == [True, *[False] * len(BAD), True]
    assert isinstance(ends[1], StoreError)


def test_writing_to_what_is_closed_is_told_each_time(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        await database.close()
        for _ in range(3):
            with pytest.raises(StoreError, match="open them"):
                await asyncio.wait_for(database.write(TABLE), 5)

    with_database(tmp_path / "s.sqlite", work)
