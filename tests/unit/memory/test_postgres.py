"""What keeps sessions and profiles in PostgreSQL, where it goes beyond what every store does."""

import asyncio
import importlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from selfright.cli.main import main
from selfright.domain.errors import MissingExtra, SettingsError, StoreError, StoreUnavailable
from selfright.domain.judgements import StopReason
from selfright.domain.slots import Slot
from selfright.domain.turns import TurnCheckpoint
from selfright.memory.conversation import TurnRecord
from selfright.memory.profiles import RowProfiles
from selfright.memory.sessions import Sessions
from selfright.settings import load_settings
from selfright.storage.postgres_address import decode, encode, format_address, read_address
from selfright.storage.rows import DatabaseRows
from tests.support.postgres import MISSING, WHY_NOT, PostgresServer

if MISSING:
    pytest.skip(WHY_NOT, allow_module_level=True)

from selfright.memory.opening import open_postgres_sessions
from selfright.memory.postgres import TABLES, open_database
from selfright.storage import postgres
from selfright.storage.postgres import PostgresDatabase

SECRET = "blue-whale-4711"
RECORD = TurnRecord("q?", "q?", "a", StopReason.ADEQUATE)
Open = Callable[..., PostgresDatabase]


@pytest.fixture(scope="module")
def addresses(postgres: PostgresServer) -> Iterator[str]:
    """Addresses of empty schemas in one database, which is quicker to make than a database each."""
    uri = postgres.fresh_database()
    return (f"{uri}?schema=s{number}" for number in itertools.count())


@pytest.fixture
def address(addresses: Iterator[str], postgres: PostgresServer) -> str:
    """Of a schema for one test, on a server that runs."""
    if not postgres.is_running:
        postgres.start()
    return next(addresses)


@pytest.fixture
def opened(address: str) -> Iterator[Open]:
    """Opens the test's schema, as many times as it is asked to; or another one of the same database."""
    all_of_them: list[PostgresDatabase] = []

    def one_more(more: str = "") -> PostgresDatabase:
        all_of_them.append(open_database(address + more))
        return all_of_them[-1]

    yield one_more
    for each in all_of_them:
        each.close()


# The address


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        (f"postgresql://ana:{SECRET}@db:5432/kept?schema=a1", "postgresql://ana@db:5432/kept?schema=a1"),
        (f"postgres://ana:{SECRET}%40@h1,h2:5433/kept", "postgres://ana@h1,h2:5433/kept"),
        (f"postgresql://db/kept?password={SECRET}&sslkey={SECRET}&user=ana", "postgresql://db/kept?user=ana"),
        (f"postgresql://ana:{SECRET}@x@db/kept", "postgresql://ana@db/kept"),
        (f"postgresql:///kept?host=/run/pg&pass%77ord={SECRET}", "postgresql:///kept?host=/run/pg"),
    ],
)
def test_the_password_is_shown_nowhere(address: str, seen: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert format_address(address) == seen
    assert SECRET not in repr(read_address(address))
    assert SECRET not in repr(load_settings({"database": address}))
    for json in ([], ["--json"]):
        assert main(["config", "--set", f"database={address}", *json]) == 0
        told = capsys.readouterr().out
        assert SECRET not in told
        assert seen in told


def test_what_is_meant_for_the_server_reaches_it_as_it_was_written() -> None:
    text = "postgresql://ana:a+b%40@h1:1,h2/kept?options=-c%20work_mem%3D8MB&schema=mine&password=c+d"
    assert read_address(text).schema == "mine"
    assert read_address(text).uri == text.replace("schema=mine&", "")


@pytest.mark.parametrize("wrong", [f"mysql://a:{SECRET}@db/x", SECRET, f"postgresql://a:{SECRET}@db/x?schema=a;b"])
def test_an_address_that_is_none_is_refused_without_quoting_it(wrong: str) -> None:
    with pytest.raises(SettingsError, match="setting 'database'") as refused:
        load_settings({"database": wrong})
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "address", [f"postgresql://ana:{SECRET}@127.0.0.1:1/kept", f"postgresql://ana:{SECRET}@[::1/x"]
)
def test_what_cannot_be_reached_is_told_without_the_password(address: str) -> None:
    database = open_database(address)
    with pytest.raises(StoreError, match=r"setting 'database'|address of the database") as refused:
        database.within(lambda connection: connection.execute("SELECT 1"))
    database.close()
    assert SECRET not in f"{refused.value} {refused.value.__cause__}"


def test_without_the_packages_it_is_said_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    monkeypatch.delitem(sys.modules, "selfright.storage.postgres")
    with pytest.raises(MissingExtra, match=r"selfright\[postgres\]"):
        importlib.import_module("selfright.storage.postgres")


@example("\x1a0 \x1a1 \0")  # what stands for NUL is text, too
@given(st.text())
def test_any_text_can_be_kept(text: str) -> None:
    assert "\0" not in encode(text)
    assert decode(encode(text)) == text.encode("utf-8", "replace").decode()


# Tables


def test_many_openers_at_once_make_the_tables_once(opened: Open) -> None:
    databases = [opened() for _ in range(5)]
    with ThreadPoolExecutor(5) as pool:
        list(
            pool.map(lambda database: database.within(lambda c: c.execute("SELECT count(*) FROM api_keys")), databases)
        )
    about = databases[0].within(lambda c: c.execute("SELECT * FROM about ORDER BY name").fetchall())
    assert about == [("kind", "selfright-memory"), ("version", str(TABLES.version))]


def test_tables_of_a_newer_version_are_refused_and_left_alone(opened: Open) -> None:
    opened().within(lambda connection: connection.execute("UPDATE about SET value = '99' WHERE name = 'version'"))
    with pytest.raises(StoreError, match=r"tables of version 99.*newer"):
        opened().within(lambda connection: connection.execute("SELECT 1"))


def test_a_schema_of_somebody_else_is_left_alone(opened: Open) -> None:
    database = opened("taken")
    with opened("other").connect() as connection:
        connection.execute(f"CREATE SCHEMA {database.address.schema} CREATE TABLE papers (text text)".encode())
    with pytest.raises(StoreError, match="holds something else"):
        database.within(lambda connection: connection.execute("SELECT 1"))


def test_schemas_of_one_database_know_nothing_of_one_another(opened: Open) -> None:
    asyncio.run(RowProfiles(DatabaseRows(opened("one")), {}).remember("ana", [Slot("age", "60")]))
    assert asyncio.run(RowProfiles(DatabaseRows(opened("two")), {}).users()) == ()


# The server goes away


async def test_an_outage_is_told_soon_and_ends_by_itself(
    opened: Open, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfright.storage.postgres._WAIT_S", 0.5)
    sessions = await open_postgres_sessions(opened())
    handle = await sessions.begin("u", "s", "q?")
    postgres.stop()
    try:
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                await sessions.conversation("u", "s")
        with pytest.raises(StoreUnavailable):
            await sessions.begin("u", "other", "q?")
    finally:
        postgres.start()
    end = time.monotonic() + 15
    while True:
        try:
            await sessions.finish(handle, RECORD)
            break
        except StoreUnavailable:
            assert time.monotonic() < end
            await asyncio.sleep(0.1)
    assert (await sessions.conversation("u", "s")).turns == 1
    await sessions.close()


async def test_a_restart_between_two_turns_is_not_noticed(opened: Open, postgres: PostgresServer) -> None:
    sessions = await open_postgres_sessions(opened())
    await sessions.finish(await sessions.begin("u", "s", "q?"), RECORD)
    postgres.restart()
    await sessions.finish(await sessions.begin("u", "s", "q?"), RECORD)
    assert (await sessions.conversation("u", "s")).turns == 2
    await sessions.close()


# Erasing


@pytest.mark.skipif(sys.platform == "win32", reason="files of a running server are not read here")
async def test_what_was_erased_is_in_no_file_of_the_tables(opened: Open, postgres: PostgresServer) -> None:
    database = opened()
    sessions, profiles = await open_postgres_sessions(database), RowProfiles(DatabaseRows(database), {})
    for n in range(20):
        await profiles.remember("ana", [Slot("tools", f"{SECRET} {n}")])
    await profiles.remember("ben", [Slot("tools", "saw")])
    handle = await sessions.begin("ana", "s", f"{SECRET}?")
    await sessions.finish(handle, TurnRecord(SECRET, SECRET, SECRET * 500, StopReason.ADEQUATE))
    checkpoint(database)
    assert found(postgres)
    assert await profiles.forget("ana") == 20
    assert await sessions.forget("ana") == 1
    checkpoint(database)
    assert found(postgres) == []
    assert (await profiles.profile("ben")).values("tools") == ("saw",)
    await sessions.close()


def checkpoint(database: PostgresDatabase) -> None:
    with database.connect() as connection:
        connection.execute("CHECKPOINT")


def found(server: PostgresServer) -> list[str]:
    folder: Path = server._folder / "data" / "base"
    files = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    return [str(path) for path in files if SECRET.encode() in path.read_bytes()]


def test_a_table_that_is_in_use_for_too_long_is_told(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_ERASE_LOCK_S", 0.2)
    database = opened()
    profiles = RowProfiles(DatabaseRows(database), {})
    asyncio.run(profiles.remember("ana", [Slot("age", "60")]))
    with database.connect() as reader, reader.transaction():
        reader.execute("SELECT * FROM profile_facts")
        with pytest.raises(StoreError, match="run it again later"):
            asyncio.run(profiles.forget("ana"))
    assert asyncio.run(profiles.users()) == ()


# Several at once


async def test_a_bad_statement_costs_nobody_else_a_turn(opened: Open) -> None:
    database = opened()

    def refused(connection: Any) -> None:
        connection.execute("INSERT INTO nowhere VALUES (1)")

    def unheard_of(connection: Any) -> None:
        connection.execute("SELECT %s::int", (2**40,))

    def ours(_connection: Any) -> None:
        raise TypeError("a mistake of ours")

    bad = [refused, unheard_of, ours]
    good = [lambda connection: connection.execute("SELECT 7").fetchone()[0]] * 3
    mixed = [task for pair in zip(bad, good, strict=True) for task in pair]
    runs = [database.run(task) for _ in range(3) for task in mixed]
    ends = await asyncio.wait_for(asyncio.gather(*runs, return_exceptions=True), 30)
    assert ends[1::2] == [7] * 9
    assert [type(end) for end in ends[::2]] == [StoreError, StoreError, TypeError] * 3


async def test_a_session_whose_state_cannot_be_kept_holds_up_no_other(opened: Open) -> None:
    database = opened()

    async def turn(sessions: Sessions, name: str) -> None:
        handle = await sessions.begin("ana", name, "q?")
        state = {"x": object() if name.startswith("bad") else name}
        try:
            await sessions.keep(handle, TurnCheckpoint(state, ("grade",)))
        except BaseException:
            await sessions.abandon(handle)
            raise
        await sessions.finish(handle, RECORD)

    sessions = await open_postgres_sessions(database)
    names = [f"{kind}-{n}" for n in range(6) for kind in ("bad", "good")]
    ends = await asyncio.wait_for(asyncio.gather(*(turn(sessions, name) for name in names), return_exceptions=True), 30)
    kept = [info.session for info in await sessions.list("ana") if info.turns]
    await sessions.close()
    assert [end is None for end in ends] == [False, True] * 6
    assert sorted(kept) == [f"good-{n}" for n in range(6)]
