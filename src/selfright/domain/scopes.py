"""Who asks, and where that one may search. Everything that is kept of a turn says under which scope it was made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from selfright.domain.passages import Retrieval
from selfright.domain.ports import Retriever


@dataclass(frozen=True, slots=True)
class Scope:
    """A user (None: every user's) and the collections that may be searched.

    ``collections`` is None for all of them, those made later included; an empty tuple is none at all.
    """

    user: str | None
    collections: tuple[str, ...] | None = None

    @classmethod
    def of(cls, who: "str | Scope | None") -> "Scope":
        """The scope of a user, or of everyone, who may search everywhere; a scope stays what it is."""
        return who if isinstance(who, Scope) else cls(who)

    @property
    def owner(self) -> str:
        """The user, for what belongs to one user. Raises ``ValueError`` for everyone's scope."""
        if self.user is None:
            raise ValueError("a scope of one user was expected here, but it is everyone's")
        return self.user

    def covers(self, collections: Sequence[str] | None) -> bool:
        """Whether all that was found in ``collections`` (None: everywhere) may be seen."""
        return self.collections is None or (collections is not None and set(collections) <= set(self.collections))

    def shows(self, user: str, collections: Sequence[str] | None) -> bool:
        """Whether something of ``user``, found in ``collections``, may be seen."""
        return self.user in (None, user) and self.covers(collections)

    def within(self, named: Sequence[str] = ()) -> tuple[str, ...] | None:
        """Where to search when ``named`` are asked for; None means everywhere, and an empty tuple nowhere."""
        if self.collections is None:
            return tuple(named) or None
        return tuple(name for name in self.collections if not named or name in named)


def joined(some: Sequence[str] | None, more: Sequence[str] | None) -> tuple[str, ...] | None:
    """The collections of both; everywhere when one of them is."""
    return None if some is None or more is None else tuple(sorted({*some, *more}))


@dataclass(frozen=True, slots=True)
class ScopedRetriever:
    """What a turn searches with: whatever it asks for, it finds nothing outside of its scope."""

    inner: Retriever
    scope: Scope

    async def search(self, query: str, k: int, collections: Sequence[str] = ()) -> Retrieval:
        """The ``k`` best passages of the scope, best first; of ``collections`` alone where some are named."""
        where = self.scope.within(collections)
        if where is not None and not where:
            return Retrieval(())
        return await self.inner.search(query, k, where or ())

    def over(self, wrapped: Callable[[Retriever], Retriever]) -> Self:
        """The same scope over what ``wrapped`` makes of the retriever in it."""
        return type(self)(wrapped(self.inner), self.scope)
