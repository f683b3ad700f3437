import logging
import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from selfright.domain.errors import InputError
from selfright.domain.traces import Trace
from selfright.domain.turns import Scope
from selfright.telemetry.outline import finished_trace
from selfright.telemetry.store import TraceStore
from tests.support.traces import ORIGINS, answer

ALL = Scope(None)


def trace(number: int, user: str = "u") -> Trace:
    return replace(
        finished_trace(answer(), 1_000.0 + number, Scope(user), ORIGINS, content=False), id=f"{number:08x}" + "0" * 24
    )


def ids(store: TraceStore) -> list[int]:
    return [int(one.id[:8], 16) for one in store.traces()]


def test_the_newest_comes_first(tmp_path: Path) -> None:
    store = TraceStore(tmp_path / "traces")
    for number in (1, 3, 2):
        store.write(trace(number))
    assert ids(store) == [3, 2, 1]


def test_the_oldest_are_dropped_when_there_are_too_many(tmp_path: Path) -> None:
    store = TraceStore(tmp_path, most=3)
    for number in range(10):
        store.write(trace(number))
    assert ids(store) == [9, 8, 7]
    assert len(list(tmp_path.iterdir())) == 3


def test_the_oldest_are_dropped_when_they_grow_too_large(tmp_path: Path) -> None:
    store = TraceStore(tmp_path, most_bytes=20_000)
    for number in range(20):
        store.write(trace(number), ["x" * 3_000])
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 20_000
    assert ids(store)[0] == 19
    assert 1 < len(ids(store)) < 20


@pytest.mark.parametrize("bounds", [{"most": 6}, {"most_bytes": 30_000}], ids=["number", "bytes"])
def test_nobodys_traces_drive_out_anothers(tmp_path: Path, bounds: dict[str, int]) -> None:
    store = TraceStore(tmp_path, **bounds)
    for number in range(2):
        store.write(trace(number, "ana"), ["x" * 3_000])
    for number in range(2, 30):
        store.write(trace(number, "ben"), ["x" * 3_000])
    assert ids(store)[-2:] == [1, 0]
    assert ids(store)[:2] == [29, 28]
    TraceStore(tmp_path, **bounds).write(trace(30, "ben"), ["x" * 3_000])
    assert [one.user for one in store.traces()].count("ana") == 2


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


def test_a_new_process_counts_what_is_there(tmp_path: Path) -> None:
    for number in range(6):
        TraceStore(tmp_path, most=3).write(trace(number))
    assert ids(TraceStore(tmp_path)) == [5, 4, 3]


def test_only_the_owner_may_read(tmp_path: Path) -> None:
    store = TraceStore(tmp_path / "home" / "traces")
    store.write(trace(1))
    (path,) = (tmp_path / "home" / "traces").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_trace_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    store = TraceStore(tmp_path)
    store.write(trace(0x1234ABCD), ['{"call": "a"}'])
    store.write(trace(0x1234EEEE))
    found, lines = store.find("1234AB", ALL)
    assert found.id.startswith("1234abcd")
    assert lines == [{"call": "a"}]
    with pytest.raises(InputError, match="2 traces begin with '1234'"):
        store.find("1234", ALL)


@pytest.mark.parametrize("given", ["", "12", "zzzz", "../../etc/passwd", "*", "\x1b[31m", "ffffffff"], ids=ascii)
def test_no_other_name_finds_anything(tmp_path: Path, given: str) -> None:
    store = TraceStore(tmp_path)
    store.write(trace(1))
    with pytest.raises(InputError, match="there is no trace") as caught:
        store.find(given, ALL)
    assert "\x1b" not in str(caught.value)


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


def test_trouble_with_the_disk_costs_the_trace_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "traces").write_text("in the way", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        TraceStore(tmp_path / "traces").write(trace(1))
    assert "could not be kept" in caplog.text


def test_many_threads_may_write(tmp_path: Path) -> None:
    store = TraceStore(tmp_path, most=10)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(store.write, map(trace, range(80))))
    assert len(ids(store)) == 10


def test_traces_are_forgotten_by_id_by_user_and_all(tmp_path: Path) -> None:
    store = TraceStore(tmp_path)
    for number in range(6):
        store.write(trace(number, "anna" if number % 2 else "ben"))
    assert store.forget(ALL, trace(0).id) == 1
    assert store.forget(Scope("anna")) == 3
    assert ids(store) == [4, 2]
    assert store.forget(ALL) == 2
    assert list(tmp_path.iterdir()) == []
    assert TraceStore(tmp_path / "none").forget(ALL) == 0


def test_a_rating_is_kept_with_its_trace_and_its_recording(tmp_path: Path) -> None:
    store = TraceStore(tmp_path, most=2)
    store.write(trace(1, "ana"), ["{}", "{}"])
    store.write(trace(2, "ana"))
    for rating in ("up", "down", None):
        store.rate("00000001", Scope("ana"), rating)
        kept, recording = store.find("00000001", ALL)
        assert (kept.rating, len(recording)) == (rating, 2)
    assert ids(store) == [2, 1]
    with pytest.raises(InputError):
        store.rate("00000001", Scope("ben"), "up")
