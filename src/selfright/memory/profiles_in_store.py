"""Profiles in a LangGraph store, for those who run one already (PostgreSQL, Redis, …).

A fact is an item: what stands lies under ``("profiles", user, "stands")``, what stood before under ``"before"``. A
store knows no transactions: of two turns of one user at the same moment both facts are kept, even where one supersedes
the other. Whether deleted items are overwritten is the store's affair.
"""

import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from langgraph.store.base import BaseStore, Op, PutOp, SearchItem, SearchOp

from selfright.domain.errors import StoreError
from selfright.domain.slots import Fact, Kinds, Profile, Slot
from selfright.memory.conversation import label, unlabel
from selfright.memory.profile_rows import MAX_DISPUTED, MAX_HISTORY, MAX_STANDING, named

_ROOT = "profiles"
_STANDS, _BEFORE = "stands", "before"
_PAGE = 1_000


class StoreProfiles:
    """A ``ProfileStore`` over any LangGraph store. Closing it leaves the store open."""

    ephemeral = False

    def __init__(self, store: BaseStore, kinds: Kinds) -> None:
        self._store = store
        self._kinds = kinds

    async def profile(self, user: str) -> Profile:
        """What stands of a user."""
        return _profile(await self._items(user, _STANDS))

    async def remember(self, user: str, slots: Sequence[Slot]) -> Profile:
        """Adds what was said, and settles it with what stood."""
        items = await self._items(user, _STANDS)
        before = _profile(items)
        return await self._write(user, items, before, before.with_slots(slots, self._kinds)) if slots else before

    async def correct(self, user: str, name: str, slots: Sequence[Slot]) -> Profile:
        """Puts ``slots`` in the place of what stands of a kind; what stood is history."""
        items = await self._items(user, _STANDS)
        before = _profile(items)
        return await self._write(user, items, before, before.without(name).with_slots(slots, self._kinds))

    async def history(self, user: str) -> tuple[Fact, ...]:
        """All facts of a user, oldest first."""
        items = [*await self._items(user, _STANDS), *await self._items(user, _BEFORE)]
        return tuple(_fact(item) for item in sorted(items, key=lambda item: item.key))

    async def forget(self, user: str, name: str | None = None, value: str | None = None) -> int:
        """Deletes; whether the store's files keep anything of it is the store's affair."""
        gone = 0
        for part in (_STANDS, _BEFORE):
            items = [i for i in await self._items(user, part) if _matches(i, name, value)]
            await self._store.abatch([PutOp(i.namespace, i.key, None) for i in items])
            gone += len(items)
        return gone

    async def users(self) -> tuple[str, ...]:
        """All users, by name."""
        found: list[tuple[str, ...]] = []
        while True:
            page = await self._store.alist_namespaces(prefix=(_ROOT,), limit=_PAGE, offset=len(found))
            found += page
            if len(page) < _PAGE:
                break
        names = sorted({namespace[1] for namespace in found})
        first = await self._store.abatch([SearchOp((_ROOT, name), limit=1) for name in names])
        # Some stores list namespaces that nothing lies in any more.
        return tuple(sorted(unlabel(name) for name, items in zip(names, first, strict=True) if items))

    async def close(self) -> None:
        """Nothing: the store is its owner's."""

    async def _items(self, user: str, part: str) -> list[SearchItem]:
        """What lies in a part of a user's profile, oldest first."""
        place = (_ROOT, label(named(user)), part)
        found: list[SearchItem] = []
        most = MAX_STANDING + MAX_DISPUTED if part == _STANDS else MAX_HISTORY
        while len(found) <= most:
            (page,) = await self._store.abatch([SearchOp(place, limit=_PAGE, offset=len(found))])
            if not isinstance(page, list) or not all(isinstance(item, SearchItem) for item in page):
                raise StoreError("the profile store gave something else than found items; check which store it is")
            found += page  # type: ignore[arg-type]  # checked above
            if len(page) < _PAGE:
                break
        return sorted(found, key=lambda item: item.key)

    async def _write(self, user: str, items: Sequence[SearchItem], before: Profile, after: Profile) -> Profile:
        """Makes ``after`` what stands, and moves to the history what stood."""
        keys = dict(zip((id(slot) for slot in _slots(before)), _in_order(items), strict=True))
        disputed = {id(slot) for slot in after.disputed[-MAX_DISPUTED:]}
        stays = {id(slot) for slot in after.slots[-MAX_STANDING:]}
        now, place = time.time(), (_ROOT, label(named(user)))
        ops: list[Op] = []
        for slot in _slots(before):
            item = keys[id(slot)]
            state = "stands" if id(slot) in stays else "contradicted" if id(slot) in disputed else "superseded"
            if state != item.value["state"]:
                part = _BEFORE if state == "superseded" else _STANDS
                ops.append(PutOp((*place, part), item.key, {**item.value, "state": state}))
                ops += [PutOp(item.namespace, item.key, None)] if part == _BEFORE else []
        fresh = [("contradicted", slot) for slot in after.disputed] + [("stands", slot) for slot in after.slots]
        for n, (state, slot) in enumerate(fresh):
            if id(slot) not in keys:
                ops.append(PutOp((*place, _STANDS), _key(n), _stored(slot, state, now)))
        await self._store.abatch(ops)
        await self._trim((*place, _BEFORE))
        return Profile(after.slots[-MAX_STANDING:], after.disputed[-MAX_DISPUTED:])

    async def _trim(self, place: tuple[str, ...]) -> None:
        (beyond,) = await self._store.abatch([SearchOp(place, limit=_PAGE, offset=MAX_HISTORY)])
        items = [item for item in beyond if isinstance(item, SearchItem)] if isinstance(beyond, list) else []
        await self._store.abatch([PutOp(item.namespace, item.key, None) for item in items])


def _slots(profile: Profile) -> tuple[Slot, ...]:
    return (*profile.slots, *profile.disputed)


def _in_order(items: Iterable[SearchItem]) -> list[SearchItem]:
    """As ``_slots`` has them: those that stand first."""
    return sorted(items, key=lambda item: (item.value["state"] != "stands", item.key))


def _profile(items: Sequence[SearchItem]) -> Profile:
    facts = [_fact(item) for item in items]
    return Profile(
        tuple(fact.slot for fact in facts if fact.state == "stands"),
        tuple(fact.slot for fact in facts if fact.state != "stands"),
    )


def _key(n: int) -> str:
    """Sorts by time, then by ``n``; several processes never make the same."""
    return f"{time.time_ns():020d}-{n:04d}-{uuid.uuid4().hex[:12]}"


def _stored(slot: Slot, state: str, now: float) -> dict[str, Any]:
    return {**asdict(slot), "details": [list(pair) for pair in slot.details], "state": state, "at": now}


def _fact(item: SearchItem) -> Fact:
    try:
        fields = dict(item.value)
        state, at = fields.pop("state"), fields.pop("at")
        fields["details"] = tuple((str(key), str(value)) for key, value in fields["details"])
        return Fact(Slot(**fields), state, at)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError("a stored fact cannot be read: it is damaged, or another program's") from error


def _matches(item: SearchItem, name: str | None, value: str | None) -> bool:
    return name in (None, item.value["name"]) and value in (None, item.value["value"])
