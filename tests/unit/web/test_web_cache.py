"""What the web answered, kept for a while."""

import os
import sqlite3
import threading
import zlib
from pathlib import Path

import pytest

from selfright.web.pages import WebCache


def test_what_is_kept_comes_back_until_it_is_old(tmp_path: Path) -> None:
    now = [1000.0]
    cache = WebCache(tmp_path / "web" / "cache.sqlite", max_age_s=60, clock=lambda: now[0])
    assert cache.get("results", "q") is None
    cache.put({"밸브": [1, None, "\ud800"]}, "results", "q")
    now[0] += 59
    assert cache.get("results", "q") == {"밸브": [1, None, "\ud800"]}
    assert cache.get("results", "q2") is None
    now[0] += 1
    assert cache.get("results", "q") is None
    cache.close()


def test_names_are_not_mixed_up(tmp_path: Path) -> None:
    cache = WebCache(tmp_path / "c")
    cache.put(1, "a", "b c")
    assert cache.get("a b", "c") is None
    assert cache.get("a", "b", "c") is None
    cache.close()


def test_the_file_is_the_owners_and_holds_no_query(tmp_path: Path) -> None:
    path = tmp_path / "c"
    cache = WebCache(path)
    cache.put(["x"], "results", "a very private question")
    cache.close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert b"private" not in path.read_bytes()


def test_the_oldest_go_when_it_is_full(tmp_path: Path) -> None:
    now = [0.0]
    cache = WebCache(tmp_path / "c", max_bytes=100_000, clock=lambda: now[0])
    for n in range(100):
        now[0] += 1
        cache.put(os.urandom(5_000).hex(), "page", n)
    held = [n for n in range(100) if cache.get("page", n)]
    assert held == list(range(held[0], 100))
    assert 10 <= len(held) <= 20
    cache.put(os.urandom(50_000).hex(), "page", "large")
    assert cache.get("page", "large") is None
    cache.close()
    assert (tmp_path / "c").stat().st_size < 200_000


def test_another_object_and_thread_see_the_same(tmp_path: Path) -> None:
    one, two = WebCache(tmp_path / "c"), WebCache(tmp_path / "c")
    threads = [threading.Thread(target=one.put, args=(n, "n", n)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [two.get("n", n) for n in range(20)] == list(range(20))
    one.close()
    two.close()


def test_a_file_that_failed_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "c"
    path.mkdir()
    cache = WebCache(path)
    cache.put(1, "a")
    path.rmdir()
    cache.put(1, "a")
    assert cache.get("a") is None  # it rests
    monkeypatch.setattr(cache._file, "_rests_until", 0.0)
    cache.put(1, "a")
    assert cache.get("a") == 1
    assert len(caplog.records) == 1
    cache.close()


@pytest.mark.parametrize(
    "stored", [b"\x00\xff", zlib.compress(b'"%s"' % (b" " * 60_000_000), 9)], ids=["damaged", "a bomb"]
)
def test_an_entry_that_cannot_be_unpacked_is_none(tmp_path: Path, stored: bytes) -> None:
    cache = WebCache(tmp_path / "c")
    cache.put("x" * 100, "a")
    cache.close()
    with sqlite3.connect(tmp_path / "c") as connection:
        connection.execute("UPDATE entries SET value = ?", (stored,))
    connection.close()
    cache = WebCache(tmp_path / "c")
    assert cache.get("a") is None
    cache.close()
