"""What keeps sessions and profiles in PostgreSQL, where it goes beyond what every store does."""

import asyncio
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.base import empty_checkpoint

from selfright.domain.errors import (
    DatabaseUnavailable,
    MissingExtra,
    SessionBusy,
    SessionLost,
    SettingsError,
    StoreError,
)
from selfright.domain.judgements import StopReason
from selfright.domain.slots import Slot
from selfright.entrypoints.cli import main
from selfright.memory import postgres, postgres_schema
from selfright.memory.conversation import TurnRecord
from selfright.memory.postgres import PostgresDatabase
from selfright.memory.postgres_address import decode, encode, read_address, shown
from selfright.memory.profiles import PostgresProfiles
from selfright.memory.sessions import Sessions
from selfright.settings import load_settings
from tests.support.postgres import MISSING, WHY_NOT, PostgresServer

if MISSING:
    pytest.skip(WHY_NOT, allow_module_level=True)

from selfright.memory.postgres_sessions import open_postgres_sessions

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
        all_of_them.append(PostgresDatabase(address + more))
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
    assert shown(address) == seen
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
    database = PostgresDatabase(address)
    with pytest.raises(StoreError, match="setting 'database'") as refused:
        database.within(lambda connection: connection.execute("SELECT 1"))
    database.close()
    assert SECRET not in f"{refused.value} {refused.value.__cause__}"


def test_without_the_packages_it_is_said_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    with pytest.raises(MissingExtra, match=r"selfright\[postgres\]"):
        PostgresDatabase("postgresql://db/kept")


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
    versions = databases[0].within(lambda c: c.execute("SELECT v FROM selfright_version").fetchall())
    assert versions == [(version,) for version in range(1, len(postgres_schema.STEPS) + 1)]


def test_older_tables_are_brought_up_to_date_with_what_is_in_them(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(PostgresProfiles(opened(), {}).remember("ana", [Slot("age", "60")]))
    monkeypatch.setattr(postgres_schema, "STEPS", (*postgres_schema.STEPS, ("ALTER TABLE api_keys ADD more text",)))
    newer = opened()
    newer.within(lambda connection: connection.execute("SELECT more FROM api_keys"))
    assert asyncio.run(PostgresProfiles(newer, {}).profile("ana")).values("age") == ("60",)


@pytest.mark.parametrize("table", ["selfright_version", "checkpoint_migrations", "store_migrations"])
def test_tables_of_a_newer_version_are_refused_and_left_alone(opened: Open, table: str) -> None:
    opened().within(lambda connection: connection.execute(f"INSERT INTO {table} VALUES (99)".encode()))
    with pytest.raises(StoreError, match=r"version 99 of .* update this program"):
        opened().within(lambda connection: connection.execute("SELECT 1"))


def test_schemas_of_one_database_know_nothing_of_one_another(opened: Open) -> None:
    asyncio.run(PostgresProfiles(opened("one"), {}).remember("ana", [Slot("age", "60")]))
    assert asyncio.run(PostgresProfiles(opened("two"), {}).users()) == ()


# One turn at a time

HOLDER = """
import asyncio, sys, time
from selfright.memory.postgres import PostgresDatabase
from selfright.memory.postgres_session_locks import PostgresSessionLocks
print(asyncio.run(PostgresSessionLocks(PostgresDatabase(sys.argv[1])).take("u/s")), flush=True)
time.sleep(600)
"""


async def two(opened: Open) -> tuple[Sessions, Sessions]:
    return await open_postgres_sessions(opened()), await open_postgres_sessions(opened())


async def cut_off(sessions: Sessions, opened: Open) -> None:
    """Ends the connection that the locks hang on, as a restart of the server or of a router does."""
    locks: Any = sessions._locks
    pid = locks._connection.info.backend_pid
    with opened().connect() as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))


def test_what_a_killed_process_held_is_free_again(opened: Open, address: str) -> None:
    opened().within(lambda connection: connection.execute("SELECT 1"))  # makes the tables
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, address], stdout=subprocess.PIPE, text=True)

    async def test() -> None:
        sessions = await open_postgres_sessions(opened())
        with pytest.raises(SessionBusy):
            await sessions.begin("u", "s", "q?")
        holder.kill()
        await soon_free(sessions)
        await sessions.close()

    try:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == "True"
        asyncio.run(test())
    finally:
        holder.kill()
        holder.communicate()


async def soon_free(sessions: Sessions) -> None:
    end = time.monotonic() + 5
    while True:
        try:
            await sessions.finish(await sessions.begin("u", "s", "q?"), RECORD)
            return
        except SessionBusy:
            assert time.monotonic() < end


def test_whoever_lost_a_session_cannot_write_to_it(opened: Open) -> None:
    async def test() -> None:
        one, other = await two(opened)
        lost = await one.begin("u", "s", "first?")
        config: Any = {"configurable": {"thread_id": lost.thread_id, "checkpoint_ns": ""}}
        await cut_off(one, opened)
        new = await other.begin("u", "s", "second?")
        with pytest.raises(SessionLost):
            await one.checkpointer.aput(config, empty_checkpoint(), {}, {})
        with pytest.raises(SessionLost):
            await one.finish(lost, TurnRecord("first?", "", "lost", StopReason.ADEQUATE))
        await other.finish(new, TurnRecord("second?", "", "kept", StopReason.ADEQUATE))
        assert [turn.answer for turn in await one.records("u", "s")] == ["kept"]
        await one.finish(await one.begin("u", "s", "third?"), RECORD)
        assert (await other.conversation("u", "s")).turns == 2
        await one.close()
        await other.close()

    asyncio.run(test())


def test_a_write_that_comes_after_its_claim_was_given_back_is_not_done(opened: Open) -> None:
    async def test() -> None:
        database = opened()
        sessions = await open_postgres_sessions(database)
        handle = await sessions.begin("u", "s", "q?")
        with database.connect() as other, other.transaction():  # holds the write up
            other.execute("SELECT * FROM session_claims FOR UPDATE")
            late = asyncio.ensure_future(sessions.finish(handle, RECORD))
            await asyncio.sleep(0.1)
            late.cancel()
            other.execute("DELETE FROM session_claims")  # as releasing does
        await asyncio.gather(late, return_exceptions=True)
        await database.run(lambda connection: None)
        assert (await sessions.conversation("u", "s")).turns == 0
        await sessions.close()

    asyncio.run(test())


def test_a_lock_whose_connection_broke_is_taken_again(opened: Open) -> None:
    async def test() -> None:
        one, other = await two(opened)
        handle = await one.begin("u", "s", "q?")
        await cut_off(one, opened)
        await one.finish(await one.begin("u", "elsewhere", "q?"), RECORD)  # which needs the connection again
        with pytest.raises(SessionBusy):
            await other.begin("u", "s", "q?")
        await one.finish(handle, RECORD)
        await other.finish(await other.begin("u", "s", "q?"), RECORD)
        await one.close()
        await other.close()

    asyncio.run(test())


def test_who_goes_away_while_claiming_holds_nothing(opened: Open) -> None:
    async def test() -> None:
        sessions = await open_postgres_sessions(opened())
        for pause in (0.0, 0.0005, 0.002, 0.005):
            task = asyncio.ensure_future(sessions.begin("u", "s", "q?"))
            await asyncio.sleep(pause)
            if not task.cancel():  # a busy machine: it was quicker than the pause, and nobody went away
                await sessions.abandon(task.result())
            await asyncio.gather(task, return_exceptions=True)
        await soon_free(sessions)
        await sessions.close()

    asyncio.run(test())


def test_what_is_asked_for_in_turn_is_done_in_turn(opened: Open) -> None:
    """A write whose caller went away does not come after what was asked for later."""
    done: list[str] = []

    async def test() -> None:
        database = opened()

        def slow(connection: Any) -> None:
            connection.execute("SELECT pg_sleep(0.2)")
            done.append("slow")

        first = asyncio.ensure_future(database.run(slow, after="a thread"))
        await asyncio.sleep(0.02)
        first.cancel()
        await database.run(lambda connection: done.append("quick"), after="a thread")

    asyncio.run(test())
    assert done == ["slow", "quick"]


# The server goes away


def test_an_outage_is_told_soon_and_ends_by_itself(
    opened: Open, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfright.memory.postgres._WAIT_S", 0.5)

    async def test() -> None:
        sessions = await open_postgres_sessions(opened())
        handle = await sessions.begin("u", "s", "q?")
        postgres.stop()
        try:
            for _ in range(2):
                with pytest.raises(DatabaseUnavailable) as told:
                    await sessions.conversation("u", "s")
                assert told.value.retryable
            with pytest.raises(DatabaseUnavailable):
                await sessions.begin("u", "other", "q?")
        finally:
            postgres.start()
        end = time.monotonic() + 15
        while True:
            try:
                await sessions.finish(handle, RECORD)
                break
            except DatabaseUnavailable:
                assert time.monotonic() < end
                await asyncio.sleep(0.1)
        assert (await sessions.conversation("u", "s")).turns == 1
        await sessions.close()

    asyncio.run(test())


def test_a_restart_between_two_turns_is_not_noticed(opened: Open, postgres: PostgresServer) -> None:
    async def test() -> None:
        sessions = await open_postgres_sessions(opened())
        await sessions.finish(await sessions.begin("u", "s", "q?"), RECORD)
        postgres.restart()
        await sessions.finish(await sessions.begin("u", "s", "q?"), RECORD)
        assert (await sessions.conversation("u", "s")).turns == 2
        await sessions.close()

    asyncio.run(test())


# Erasing


@pytest.mark.skipif(sys.platform == "win32", reason="files of a running server are not read here")
def test_what_was_erased_is_in_no_file_of_the_tables(opened: Open, postgres: PostgresServer) -> None:
    database = opened()

    async def test() -> None:
        sessions, profiles = await open_postgres_sessions(database), PostgresProfiles(database, {})
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

    asyncio.run(test())


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
    profiles = PostgresProfiles(database, {})
    asyncio.run(profiles.remember("ana", [Slot("age", "60")]))
    with database.connect() as reader, reader.transaction():
        reader.execute("SELECT * FROM profile_facts")
        with pytest.raises(StoreError, match="run it again later"):
            asyncio.run(profiles.forget("ana"))
    assert asyncio.run(profiles.users()) == ()


# Several at once


def test_a_bad_statement_costs_nobody_else_a_turn(opened: Open) -> None:
    database = opened()

    def refused(connection: Any) -> None:
        connection.execute("INSERT INTO nowhere VALUES (1)")

    def unheard_of(connection: Any) -> None:
        connection.execute("SELECT %s::int", (2**40,))

    def ours(_connection: Any) -> None:
        raise TypeError("a mistake of ours")

    async def work() -> list[Any]:
        bad = [refused, unheard_of, ours]
        good = [lambda connection: connection.execute("SELECT 7").fetchone()[0]] * 3
        mixed = [task for pair in zip(bad, good, strict=True) for task in pair]
        runs = [database.run(task, after=name) for name in ("one turn", "another", None) for task in mixed]
        return await asyncio.wait_for(asyncio.gather(*runs, return_exceptions=True), 30)

    ends = asyncio.run(work())
    assert ends[1::2] == [7] * 9
    assert [type(end) for end in ends[::2]] == [StoreError, StoreError, TypeError] * 3


def test_a_session_whose_state_cannot_be_kept_holds_up_no_other(opened: Open) -> None:
    database = opened()

    async def turn(sessions: Sessions, name: str) -> None:
        handle = await sessions.begin("ana", name, "q?")
        config: Any = {"configurable": {"thread_id": handle.thread_id, "checkpoint_ns": ""}}
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"x": object() if name.startswith("bad") else name}
        checkpoint["channel_versions"] = {"x": "1"}
        try:
            await sessions.checkpointer.aput(config, checkpoint, {}, {"x": "1"})
        except BaseException:
            await sessions.abandon(handle)
            raise
        await sessions.finish(handle, RECORD)

    async def work() -> tuple[list[Any], list[str]]:
        sessions = await open_postgres_sessions(database)
        names = [f"{kind}-{n}" for n in range(6) for kind in ("bad", "good")]
        ends = await asyncio.wait_for(
            asyncio.gather(*(turn(sessions, name) for name in names), return_exceptions=True), 30
        )
        kept = [info.session for info in await sessions.list("ana") if info.turns]
        await sessions.close()
        return ends, sorted(kept)

    ends, kept = asyncio.run(work())
    assert [end is None for end in ends] == [False, True] * 6
    assert kept == [f"good-{n}" for n in range(6)]
