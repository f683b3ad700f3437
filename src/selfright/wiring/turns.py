"""One turn from end to end: its options become a preset, a scope and tools; it runs in its session, and is watched."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from selfright.background import LoopThread
from selfright.domain.answers import Answer, Message
from selfright.domain.errors import InputError, StoreError, UnknownName, UsageError
from selfright.domain.events import TurnEvent, TurnFinished
from selfright.domain.slots import Profile
from selfright.domain.text import check_name, readable
from selfright.domain.tools import Tools
from selfright.domain.turns import DEFAULT_USER, Scope, TurnCheckpoint, TurnOptions, preset_for
from selfright.flow.packing import unpack
from selfright.flow.presets import Preset, find_preset
from selfright.flow.run import Turn, run
from selfright.wiring.engine import Engine

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig, RunnableLambda

    from selfright.flow.state import AgentState
    from selfright.memory.conversation import TurnRecord
    from selfright.memory.sessions import Sessions
    from selfright.wiring.traces import TraceService

TurnInput = str | Mapping[str, Any]


class GraphArguments(TypedDict):
    """The arguments of a compiled graph's ``ainvoke`` and ``astream``."""

    input: "AgentState"
    config: "RunnableConfig"
    context: Tools


_FILE = "sessions.sqlite"
_ROLES = ("user", "assistant")


class TurnService:
    """Runs turns on an engine. A session's turns run one after the other, and each is kept when it is over.

    With ``traces``, turns are watched, and their traces kept; ``watch`` may change each turn before it runs.
    """

    def __init__(
        self,
        engine: Engine,
        traces: "TraceService | None" = None,
        watch: Callable[[Turn], Turn] = lambda turn: turn,
    ) -> None:
        self._engine = engine
        self._traces = traces
        self._watch = watch
        self._sessions: Sessions | None = None
        self._opening = threading.Lock()

    async def stream(self, question: str, options: TurnOptions, *, listen: bool) -> AsyncGenerator[TurnEvent, None]:
        """The events of one turn; with ``listen`` also its words while they are written.

        Asked again what a crash broke off, a session goes on with that turn from its last finished node. Raises
        ``SessionBusy`` while another turn of the session runs.
        """
        preset, scope = self._resolve(options)
        self._engine.warm_up()
        watch = self._traces.watch(preset, options) if self._traces else None
        flags, tap = self._engine.flags(preset, options.get("flags") or {}), watch.tap if watch else None
        turn = self._watch(self._engine.turn(preset, flags, scope, listen=listen, tap=tap))
        turn = watch.with_spans(turn) if watch else turn
        start = _start(question, turn, options, scope)
        async with self._in_session(options.get("session"), turn, start, scope) as (stored, begun):
            anew = None if isinstance(begun, TurnCheckpoint) else begun
            watched = watch.around(stored, scope, anew) if watch else nullcontext()
            async with watched as hear, aclosing(run(stored, begun)) as events:
                async for event in events:
                    if hear is not None:
                        await hear(event)
                    yield event

    async def ask(self, question: str, options: TurnOptions) -> Answer:
        """The answer of one turn."""
        async with aclosing(self.stream(question, options, listen=False)) as events:
            async for event in events:
                if isinstance(event, TurnFinished):
                    return event.answer
        raise RuntimeError("a turn ended without an answer")  # the graph always reaches finalize

    def graph_arguments(self, question: str, options: TurnOptions) -> GraphArguments:
        """What a turn's graph runs with, where the caller runs it: no session and no trace of it is stored.

        Raises ``UsageError`` for an option that asks for either.
        """
        preset, scope = self._resolve(options)
        for stored in ("session", "record"):
            if options.get(stored):
                raise UsageError(f"a graph that runs by itself cannot take '{stored}'; use ask or as_runnable")
        turn = self._engine.turn(preset, self._engine.flags(preset, options.get("flags") or {}), scope, listen=True)
        start: Any = _start(question, turn, options, scope)
        return GraphArguments(input=start, config={"recursion_limit": turn.recursion_limit}, context=turn.tools)

    async def sessions(self) -> "Sessions":
        """The kept sessions, opened when they are first needed; the same ones for every event loop."""
        return await asyncio.to_thread(self._open) if self._sessions is None else self._sessions

    def _open(self) -> "Sessions":
        with self._opening:
            if self._sessions is None:
                self._sessions = asyncio.run(self._open_sessions())  # they belong to no loop, nor does waiting for them
            return self._sessions

    async def _open_sessions(self) -> "Sessions":
        from selfright.memory.conversation import Retention
        from selfright.memory.opening import open_postgres_sessions, open_sessions

        settings, database = self._engine.settings, self._engine.database
        retention = Retention(settings.session_turns, settings.session_days, settings.max_sessions)
        if database is None:
            return await open_sessions(settings.home / _FILE, retention)
        return await open_postgres_sessions(database, retention)

    async def close(self) -> None:
        """Closes the sessions and the profiles."""
        await self._engine.profiles.close()
        sessions, self._sessions = self._sessions, None
        if sessions is not None:
            await sessions.close()

    def _resolve(self, options: TurnOptions) -> tuple[Preset, Scope]:
        """The preset and the scope of a turn; raises what is wrong with the options."""
        _check(options)
        named = self._engine.index.check_collections(options.get("collections", ()))
        usual = self._engine.settings.preset
        preset = find_preset(preset_for(options, usual) or usual)
        user = options.get("user")
        return preset, Scope(DEFAULT_USER if user is None else check_name("user", user), named or None)

    @asynccontextmanager
    async def _in_session(
        self, session: str | None, turn: Turn, start: dict[str, Any], scope: Scope
    ) -> AsyncGenerator[tuple[Turn, dict[str, Any] | TurnCheckpoint], None]:
        """The turn and its start, as the session has them: where it goes on after a crash, how far it came.

        A turn that does not reach its end leaves the session.
        """
        if session is None:
            yield turn, start
            return
        sessions = await self.sessions()
        handle = await sessions.begin(scope, session, start["user_text"], turn.preset.name, turn.trace_id)
        ended = False

        async def store(state: "AgentState", answer: Answer) -> None:
            nonlocal ended
            count = state.get("summarized", 0)
            await sessions.finish(handle, _record(start, answer), state.get("summary") if count else None, count)
            ended = True

        stored = replace(turn, keep=partial(sessions.keep, handle), trace_id=handle.turn.trace_id, store=store)
        before = handle.conversation
        so_far = {**start, "messages": before.messages, "summary": before.summary, "turn": handle.turn.number}
        try:
            yield stored, _unpacked(handle.left) or so_far
        finally:
            if not ended:
                with suppress(StoreError):  # what cannot be dropped now is free when its lease ends
                    await asyncio.shield(sessions.abandon(handle))


def _unpacked(left: TurnCheckpoint | None) -> TurnCheckpoint | None:
    """Where a broken off turn goes on, if this version can read it."""
    try:
        return unpack(left) if left else None
    except ValueError:
        return None


def _start(question: str, turn: Turn, options: TurnOptions, scope: Scope) -> dict[str, Any]:
    messages = tuple(map(_message, options.get("history") or ()))
    given = Profile.of(options.get("profile") or {})
    return {
        "user_text": question,
        "mode": turn.preset.mode,
        "messages": messages,
        "turn": sum(said.role == "user" for said in messages),
        "user": scope.owner,
        "remembers": bool(options.get("user") or options.get("session")),
        "given_profile": Profile(tuple(map(turn.tools.pack.keyed, given.slots))),
        "iteration_count": 0,
        "retry_count": 0,
    }


def _record(start: Mapping[str, Any], answer: Answer) -> "TurnRecord":
    from selfright.memory.conversation import TurnRecord

    documents = tuple(dict.fromkeys(citation.document_id for citation in answer.citations))
    said = start["user_text"], answer.question, answer.answer, answer.stop_reason
    return TurnRecord(*said, documents, answer.trace_id, citations=answer.citations)


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


Events = Callable[[str, TurnOptions], AsyncGenerator[TurnEvent, None]]


def turn_runnable(events: Events, loop: LoopThread, usual: TurnOptions) -> "RunnableLambda[TurnInput, Answer]":
    """A turn as a LangChain runnable, over its ``events``: runs in chains, in batches, and tells callbacks of them.

    ``usual`` options hold where a call gives none of that name.
    """
    from langchain_core.callbacks import adispatch_custom_event
    from langchain_core.runnables import RunnableConfig, RunnableLambda

    def ask(given: TurnInput, config: RunnableConfig, **options: Any) -> Answer:
        return loop.run(aask(given, config, **options))

    async def aask(given: TurnInput, config: RunnableConfig, **options: Any) -> Answer:
        found: list[Answer] = []
        async with aclosing(events(*_turn_arguments(given, usual, options))) as turn:
            async for event in turn:
                if isinstance(event, TurnFinished):
                    found.append(event.answer)
                else:
                    await adispatch_custom_event(type(event).__name__, event, config=config)
        return found[0]  # the graph always reaches finalize

    return RunnableLambda(ask, aask, name="selfright")


def _turn_arguments(given: TurnInput, usual: TurnOptions, options: Mapping[str, Any]) -> tuple[str, TurnOptions]:
    fields: Any = {"question": given} if isinstance(given, str) else given
    if not isinstance(fields, Mapping) or not isinstance(fields.get("question"), str):
        raise InputError(
            "a turn takes a question, or a mapping with 'question' and options of the turn, "
            f"but got {'a mapping without one' if isinstance(fields, Mapping) else type(given).__name__}"
        )
    named: Any = {**usual, **{name: value for name, value in fields.items() if name != "question"}, **options}
    return fields["question"], named
