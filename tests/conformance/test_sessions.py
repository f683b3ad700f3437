"""What any way of keeping sessions must do; each is opened by a function that is given a folder of its own."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from selfright.domain.answers import Message
from selfright.domain.errors import SessionBusy, SessionLost, StoreError, UsageError
from selfright.domain.judgements import StopReason
from selfright.domain.turns import Scope, TurnCheckpoint
from selfright.flow.state import AgentState
from selfright.memory import session_rows
from selfright.memory.checkpoints import serializer
from selfright.memory.conversation import Conversation, Retention, TurnRecord
from selfright.memory.opening import open_postgres_sessions, open_sessions
from selfright.memory.session_rows import SessionRows
from selfright.memory.sessions import Sessions, TurnHandle
from selfright.storage.rows import FileRows
from tests.support.postgres import PostgresServer

Opened = Callable[[Path, Retention], Awaitable[Sessions]]


async def in_sqlite(folder: Path, retention: Retention) -> Sessions:
    return await open_sessions(folder / "sessions.sqlite", retention)


def in_postgres(server: PostgresServer) -> Opened:
    from selfright.memory.postgres import open_database

    schemas: dict[Path, str] = {}
    uri = server.fresh_database()

    async def in_schema(folder: Path, retention: Retention) -> Sessions:
        database = open_database(f"{uri}?schema={schemas.setdefault(folder, f's{len(schemas)}')}")
        sessions = await open_postgres_sessions(database, retention)

        async def close(close: Callable[[], Awaitable[None]] = sessions.close) -> None:
            await close()
            database.close()

        sessions.close = close
        return sessions

    return in_schema


@pytest.fixture(scope="module")
def in_database(request: pytest.FixtureRequest) -> Opened:
    """Sessions in a database of this module's own, in a schema for each folder."""
    return in_postgres(request.getfixturevalue("postgres"))


@pytest.fixture(params=[in_sqlite, "in_database"])
def opened(request: pytest.FixtureRequest) -> Opened:
    given: Opened = request.getfixturevalue(request.param) if isinstance(request.param, str) else request.param
    return given


@pytest.fixture
def limits() -> dict[str, Any]:
    return {}


@pytest.fixture
def sessions(opened: Opened, tmp_path: Path, limits: dict[str, Any]) -> Iterator[Sessions]:
    sessions = asyncio.run(opened(tmp_path, Retention(**limits)))
    yield sessions
    asyncio.run(sessions.close())


def record(n: int = 1) -> TurnRecord:
    return TurnRecord(f"질문 {n}?", f"standalone {n}?", f"답 {n}", StopReason.ADEQUATE, ("d1", "d2"), f"trace{n}", 5.0)


async def talk(sessions: Sessions, turns: int, user: str = "u", session: str = "s") -> None:
    for n in range(turns):
        handle = await sessions.begin(user, session, f"질문 {n}?")
        await sessions.finish(handle, record(n))


def said(conversation: Conversation) -> list[str]:
    return [message.content for message in conversation.messages]


async def test_a_session_that_was_never_begun_is_empty(sessions: Sessions) -> None:
    assert await sessions.conversation("u", "s") == Conversation()
    assert await sessions.records("u", "s") == ()
    assert await sessions.list("u") == ()
    assert await sessions.forget("u", "s") == 0


async def test_what_was_said_is_kept_in_order(sessions: Sessions) -> None:
    await talk(sessions, 3)
    conversation = await sessions.conversation("u", "s")
    assert said(conversation) == ["질문 0?", "답 0", "질문 1?", "답 1", "질문 2?", "답 2"]
    assert conversation.messages[1] == Message("assistant", "답 0")
    assert conversation.turns == 3
    assert await sessions.records("u", "s") == (record(0), record(1), record(2))
    assert await sessions.records("u", "s", last=1) == (record(2),)


async def test_a_turn_is_handed_what_was_said_before_it(sessions: Sessions) -> None:
    await talk(sessions, 1)
    handle = await sessions.begin("u", "s", "그럼?", "full", "t1")
    assert said(handle.conversation) == ["질문 0?", "답 0"]
    assert (handle.turn.number, handle.turn.preset, handle.turn.trace_id) == (1, "full", "t1")
    assert handle.conversation.unfinished is None


async def test_messages_in_the_summary_are_not_handed_out_again(sessions: Sessions) -> None:
    await talk(sessions, 2)
    handle = await sessions.begin("u", "s", "셋?")
    await sessions.finish(handle, record(2), "요약 1", summarised=3)
    handle = await sessions.begin("u", "s", "넷?")
    assert handle.conversation.summary == "요약 1"
    assert said(handle.conversation) == ["답 1", "질문 2?", "답 2"]
    await sessions.finish(handle, record(3), "요약 2", summarised=2)
    conversation = await sessions.conversation("u", "s")
    assert conversation.summary == "요약 2"
    assert said(conversation) == ["답 2", "질문 3?", "답 3"]
    await talk(sessions, 1)
    assert (await sessions.conversation("u", "s")).summary == "요약 2"
    handle = await sessions.begin("u", "s", "다섯?")
    await sessions.finish(handle, record(5), "요약 3", summarised=99)  # the turn itself cannot be in it
    assert said(await sessions.conversation("u", "s")) == ["질문 5?", "답 5"]


async def test_one_turn_of_a_session_at_a_time(sessions: Sessions) -> None:
    handle = await sessions.begin("u", "s", "one?")
    with pytest.raises(SessionBusy):
        await sessions.begin("u", "s", "two?")
    with pytest.raises(SessionBusy):
        await sessions.forget("u", "s")
    other = await sessions.begin("u", "other", "three?")
    await sessions.finish(handle, record())
    await sessions.finish(other, record())
    assert (await sessions.begin("u", "s", "two?")).turn.number == 1


async def test_of_many_at_once_one_gets_the_session(sessions: Sessions) -> None:
    got = await asyncio.gather(*(sessions.begin("u", "s", "q?") for _ in range(20)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in got) == ["SessionBusy"] * 19 + ["TurnHandle"]


async def test_looking_at_a_session_keeps_nobody_out(sessions: Sessions) -> None:
    await sessions.suspend(await sessions.begin("u", "s", "q?"))
    looks = [asyncio.ensure_future(sessions.conversation("u", "s")) for _ in range(50)]
    for _ in range(10):
        await sessions.suspend(await sessions.begin("u", "s", "q?"))
    assert {look.turns for look in await asyncio.gather(*looks)} == {0}


async def test_a_failing_end_of_a_turn_leaves_all_as_it_was_and_the_session_free(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise StoreError("the disk is full")

    handle = await sessions.begin("u", "s", "q?")
    await sessions.keep(handle, SECOND)
    with monkeypatch.context() as trouble:
        trouble.setattr(SessionRows, "drop_checkpoints", full_disk)  # the last step of the end
        with pytest.raises(StoreError):
            await sessions.finish(handle, record())
    assert await sessions.records("u", "s") == ()
    await sessions.abandon(handle)
    assert await left(sessions, handle) is None
    await sessions.finish(await sessions.begin("u", "s", "q?"), record())
    assert (await sessions.conversation("u", "s")).turns == 1


async def test_an_abandoned_turn_leaves_no_trace(sessions: Sessions) -> None:
    await sessions.abandon(await sessions.begin("u", "s", "never mind"))
    assert await sessions.list("u") == ()
    await talk(sessions, 1)
    await sessions.abandon(await sessions.begin("u", "s", "never mind"))
    conversation = await sessions.conversation("u", "s")
    assert (conversation.turns, conversation.unfinished) == (1, None)


STATE = {"user_text": b'"q?"', "retrieved_docs": b"[]" * 500, "verdict": b'"correct"', "notes": b'["one"]'}
SECOND = TurnCheckpoint(STATE, ("second",))


async def left(sessions: Sessions, handle: TurnHandle) -> TurnCheckpoint | None:
    return await sessions._checkpoints.left(handle.row.id)


async def test_a_suspended_turn_is_resumed_after_its_last_finished_node(sessions: Sessions) -> None:
    handle = await sessions.begin("u", "s", "q?", "full", "t1")
    assert handle.left is None
    await sessions.keep(handle, TurnCheckpoint({"user_text": b'"q?"'}, ("first",)))
    await sessions.keep(handle, SECOND)
    await sessions.suspend(handle)
    assert (await sessions.conversation("u", "s")).unfinished == handle.turn

    resumed = await sessions.begin("u", "s", "q?", "full")
    assert (resumed.row.id, resumed.turn) == (handle.row.id, handle.turn)
    assert resumed.left == SECOND
    await sessions.suspend(resumed)  # killed once more before anything was kept
    again = await sessions.begin("u", "s", "q?", "full")
    assert again.left == SECOND
    await sessions.keep(again, third := TurnCheckpoint({**STATE, "notes": b"[]", "verdict": b"null"}, ("third",)))
    assert await left(sessions, again) == third

    await sessions.finish(again, record())
    assert await left(sessions, again) is None
    assert (await sessions.conversation("u", "s")).unfinished is None


async def test_what_one_of_several_nodes_gave_is_kept_while_the_others_work(sessions: Sessions) -> None:
    handle = await sessions.begin("u", "s", "q?")
    both = TurnCheckpoint(STATE, ("second", "third"))
    await sessions.keep(handle, both)
    await sessions.keep(handle, one := replace(both, ended={"third": {"notes": b'["three"]', "verdict": b"null"}}))
    assert await left(sessions, handle) == one
    await sessions.suspend(handle)
    resumed = await sessions.begin("u", "s", "q?")
    assert resumed.left == one
    await sessions.keep(resumed, one)  # as the turn does that goes on
    assert await left(sessions, resumed) == one
    await sessions.keep(resumed, SECOND)
    assert await left(sessions, resumed) == SECOND


async def test_langgraph_reads_in_what_is_kept_which_node_is_next(sessions: Sessions) -> None:
    graph = StateGraph(AgentState)
    for name, before in (("first", START), ("second", "first"), ("third", "second")):
        graph.add_node(name, lambda _: {})
        graph.add_edge(before, name)
    handle = await sessions.begin("u", "s", "q?")
    await sessions.keep(handle, TurnCheckpoint({"user_text": b'"q?"'}, ("first",)))
    await sessions.keep(handle, SECOND)
    config: Any = {"configurable": {"thread_id": handle.row.id, "checkpoint_ns": ""}}
    rows, saver = sessions._rows, sessions._checkpoints._saver
    found = await rows.read(lambda connection: saver(connection).get_tuple(config))
    assert found is not None
    held, kept = InMemorySaver(serde=serializer()), found.checkpoint
    held.put(config, kept, found.metadata, kept["channel_versions"])
    seen = await graph.compile(checkpointer=held).aget_state(config)
    assert (seen.next, seen.values["notes"]) == (("second",), STATE["notes"])


@pytest.mark.parametrize(("question", "preset"), [("another?", "full"), ("q?", "basic")])
async def test_only_the_same_question_is_gone_on_with(sessions: Sessions, question: str, preset: str) -> None:
    handle = await sessions.begin("u", "s", "q?", "full")
    await sessions.keep(handle, SECOND)
    await sessions.suspend(handle)
    other = await sessions.begin("u", "s", question, preset)
    assert other.left is None
    assert (other.turn.number, other.turn.question, other.turn.preset) == (0, question, preset)
    assert await left(sessions, other) is None
    await sessions.suspend(other)
    assert (await sessions.conversation("u", "s")).unfinished == other.turn


async def test_sessions_of_others_are_not_seen(sessions: Sessions) -> None:
    names = ["a", "a.b", "A", "a/b", "a%2Eb", "*", "[a]", "한 사람", "a\udc80"]
    for user in names:
        await talk(sessions, 1, user, "s.1")
    for user in names:
        assert [info.session for info in await sessions.list(user)] == ["s.1"]
    assert await sessions.conversation("a", "s") == Conversation()
    assert await sessions.forget("a") == 1
    assert await sessions.list("a") == ()
    for user in names[1:]:
        assert (await sessions.conversation(user, "s.1")).turns == 1


OPEN, LETTERS, BOTH = Scope("u"), Scope("u", ("letters",)), Scope("u", ("letters", "plans"))


async def test_a_session_is_seen_within_a_scope_that_covers_all_its_turns(sessions: Sessions) -> None:
    async def say(scope: Scope, session: str) -> None:
        await sessions.finish(await sessions.begin(scope, session, "q?"), record())

    await say(LETTERS, "narrow")
    await say(LETTERS, "grown")
    await say(BOTH, "grown")
    await say(OPEN, "open")
    assert [one.session for one in await sessions.list(LETTERS, limit=1)] == ["narrow"]
    await sessions.suspend(await sessions.begin(OPEN, "left", "q?", "", "left"))
    running = await sessions.begin(OPEN, "open", "q?")  # of a hidden one that is busy nothing is told, either
    for scope, seen in ((LETTERS, {"narrow"}), (BOTH, {"narrow", "grown"}), (Scope("u", ()), set())):
        assert {one.session for one in await sessions.list(scope)} == seen
        for session in {"narrow", "grown", "open", "left"} - seen:
            assert await sessions.conversation(scope, session) == Conversation()
            assert await sessions.records(scope, session) == ()
            assert await sessions.forget(scope, session) == 0
            own = await sessions.begin(scope, session, "q?")
            assert (own.turn.number, own.conversation) == (0, Conversation())
            await sessions.abandon(own)
    await sessions.abandon(running)
    assert await sessions.forget(BOTH) == 2
    assert {one.session for one in await sessions.list(OPEN)} == {"open", "left"}
    assert (await sessions.begin(OPEN, "left", "q?")).turn.trace_id == "left"


async def test_one_name_means_to_each_scope_its_own_session(sessions: Sessions) -> None:
    async def say(scope: Scope, answer: str) -> list[str]:
        handle = await sessions.begin(scope, "s", f"{answer}?")
        await sessions.finish(handle, TurnRecord(f"{answer}?", "", answer, StopReason.ADEQUATE))
        return said(handle.conversation)

    plans = Scope("u", ("plans",))
    assert await say(BOTH, "both") == []
    assert await say(LETTERS, "letters") == []
    assert await say(plans, "plans") == []
    assert await say(LETTERS, "more letters") == ["letters?", "letters"]
    assert await say(BOTH, "more of both") == ["both?", "both"]  # which sees all three
    assert await say(OPEN, "all") == ["both?", "both", "more of both?", "more of both"]  # what was searched most
    assert await say(plans, "more plans") == ["plans?", "plans"]
    assert await say(LETTERS, "letters again") == ["letters?", "letters", "more letters?", "more letters"]
    assert [(one.session, one.turns) for one in await sessions.list(OPEN)] == [("s", 3)]
    assert [(one.session, one.turns) for one in await sessions.list(LETTERS)] == [("s", 3)]
    assert len(await sessions.records(plans, "s")) == 2
    assert await sessions.forget(LETTERS, "s") == 1
    assert await sessions.forget(OPEN, "s") == 2


async def test_of_many_at_once_in_a_taken_name_one_gets_a_session(sessions: Sessions) -> None:
    await sessions.finish(await sessions.begin(OPEN, "s", "q?"), record())
    got = await asyncio.gather(*(sessions.begin(LETTERS, "s", "q?") for _ in range(20)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in got) == ["SessionBusy"] * 19 + ["TurnHandle"]


async def test_a_running_turn_keeps_its_session_alone_from_being_forgotten(sessions: Sessions) -> None:
    for session in ("a", "b", "c"):
        await talk(sessions, 1, session=session)
    handle = await sessions.begin("u", "b", "q?")
    with pytest.raises(SessionBusy):
        await sessions.forget("u")
    assert [one.session for one in await sessions.list("u")] == ["b"]
    await sessions.finish(handle, record())


@pytest.mark.parametrize("name", ["", "x" * 201])
async def test_names_have_a_length(sessions: Sessions, name: str) -> None:
    with pytest.raises(UsageError, match="1 to 200"):
        await sessions.begin(name, "s", "q?")
    with pytest.raises(UsageError, match="1 to 200"):
        await sessions.conversation("u", name)


async def test_sessions_are_listed_by_last_use(sessions: Sessions) -> None:
    for session in ("one", "two", "three", "one"):
        await talk(sessions, 1, session=session)
    listed = await sessions.list("u")
    assert [(info.session, info.turns, info.unfinished) for info in listed] == [
        ("one", 2, False),
        ("three", 1, False),
        ("two", 1, False),
    ]
    assert len(await sessions.list("u", limit=2)) == 2


@pytest.mark.parametrize("limits", [{"session_turns": 2}])
async def test_only_the_last_turns_of_a_session_are_kept(sessions: Sessions) -> None:
    await talk(sessions, 5)
    assert await sessions.records("u", "s") == (record(3), record(4))
    conversation = await sessions.conversation("u", "s")
    assert said(conversation) == ["질문 3?", "답 3", "질문 4?", "답 4"]
    assert conversation.turns == 5
    handle = await sessions.begin("u", "s", "q?")
    await sessions.finish(handle, record(5), "요약", summarised=1)
    assert said(await sessions.conversation("u", "s")) == ["질문 4?", "답 4", "질문 5?", "답 5"]


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.mark.parametrize("limits", [{"sessions_days": 1, "max_sessions": 3}])
async def test_prune_drops_the_old_and_those_over_the_limit_but_nothing_running(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sessions, "prune_soon", lambda _: None)
    sessions._clock = clock = Clock()
    for n in range(4):
        await talk(sessions, 1, user=f"u{n}")
    running = await sessions.begin("u0", "running", "q?")
    clock.now += 86_400
    await talk(sessions, 1, user="u5")
    assert sessions.prune() == 4
    assert [len(await sessions.list(f"u{n}")) for n in (0, 1, 2, 3, 5)] == [1, 0, 0, 0, 1]
    await sessions.finish(running, record())
    for n in range(6, 10):
        await talk(sessions, 1, user=f"u{n}")
    assert sessions.prune() == 3
    assert [len(await sessions.list(f"u{n}")) for n in (0, 5, 6, 7, 8, 9)] == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("limits", [{"max_sessions": 3}])
async def test_one_users_many_sessions_drive_out_none_of_anothers(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sessions, "prune_soon", lambda _: None)
    sessions._clock = Clock()
    await talk(sessions, 1, user="ben")
    for n in range(5):
        await talk(sessions, 1, user="ana", session=f"s{n}")
    assert sessions.prune() == 3
    assert len(await sessions.list("ben")) == 1
    assert {one.session for one in await sessions.list("ana")} == {"s3", "s4"}


@pytest.mark.parametrize("limits", [{"max_sessions": 10}])
async def test_retention_happens_by_itself(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfright.memory.sessions._PRUNE_EVERY", 5)
    for n in range(61):
        await talk(sessions, 1, session=f"s{n}")
    sessions.upkeep.end()  # ends what is due
    assert len(await sessions.list("u")) == 10


async def test_text_that_no_file_takes_does_not_lose_a_turn(sessions: Sessions) -> None:
    handle = await sessions.begin("u", "s", "bad \udc80 text\0")
    await sessions.finish(handle, TurnRecord("bad \udc80\0", "", "", StopReason.ERROR), "sum \udc80", 0)
    assert said(await sessions.conversation("u", "s")) == ["bad ?\0", ""]


async def test_a_session_that_cannot_be_read_can_be_forgotten(sessions: Sessions) -> None:
    await talk(sessions, 2)
    await talk(sessions, 1, session="other")
    damage = "UPDATE sessions SET running = 'nonsense' WHERE name = %s"
    await sessions._rows.change(lambda connection: sessions._rows.run(connection, damage, b"s"))
    with pytest.raises(StoreError, match="forget that session"):
        await sessions.conversation("u", "s")
    assert await sessions.forget("u", "s") == 1
    assert await sessions.conversation("u", "s") == Conversation()
    assert (await sessions.conversation("u", "other")).turns == 1


@pytest.mark.parametrize("opened", [in_sqlite])
async def test_forgotten_words_are_nowhere_in_the_files(sessions: Sessions, tmp_path: Path) -> None:
    secret = "blue-whale-4711"

    def found(folder: Path) -> list[str]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        return [path.name for path in files if secret.encode() in path.read_bytes()]

    await talk(sessions, 30)
    for name in ("s", "kept", "other"):
        handle = await sessions.begin("u", name, f"{secret} {name}?")
        await sessions.keep(handle, TurnCheckpoint({"user_text": secret.encode() * 500}, ("first",)))
        await sessions.keep(handle, TurnCheckpoint({**STATE, "user_text": secret.encode() * 500}, ("second",)))
        if name == "other":
            await sessions.suspend(handle)
        else:
            await sessions.finish(handle, TurnRecord(secret, secret, secret * 400, StopReason.ADEQUATE), secret)
    assert found(tmp_path)
    assert await sessions.forget("u") == 3
    assert not found(tmp_path)


AS_VERSION_1 = (
    "ALTER TABLE sessions RENAME TO newer",
    "CREATE TABLE sessions (id text PRIMARY KEY, owner bytea NOT NULL, name bytea NOT NULL,"
    " created double precision NOT NULL, updated double precision NOT NULL, summary text NOT NULL DEFAULT '',"
    " summarised integer NOT NULL DEFAULT 0, first integer NOT NULL DEFAULT 0, turns integer NOT NULL DEFAULT 0,"
    " running text NOT NULL DEFAULT 'null', collections text NOT NULL DEFAULT '[]', token bigint NOT NULL"
    " DEFAULT 0, beat double precision NOT NULL DEFAULT 0, UNIQUE (owner, name))",
    "INSERT INTO sessions SELECT id, owner, name, created, updated, summary, summarised, first, turns, running,"
    " collections, token, beat FROM newer",
    "DROP TABLE newer",
    "CREATE INDEX sessions_of ON sessions (owner, updated)",
    "CREATE INDEX sessions_at ON sessions (updated)",
)


async def test_sessions_of_the_first_version_are_kept(opened: Opened, tmp_path: Path) -> None:
    sessions = await opened(tmp_path, Retention())
    for name in ("s", "t"):
        await talk(sessions, 2, session=name)
    before = await sessions.conversation("u", "s"), await sessions.list("u")
    in_file = isinstance(sessions._rows, FileRows)
    version = "PRAGMA user_version = 1" if in_file else "UPDATE about SET value = '1' WHERE name = 'version'"
    for statement in (*AS_VERSION_1, version):
        await sessions._rows.change(lambda connection, one=statement: connection.execute(one))  # type: ignore[misc]
    await sessions.close()
    for _ in range(2):
        sessions = await opened(tmp_path, Retention())
        assert (await sessions.conversation("u", "s"), await sessions.list("u")) == before
        await sessions.close()
    sessions = await opened(tmp_path, Retention())
    own = await sessions.begin(LETTERS, "s", "q?")
    assert own.conversation == Conversation()
    await sessions.finish(own, record())
    await talk(sessions, 1)
    assert (await sessions.conversation("u", "s")).turns == 3
    await sessions.close()


async def test_a_restart_changes_nothing(opened: Opened, tmp_path: Path) -> None:
    sessions = await opened(tmp_path, Retention())
    await talk(sessions, 2)
    handle = await sessions.begin("u", "s", "q?")
    await sessions.finish(handle, record(2), "요약", summarised=2)
    await sessions.close()
    sessions = await opened(tmp_path, Retention())
    conversation = await sessions.conversation("u", "s")
    assert conversation.summary == "요약"
    assert said(conversation) == ["질문 1?", "답 1", "질문 2?", "답 2"]
    await sessions.close()


async def test_many_processes_worth_of_openings_at_once(tmp_path: Path) -> None:
    opened = await asyncio.gather(*(in_sqlite(tmp_path, Retention()) for _ in range(6)))
    await asyncio.gather(*(talk(sessions, 3, session=f"s{n}") for n, sessions in enumerate(opened)))
    assert len(await opened[0].list("u")) == 6
    for sessions in opened:
        await sessions.close()


@pytest.mark.parametrize("opened", [in_sqlite])
async def test_checkpoints_do_not_pile_up(sessions: Sessions, tmp_path: Path) -> None:
    sizes = []
    for _ in range(4):
        for _ in range(8):
            handle = await sessions.begin("u", "s", "q?")
            for name in ("first", "second", "third"):
                await sessions.keep(handle, TurnCheckpoint({"user_text": b"x" * 20_000}, (name,)))
            await sessions.finish(handle, record())
        sizes.append((tmp_path / "sessions.sqlite").stat().st_size)
    assert sizes[3] < sizes[1] + 100_000


@pytest.mark.parametrize("opened", [in_sqlite])
async def test_lists_and_prunes_by_an_index(sessions: Sessions) -> None:
    def plan(query: str, *values: object) -> str:
        return str(sessions._rows.rows(f"EXPLAIN QUERY PLAN {query}", *values))

    assert "USING INDEX sessions_of (owner=?)" in plan(session_rows.LIST, b"u", 10)
    assert "TEMP B-TREE" not in plan(session_rows.LIST, b"u", 10)
    assert "USING INDEX sessions_at (updated<?)" in plan(session_rows.OLD, 1.0, 10)


async def test_trouble_while_others_are_pruned_costs_no_turn(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def damaged(*_: object) -> Any:
        raise StoreError("a page of another user is damaged")

    monkeypatch.setattr(SessionRows, "find_outdated", damaged)
    await talk(sessions, 1)
    assert (await sessions.conversation("u", "s")).turns == 1
    sessions.upkeep.end()
    assert "outdated sessions not deleted (a page of another user is damaged)" in caplog.text


async def test_a_lease_that_nobody_renews_ends_and_its_holder_can_write_no_more(
    sessions: Sessions, opened: Opened, tmp_path: Path
) -> None:
    other = await opened(tmp_path, Retention())
    lost = await sessions.begin("u", "s", "first?")
    both = TurnCheckpoint(STATE, ("second", "third"))
    await sessions.keep(lost, both)
    await forget_for(sessions, 10.0, lost.row.id)
    new = await other.begin("u", "s", "second?")
    assert new.row.id == lost.row.id
    with pytest.raises(SessionLost):
        await sessions.keep(lost, SECOND)
    with pytest.raises(SessionLost):
        await sessions.keep(lost, replace(both, ended={"second": {"notes": b"[]"}}))
    with pytest.raises(SessionLost):
        await sessions.finish(lost, record(1))
    await sessions.abandon(lost)  # which is none of its affair any more
    await other.finish(new, record(2))
    assert await sessions.records("u", "s") == (record(2),)
    assert await left(sessions, new) is None
    await sessions.finish(await sessions.begin("u", "s", "third?"), record(3))
    assert (await other.conversation("u", "s")).turns == 2
    await other.close()


async def test_a_held_session_stays_held_for_longer_than_a_lease(
    sessions: Sessions, opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfright.memory.sessions.BEAT_S", 0.05)
    other = await opened(tmp_path, Retention())
    handle = await sessions.begin("u", "s", "q?")
    await forget_for(sessions, 5.9, handle.row.id)
    await asyncio.sleep(0.5)
    with pytest.raises(SessionBusy):
        await other.begin("u", "s", "q?")
    await sessions.finish(handle, record())
    await other.finish(await other.begin("u", "s", "q?"), record())
    await other.close()


async def forget_for(sessions: Sessions, seconds: float, session: str) -> None:
    """As if the holder had not been heard of for so long."""
    age = f"UPDATE sessions SET beat = {{now}} - {seconds} WHERE id = %s"
    await sessions._rows.change(lambda connection: sessions._rows.run(connection, age, session))


async def test_an_end_whose_confirmation_was_lost_can_be_told_again(sessions: Sessions) -> None:
    handle = await sessions.begin("u", "s", "q?")
    await sessions.finish(handle, record())
    await sessions.finish(handle, record())
    await sessions.abandon(handle)
    assert await sessions.records("u", "s") == (record(),)


async def test_who_goes_away_while_a_turn_begins_holds_nothing(sessions: Sessions) -> None:
    for pause in (0.0, 0.0002, 0.0005, 0.002, 0.005):
        task = asyncio.ensure_future(sessions.begin("u", "s", "q?"))
        await asyncio.sleep(pause)
        if not task.cancel():  # a busy machine: it was quicker than the pause, and nobody went away
            await sessions.abandon(task.result())
        await asyncio.gather(task, return_exceptions=True)
    await sessions.finish(await sessions.begin("u", "s", "q?"), record())
    assert (await sessions.conversation("u", "s")).turns == 1


async def test_many_sessions_at_once_each_get_their_own(sessions: Sessions, opened: Opened, tmp_path: Path) -> None:
    async def turn(sessions: Sessions, session: str) -> list[str]:
        handle = await sessions.begin("u", session, f"{session}?")
        for name in ("first", "second"):
            await sessions.keep(handle, TurnCheckpoint({"user_text": session.encode()}, (name,)))
        kept = await left(sessions, handle)
        assert kept is not None
        await sessions.finish(
            handle, TurnRecord(f"{session}?", "", kept.state["user_text"].decode(), StopReason.ADEQUATE)
        )
        return said(await sessions.conversation("u", session))

    other = await opened(tmp_path, Retention())
    names = [f"s{n}" for n in range(30)]
    told = await asyncio.gather(*(turn((sessions, other)[n % 2], name) for n, name in enumerate(names)))
    assert told == [[f"{name}?", name] for name in names]
    await other.close()


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


def test_what_is_closed_says_so(tmp_path: Path) -> None:
    async def whole() -> None:
        sessions = await open_sessions(tmp_path / "s.sqlite")
        await sessions.close()
        await sessions.close()
        with pytest.raises(StoreError, match="closed"):
            await sessions.begin("u", "s", "q?")

    asyncio.run(whole())
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
