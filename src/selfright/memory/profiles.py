"""Profiles for as long as the process lives: the store for a single user at a keyboard, and for tests."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from selfright.domain.passages import Language
from selfright.domain.slots import Profile, Slot

MAX_USERS = 1_000
MAX_SLOTS = 500


class InMemoryProfiles:
    """A bounded ``ProfileStore``: the users seen longest ago and the oldest slots are forgotten first."""

    def __init__(self) -> None:
        self._profiles: OrderedDict[str, Profile] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, user: str, slots: Sequence[Slot]) -> Profile:
        """Adds slots to a user's profile and gives the profile as it now stands."""
        with self._lock:
            known = self._profiles.pop(user, Profile())
            profile = Profile((*known.slots, *slots)[-MAX_SLOTS:])
            self._profiles[user] = profile
            while len(self._profiles) > MAX_USERS:
                self._profiles.popitem(last=False)
            return profile

    def summary(self, profile: Profile, language: Language) -> str:
        """All current values in one line, in the order in which they were first said."""
        del language
        names = dict.fromkeys(slot.name for slot in profile.slots)
        return ", ".join(value for name in names for value in profile.values(name))


class NoSlots:
    """A ``SlotExtractor`` that reads nothing: what a domain without a pack has."""

    async def extract(self, text: str, turn: int = 0) -> tuple[Slot, ...]:
        """No slots."""
        del text, turn
        return ()
