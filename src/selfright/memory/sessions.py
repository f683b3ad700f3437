"""Sessions: conversations that survive a restart, and turns that survive a crash.

What has been said is kept in a LangGraph store: a head for each session, and a record for each finished turn. What a
running turn has found so far is kept by a LangGraph checkpointer, under a thread of its own, and deleted when the turn
is over. Which store and which checkpointer these are, is for whoever makes the ``Sessions`` to choose.

Long because: what begins, ends, shows and erases a session shares its head, its lock and its scope.
"""

import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import chain, count
from operator import itemgetter
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore, GetOp, Item, PutOp, SearchItem, SearchOp

from selfright.domain.errors import SessionBusy, SessionHidden, StoreError
from selfright.domain.turns import Scope
from selfright.memory.conversation import (
    HEADS,
    Conversation,
    Head,
    Retention,
    RunningTurn,
    SessionInfo,
    TurnHandle,
    TurnRecord,
    check_name,
    info,
    label,
    lock_key,
    owner,
    put_head,
    thread_id,
    turn_key,
    turns_of,
)
from selfright.memory.session_locks import SessionLocks, lock_session

_PAGE = 5_000
_PRUNE_EVERY = 100
_PRUNE_AT_ONCE = 200


async def _nothing() -> None: ...


def _places(users: Sequence[str]) -> list[int]:
    """For each entry, how many of its user stand before it."""
    seen: Counter[str] = Counter()
    places = []
    for user in users:
        places.append(seen[user])
        seen[user] += 1
    return places


def _scope(who: str | Scope) -> tuple[Scope, str]:
    scope = Scope.of(who)
    return scope, scope.owner


class Sessions:
    """Keeps conversations; one turn of a session runs at a time.

    ``begin`` (or ``resume``) a turn, run the graph under the handle's ``thread_id`` with ``checkpointer``, then
    ``finish`` it. A user's sessions are seen by that user alone, and within a scope that covers all their turns: a name
    in the place of a ``Scope`` is that user, searching everywhere.
    """

    def __init__(
        self,
        store: BaseStore,
        checkpointer: BaseCheckpointSaver[Any],
        locks: SessionLocks,
        retention: Retention | None = None,
        *,
        scrub: Callable[[], Awaitable[None]] = _nothing,
        close: Callable[[], Awaitable[None]] = _nothing,
    ) -> None:
        self.checkpointer = checkpointer
        self._store = store
        self._locks = locks
        self._retention = retention or Retention()
        self._clock = time.time
        self._scrub = scrub
        self._close = close
        self._finished = 0

    async def conversation(self, who: str | Scope, session: str) -> Conversation:
        """What has been said so far; an empty conversation when ``scope`` sees no such session."""
        scope, user = _scope(who)
        head = await self._head(user, session)
        if head is None or not scope.covers(head.searched):
            return Conversation()
        conversation = await self._so_far(user, session, head)
        busy = conversation.unfinished is not None and await self._is_busy(user, session)
        return replace(conversation, unfinished=None) if busy else conversation

    async def records(self, who: str | Scope, session: str, last: int | None = None) -> tuple[TurnRecord, ...]:
        """The finished turns that are kept, oldest first; only the ``last`` ones if that is given."""
        scope, user = _scope(who)
        head = await self._head(user, session)
        if head is None or not scope.covers(head.searched):
            return ()
        first = head.first if last is None else max(head.first, head.turns - max(last, 0))
        return await self._records(user, session, range(first, head.turns))

    async def begin(
        self, who: str | Scope, session: str, question: str, preset: str = "", trace_id: str = ""
    ) -> TurnHandle:
        """Begins a turn; one that a crash broke off is dropped, for the user went on with something else.

        Raises ``SessionBusy`` while another turn of the session runs, here or in another process, ``SessionHidden``
        when a turn of it searched where ``scope`` does not reach, and ``InputError`` for a name that is empty or too
        long.
        """
        scope, user = _scope(who)
        await self._take(user, session)
        try:
            return await self._begun(scope, session, await self._head(user, session), question, preset, trace_id)
        except BaseException:
            await self._release(user, session)
            raise

    async def take_up(
        self, who: str | Scope, session: str, question: str, preset: str = "", trace_id: str = ""
    ) -> TurnHandle:
        """The turn that a crash broke off, when the same is asked again within the same scope; else one that begins.

        Raises what ``begin`` does.
        """
        scope, user = _scope(who)
        await self._take(user, session)
        try:
            head = await self._head(user, session)
            left, asked = head.unfinished if head else None, (question, preset, scope.collections)
            if left is not None and (left.question, left.preset, left.collections) == asked:
                handle = await self._resumed(scope, session, head)
                if handle is not None:
                    return handle
            return await self._begun(scope, session, head, question, preset, trace_id)
        except BaseException:
            await self._release(user, session)
            raise

    async def _begun(
        self, scope: Scope, session: str, head: Head | None, question: str, preset: str, trace_id: str
    ) -> TurnHandle:
        user, now = scope.owner, self._clock()
        head = head or Head(created=now, updated=now, collections=())
        if not scope.covers(head.searched):
            raise SessionHidden(session)
        if head.running is not None:
            await self._drop_checkpoints(user, session, head.running)
        running = RunningTurn(head.turns, question, preset, trace_id, now, scope.collections)
        head = replace(head, updated=now, running=running)
        conversation = replace(await self._so_far(user, session, head), unfinished=None)
        await self._store.abatch([put_head(user, session, head)])
        return TurnHandle(user, session, thread_id(user, session, running), running, conversation, head)

    async def resume(self, who: str | Scope, session: str) -> TurnHandle | None:
        """The turn that a crash broke off, to go on with it; None when there is none. Raises ``SessionBusy``."""
        scope, user = _scope(who)
        await self._take(user, session)
        handle = None
        try:
            handle = await self._resumed(scope, session, await self._head(user, session))
        finally:
            if handle is None:
                await self._release(user, session)
        return handle

    async def finish(
        self, handle: TurnHandle, record: TurnRecord, summary: str | None = None, summarised: int = 0
    ) -> None:
        """Keeps the turn's outcome and lets go of the session.

        ``summary`` replaces the old one and then covers the ``summarised`` oldest of the conversation's messages, too.
        """
        now = self._clock()
        if record.at == 0.0:
            record = replace(record, at=now)
        covered = min(max(summarised, 0), len(handle.conversation.messages))
        head = handle.head.moved_on(handle.turn, now, summary, covered)
        head, outdated = head.within(self._retention.session_turns)
        place = turns_of(handle.user, handle.session)
        puts = [
            PutOp(place, turn_key(handle.turn.number), record.stored()),
            put_head(handle.user, handle.session, head),
            *(PutOp(place, turn_key(number), None) for number in outdated),
        ]
        try:
            await self._store.abatch(puts)
            # A crash here leaves the checkpoints: the next turn, forget and prune look at them again.
            await self._drop_checkpoints(handle.user, handle.session, handle.turn)
        finally:
            await self._release(handle.user, handle.session)
        await self._prune_now_and_then()

    async def abandon(self, handle: TurnHandle) -> None:
        """Drops the turn, as if it had not been begun, and lets go of the session."""
        try:
            head = replace(handle.head, running=None)
            kept = head if head.turns else None
            await self._store.abatch([put_head(handle.user, handle.session, kept)])
            await self._drop_checkpoints(handle.user, handle.session, handle.turn)
        finally:
            await self._release(handle.user, handle.session)

    async def suspend(self, handle: TurnHandle) -> None:
        """Lets go of the session but keeps the turn as far as it came, to be resumed later."""
        await self._release(handle.user, handle.session)

    async def list(self, who: str | Scope, limit: int = 100) -> tuple[SessionInfo, ...]:
        """The user's sessions, the one used last first."""
        scope, user = _scope(who)
        check_name("user", user)
        heads = [item async for item in self._all((HEADS, label(user)))]
        infos = [info(item) for item in heads if scope.covers(Head.restored(item.value).searched)]
        return tuple(sorted(infos, key=lambda known: known.updated, reverse=True)[:limit])

    async def forget(self, who: str | Scope, session: str | None = None) -> int:
        """Deletes a session, or all that ``scope`` sees: records, summary, checkpoints. Returns how many there were.

        Raises ``SessionBusy`` when a turn of one of them runs; all others are deleted, and scrubbed, then.
        """
        scope, user = _scope(who)
        names = [session] if session is not None else await self._names(user)
        forgotten, busy = 0, None
        try:
            for name in names:
                try:
                    await self._take(user, name)
                except SessionBusy as error:
                    busy = error
                    continue
                try:
                    forgotten += await self._erase(user, name, scope)
                finally:
                    await self._release(user, name)
        finally:
            if forgotten:
                await self._scrub()
        if busy is not None:
            raise busy
        return forgotten

    async def prune(self, most: int | None = None) -> int:
        """Deletes sessions that ``Retention`` no longer allows, ``most`` of them, oldest first; returns how many.

        Beyond ``max_sessions`` those of users with the most go first. A session whose turn is running stays.
        """
        ages = [(float(item.value.get("updated", 0.0)), *owner(item)) async for item in self._all((HEADS,))]
        ages.sort(reverse=True)
        oldest = self._clock() - self._retention.seconds
        kept = sum(updated >= oldest for updated, _, _ in ages)
        pruned = 0
        places = _places([user for _, user, _ in ages[:kept]])
        fair = [one for _, one in sorted(zip(places, ages[:kept], strict=True), key=itemgetter(0))]
        outdated = [*fair[self._retention.max_sessions :], *ages[kept:]]
        for _, user, session in outdated[::-1][:most]:
            if not await self._locks.take(lock_key(user, session)):
                continue
            try:
                pruned += await self._erase(user, session, Scope(user))
            finally:
                await self._release(user, session)
        return pruned

    async def close(self) -> None:
        """Closes what the sessions are kept in."""
        await self._close()

    async def _prune_now_and_then(self) -> None:
        self._finished += 1
        if self._finished % _PRUNE_EVERY == 1:
            await self.prune(_PRUNE_AT_ONCE)

    async def _take(self, user: str, session: str) -> None:
        check_name("user", user)
        check_name("session", session)
        await lock_session(self._locks, lock_key(user, session))

    async def _release(self, user: str, session: str) -> None:
        await self._locks.release(lock_key(user, session))

    async def _is_busy(self, user: str, session: str) -> bool:
        free = await self._locks.take(lock_key(user, session))
        if free:
            await self._release(user, session)
        return not free

    async def _head(self, user: str, session: str) -> Head | None:
        check_name("user", user)
        check_name("session", session)
        (item,) = await self._store.abatch([GetOp((HEADS, label(user)), label(session))])
        return Head.restored(item.value) if isinstance(item, Item) else None

    async def _all(self, prefix: tuple[str, ...]) -> AsyncIterator[SearchItem]:
        for offset in count(0, _PAGE):
            (page,) = await self._store.abatch([SearchOp(prefix, limit=_PAGE, offset=offset)])
            found = [item for item in page if isinstance(item, SearchItem)] if isinstance(page, list) else []
            for item in found:
                yield item
            if len(found) < _PAGE:
                return

    async def _names(self, user: str) -> Sequence[str]:
        check_name("user", user)
        return [owner(item)[1] async for item in self._all((HEADS, label(user)))]

    async def _records(self, user: str, session: str, numbers: range) -> tuple[TurnRecord, ...]:
        if not numbers:
            return ()
        place = turns_of(user, session)
        items = await self._store.abatch([GetOp(place, turn_key(number)) for number in numbers])
        return tuple(TurnRecord.restored(item.value) for item in items if isinstance(item, Item))

    async def _so_far(self, user: str, session: str, head: Head) -> Conversation:
        records = await self._records(user, session, head.unsummarised)
        messages = tuple(chain.from_iterable(record.messages() for record in records))
        within = head.next_message - 2 * head.unsummarised.start
        return Conversation(head.summary, messages[within:], head.turns, head.unfinished)

    async def _resumed(self, scope: Scope, session: str, head: Head | None) -> TurnHandle | None:
        user = scope.owner
        if head is None or head.unfinished is None or not scope.covers(head.searched):
            return None
        turn = head.unfinished
        thread = thread_id(user, session, turn)
        conversation = replace(await self._so_far(user, session, head), unfinished=None)
        return TurnHandle(user, session, thread, turn, conversation, head, await self._has_checkpoint(thread))

    async def _has_checkpoint(self, thread: str) -> bool:
        """Whether there is a checkpoint that this version can read."""
        try:
            found = await self.checkpointer.aget_tuple({"configurable": {"thread_id": thread, "checkpoint_ns": ""}})
        except ValueError:
            return False
        return found is not None

    async def _erase(self, user: str, session: str, scope: Scope) -> int:
        try:
            head = await self._head(user, session)
        except StoreError:  # one that cannot be read can still be deleted
            head = Head(0.0, 0.0)
        if head is None or not scope.covers(head.searched):
            return 0
        if head.running is not None:
            await self._drop_checkpoints(user, session, head.running)
        place = turns_of(user, session)
        records = [PutOp(place, item.key, None) async for item in self._all(place)]
        await self._store.abatch([*records, put_head(user, session, None)])
        return 1

    async def _drop_checkpoints(self, user: str, session: str, turn: RunningTurn) -> None:
        await self.checkpointer.adelete_thread(thread_id(user, session, turn))
