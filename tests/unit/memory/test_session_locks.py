import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from selfright.domain.errors import StoreError
from selfright.memory.session_locks import FileSessionLocks

FORK = multiprocessing.get_context("spawn")


def locks(folder: Path) -> FileSessionLocks:
    made = FileSessionLocks(folder / "running")
    made.sweep()
    return made


def taken(holder: FileSessionLocks, key: str = "u/s") -> bool:
    return asyncio.run(holder.take(key))


def released(holder: FileSessionLocks, key: str = "u/s") -> None:
    asyncio.run(holder.release(key))


def hold(folder: str, told: Connection) -> None:
    told.send(taken(locks(Path(folder))))
    time.sleep(60)


@contextmanager
def holding_process(folder: Path) -> Iterator[int]:
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=hold, args=(str(folder), theirs))
    process.start()
    try:
        assert ours.poll(60)
        assert ours.recv()
        assert process.pid is not None
        yield process.pid
    finally:
        process.kill()
        process.join()
        process.close()
        ours.close()
        theirs.close()


def test_one_holder_at_a_time_even_within_a_process(tmp_path: Path) -> None:
    first, second = locks(tmp_path), locks(tmp_path)
    assert taken(first)
    assert not taken(second)
    assert not taken(first)
    assert taken(second, "u/other")
    released(first)
    assert taken(second)


def test_what_a_killed_process_held_is_free(tmp_path: Path) -> None:
    mine = locks(tmp_path)
    with holding_process(tmp_path) as pid:
        assert not taken(mine)
        os.kill(pid, signal.SIGKILL)
        until = time.monotonic() + 10
        while not taken(mine) and time.monotonic() < until:
            time.sleep(0.01)
        assert not taken(locks(tmp_path))  # so it is ours now


def test_nobody_frees_what_another_holds(tmp_path: Path) -> None:
    first, second = locks(tmp_path), locks(tmp_path)
    assert taken(first)
    released(second)
    assert not taken(second)


def test_files_go_with_their_claims_and_tell_no_names(tmp_path: Path) -> None:
    holder = locks(tmp_path)
    assert taken(holder, "alice/secret")
    (left,) = (tmp_path / "running").iterdir()
    assert "alice" not in left.name
    assert left.stat().st_mode & 0o777 == 0o600
    released(holder, "alice/secret")
    assert not list((tmp_path / "running").iterdir())


def test_a_sweep_removes_what_the_dead_left_and_spares_the_living(tmp_path: Path) -> None:
    living = locks(tmp_path)
    assert taken(living)
    (tmp_path / "running" / "dead.lock").touch()
    assert not taken(locks(tmp_path))
    assert len(list((tmp_path / "running").iterdir())) == 1


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "running").write_text("a file is in the way")
    with pytest.raises(StoreError, match="running"):
        locks(tmp_path)
