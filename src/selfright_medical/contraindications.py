"""What in a profile speaks against a medicine asked about: ``contraindications.toml``, each rule with its source.

The rules tell what an answer has to deal with, not what the answer is: that is for the documents to say.

It also tells which medicines a question and a text are about: one must not be answered for another.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from selfright.domain.passages import Language
from selfright.domain.slots import Concern, Profile, Slot
from selfright.domain.tables import read_table
from selfright_medical.extract import KEY, MedicalExtractor
from selfright_medical.lexicon import Concept, load_lexicon
from selfright_medical.spotting import Spotter
from selfright_medical.wording import concept_of, names_of, slot_wordings

_CLASS = "drug class"
_TABLE = read_table(__package__, "contraindications")
_CROSS_REACTING = {"drug:aspirin": "NSAID", **{name: name for name in _TABLE["cross_reacting"]}}
_LONGEST = 10_000
_LONGEST_QUESTION = 2_000


@functools.lru_cache(maxsize=256)  # grading and refining ask it of the same question in every pass
def things_asked(question: str) -> frozenset[str]:
    """Keys of the medicines that are asked about, by any name, and of their kin (insulin glargine).

    Left out are classes, and what a message only says that somebody takes (I take metformin. What helps with a cold?).
    """
    slots = MedicalExtractor().read(question[:_LONGEST_QUESTION])
    keys = {slot.detail(KEY) for slot in slots if slot.name == "medications" and slot.subject == "other"}
    return frozenset(key for one in _medicines() if one.id in keys for key in _kin(one))


@functools.lru_cache(maxsize=2_048)
def things_in(text: str) -> frozenset[str]:
    """Keys of the medicines that a text names; one that names a class names all that are of it."""
    concepts = (mention.concept for mention in _spotter().find(text[:_LONGEST]))
    return frozenset(key for one in concepts for key in (_of_class(one) if one.group == _CLASS else (one.id,)))


def of_its_class(allergen: Concept) -> tuple[Concept, ...]:
    """The other medicines that who is allergic to ``allergen`` may not stand either; of a class, its members."""
    if allergen.group == _CLASS:
        return tuple(medicine for medicine in _medicines() if medicine.id in _of_class(allergen))
    group = _CROSS_REACTING.get(allergen.id, allergen.group)
    if group not in _CROSS_REACTING.values():
        return ()
    return tuple(m for m in _medicines() if _CROSS_REACTING.get(m.id, m.group) == group and m.id != allergen.id)


@functools.cache
def _medicines() -> tuple[Concept, ...]:
    drugs = load_lexicon().of_kind("drug")
    return tuple(drug for drug in drugs if drug.group not in (_CLASS, *_TABLE["not_told_apart"]))


@functools.cache
def _spotter() -> Spotter:
    classes = (drug for drug in load_lexicon().of_kind("drug") if drug.group == _CLASS)
    return Spotter((*_medicines(), *classes))


@functools.lru_cache(maxsize=256)
def _kin(medicine: Concept) -> tuple[str, ...]:
    """The medicine, and those whose name has all words of its own, or the other way round."""
    words = _words(medicine)
    return tuple(one.id for one in _medicines() if words <= _words(one) or _words(one) <= words)


@functools.cache
def _words(medicine: Concept) -> frozenset[str]:
    return frozenset(medicine.name("en").lower().split())


@functools.cache
def _of_class(concept: Concept) -> tuple[str, ...]:
    names = {form.lower() for form in concept.forms_en}
    return tuple(one.id for one in _medicines() if one.group.lower() in names)


_KINDS = ("conditions", "symptoms", "allergies", "medications", "pregnancy")
_ALLERGIES = ("allergies",)
_MOST = 4
# What warns; that a text speaks of allergies at all is not enough ("most who think so are not allergic").
_ALLERGY_WORDS = (
    "과민", "아나필락시스", "금기", "알레르기가 있으면", "알레르기가 있는 사람은", "hypersensitiv", "anaphyla",
    "contraindicat", "if you are allergic", "if allergic", "must not",
)  # fmt: skip
_OF_A_YEAR = {"months": 1 / 12, "weeks": 1 / 52}  # a small child's age
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LATIN = re.compile(r"[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: ``pattern`` is looked for in the profile's ``kinds``; ``below`` are measurements (and the age) that
    count when they are lower. ``words``: what an answer mentions when it deals with it.
    """

    drugs: tuple[str, ...]
    words: tuple[str, ...]
    text: Mapping[Language, str]
    source: str
    pattern: re.Pattern[str] | None = None
    kinds: tuple[str, ...] = _KINDS
    below: Mapping[str, float] = field(default_factory=dict)


@functools.cache
def rules() -> tuple[Rule, ...]:
    """The rules that ship."""
    return tuple(_rule(entry) for entry in _TABLE["rule"])


def concerns(question: str, profile: Profile, language: Language) -> tuple[Concern, ...]:
    """What an answer to this question has to deal with for this user; at most four.

    What was denied after it had been stated still counts: asking once too often does less harm than once too rarely.
    """
    slots = [s for s in (*profile.slots, *profile.disputed) if s.subject == "user" and not s.negated]
    if not slots:
        return ()
    lowered = question.casefold()
    found = [
        Concern(rule.text[language], rule.words, rule.drugs, warns=rule.kinds == _ALLERGIES)
        for rule in rules()
        if any(_names(drug, lowered) for drug in rule.drugs) and any(_speaks(rule, slot) for slot in slots)
    ]
    found += _own_allergies(lowered, slots, language)
    dealt_with = {name for concern in found if "anaphyla" in concern.words for name in concern.about}
    found += _find_kindred_allergies(question, slots, dealt_with, language)
    return tuple({concern.text: concern for concern in found}.values())[:_MOST]


def _own_allergies(question: str, slots: list[Slot], language: Language) -> Iterator[Concern]:
    for slot in slots:
        names = tuple(name.casefold() for name in slot_wordings(slot)) if slot.name == "allergies" else ()
        if any(_names(name, question) for name in names):
            text = {"en": f"{slot.value} with an allergy to it", "ko": f"{slot.value} 알레르기가 있을 때의 사용 금기"}
            yield Concern(text[language], _ALLERGY_WORDS, names, warns=True)


def _find_kindred_allergies(
    question: str, slots: list[Slot], dealt_with: set[str], language: Language
) -> Iterator[Concern]:
    """An allergy to another medicine of the class of one that is asked about, where no rule names that."""
    asked = things_in(question)
    for slot in slots:
        allergen = concept_of(slot) if slot.name == "allergies" else None
        if allergen is None:
            continue
        kin = (medicine for medicine in of_its_class(allergen) if medicine.id in asked)
        for medicine in [one for one in kin if one.name("en").casefold() not in dealt_with][:_MOST]:
            text = {
                "en": f"{medicine.name('en')} with an allergy to {allergen.name('en')}, which is of its class",
                "ko": f"같은 계열인 {allergen.name('ko')} 알레르기가 있을 때 {medicine.name('ko')} 사용 주의",
            }
            names = (name.casefold() for one in (medicine, allergen) for name in (*one.forms_en, *one.forms_ko))
            yield Concern(text[language], _ALLERGY_WORDS, tuple(names), warns=True)


def _speaks(rule: Rule, slot: Slot) -> bool:
    if slot.name in rule.below:
        number, share = _NUMBER.search(slot.value), _OF_A_YEAR.get(slot.unit or "", 1.0)
        return slot.time == "current" and number is not None and share * float(number.group()) < rule.below[slot.name]
    if rule.pattern is None or slot.name not in rule.kinds:
        return False
    if slot.name == "pregnancy":
        return slot.time == "current" and rule.pattern.search("pregnant 임신") is not None
    gone = slot.time == "past" and slot.name == "medications"
    return not gone and any(rule.pattern.search(wording) for wording in slot_wordings(slot))


def _names(name: str, text: str) -> bool:
    """Whether a name stands in a text; Latin names as whole words, Korean ones with whatever particle follows."""
    if not _LATIN.match(name):
        return name in text
    return re.search(rf"(?<![a-z0-9]){re.escape(name)}(?:s|es)?(?![a-z0-9])", text) is not None


def _rule(entry: Mapping[str, Any]) -> Rule:
    return Rule(
        drugs=tuple(dict.fromkeys(name.casefold() for drug in entry["drugs"] for name in names_of(drug))),
        words=tuple(word.casefold() for word in entry["words"]),
        text={"en": entry["en"], "ko": entry["ko"]},
        source=entry["source"],
        pattern=re.compile(entry["profile"], re.IGNORECASE) if "profile" in entry else None,
        kinds=tuple(entry.get("only", _KINDS)),
        below={name: float(value) for name, value in entry.get("below", {}).items()},
    )
