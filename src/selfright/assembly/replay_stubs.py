"""What stands in for the world in a replay: it can be read, and nothing in it changes."""

from collections.abc import Sequence
from dataclasses import dataclass

from selfright.domain.errors import UsageError
from selfright.domain.passages import WebFinding
from selfright.domain.ports import ProfileStore
from selfright.domain.slots import Fact, Kinds, Profile, Slot


class AbsentWeb:
    """A web of which only the recording is left."""

    async def search(self, query: str, k: int) -> WebFinding:
        """Nothing: there is nobody to ask any more."""
        del query, k
        return WebFinding((), "none", 0)


@dataclass(frozen=True, slots=True)
class ReadProfiles:
    """Profiles that are read; what is said in a replay is remembered for the replay alone."""

    inner: ProfileStore
    kinds: Kinds

    @property
    def ephemeral(self) -> bool:
        """As the store itself."""
        return self.inner.ephemeral

    async def profile(self, user: str) -> Profile:
        """As the store itself."""
        return await self.inner.profile(user)

    async def remember(self, user: str, slots: Sequence[Slot]) -> Profile:
        """The profile as it would stand."""
        return (await self.inner.profile(user)).with_slots(slots, self.kinds)

    async def history(self, user: str) -> tuple[Fact, ...]:
        """As the store itself."""
        return await self.inner.history(user)

    async def users(self) -> tuple[str, ...]:
        """As the store itself."""
        return await self.inner.users()

    async def correct(self, user: str, name: str, slots: Sequence[Slot]) -> Profile:
        """Refused with ``UsageError``."""
        del user, slots
        raise UsageError(f"a replay changes no profile, but '{name}' was to be corrected; do that outside of it")

    async def forget(self, user: str, name: str | None = None, value: str | None = None) -> int:
        """Refused with ``UsageError``."""
        del user, name, value
        raise UsageError("a replay changes no profile, but something was to be forgotten; do that outside of it")

    async def close(self) -> None:
        """Nothing: the store belongs to others."""
