"""What the things in a message are usually called, for searching: preferred names, and the words they are made of."""

import functools
import re
from collections.abc import Mapping
from dataclasses import replace

from selfright.domain.passages import Language
from selfright.domain.slots import Slot
from selfright.medical.lexicon import Concept, load_lexicon
from selfright.medical.spotting import spotter

# What these name is, by itself, more often a thing of another field (a disk, a key).
OF_OTHER_FIELDS = ("디스크", "키")

_LONGEST = 10_000
_MOST = 8
_WORD = re.compile(r"[a-z]+")


def names(text: str) -> tuple[str, ...]:
    """The preferred names of what ``text`` mentions, each in the language of its mention, in the order of the text."""
    found = spotter("condition", "symptom", "drug", "lab").find(text[:_LONGEST])
    meant = (mention for mention in found if text[mention.start : mention.end] not in OF_OTHER_FIELDS)
    return tuple(dict.fromkeys(mention.concept.name(mention.language) for mention in meant))[:_MOST]


@functools.cache
def vocabulary() -> frozenset[str]:
    """Every English word in the names of the lexicon, in lower case."""
    forms = (form for concept in load_lexicon().concepts.values() for form in concept.forms_en)
    return frozenset(word for form in forms for word in _WORD.findall(form.lower()))


def concept_of(slot: Slot) -> Concept | None:
    """What the lexicon knows of a slot's value; None for what it does not know."""
    known = load_lexicon().concepts.get(slot.detail("key") or "")
    return known or _by_form().get(_plain(slot.value))


def keyed(slot: Slot) -> Slot:
    """The slot with the key of its value, where the lexicon knows it; a key that it has stays."""
    concept = concept_of(slot)
    if concept is None or slot.detail("key"):
        return slot
    return replace(slot, details=tuple(sorted((*slot.details, ("key", concept.id)))))


def wordings(slot: Slot) -> tuple[str, ...]:
    """The value first, then every name of the same thing in both languages."""
    concept = concept_of(slot)
    names = (*concept.forms_ko, *concept.forms_en) if concept else ()
    return tuple(dict.fromkeys((slot.value, *names)))


def name_in(slot: Slot, language: Language) -> str:
    """The value as a reader of ``language`` knows it."""
    concept = concept_of(slot)
    return concept.name(language) if concept else slot.value


def names_of(name: str) -> tuple[str, ...]:
    """``name`` with the brands and other names of the same medicine."""
    concept = _by_form().get(_plain(name))
    others = (*concept.forms_ko, *concept.forms_en) if concept and concept.kind == "drug" else ()
    return tuple(dict.fromkeys((name, *others)))


@functools.cache
def _by_form() -> Mapping[str, Concept]:
    found: dict[str, Concept] = {}
    for concept in load_lexicon().concepts.values():
        for form in (*concept.forms_en, *concept.forms_ko):
            found.setdefault(_plain(form), concept)
    return found


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
