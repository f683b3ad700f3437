"""What ``Selfright`` keeps of its users: conversations, profiles, traces."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from selfright.background import LoopThread, blocking
from selfright.domain.passages import Language
from selfright.domain.slots import Fact, Profile, SlotKind
from selfright.domain.turns import DEFAULT_USER, Erased, Scope

if TYPE_CHECKING:
    from selfright.domain.traces import Rating, Replay, ReplayOptions, Trace
    from selfright.memory.conversation import Conversation, SessionInfo, TurnRecord
    from selfright.wiring.engine import Engine
    from selfright.wiring.traces import TraceService
    from selfright.wiring.turns import TurnService


class UserDataMethods:
    """Showing, correcting and erasing what is stored of users; every method delegates to a store."""

    _engine: "Engine"
    _loop: LoopThread
    _turns: "TurnService"
    _traces: "TraceService"

    async def asessions(self, user: str | Scope = DEFAULT_USER) -> "tuple[SessionInfo, ...]":
        """The user's stored conversations, the most recently used first.

        Here and in all methods that show or delete stored turns, a ``Scope`` instead of a user excludes what was found
        outside its collections.
        """
        return await (await self._turns.sessions()).list(user)

    sessions = blocking(asessions)

    async def aconversation(self, session: str, user: str | Scope = DEFAULT_USER) -> "Conversation":
        """The messages of a session, and the question that a crash left unanswered."""
        return await (await self._turns.sessions()).conversation(user, session)

    conversation = blocking(aconversation)

    async def aturns(self, session: str, user: str | Scope = DEFAULT_USER) -> "tuple[TurnRecord, ...]":
        """The stored finished turns of a session, oldest first."""
        return await (await self._turns.sessions()).records(user, session)

    turns = blocking(aturns)

    async def aforget(self, session: str | None = None, user: str | Scope = DEFAULT_USER) -> int:
        """Deletes a session, or all sessions of the user; returns how many there were."""
        return await (await self._turns.sessions()).forget(user, session)

    forget = blocking(aforget)

    def traces(self, limit: int = 50, user: str | Scope | None = None) -> "list[Trace]":
        """The stored traces of turns, newest first; with ``user``, only that user's."""
        return self._traces.traces(limit, Scope.of(user))

    def trace(self, trace_id: str, user: str | Scope | None = None) -> "Trace":
        """The trace of a turn, by its id or the beginning of it. Raises ``InputError`` when there is none."""
        return self._traces.store.find(trace_id, Scope.of(user))[0]

    async def aprofile(self, user: str = DEFAULT_USER) -> Profile:
        """The current profile of a user: facts read from messages, and facts set by hand."""
        return await self._engine.profiles.profile(user)

    profile = blocking(aprofile)

    def profile_summary(self, user: str = DEFAULT_USER, language: Language = "en") -> str:
        """The profile in one line, as used in prompts."""
        return self._engine.pack.summary(self.profile(user), language)

    async def aset_profile(self, facts: Mapping[str, object], user: str = DEFAULT_USER) -> Profile:
        """Corrects a profile, ``{"age": 60, "products": ["FxStore"]}``: the values replace all current ones of a kind.

        An empty value removes them. Raises ``UnknownName`` for a kind that the pack does not have, and
        ``InputError`` for a value that the kind cannot hold; then nothing is changed.
        """
        from selfright.wiring.packs import correct_profile

        return await correct_profile(self._engine.profiles, self._engine.pack, user, facts)

    set_profile = blocking(aset_profile)

    async def aforget_profile(self, user: str = DEFAULT_USER, name: str | None = None, value: str | None = None) -> int:
        """Erases a user's profile with its history, or one kind or value of it; returns the number of erased facts."""
        return await self._engine.profiles.forget(user, name, value)

    forget_profile = blocking(aforget_profile)

    async def aprofile_history(self, user: str = DEFAULT_USER) -> tuple[Fact, ...]:
        """All stored facts of a user, oldest first: current, superseded and contradicted ones."""
        return await self._engine.profiles.history(user)

    profile_history = blocking(aprofile_history)

    def profile_kinds(self) -> tuple[SlotKind, ...]:
        """The pack's kinds of facts, in display order; empty without a pack."""
        return self._engine.pack.kinds

    def profile_users(self) -> tuple[str, ...]:
        """The names of the users with stored facts."""
        return self._loop.run(self._engine.profiles.users())

    def forget_traces(self, user: str | Scope | None = None, trace_id: str | None = None) -> int:
        """Deletes a user's traces, one trace, or all; returns how many there were."""
        return self._traces.store.forget(Scope.of(user), trace_id)

    async def areplay(
        self, trace_id: str, user: str | Scope | None = None, **options: Unpack["ReplayOptions"]
    ) -> "Replay":
        """Replays a recorded turn with its recorded judge and model replies; ``options`` are ``ReplayOptions``.

        No model is called unless ``live``, and nothing is saved. Raises ``InputError`` for a trace without a recording,
        and ``UsageError`` for an invalid preset, flag or node.
        """
        from selfright.wiring.replays import replay

        trace, lines = await asyncio.to_thread(self._traces.store.find, trace_id, Scope.of(user))
        return await replay(self._engine, trace, lines, options)

    replay = blocking(areplay)

    async def aerase(self, user: str = DEFAULT_USER) -> Erased:
        """Erases all stored data of a user: conversations, unfinished turns, profile, traces.

        Raises ``SessionBusy`` while a turn of the user is running; everything else is erased in that case.
        """
        facts = await self.aforget_profile(user)
        traces = await asyncio.to_thread(self.forget_traces, user)
        return Erased(await self.aforget(None, user), facts, traces)

    erase = blocking(aerase)

    def rate(self, trace_id: str, rating: "Rating | None", user: str | Scope | None = None) -> "Trace":
        """Stores whether the answer of a turn helped: ``up``, ``down``, or None to take it back.

        Raises ``InputError`` for a trace that is not there, or is outside a ``Scope``.
        """
        return self._traces.store.rate(trace_id, Scope.of(user), rating)
