"""A domain pack: all that Selfright knows of one field. The engine reads it, and knows no field itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.metadata import entry_points
from pathlib import Path

from selfright.domain.passages import Language
from selfright.domain.ports import ChatModel, SlotExtractor, TermLexicon
from selfright.domain.routing import Collection
from selfright.domain.slots import Concern, Kinds, Profile, Slot, SlotKind

Summary = Callable[[Profile, Language], str]
Terms = Callable[[Profile], tuple[tuple[str, ...], ...]]
Urgent = Callable[[str, Language], str]
Concerns = Callable[[str, Profile, Language], tuple[Concern, ...]]
Notes = Callable[[str, Language], tuple[str, ...]]
ModelExtractor = Callable[[ChatModel, SlotExtractor, Callable[[], None]], SlotExtractor]
"""Makes an extractor of a model, of the one that stands in for it, and of what is called each time that it does."""


class NoSlots:
    """A ``SlotExtractor`` that reads nothing."""

    async def extract(self, text: str, turn: int = 0) -> tuple[Slot, ...]:
        """No slots."""
        del text, turn
        return ()


@dataclass(frozen=True, slots=True)
class Pointer:
    """Slots that send a question to collections of a kind: those whose name or description has one of ``words``."""

    slots: tuple[str, ...]
    words: tuple[str, ...]


def plain_summary(profile: Profile, language: Language) -> str:
    """All current values in one line, in the order in which they were first said."""
    del language
    names = dict.fromkeys(slot.name for slot in profile.slots)
    return ", ".join(value for name in names for value in profile.values(name))


def plain_terms(profile: Profile) -> tuple[tuple[str, ...], ...]:
    """The current values, each in its only wording."""
    names = dict.fromkeys(slot.name for slot in profile.slots)
    return tuple((value,) for name in names for value in profile.values(name))


@dataclass(frozen=True)
class DomainPack:
    """What one field brings along; every part may be left out. Factories are called once, when first needed.

    ``kinds``: its slots, in the order in which readers see them. ``model_extractor``: how a language model reads slots,
    where one may. ``linker``: makes an extractor that also links what it reads to the concepts of a model, from the
    model's file; raises ``MissingExtra`` or ``SettingsError``. ``words``: nouns in Hangul that the tokenizer of a new
    index keeps whole. ``summary``: a profile in one line, for prompts. ``terms``: for each fact of a profile the
    wordings that show that an answer takes it up. ``hints``: rules for a model that answers. ``keyed``: a slot given by
    hand, as the extractor would have read it, with the key of what it names; raises ``InputError`` for a value that its
    kind cannot hold. ``pointers``: which slots lead to which collections. ``urgent``: what a message
    calls for at once, put before any answer. ``concerns``: what a profile has against what is asked about;
    ``warning``: how the note on those that warn begins, where it shall say more than that. ``needs_source``: whether a
    sentence may be said only with a citation. ``notes``: what goes with every answer to such a question. ``about``:
    whether a question is of the field, so that what is remembered of a user bears on it. ``names``: what the things a
    message speaks of are usually called, to be searched for; ``vocabulary``: English words in lower case that misspelt
    ones are held against. ``asked``: keys of the things a question asks about that must not be answered for one
    another; ``things``: keys of such things that a text names, whatever their name there.
    """

    name: str
    kinds: tuple[SlotKind, ...] = ()
    extractor: Callable[[], SlotExtractor] = NoSlots
    model_extractor: ModelExtractor | None = None
    linker: Callable[[Path], SlotExtractor] | None = None
    words: Callable[[], tuple[str, ...]] = tuple
    lexicon: Callable[[], TermLexicon] | None = None
    summary: Summary = plain_summary
    terms: Terms = plain_terms
    hints: Mapping[Language, str] = field(default_factory=dict)
    keyed: Callable[[Slot], Slot] = lambda slot: slot
    pointers: tuple[Pointer, ...] = ()
    urgent: Urgent = lambda _text, _language: ""
    concerns: Concerns = lambda _question, _profile, _language: ()
    warning: Mapping[Language, str] = field(default_factory=dict)
    needs_source: Callable[[str], bool] = lambda _sentence: False
    notes: Notes = lambda _question, _language: ()
    about: Callable[[str], bool] = lambda _question: True
    names: Callable[[str], tuple[str, ...]] = lambda _text: ()
    vocabulary: Callable[[], frozenset[str]] = frozenset
    asked: Callable[[str], frozenset[str]] = lambda _question: frozenset()
    things: Callable[[str], frozenset[str]] = lambda _text: frozenset()

    @cached_property
    def kinds_by_name(self) -> Kinds:
        """``kinds`` by their names."""
        return {kind.name: kind for kind in self.kinds}

    def point_collections(self, collections: Sequence[Collection]) -> list[Collection]:
        """The collections, with the slots that lead to each; what an operator has declared is left alone."""
        return [c if c.slots else replace(c, slots=self._slots_of(c)) for c in collections]

    def _slots_of(self, collection: Collection) -> tuple[str, ...]:
        about = f"{collection.name} {collection.description}".casefold()
        hit = (pointer for pointer in self.pointers if any(word in about for word in pointer.words))
        return tuple(dict.fromkeys(slot for pointer in hit for slot in pointer.slots))


GENERAL = DomainPack("none")
"""No field: no slots are read, nothing is added."""


@cache
def installed_packs() -> Mapping[str, str]:
    """The ``module:attribute`` of each pack that an installed distribution offers in group ``selfright.packs``."""
    return {entry.name: entry.value for entry in entry_points(group="selfright.packs")}
