"""A message and a profile in the words of the field.

What the things in a message are usually called, for searching: preferred names, and the words they are made of. The
line that prompts have of a profile, the wordings by which an answer shows it was heard, and the kinds of slots in the
order in which readers see them.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from selfright.domain.passages import Language
from selfright.domain.slots import Profile, Slot, SlotKind
from selfright.domain.tables import read_table
from selfright.domain.text import has_hangul
from selfright.domain.wordings import wordings
from selfright_medical.lexicon import Concept, load_lexicon
from selfright_medical.spotting import spotter

TEXTS = wordings(__package__, "texts")
"""What the pack says to readers and models, by language."""

# What these name is, by itself, more often a thing of another field (a disk, a key).
OF_OTHER_FIELDS = ("디스크", "키")

_LONGEST_NAME = 10_000
_MOST = 8
_WORD = re.compile(r"[a-z]+")


def names(text: str) -> tuple[str, ...]:
    """The preferred names of what ``text`` mentions, each in the language of its mention, in the order of the text."""
    found = spotter("condition", "symptom", "drug", "lab").find(text[:_LONGEST_NAME])
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


def key_slot(slot: Slot) -> Slot:
    """The slot with the key of its value, where the lexicon knows it; a key that it has stays."""
    concept = concept_of(slot)
    if concept is None or slot.detail("key"):
        return slot
    return replace(slot, details=tuple(sorted((*slot.details, ("key", concept.id)))))


def slot_wordings(slot: Slot) -> tuple[str, ...]:
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


def _kind(row: Mapping[str, Any]) -> SlotKind:
    names: dict[Language, str] = {"en": row["en"], "ko": row["ko"]}
    return SlotKind(row["slot"], names, row.get("many", False), row.get("lasting", False))


_TABLE = read_table(__package__, "measures")
MEASURES = tuple(map(_kind, _TABLE["measure"]))
KINDS = (*map(_kind, _TABLE["about"]), *MEASURES)

_MEN = ("m", "male", "man", "boy", "남", "남성", "남자", "남아")
_WOMEN = ("f", "female", "woman", "girl", "여", "여성", "여자", "여아")
_NAMES = frozenset(kind.name for kind in KINDS)
_MEASURES = {kind.name: kind.label for kind in MEASURES}
_ALLERGY = re.compile(r"알레르기|allerg", re.IGNORECASE)
_DAILY = re.compile(r"(\d+)/day")
_MOST_ITEMS = 14
_LONGEST = 400


def summary(profile: Profile, language: Language) -> str:
    """What matters first, in one line of at most 400 characters: "60세 남성, 2형 당뇨병, 신장 기능 경미한 저하"."""
    mine = [slot for slot in profile.slots if slot.subject == "user"]
    now = [slot for slot in mine if slot.time == "current" and not slot.negated]
    items = [_person(now, language), *(_pregnancy(slot, language) for slot in now if slot.name == "pregnancy")]
    for name in ("conditions", "allergies", "medications", "symptoms"):
        items += [_name_in(slot, profile, language) for slot in now if slot.name == name]
    items += [
        f"{_MEASURES[slot.name][language]} {slot.value} {slot.unit or ''}".rstrip()
        for slot in now
        if slot.name in _MEASURES
    ]
    items += [slot.value for slot in now if slot.name not in _NAMES]
    past = [slot for slot in mine if slot.time == "past"]
    for kind, slots in (("past", past), ("family", [slot for slot in profile.slots if slot.subject == "family"])):
        had = (slot for slot in slots if slot.name == "conditions" and not slot.negated)
        items += [TEXTS[language]["patterns"][kind].format(name_in(slot, language)) for slot in had]
    items += [_negation(slot, profile, language) for slot in mine if slot.time == "current" and slot.negated]
    line = ""
    for item in [item for item in dict.fromkeys(items) if item][:_MOST_ITEMS]:
        longer = f"{line}, {item}" if line else item
        line = longer if len(longer) <= _LONGEST else line
    return line


def terms(profile: Profile) -> tuple[tuple[str, ...], ...]:
    """For each current fact the wordings that count: any name of the same thing, in either language."""
    mine = (s for s in profile.slots if s.subject == "user" and s.time == "current" and not s.negated)
    return tuple(_wordings(slot) for slot in mine)


def _wordings(slot: Slot) -> tuple[str, ...]:
    match slot.name:
        case "age":
            return f"{slot.value}세", f"{slot.value}살", f"{slot.value}-year-old", f"{slot.value} years"
        case "sex":
            male, female = ("남성", "남자", "male", " man", " men"), ("여성", "여자", "female", "woman", "women")
            return male if _sex(slot) == "male" else female
        case "pregnancy":
            return "임신", "임부", "pregnan"
        case name if name in _MEASURES:
            return tuple(f"{label} {slot.value}" for label in _MEASURES[name].values())
        case _:
            return slot_wordings(slot)


def _person(now: list[Slot], language: Language) -> str:
    """Age and sex as one item: "60세 남성", "60-year-old male"."""
    last = {slot.name: slot for slot in now if slot.name in ("age", "sex")}
    parts = []
    if age := last.get("age"):
        form = TEXTS[language]["age"].get(age.unit or "years", f"{{}} {age.unit}")
        parts.append(form.format(age.value) if age.value.replace(".", "").isdigit() else age.value)
    if sex := last.get("sex"):
        parts.append(TEXTS[language]["sex"].get(_sex(sex), sex.value))
    return " ".join(parts)


def _sex(slot: Slot) -> str:
    said = slot.value.casefold().strip()
    return "male" if said in _MEN else "female" if said in _WOMEN else said


def _pregnancy(slot: Slot, language: Language) -> str:
    number = slot.detail("weeks") or (slot.value if slot.value.isdigit() else "")
    if language == "ko":
        return f"임신 {number}주" if number else "임신 중"
    return f"{number} weeks pregnant" if number else "pregnant"


def _name_in(slot: Slot, profile: Profile, language: Language) -> str:
    severity = slot.detail("severity") or ""
    name = _severity(name_in(slot, language), TEXTS[language]["severity"].get(severity, ""))
    often = slot.detail("frequency") or ""
    if daily := _DAILY.fullmatch(often):
        often = TEXTS[language]["patterns"]["times"].format(daily[1])
    named = " ".join(part for part in (name, slot.detail("dose"), often) if part)  # 500 mg 하루 2회
    says_so = slot.name == "allergies" and _ALLERGY.search(name)
    item = name if says_so else TEXTS[language]["patterns"].get(slot.name, "{}").format(named)
    return _or_disputed(item, slot, profile, language)


def _negation(slot: Slot, profile: Profile, language: Language) -> str:
    """What does not hold: "no allergy to penicillin", "페니실린 알레르기 없음"."""
    name = "" if _denies_all(slot) else name_in(slot, language)
    patterns = TEXTS[language]["denials"]
    item = patterns.get(f"{slot.name} any" if not name else slot.name, patterns["other"]).format(name or slot.name)
    return _or_disputed(item, slot, profile, language)


def _or_disputed(item: str, slot: Slot, profile: Profile, language: Language) -> str:
    alike = (old for old in profile.disputed if old.name == slot.name)
    disputed = any(old.thing == slot.thing or _denies_all(old) or _denies_all(slot) for old in alike)
    return TEXTS[language]["patterns"]["disputed"].format(item) if disputed else item


def _denies_all(slot: Slot) -> bool:
    return slot.negated and slot.thing == "any"


def _severity(name: str, severity: str) -> str:
    """The name with how severe it is before its last word: "신장 기능 경미한 저하", "mild asthma"."""
    if not severity or severity in name:
        return name
    head, blank, last = name.rpartition(" ") if has_hangul(name) else ("", "", name)
    return f"{head}{blank}{severity} {last}"
