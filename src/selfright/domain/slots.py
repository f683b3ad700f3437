"""What is remembered of a user, whatever the field: slots, and the profile they make."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from selfright.domain.errors import InputError
from selfright.domain.passages import Language
from selfright.domain.text import readable

MAX_GIVEN = 500
Subject = Literal["user", "family", "other"]
SlotTime = Literal["current", "past"]


@dataclass(frozen=True, slots=True)
class Slot:
    """One fact read from a message: ``name`` is the kind (age, version, platform …).

    ``start`` and ``end`` are character positions in the message of ``turn``; -1 when it was set by hand. ``details``
    are what belongs to the fact besides (of an order its number; of a thing with names in two languages its key), as
    pairs of name and value, in the order of their names.
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
    details: tuple[tuple[str, str], ...] = ()

    def detail(self, name: str) -> str | None:
        """What ``details`` say of ``name``."""
        return dict(self.details).get(name)

    @property
    def thing(self) -> str:
        """What the slot speaks of, the same in every wording: its key where it has one, else its value."""
        return (self.detail("key") or " ".join(self.value.split())).casefold()


@dataclass(frozen=True, slots=True)
class SlotKind:
    """What a pack says of one kind of slot.

    ``many``: several values hold side by side (conditions), else the newest one holds (age). ``lasting``: once true it
    stays true, so that saying otherwise later is a contradiction and no change. ``label`` is what readers see.
    """

    name: str
    label: Mapping[Language, str] = field(default_factory=dict)
    many: bool = False
    lasting: bool = False


Kinds = Mapping[str, SlotKind]
Meeting = Literal["apart", "repeats", "supersedes", "contradicts"]

_ANY = ("", "*", "any", "all", "none")
"""Values of a denial that means everything of its kind ("no devices")."""


def meeting(old: Slot, new: Slot, kind: SlotKind) -> Meeting:
    """What ``new`` does to ``old``, which stood until now: nothing, says it again, takes its place, or denies it."""
    if (old.name, old.subject) != (new.name, new.subject):
        return "apart"
    if _value_key(old) == _value_key(new) and set(new.details) <= set(old.details):
        return "repeats"
    same = old.thing == new.thing or _denies_all(old, new)
    if kind.many or old.subject != "user":
        if not same or (_denies_all(old, new) and old.negated == new.negated):
            return "apart"
        opposite = old.negated != new.negated and old.time == new.time
        return "contradicts" if kind.lasting and opposite else "supersedes"
    if old.time != new.time:
        return "apart"
    return "contradicts" if kind.lasting and not same else "supersedes"


def _value_key(slot: Slot) -> tuple[object, ...]:
    return slot.thing, slot.unit, slot.negated, slot.time


def _denies_all(old: Slot, new: Slot) -> bool:
    return any(slot.negated and slot.value.casefold() in _ANY for slot in (old, new))


@dataclass(frozen=True, slots=True)
class Fact:
    """One slot in a user's history: ``at`` is when it was said (Unix seconds), ``state`` what has become of it.

    A slot that was set by hand instead of being read from a message has no place in one (``slot.start`` is -1).
    """

    slot: Slot
    state: Literal["stands", "superseded", "contradicted"] = "stands"
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Concern:
    """Something in a profile that speaks against what is asked about, for an answer to deal with.

    ``text`` says it in the reader's language, as it can be searched for; an answer deals with it when it has one of
    ``words``. ``about`` are names of what is asked about. Words and names are in lower case. ``warns``: it is said in a
    note whatever the answer says of it.
    """

    text: str
    words: tuple[str, ...]
    about: tuple[str, ...] = ()
    warns: bool = False

    def is_met_by(self, text: str) -> bool:
        """Whether a text takes it up."""
        lowered = text.casefold()
        return any(word in lowered for word in self.words)

    def bears(self, heading: str, text: str) -> bool:
        """Whether a text under this heading deals with it: it names what is asked about, and what speaks against it."""
        named = f"{heading}\n{text}".casefold()
        return self.is_met_by(text) and any(name in named for name in self.about)


@dataclass(frozen=True, slots=True)
class Profile:
    """What stands of one user, oldest first; ``disputed`` is what the user has said otherwise since."""

    slots: tuple[Slot, ...] = ()
    disputed: tuple[Slot, ...] = ()

    def values(self, name: str) -> tuple[str, ...]:
        """The current, affirmed values of one kind that are about the user, without repeats, oldest first."""
        mine = (s for s in self.slots if s.name == name and s.subject == "user" and not s.negated)
        return tuple(dict.fromkeys(s.value for s in mine if s.time == "current"))

    def with_slots(self, slots: Iterable[Slot], kinds: Kinds) -> "Profile":
        """The profile after ``slots`` were said, in this order."""
        standing, disputed = list(self.slots), list(self.disputed)
        for slot in slots:
            kind = kinds.get(slot.name, SlotKind(slot.name, many=True))
            met = [meeting(old, slot, kind) for old in standing]
            if "repeats" in met:
                continue
            disputed = [old for old in disputed if meeting(old, slot, kind) != "repeats"]
            disputed += [old for old, how in zip(standing, met, strict=True) if how == "contradicts"]
            standing = [old for old, how in zip(standing, met, strict=True) if how == "apart"] + [slot]
        return Profile(tuple(standing), tuple(disputed))

    def without(self, name: str) -> "Profile":
        """The profile with nothing of one kind about the user in it."""
        slots = tuple(slot for slot in self.slots if (slot.name, slot.subject) != (name, "user"))
        return Profile(slots, tuple(slot for slot in self.disputed if (slot.name, slot.subject) != (name, "user")))

    @classmethod
    def of(cls, facts: Mapping[str, object]) -> "Profile":
        """A profile from plain facts, ``{"age": 60, "products": ["FxStore"]}``; empty values are left out.

        Raises ``InputError`` for anything but a mapping, and for more than 500 facts: each is held against all others.
        """
        if not isinstance(facts, Mapping):
            raise InputError(f"a profile maps names to values, such as {{'age': 60}}, but got {type(facts).__name__}")
        slots = [
            Slot(name=readable(str(name)), value=readable(str(value)))
            for name, given in facts.items()
            for value in (given if isinstance(given, list | tuple) else [given])
            if value not in (None, "")
        ]
        if len(slots) > MAX_GIVEN:
            raise InputError(f"a profile has at most {MAX_GIVEN} facts, but {len(slots):,} came; leave some out")
        return cls(tuple(slots))
