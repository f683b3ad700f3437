"""Sessions: conversations that survive a restart, and turns that survive a crash.

What has been said is in tables of rows. What a running turn has found so far is in checkpoints, and deleted when the
turn is over.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from itertools import chain
from typing import Any

from selfright.background import ChoreThread
from selfright.domain.errors import SelfrightError, StoreError
from selfright.domain.text import check_name
from selfright.domain.turns import Scope, TurnCheckpoint
from selfright.memory.checkpoints import Held, Saver, TurnCheckpoints
from selfright.memory.conversation import Conversation, Retention, RunningTurn, SessionInfo, TurnRecord
from selfright.memory.session_rows import MAX_LISTED, SessionRow, SessionRows, busy
from selfright.storage.rows import Connection

_PRUNE_EVERY = 100
_SECONDS_A_DAY = 86_400.0
_PRUNE_AT_ONCE = 20
BEAT_S = 2.0
_PATIENCE_S = 30.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TurnHandle:
    """The right to run one turn of a session: give it back with ``finish``, ``abandon`` or ``suspend``.

    ``left`` is how far it came before a crash broke it off: where to go on from. ``goes_on``: there may be something.
    """

    row: SessionRow
    token: int
    turn: RunningTurn
    conversation: Conversation
    goes_on: bool = False
    left: TurnCheckpoint | None = None


class Sessions:
    """Keeps conversations; one turn of a session runs at a time.

    ``begin`` a turn, ``keep`` how far it has come while it runs, then ``finish`` it. A user's sessions are seen by that
    user alone, and within a scope that covers all their turns: a name in the place of a ``Scope`` is that user,
    searching everywhere. Belongs to no event loop.
    """

    def __init__(self, rows: SessionRows, saver: Callable[[Any], Saver], retention: Retention | None = None) -> None:
        self._sessions = rows
        self._rows = rows.rows
        self._retention = retention or Retention()
        self._clock = time.time
        self._leases: dict[str, Held] = {}  # of the sessions whose turns run here
        self._finished = 0
        self._checkpoints = TurnCheckpoints(rows, saver, self._leases)
        self._prunes = self._renews = False  # renews not at the thread's beginning: what began it is fresh
        self.upkeep = ChoreThread("selfright-upkeep", self._look_after)

    async def conversation(self, who: str | Scope, session: str) -> Conversation:
        """What has been said so far; an empty conversation when ``scope`` sees no such session."""
        scope = _scope(who, session)

        def work(connection: Connection) -> Conversation:
            if (row := self._sessions.find(connection, scope, session)) is None:
                return Conversation()
            return replace(self._so_far(connection, row), unfinished=row.running if row.free else None)

        return await self._rows.read(work)

    async def records(self, who: str | Scope, session: str, last: int | None = None) -> tuple[TurnRecord, ...]:
        """The finished turns that are kept, oldest first; only the ``last`` ones if that is given."""
        scope = _scope(who, session)

        def work(connection: Connection) -> tuple[TurnRecord, ...]:
            if (row := self._sessions.find(connection, scope, session)) is None:
                return ()
            first = row.first if last is None else max(row.first, row.turns - max(last, 0))
            return self._sessions.records(connection, row.id, range(first, row.turns))

        return await self._rows.read(work)

    async def begin(
        self, who: str | Scope, session: str, question: str, preset: str = "", trace_id: str = ""
    ) -> TurnHandle:
        """The turn that a crash broke off, when the same is asked again within the same scope; else one that begins.

        A session that searched where ``scope`` does not reach is none to it. Raises ``SessionBusy`` while another turn
        of the session runs, here or in another process, and ``UsageError`` for a name that is empty or too long.
        """
        scope = _scope(who, session)
        turn = RunningTurn(-1, question, preset, trace_id, self._clock(), scope.collections, _program())
        handle = await self._with_lease(partial(self._begin, scope, session, turn))
        return await self._with_checkpoint(handle) if handle.goes_on else handle

    async def keep(self, handle: TurnHandle, checkpoint: TurnCheckpoint) -> None:
        """Stores how far the turn has come. Raises ``SessionLost``."""
        await self._checkpoints.keep(handle.row.id, checkpoint)

    async def finish(
        self, handle: TurnHandle, record: TurnRecord, summary: str | None = None, summarised: int = 0
    ) -> None:
        """Stores the turn's outcome and lets go of the session.

        ``summary`` replaces the old one and then covers the ``summarised`` oldest of the conversation's messages, too.
        Raises ``SessionLost``.
        """
        now = self._clock()
        covered = min(max(summarised, 0), len(handle.conversation.messages))
        row = handle.row.advance(now, summary, covered, int(self._retention.session_turns))
        said = record if record.at else replace(record, at=now)
        await self._let_go(
            handle,
            lambda connection: self._sessions.finish(connection, row, handle.token, handle.turn.number, said),
        )
        self._finished += 1
        if self._finished % _PRUNE_EVERY == 1:
            self.prune_soon()

    async def abandon(self, handle: TurnHandle) -> None:
        """Drops the turn, as if it had not been begun, and lets go of the session; nothing when it has been."""
        await self._let_go(handle, lambda connection: self._sessions.abandon(connection, handle.row.id, handle.token))

    async def suspend(self, handle: TurnHandle) -> None:
        """Lets go of the session but keeps the turn as far as it came, to be resumed later."""
        await self._let_go(handle, lambda connection: self._sessions.free(connection, handle.row.id, handle.token))

    async def list(self, who: str | Scope, limit: int = 100) -> tuple[SessionInfo, ...]:
        """The user's sessions, each name once, the one used last first."""
        scope = _scope(who)
        most = limit if scope.collections is None else MAX_LISTED
        rows = await self._rows.read(lambda connection: self._sessions.of(connection, scope.owner, most=most))
        seen = [row for row in map(self._sessions.parse, rows) if scope.covers(row.searched)]
        seen.sort(key=lambda row: (row.breadth, row.updated))
        named = {row.name: row for row in seen}  # the one that ``find`` finds
        return tuple(
            SessionInfo(row.name, row.turns, row.created, row.updated, row.running is not None)
            for row in sorted(named.values(), key=lambda row: -row.updated)[:limit]
        )

    async def forget(self, who: str | Scope, session: str | None = None) -> int:
        """Deletes a session, or all that ``scope`` sees: records, summary, checkpoints. Returns how many there were.

        Raises ``SessionBusy`` when a turn of one of them runs; all others are deleted, and scrubbed, then.
        """
        scope = _scope(who, session)

        def work(connection: Connection) -> tuple[int, int]:
            rows = self._sessions.of(connection, scope.owner, session)
            ids = [row[0] for row in rows if self._is_seen(row, scope)]
            return len(ids), self._sessions.erase(connection, ids)

        meant, gone = await self._rows.change(work)
        if gone:
            await asyncio.to_thread(self._rows.scrub, "sessions", "session_turns", *self._sessions.checkpoints)
        if gone < meant:
            raise busy()
        return gone

    def prune(self) -> int:
        """Deletes some of the sessions that ``Retention`` no longer allows; returns how many, 0 when none is left.

        Beyond ``max_sessions`` those of users with the most go first. A session whose turn is running stays.
        """
        oldest, most = self._clock() - _SECONDS_A_DAY * self._retention.sessions_days, int(self._retention.max_sessions)

        def work(connection: Connection) -> int:
            outdated = self._sessions.find_outdated(connection, oldest, most, _PRUNE_AT_ONCE)
            return self._sessions.erase(connection, outdated)

        return self._rows.transact(work)

    def prune_soon(self) -> None:
        """Prunes beside the turns, until nothing more is to be deleted."""
        self._prunes = True
        self.upkeep.wake()
        self.upkeep.begin()

    def _look_after(self) -> float:
        """What is done for sessions beside their turns. What fails is logged and costs no turn."""
        try:
            self._renew()
            self._prunes = self._prunes and self.prune() > 0
        except SelfrightError as error:
            self._prunes = False
            log.warning("leases of sessions not renewed, or outdated sessions not deleted (%s); try later", error)
        return 0.0 if self._prunes else BEAT_S

    async def close(self) -> None:
        """Lets go of what is held, and closes what was opened for the sessions."""
        await asyncio.to_thread(self.upkeep.end, _PATIENCE_S)

        def free_all(connection: Connection) -> None:
            for session, lease in list(self._leases.items()):
                self._sessions.free(connection, session, lease.token)

        with suppress(StoreError):  # what is not freed now is free when the lease ends
            await self._rows.change(free_all)
        self._leases.clear()
        await asyncio.to_thread(self._rows.close)

    def _begin(self, scope: Scope, session: str, turn: RunningTurn, token: int, connection: Connection) -> TurnHandle:
        row = self._sessions.take(connection, scope, session, token, turn.started)
        if row.id in self._leases:  # this process was not heard of for a while, but it knows that a turn runs
            raise busy()
        left = row.running
        goes_on = left is not None and _question_key(left) == _question_key(turn)
        if left is None or not goes_on:
            left = replace(turn, number=row.turns)
            row = replace(row, running=left, updated=turn.started)
            self._sessions.begin(connection, row)
        return TurnHandle(row, token, left, self._so_far(connection, row), goes_on)

    async def _with_checkpoint(self, handle: TurnHandle) -> TurnHandle:
        """The handle with what the turn left, if this version can read it."""
        if handle.turn.program != _program():
            return handle
        try:
            return replace(handle, left=await self._checkpoints.left(handle.row.id))
        except ValueError:
            return handle
        except BaseException:
            await self.suspend(handle)
            raise

    async def _with_lease(self, work: Callable[[int, Connection], TurnHandle]) -> TurnHandle:
        """What ``work`` gives, held from now on; let go of again when nobody waits for it any more."""
        task = asyncio.ensure_future(self._rows.change(partial(work, secrets.randbits(62))))
        try:
            handle = await asyncio.shield(task)
        except asyncio.CancelledError:
            with suppress(SelfrightError):
                handle = await task
                await (self.suspend(handle) if handle.goes_on else self.abandon(handle))
            raise
        self._leases[handle.row.id] = Held(handle.token)
        self.upkeep.begin()
        return handle

    async def _let_go(self, handle: TurnHandle, work: Callable[[Connection], None]) -> None:
        """Done or not: the lease is renewed no longer, so that it ends."""
        try:
            await self._rows.change(work)
        finally:
            held = self._leases.get(handle.row.id)
            if held is not None and held.token == handle.token:
                del self._leases[handle.row.id]

    def _renew(self) -> None:
        held = [(session, lease.token) for session, lease in list(self._leases.items()) if self._renews]
        self._renews = True

        def work(connection: Connection) -> None:
            for session, token in held:
                self._sessions.renew(connection, session, token)

        if held:
            self._rows.transact(work)

    def _so_far(self, connection: Connection, row: SessionRow) -> Conversation:
        records = self._sessions.records(connection, row.id, row.unsummarised)
        messages = tuple(chain.from_iterable(record.messages() for record in records))
        within = row.next_message - 2 * row.unsummarised.start
        return Conversation(row.summary, messages[within:], row.turns)

    def _is_seen(self, row: Any, scope: Scope) -> bool:
        try:
            return scope.covers(self._sessions.parse(row).searched)
        except StoreError:  # one that cannot be read can still be deleted
            return True


def _scope(who: str | Scope, session: str | None = None) -> Scope:
    scope = Scope.of(who)
    check_name("user", scope.owner)
    if session is not None:
        check_name("session", session)
    return scope


def _question_key(turn: RunningTurn) -> tuple[object, ...]:
    return turn.question, turn.preset, turn.collections


@cache
def _program() -> str:
    return version("selfright")
