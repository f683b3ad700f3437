import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from selfright.domain.errors import InputError
from selfright.domain.turns import Scope
from selfright.telemetry.store import TraceStore
from tests.support.traces import trace

ALL = Scope(None)


def ids(store: TraceStore) -> list[int]:
    return [int(one.id[:8], 16) for one in store.traces()]


def test_files_of_before_names_told_the_user_are_read_and_dropped(tmp_path: Path) -> None:
    store = TraceStore(tmp_path, most=2)
    store.write(trace(1))
    (path,) = tmp_path.iterdir()
    path.rename(tmp_path / f"{path.stem.rpartition('-')[0]}.jsonl")
    store = TraceStore(tmp_path, most=2)
    assert ids(store) == [1]
    for number in (2, 3):
        store.write(trace(number))
    assert ids(store) == [3, 2]


def test_a_torn_line_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = TraceStore(tmp_path)
    store.write(trace(1), ['{"call": "a"}', '{"call": "b"}'])
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    with caplog.at_level(logging.WARNING):
        _, lines = store.find(trace(1).id, ALL)
    assert lines == [{"call": "a"}]
    assert "damaged line" in caplog.text


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"[]\n", b'{"version": 1}\n', b"[" * 100_000], ids=range(5))
def test_a_trace_that_cannot_be_read_is_passed_over_and_said_so_when_asked_for(tmp_path: Path, damage: bytes) -> None:
    store = TraceStore(tmp_path)
    store.write(trace(1))
    store.write(trace(2))
    sorted(tmp_path.iterdir())[0].write_bytes(damage)
    assert ids(store) == [2]
    with pytest.raises(InputError, match="cannot be read"):
        store.find(trace(1).id, ALL)


def test_what_else_lies_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    store = TraceStore(tmp_path, most=1)
    for number in range(3):
        store.write(trace(number))
    assert ids(store) == [2]
    assert (tmp_path / "notes.txt").exists()


def test_what_a_killed_process_left_half_written_goes(tmp_path: Path) -> None:
    old, new = tmp_path / ".trace-old", tmp_path / ".trace-new"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7_200, time.time() - 7_200))
    TraceStore(tmp_path).write(trace(1))
    assert not old.exists()
    assert new.exists()


def test_many_threads_may_write(tmp_path: Path) -> None:
    store = TraceStore(tmp_path, most=10)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(store.write, map(trace, range(80))))
    assert len(ids(store)) == 10
