"""Traces in PostgreSQL do what those in files do: newest first, bounded, each user's own, a damaged one left out."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from selfright.domain.errors import InputError
from selfright.domain.traces import Trace
from selfright.domain.turns import Scope
from selfright.memory.postgres import open_database
from selfright.memory.postgres_traces import PostgresTraces
from selfright.storage.postgres import PostgresDatabase
from selfright.telemetry.outline import finished_trace
from selfright.wiring.persistence import DatabaseTraces
from tests.support.postgres import PostgresServer
from tests.support.traces import ORIGINS, answer

Make = Callable[..., DatabaseTraces]
ALL = Scope(None)


@pytest.fixture(scope="module")
def kept_in(postgres: PostgresServer) -> Iterator[PostgresDatabase]:
    if not postgres.is_running:
        postgres.start()
    database = open_database(postgres.fresh_database())
    yield database
    database.close()


@pytest.fixture
def made(kept_in: PostgresDatabase) -> Make:
    kept_in.within(lambda connection: connection.execute("TRUNCATE turn_traces"))
    return lambda most=1_000, most_bytes=100_000_000: DatabaseTraces(PostgresTraces(kept_in, most, most_bytes), 1_000)


def trace(number: int, user: str = "u") -> Trace:
    return replace(
        finished_trace(answer(), 1_000.0 + number, Scope(user), ORIGINS, content=False), id=f"{number:08x}" + "0" * 24
    )


def ids(store: DatabaseTraces, user: str | None = None) -> list[int]:
    return [int(one.id[:8], 16) for one in store.traces(user)]


def test_the_newest_comes_first_and_each_users_own(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfright.memory.postgres_traces._PAGE", 2)
    store = made()
    for number, user in ((1, "a"), (3, "b"), (2, "a"), (5, "a\udc80\0"), (4, "b")):
        store.write(trace(number, user))
    assert ids(store) == [5, 4, 3, 2, 1]
    assert (ids(store, "a"), ids(store, "b"), ids(store, "a\udc80\0"), ids(store, "c")) == ([2, 1], [4, 3], [5], [])


def test_too_many_and_too_large_ones_go_the_oldest_first(made: Make) -> None:
    for store in (made(most=3), made(most_bytes=20_000, most=40)):
        for number in range(12):
            store.write(trace(number), ["x" * 3_000])
        kept = ids(store)
        assert 1 < len(kept) < 12
        assert kept == list(range(11, 11 - len(kept), -1))
    assert ids(made(most=3)) == ids(store)


@pytest.mark.parametrize("bounds", [{"most": 6}, {"most_bytes": 30_000, "most": 50}], ids=["number", "bytes"])
def test_nobodys_traces_drive_out_anothers(made: Make, bounds: dict[str, int]) -> None:
    store = made(**bounds)
    for number in range(30):
        store.write(trace(number, "ana" if number < 2 else "ben"), ["x" * 3_000])
    assert ids(store, "ana") == [1, 0]
    kept = ids(store, "ben")
    assert 1 < len(kept) < 20
    assert kept == list(range(29, 29 - len(kept), -1))


def test_a_trace_is_found_by_the_beginning_of_its_id_with_its_recording(made: Make) -> None:
    store = made()
    store.write(trace(0x1234), ['{"a": "\\u0000 \\ud800"}', '{"b": "한"}'])
    store.write(trace(0x12345678))
    found, lines = store.find("00001234", ALL)
    assert (found, lines) == (trace(0x1234), [{"a": "\0 \ud800"}, {"b": "한"}])
    assert store.find(" 12345678 ", ALL)[0] == trace(0x12345678)
    store.write(trace(0x12349999))
    with pytest.raises(InputError, match="several"):
        store.find("1234", ALL)
    for wrong in ("00ff", "xyz", "1", "%", "\0"):
        with pytest.raises(InputError, match="there is no trace"):
            store.find(wrong, ALL)


def test_traces_are_forgotten(made: Make) -> None:
    store = made()
    for number, user in ((1, "a"), (2, "b"), (3, "a"), (4, "b"), (5, "b")):
        store.write(trace(number, user))
    assert store.forget(Scope("a")) == 2
    assert store.forget(ALL, "00000004") == 1
    assert ids(store) == [5, 2]
    assert store.forget(ALL) == 2
    assert ids(store) == []


def test_a_damaged_trace_is_left_out(made: Make, kept_in: PostgresDatabase) -> None:
    store = made()
    for number in (1, 2):
        store.write(trace(number))
    kept_in.within(
        lambda connection: connection.execute("UPDATE turn_traces SET head = '{' WHERE id LIKE '00000002%%'")
    )
    assert ids(store) == [1]
    with pytest.raises(InputError, match="cannot be read"):
        store.find("00000002", ALL)


def test_trouble_costs_the_trace_and_not_the_turn(caplog: pytest.LogCaptureFixture) -> None:
    database = open_database("postgresql://ana:blue-whale@127.0.0.1:1/kept")
    with caplog.at_level(logging.WARNING):
        DatabaseTraces(PostgresTraces(database, 10, 1_000), 100).write(trace(1))
    database.close()
    assert "could not be kept" in caplog.text
    assert "blue-whale" not in caplog.text
