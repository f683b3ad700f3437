"""Turns begun, kept and taken up again: what the user gave → a turn's start → its events."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from selfright.domain.answers import Answer, Message
from selfright.domain.errors import InputError, StoreError, UnknownName, UsageError
from selfright.domain.events import TurnEvent
from selfright.domain.slots import Profile
from selfright.domain.text import readable
from selfright.domain.tools import Tools
from selfright.domain.turns import DEFAULT_USER, Scope, TurnOptions, preset_for
from selfright.flow.run import Turn, run
from selfright.wiring.engine import Engine, compile_cached
from selfright.wiring.persistence import open_kept_sessions

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from selfright.flow.state import AgentState
    from selfright.memory.conversation import TurnRecord
    from selfright.memory.sessions import Sessions
    from selfright.wiring.traces import TraceService


class GraphArguments(TypedDict):
    """The arguments of a compiled graph's ``ainvoke`` and ``astream``."""

    input: "AgentState"
    config: "RunnableConfig"
    context: Tools


_ROLES = ("user", "assistant")
Go = Callable[[Turn, Mapping[str, Any] | None], AsyncGenerator[TurnEvent, None]]
"""Runs a turn: from its start, or without one from where it was broken off."""


class TurnService:
    """Runs turns on an engine. A session's turns run one after the other, and each is kept when it is over.

    With ``traces``, turns are watched, and their traces kept.
    """

    def __init__(self, engine: Engine, traces: "TraceService | None" = None) -> None:
        self._engine = engine
        self._traces = traces
        self._sessions: Sessions | None = None
        self._opening = threading.Lock()

    async def stream(self, question: str, options: TurnOptions, *, listen: bool) -> AsyncGenerator[TurnEvent, None]:
        """The events of one turn; with ``listen`` also its words while they are written.

        Asked again what a crash broke off, a session goes on with that turn from its last finished node. Raises
        ``SessionBusy`` while another turn of the session runs.
        """
        _check(options)
        options = {**options, "preset": preset_for(options, self._engine.settings.preset)}
        self._engine.expect(question)
        scope = self._scope(options)
        watched = self._traces.watched(options, scope, listen=listen) if self._traces else None
        go = watched.run if watched else run
        turn = (
            watched.turn
            if watched
            else self._engine.turn(options.get("preset"), options.get("flags") or {}, scope, listen=listen)
        )
        start = _start(question, turn, options, scope)
        session = options.get("session")
        events = go(turn, start) if session is None else self._kept(session, turn, start, scope, go)
        async with aclosing(events):
            async for event in events:
                yield event

    def graph_arguments(self, question: str, options: TurnOptions) -> GraphArguments:
        """What a turn's graph runs with, where the caller runs it: no session and no trace of it is stored.

        Raises ``UsageError`` for an option that asks for either.
        """
        _check(options)
        for kept in ("session", "record"):
            if options.get(kept):
                raise UsageError(f"a graph that runs by itself cannot take '{kept}'; use ask or as_runnable")
        scope = self._scope(options)
        preset = preset_for(options, self._engine.settings.preset)
        turn = self._engine.turn(preset, options.get("flags") or {}, scope, listen=True)
        start: Any = _start(question, turn, options, scope)
        return GraphArguments(input=start, config={"recursion_limit": turn.recursion_limit}, context=turn.tools)

    async def sessions(self) -> "Sessions":
        """The kept sessions, opened when they are first needed; the same ones for every event loop."""
        return await asyncio.to_thread(self._open) if self._sessions is None else self._sessions

    def _open(self) -> "Sessions":
        with self._opening:
            if self._sessions is None:
                opening = open_kept_sessions(self._engine.settings, self._engine.database)
                self._sessions = asyncio.run(opening)  # they belong to no loop, nor does waiting for them
            return self._sessions

    async def reachable(self) -> None:
        """Raises ``StoreError`` when what keeps the sessions is a database that does not answer."""
        if self._engine.database is not None:
            await self._engine.database.run(lambda connection: connection.execute("SELECT 1"))

    async def close(self) -> None:
        """Closes the sessions and the profiles."""
        await self._engine.profiles.close()
        sessions, self._sessions = self._sessions, None
        if sessions is not None:
            await sessions.close()

    def _scope(self, options: TurnOptions) -> Scope:
        named = self._engine.index.check_collections(options.get("collections", ()))
        return Scope(options.get("user") or DEFAULT_USER, named or None)

    async def _kept(
        self, session: str, turn: Turn, start: dict[str, Any], scope: Scope, go: Go
    ) -> AsyncGenerator[TurnEvent, None]:
        sessions = await self.sessions()
        question = start["user_text"]
        handle = await sessions.begin(scope, session, question, turn.preset.name, turn.trace_id)
        ended = False

        async def keep(state: "AgentState", answer: Answer) -> None:
            nonlocal ended
            summarized = state.get("summarized", 0)
            await sessions.finish(
                handle, _record(start, answer), state.get("summary") if summarized else None, summarized
            )
            ended = True

        graph = compile_cached(turn.preset.name).copy({"checkpointer": sessions.checkpointer})
        kept = replace(turn, graph=graph, thread=handle.thread_id, trace_id=handle.turn.trace_id, keep=keep)
        said = handle.conversation
        so_far = {**start, "messages": said.messages, "summary": said.summary, "turn": handle.turn.number}
        try:
            async with aclosing(go(kept, None if handle.resumable else so_far)) as events:
                async for event in events:
                    yield event
        finally:
            if not ended:
                with suppress(StoreError):  # what cannot be dropped now is free when its lease ends
                    await asyncio.shield(sessions.abandon(handle))


def _start(question: str, turn: Turn, options: TurnOptions, scope: Scope) -> dict[str, Any]:
    messages = tuple(map(_message, options.get("history") or ()))
    return {
        "user_text": question,
        "mode": turn.preset.mode,
        "messages": messages,
        "turn": sum(said.role == "user" for said in messages),
        "user": scope.owner,
        "remembers": bool(options.get("user") or options.get("session")),
        "given_profile": Profile(tuple(map(turn.tools.pack.keyed, Profile.of(options.get("profile") or {}).slots))),
        "iteration_count": 0,
        "retry_count": 0,
    }


def _record(start: Mapping[str, Any], answer: Answer) -> "TurnRecord":
    from selfright.memory.conversation import TurnRecord

    documents = tuple(dict.fromkeys(citation.document_id for citation in answer.citations))
    return TurnRecord(
        start["user_text"],
        answer.question,
        answer.answer,
        answer.stop_reason,
        documents,
        answer.trace_id,
        citations=answer.citations,
    )


def _check(options: TurnOptions) -> None:
    names = TurnOptions.__annotations__
    for name in options:
        if name not in names:
            raise UnknownName("option of a turn", name, names)
    if options.get("session") is not None and options.get("history"):
        raise UsageError("a session keeps its own history; give either 'session' or 'history'")


def _message(message: Message | Mapping[str, str]) -> Message:
    try:
        given = message if isinstance(message, Message) else Message(message["role"], message["content"])
        read = replace(given, content=readable(given.content))
    except (KeyError, TypeError, AttributeError):
        raise InputError("a message of the history needs 'role' and 'content'") from None
    if read.role not in _ROLES:
        raise InputError(f"a message of the history has the role 'user' or 'assistant', but got '{read.role}'")
    return read
