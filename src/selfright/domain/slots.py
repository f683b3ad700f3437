"""What is remembered of a user, whatever the field: slots, and the profile they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Subject = Literal["user", "family", "other"]
SlotTime = Literal["current", "past"]


@dataclass(frozen=True, slots=True)
class Slot:
    """One fact read from a message: ``name`` is the kind (age, conditions, medications, version …).

    ``start`` and ``end`` are character positions in the message of ``turn``; -1 when it was set by hand.
    """

    name: str
    value: str
    unit: str | None = None
    negated: bool = False
    subject: Subject = "user"
    time: SlotTime = "current"
    turn: int = 0
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class Profile:
    """The slots known of one user, oldest first; a later value of the same kind supersedes an earlier one."""

    slots: tuple[Slot, ...] = ()

    def values(self, name: str) -> tuple[str, ...]:
        """The current, affirmed values of one kind that are about the user, without repeats, oldest first."""
        mine = (s for s in self.slots if s.name == name and s.subject == "user" and not s.negated)
        return tuple(dict.fromkeys(s.value for s in mine if s.time == "current"))

    @classmethod
    def of(cls, facts: Mapping[str, object]) -> "Profile":
        """A profile from plain facts, ``{"age": 60, "conditions": ["gout"]}``; empty values are left out."""
        slots = [
            Slot(name=name, value=str(value))
            for name, given in facts.items()
            for value in (given if isinstance(given, list | tuple) else [given])
            if value not in (None, "")
        ]
        return cls(tuple(slots))
