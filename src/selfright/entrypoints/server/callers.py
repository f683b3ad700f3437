"""Who asks, and what that one may see and change."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request

from selfright.domain.turns import DEFAULT_USER, Scope
from selfright.entrypoints.server.admission import LOCAL_KEY
from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.keys import Key


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a key, or the user of this machine. No ``collections`` means that all may be searched.

    A key changes documents in the collections that it names; where it names none, only an admin's does.
    """

    key: str
    user: str
    collections: tuple[str, ...] = ()
    admin: bool = False

    @classmethod
    def of(cls, key: Key) -> "Caller":
        """The caller behind a key."""
        return cls(key.id, key.user, key.collections, key.admin)

    @property
    def scope(self) -> Scope:
        """What the caller may see of its own turns."""
        return Scope(self.user, self.collections or None)

    @property
    def overseen(self) -> Scope:
        """What the caller may see of all turns: an admin everybody's, anybody else its own."""
        return Scope(None if self.admin else self.user, self.collections or None)

    def sees(self, collection: str) -> bool:
        """Whether it may search and read there."""
        return not self.collections or collection in self.collections

    def changes(self, collection: str) -> bool:
        """Whether it may add and delete documents there."""
        return collection in self.collections if self.collections else self.admin

    @property
    def changes_any(self) -> bool:
        """Whether there is any collection that it may change."""
        return bool(self.collections) or self.admin

    def within(self, wanted: Sequence[str], there: Sequence[str]) -> tuple[str, ...]:
        """Where to search for the caller: the ``wanted`` collections, or all it may see. Empty means everywhere.

        ``there`` are the collections that exist. What the caller may not see is told like what does not exist.
        """
        for name in wanted:
            if not (self.sees(name) and name in there):
                raise Refused(404, "collection_not_found", f"there is no collection '{name}'", param="collections")
        if wanted or not self.collections:
            return tuple(dict.fromkeys(wanted))
        mine = tuple(name for name in self.collections if name in there)
        if not mine:
            raise Refused(404, "index_not_found", "there is nothing to search yet; upload a document first")
        return mine


LOCAL = Caller(LOCAL_KEY, DEFAULT_USER, (), True)


def caller_of(request: Request) -> Caller:
    """The caller that the authenticator found for this request."""
    caller = request.scope["state"]["caller"]
    assert isinstance(caller, Caller)
    return caller


def need_admin(caller: Caller) -> None:
    """Refuses all but an admin's key."""
    if not caller.admin:
        raise Refused(403, "admin_only", "this needs an admin's key; ask the operator for one")
