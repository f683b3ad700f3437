"""What any way of keeping traces must do: newest first, bounded, each user's own, a damaged one left out."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from selfright.domain.errors import InputError
from selfright.domain.turns import Scope
from selfright.memory.postgres import open_database
from selfright.memory.traces import TraceStore
from selfright.storage.postgres import PostgresDatabase
from selfright.storage.rows import DatabaseRows
from tests.support.traces import trace

Make = Callable[..., TraceStore]
ALL = Scope(None)


@pytest.fixture(scope="module")
def kept_in(request: pytest.FixtureRequest) -> Iterator[PostgresDatabase]:
    postgres = request.getfixturevalue("postgres")
    if not postgres.is_running:
        postgres.start()
    database = open_database(postgres.fresh_database())
    yield database
    database.close()


@pytest.fixture(params=["file", "database"])
def made(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Makes a store of the same traces, as often as it is called."""
    monkeypatch.setattr("selfright.memory.traces._PAGE", 4)
    if request.param == "database":
        database: PostgresDatabase = request.getfixturevalue("kept_in")
        database.within(lambda connection: connection.execute("TRUNCATE turn_traces"))
    stores: list[TraceStore] = []

    def make(most: int = 1_000, most_bytes: int = 100_000_000) -> TraceStore:
        if request.param == "database":
            stores.append(TraceStore(DatabaseRows(database), most, most_bytes))
        else:
            stores.append(TraceStore.in_file(tmp_path / "home" / "traces.sqlite", most, most_bytes))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


def ids(store: TraceStore, user: str | None = None) -> list[int]:
    return [int(one.id[:8], 16) for one in store.traces(user)]


def test_the_newest_comes_first_and_each_users_own(made: Make) -> None:
    store = made()
    for number, user in ((1, "a"), (3, "b"), (2, "a"), (5, "a\udc80\0"), (4, "b")):
        store.write(trace(number, user))
    assert ids(store) == [5, 4, 3, 2, 1]
    assert (ids(store, "a"), ids(store, "b"), ids(store, "a\udc80\0"), ids(store, "c")) == ([2, 1], [4, 3], [5], [])


@pytest.mark.parametrize("bounds", [{"most": 3}, {"most": 40, "most_bytes": 20_000}], ids=["number", "bytes"])
def test_too_many_and_too_large_ones_go_the_oldest_first(made: Make, bounds: dict[str, int]) -> None:
    store = made(**bounds)
    for number in range(12):
        store.write(trace(number), ["x" * 3_000])
    kept = ids(store)
    assert 1 < len(kept) < 12
    assert kept == list(range(11, 11 - len(kept), -1))
    assert len(kept) == bounds["most"] or "most_bytes" in bounds
    again = made(**bounds)  # which counts what is there
    again.write(trace(12), ["x" * 3_000])
    assert ids(again) == [12, *kept[:-1]]


@pytest.mark.parametrize("bounds", [{"most": 6}, {"most": 50, "most_bytes": 30_000}], ids=["number", "bytes"])
def test_nobodys_traces_drive_out_anothers(made: Make, bounds: dict[str, int]) -> None:
    store = made(**bounds)
    for number in range(30):
        store.write(trace(number, "ana" if number < 2 else "ben"), ["x" * 3_000])
    assert ids(store, "ana") == [1, 0]
    kept = ids(store, "ben")
    assert 1 < len(kept) < 20
    assert kept == list(range(29, 29 - len(kept), -1))
    made(**bounds).write(trace(30, "ben"), ["x" * 3_000])
    assert ids(store, "ana") == [1, 0]


def test_a_trace_is_found_by_the_beginning_of_its_id_with_its_recording(made: Make) -> None:
    store = made()
    store.write(trace(0x1234), ['{"a": "\\u0000 \\ud800"}', '{"b": "한"}'])
    store.write(trace(0x1234ABCD))
    found, lines = store.find("00001234", ALL)
    assert (found, lines) == (trace(0x1234), [{"a": "\0 \ud800"}, {"b": "한"}])
    assert store.find(" 1234AB ", ALL)[0] == store.find("1234abcd", ALL)[0] == trace(0x1234ABCD)
    store.write(trace(0x12349999))
    with pytest.raises(InputError, match=r"2 traces begin with '1234'; give more digits"):
        store.find("1234", ALL)


@pytest.mark.parametrize(
    "given", ["", "12", "00ff", "zzzz", "../../etc/passwd", "*", "%", "\0", "\x1b[31m", "ffffffff"], ids=ascii
)
def test_no_other_name_finds_anything(made: Make, given: str) -> None:
    store = made()
    store.write(trace(1))
    with pytest.raises(InputError, match="there is no trace") as caught:
        store.find(given, ALL)
    assert "\x1b" not in str(caught.value)


def test_traces_are_forgotten_by_id_by_user_and_all(made: Make) -> None:
    store = made()
    for number, user in ((1, "a"), (2, "b"), (3, "a"), (4, "b"), (5, "b")):
        store.write(trace(number, user))
    assert store.forget(Scope("a")) == 2
    assert store.forget(ALL, "00000004") == 1
    assert ids(store) == [5, 2]
    assert (store.forget(ALL), ids(store), store.forget(ALL)) == (2, [], 0)


def test_a_trace_is_seen_and_forgotten_within_a_scope_that_covers_it(made: Make) -> None:
    store = made(most_bytes=1_000_000)
    assert store.largest == 250_000
    narrow, wide = replace(trace(1), collections=("a",)), replace(trace(2), collections=("a", "b"))
    longer = replace(narrow, id=f"{narrow.id}0")
    for one in (narrow, wide, longer):
        store.write(one)
    scope = Scope(narrow.user, ("a",))
    assert store.find(narrow.id, scope)[0] == narrow  # though another one's id begins like this
    for unseen, hidden in ((scope, wide), (Scope("somebody else"), narrow)):
        with pytest.raises(InputError, match="no trace"):
            store.find(hidden.id, unseen)
    assert store.forget(scope) == 2
    assert [one.id for one in store.traces()] == [wide.id]


def test_a_rating_is_kept_with_its_trace_and_its_recording(made: Make) -> None:
    store = made(most=2)
    store.write(trace(1, "ana"), ["{}", "{}"])
    store.write(trace(2, "ana"))
    for rating in ("up", "down", None):
        store.rate("00000001", Scope("ana"), rating)
        kept, recording = store.find("00000001", ALL)
        assert (kept.rating, len(recording)) == (rating, 2)
    assert ids(store) == [2, 1]
    with pytest.raises(InputError):
        store.rate("00000001", Scope("ben"), "up")


def test_a_damaged_trace_is_left_out_and_said_so_when_asked_for(made: Make, caplog: pytest.LogCaptureFixture) -> None:
    store = made()
    for number in (1, 2, 3):
        store.write(trace(number), ['{"call": "a"}', '{"call": "b"}'])

    def damage(column: str, trace_id: str, content: bytes) -> None:
        change = f"UPDATE turn_traces SET {column} = %s WHERE id LIKE %s"
        store._rows.transact(lambda connection: store._rows.run(connection, change, content, f"{trace_id}%"))

    for content in (b"", b"\xff\xfe", b"[]", b'{"version": 1}', b"[" * 100_000):
        damage("head", "00000002", content)
        assert ids(store) == [3, 1]
        with pytest.raises(InputError, match="cannot be read"):
            store.find("00000002", ALL)
    damage("recording", "00000003", b'{"call": "a"}\n{"ca')
    assert store.find("00000003", ALL)[1] == [{"call": "a"}]
    assert "damaged line" in caplog.text


def test_many_threads_may_write(made: Make) -> None:
    store = made(most=10)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(store.write, map(trace, range(40))))
    assert 10 <= len(ids(store)) <= 17  # each may have looked just before another wrote


def test_what_is_forgotten_is_in_no_byte_of_the_file(tmp_path: Path) -> None:
    store = TraceStore.in_file(tmp_path / "traces.sqlite", 10, 100_000)
    for number, user in ((1, "ana"), (2, "ben")):
        store.write(trace(number, user), [f'{{"said": "of-{user}"}}'] * 500)
    assert store.forget(Scope("ana")) == 1
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert (b"of-ana" in left, b"of-ben" in left) == (False, True)
    store.close()


def test_trouble_costs_the_trace_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "traces").write_text("in the way", encoding="utf-8")
    database = open_database("postgresql://ana:blue-whale@127.0.0.1:1/kept")
    in_the_way = TraceStore.in_file(tmp_path / "traces" / "traces.sqlite", 10, 1_000)
    for store in (in_the_way, TraceStore(DatabaseRows(database), 10, 1_000)):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            store.write(trace(1))
        assert "could not be kept" in caplog.text
        assert "blue-whale" not in caplog.text
        store.close()
    database.close()
