"""What any way of keeping sessions must do; each is opened by a function that is given a folder of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Concatenate

import pytest
from langgraph.graph import START, StateGraph
from langgraph.store.base import PutOp

from selfright.domain.answers import Message
from selfright.domain.errors import InputError, SessionBusy, SessionHidden, SettingsError, StoreError
from selfright.domain.judgements import StopReason, Verdict
from selfright.domain.passages import Hit, Passage, Ranked
from selfright.domain.turns import Scope
from selfright.flow.state import AgentState
from selfright.memory.conversation import HEADS, Conversation, Retention, TurnRecord
from selfright.memory.opening import open_sessions
from selfright.memory.postgres import PostgresDatabase
from selfright.memory.sessions import Sessions
from tests.support.postgres import PostgresServer

Opened = Callable[[Path, Retention], Awaitable[Sessions]]


async def in_sqlite(folder: Path, retention: Retention) -> Sessions:
    return await open_sessions(folder / "sessions.sqlite", retention)


def in_postgres(server: PostgresServer) -> Opened:
    from selfright.memory.postgres_sessions import open_postgres_sessions

    schemas: dict[Path, str] = {}
    uri = server.fresh_database()

    async def in_schema(folder: Path, retention: Retention) -> Sessions:
        database = PostgresDatabase(f"{uri}?schema={schemas.setdefault(folder, f's{len(schemas)}')}")
        sessions = await open_postgres_sessions(database, retention)

        async def close(close: Callable[[], Awaitable[None]] = sessions._close) -> None:
            await close()
            database.close()

        sessions._close = close
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


def run(opened: Opened, folder: Path, test: Callable[Concatenate[Sessions, ...], Awaitable[Any]], **limits: Any) -> Any:
    async def whole() -> Any:
        sessions = await opened(folder, Retention(**limits))
        try:
            return await test(sessions)
        finally:
            await sessions.close()

    return asyncio.run(whole())


def record(n: int = 1) -> TurnRecord:
    return TurnRecord(f"질문 {n}?", f"standalone {n}?", f"답 {n}", StopReason.ADEQUATE, ("d1", "d2"), f"trace{n}", 5.0)


async def talk(sessions: Sessions, turns: int, user: str = "u", session: str = "s") -> None:
    for n in range(turns):
        handle = await sessions.begin(user, session, f"질문 {n}?")
        await sessions.finish(handle, record(n))


def said(conversation: Conversation) -> list[str]:
    return [message.content for message in conversation.messages]


def test_a_session_that_was_never_begun_is_empty(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        assert await sessions.conversation("u", "s") == Conversation()
        assert await sessions.records("u", "s") == ()
        assert await sessions.list("u") == ()
        assert await sessions.resume("u", "s") is None
        assert await sessions.forget("u", "s") == 0

    run(opened, tmp_path, test)


def test_what_was_said_is_kept_in_order(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        await talk(sessions, 3)
        conversation = await sessions.conversation("u", "s")
        assert said(conversation) == ["질문 0?", "답 0", "질문 1?", "답 1", "질문 2?", "답 2"]
        assert conversation.messages[1] == Message("assistant", "답 0")
        assert conversation.turns == 3
        assert await sessions.records("u", "s") == (record(0), record(1), record(2))
        assert await sessions.records("u", "s", last=1) == (record(2),)

    run(opened, tmp_path, test)


def test_a_turn_is_handed_what_was_said_before_it(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        await talk(sessions, 1)
        handle = await sessions.begin("u", "s", "그럼?", "full", "t1")
        assert said(handle.conversation) == ["질문 0?", "답 0"]
        assert (handle.turn.number, handle.turn.preset, handle.turn.trace_id) == (1, "full", "t1")
        assert handle.conversation.unfinished is None

    run(opened, tmp_path, test)


def test_messages_in_the_summary_are_not_handed_out_again(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
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

    run(opened, tmp_path, test)


def test_one_turn_of_a_session_at_a_time(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        handle = await sessions.begin("u", "s", "one?")
        with pytest.raises(SessionBusy) as refused:
            await sessions.begin("u", "s", "two?")
        assert refused.value.retryable
        with pytest.raises(SessionBusy):
            await sessions.forget("u", "s")
        other = await sessions.begin("u", "other", "three?")
        await sessions.finish(handle, record())
        await sessions.finish(other, record())
        assert (await sessions.begin("u", "s", "two?")).turn.number == 1

    run(opened, tmp_path, test)


def test_of_many_at_once_one_gets_the_session(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        got = await asyncio.gather(*(sessions.begin("u", "s", "q?") for _ in range(20)), return_exceptions=True)
        assert sorted(type(one).__name__ for one in got) == ["SessionBusy"] * 19 + ["TurnHandle"]

    run(opened, tmp_path, test)


def test_looking_at_a_session_keeps_nobody_out(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        await sessions.suspend(await sessions.begin("u", "s", "q?"))
        looks = [asyncio.ensure_future(sessions.conversation("u", "s")) for _ in range(50)]
        for _ in range(10):
            await sessions.suspend(await sessions.begin("u", "s", "q?"))
        await asyncio.gather(*looks)

    run(opened, tmp_path, test)


def test_what_a_crash_after_the_turn_left_is_cleared_away_by_the_next(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(sessions: Sessions) -> None:
        handle = await sessions.begin("u", "s", "q?")
        config = {"configurable": {"thread_id": handle.thread_id}}
        await stopping_graph(sessions, [], stop=False).ainvoke({"user_text": "q?"}, config, durability="sync")
        with monkeypatch.context() as crash:
            crash.setattr(sessions.checkpointer, "adelete_thread", died)
            with pytest.raises(KeyboardInterrupt):
                await sessions.finish(handle, record())
        conversation = await sessions.conversation("u", "s")
        assert (conversation.turns, conversation.unfinished) == (1, None)
        assert await sessions.checkpointer.aget_tuple(config) is not None
        await sessions.begin("u", "s", "q?")
        assert await sessions.checkpointer.aget_tuple(config) is None

    async def died(thread: str) -> None:
        raise KeyboardInterrupt

    run(opened, tmp_path, test)


def test_an_abandoned_turn_leaves_no_trace(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        await sessions.abandon(await sessions.begin("u", "s", "never mind"))
        assert await sessions.list("u") == ()
        await talk(sessions, 1)
        await sessions.abandon(await sessions.begin("u", "s", "never mind"))
        conversation = await sessions.conversation("u", "s")
        assert (conversation.turns, conversation.unfinished) == (1, None)
        assert await sessions.resume("u", "s") is None

    run(opened, tmp_path, test)


HIT = Hit(Passage("d#0", "d", "D", "text", 0, 4), 0.5, Ranked(1, 2.5))


def stopping_graph(sessions: Sessions, visits: list[str], *, stop: bool) -> Any:
    async def first(state: AgentState) -> dict[str, Any]:
        visits.append("first")
        return {"retrieved_docs": (HIT,), "verdict": Verdict.CORRECT, "notes": ("one",)}

    async def second(state: AgentState) -> dict[str, Any]:
        visits.append("second")
        if stop:
            raise ConnectionError("gone")
        return {"notes": ("two",)}

    graph = StateGraph(AgentState)
    graph.add_node("first", first)
    graph.add_node("second", second)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    return graph.compile(checkpointer=sessions.checkpointer)


def test_a_suspended_turn_is_resumed_after_its_last_finished_node(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        visits: list[str] = []
        handle = await sessions.begin("u", "s", "q?", "full", "t1")
        assert not handle.resumable
        config = {"configurable": {"thread_id": handle.thread_id}}
        graph = stopping_graph(sessions, visits, stop=True)
        with pytest.raises(ConnectionError):
            await graph.ainvoke({"user_text": "q?"}, config, durability="sync")
        await sessions.suspend(handle)

        left = (await sessions.conversation("u", "s")).unfinished
        assert left == handle.turn
        resumed = await sessions.resume("u", "s")
        assert resumed is not None
        assert resumed.resumable
        assert (resumed.thread_id, resumed.turn) == (handle.thread_id, handle.turn)
        end = await stopping_graph(sessions, visits, stop=False).ainvoke(None, config, durability="sync")
        assert visits == ["first", "second", "second"]
        assert (end["retrieved_docs"], end["notes"]) == ((HIT,), ("one", "two"))
        assert type(end["retrieved_docs"][0].bm25) is Ranked
        assert end["verdict"] is Verdict.CORRECT

        await sessions.finish(resumed, record())
        assert await sessions.checkpointer.aget_tuple(config) is None
        assert await sessions.resume("u", "s") is None

    run(opened, tmp_path, test)


def test_sessions_of_others_are_not_seen(opened: Opened, tmp_path: Path) -> None:
    names = ["a", "a.b", "A", "a/b", "a%2Eb", "*", "[a]", "한 사람", "a\udc80"]

    async def test(sessions: Sessions) -> None:
        for user in names:
            await talk(sessions, 1, user, "s.1")
        for user in names:
            assert [info.session for info in await sessions.list(user)] == ["s.1"]
        assert await sessions.conversation("a", "s") == Conversation()
        assert await sessions.forget("a") == 1
        assert await sessions.list("a") == ()
        for user in names[1:]:
            assert (await sessions.conversation(user, "s.1")).turns == 1

    run(opened, tmp_path, test)


OPEN, LETTERS, BOTH = Scope("u"), Scope("u", ("letters",)), Scope("u", ("letters", "plans"))


def test_a_session_is_seen_within_a_scope_that_covers_all_its_turns(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        async def say(scope: Scope, session: str) -> None:
            await sessions.finish(await sessions.begin(scope, session, "q?"), record())

        await say(LETTERS, "narrow")
        await say(LETTERS, "grown")
        await say(BOTH, "grown")
        await say(OPEN, "open")
        await sessions.suspend(await sessions.begin(OPEN, "left", "q?"))
        for scope, seen in ((LETTERS, {"narrow"}), (BOTH, {"narrow", "grown"}), (Scope("u", ()), set())):
            assert {one.session for one in await sessions.list(scope)} == seen
            for session in {"narrow", "grown", "open", "left"} - seen:
                assert await sessions.conversation(scope, session) == Conversation()
                assert await sessions.records(scope, session) == ()
                assert await sessions.resume(scope, session) is None
                assert await sessions.forget(scope, session) == 0
                with pytest.raises(SessionHidden, match="use another session"):
                    await sessions.begin(scope, session, "q?")
        assert await sessions.forget(BOTH) == 2
        assert {one.session for one in await sessions.list(OPEN)} == {"open", "left"}
        assert await sessions.resume(OPEN, "left") is not None

    run(opened, tmp_path, test)


def test_a_running_turn_keeps_its_session_alone_from_being_forgotten(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        for session in ("a", "b", "c"):
            await talk(sessions, 1, session=session)
        handle = await sessions.begin("u", "b", "q?")
        with pytest.raises(SessionBusy):
            await sessions.forget("u")
        assert [one.session for one in await sessions.list("u")] == ["b"]
        await sessions.finish(handle, record())

    run(opened, tmp_path, test)


@pytest.mark.parametrize("name", ["", "x" * 201])
def test_names_have_a_length(opened: Opened, tmp_path: Path, name: str) -> None:
    async def test(sessions: Sessions) -> None:
        with pytest.raises(InputError, match="1 to 200"):
            await sessions.begin(name, "s", "q?")
        with pytest.raises(InputError, match="1 to 200"):
            await sessions.conversation("u", name)

    run(opened, tmp_path, test)


def test_sessions_are_listed_by_last_use(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        for session in ("one", "two", "three", "one"):
            await talk(sessions, 1, session=session)
        listed = await sessions.list("u")
        assert [(info.session, info.turns, info.unfinished) for info in listed] == [
            ("one", 2, False),
            ("three", 1, False),
            ("two", 1, False),
        ]
        assert len(await sessions.list("u", limit=2)) == 2

    run(opened, tmp_path, test)


def test_only_the_last_turns_of_a_session_are_kept(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        await talk(sessions, 5)
        assert await sessions.records("u", "s") == (record(3), record(4))
        conversation = await sessions.conversation("u", "s")
        assert said(conversation) == ["질문 3?", "답 3", "질문 4?", "답 4"]
        assert conversation.turns == 5
        handle = await sessions.begin("u", "s", "q?")
        await sessions.finish(handle, record(5), "요약", summarised=1)
        assert said(await sessions.conversation("u", "s")) == ["질문 4?", "답 4", "질문 5?", "답 5"]

    run(opened, tmp_path, test, session_turns=2)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def test_prune_drops_the_old_and_those_over_the_limit_but_nothing_running(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        sessions._clock = clock = Clock()
        for n in range(4):
            await talk(sessions, 1, user=f"u{n}")
        running = await sessions.begin("u0", "running", "q?")
        clock.now += 86_400
        await talk(sessions, 1, user="u5")
        assert await sessions.prune() == 4
        assert [len(await sessions.list(f"u{n}")) for n in (0, 1, 2, 3, 5)] == [1, 0, 0, 0, 1]
        await sessions.finish(running, record())
        for n in range(6, 10):
            await talk(sessions, 1, user=f"u{n}")
        assert await sessions.prune() == 3
        assert [len(await sessions.list(f"u{n}")) for n in (0, 5, 6, 7, 8, 9)] == [0, 0, 0, 1, 1, 1]

    run(opened, tmp_path, test, sessions_days=1, max_sessions=3)


def test_one_users_many_sessions_drive_out_none_of_anothers(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        sessions._clock = Clock()
        await talk(sessions, 1, user="ben")
        for n in range(5):
            await talk(sessions, 1, user="ana", session=f"s{n}")
        assert await sessions.prune() == 3
        assert len(await sessions.list("ben")) == 1
        assert {one.session for one in await sessions.list("ana")} == {"s3", "s4"}

    run(opened, tmp_path, test, max_sessions=3)


def test_retention_happens_by_itself(opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfright.memory.sessions._PRUNE_EVERY", 5)

    async def test(sessions: Sessions) -> None:
        for n in range(31):
            await talk(sessions, 1, session=f"s{n}")
        assert len(await sessions.list("u")) == 10

    run(opened, tmp_path, test, max_sessions=10)


@pytest.mark.parametrize("limits", [{"session_turns": 0}, {"sessions_days": -1}, {"max_sessions": float("nan")}])
def test_limits_must_make_sense(limits: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(limits))):
        Retention(**limits)


def test_text_that_no_file_takes_does_not_lose_a_turn(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        handle = await sessions.begin("u", "s", "bad \udc80 text\0")
        await sessions.finish(handle, TurnRecord("bad \udc80\0", "", "", StopReason.ERROR), "sum \udc80", 0)
        assert said(await sessions.conversation("u", "s")) == ["bad ?\0", ""]

    run(opened, tmp_path, test)


def test_a_session_that_cannot_be_read_can_be_forgotten(opened: Opened, tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        await talk(sessions, 2)
        await talk(sessions, 1, session="other")
        await sessions._store.abatch([PutOp((HEADS, "u"), "s", {"created": "never", "turns": []})])
        with pytest.raises(StoreError, match="forget that session"):
            await sessions.conversation("u", "s")
        assert await sessions.forget("u", "s") == 1
        assert await sessions.conversation("u", "s") == Conversation()
        assert (await sessions.conversation("u", "other")).turns == 1

    run(opened, tmp_path, test)


def test_forgotten_words_are_nowhere_in_the_files(tmp_path: Path) -> None:
    secret = "blue-whale-4711"

    async def test(sessions: Sessions) -> None:
        await talk(sessions, 30)
        for name in ("s", "kept", "other"):
            handle = await sessions.begin("u", name, f"{secret} {name}?")
            graph = stopping_graph(sessions, [], stop=name == "other")
            config = {"configurable": {"thread_id": handle.thread_id}}
            done = graph.ainvoke({"user_text": secret * 500}, config, durability="sync")
            if name == "other":
                with pytest.raises(ConnectionError):
                    await done
                await sessions.suspend(handle)
            else:
                await done
                await sessions.finish(handle, TurnRecord(secret, secret, secret * 400, StopReason.ADEQUATE), secret)
        assert found(tmp_path)
        assert await sessions.forget("u") == 3
        assert not found(tmp_path)

    def found(folder: Path) -> list[str]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        return [path.name for path in files if secret.encode() in path.read_bytes()]

    run(in_sqlite, tmp_path, test)


def test_a_restart_changes_nothing(tmp_path: Path) -> None:
    async def before(sessions: Sessions) -> None:
        await talk(sessions, 2)
        handle = await sessions.begin("u", "s", "q?")
        await sessions.finish(handle, record(2), "요약", summarised=2)

    async def after(sessions: Sessions) -> None:
        conversation = await sessions.conversation("u", "s")
        assert conversation.summary == "요약"
        assert said(conversation) == ["질문 1?", "답 1", "질문 2?", "답 2"]

    run(in_sqlite, tmp_path, before)
    run(in_sqlite, tmp_path, after)


def test_many_processes_worth_of_openings_at_once(tmp_path: Path) -> None:
    async def whole() -> None:
        opened = await asyncio.gather(*(in_sqlite(tmp_path, Retention()) for _ in range(6)))
        await asyncio.gather(*(talk(sessions, 3, session=f"s{n}") for n, sessions in enumerate(opened)))
        assert len(await opened[0].list("u")) == 6
        for sessions in opened:
            await sessions.close()

    asyncio.run(whole())


def test_checkpoints_do_not_pile_up(tmp_path: Path) -> None:
    async def test(sessions: Sessions) -> None:
        sizes = []
        for _ in range(3):
            for _ in range(8):
                handle = await sessions.begin("u", "s", "q?")
                graph = stopping_graph(sessions, [], stop=False)
                config = {"configurable": {"thread_id": handle.thread_id}}
                await graph.ainvoke({"user_text": "x" * 20_000}, config, durability="sync")
                await sessions.finish(handle, record())
            sizes.append((tmp_path / "sessions.sqlite").stat().st_size)
        assert sizes[2] < sizes[0] + 100_000

    run(in_sqlite, tmp_path, test)
