"""Which medicines a question asks about, and which a text is about: one must not be answered for another."""

import functools

from selfright.medical.extract import KEY, MedicalExtractor
from selfright.medical.lexicon import Concept, load_lexicon
from selfright.medical.spotting import Spotter

_CLASS = "drug class"
# Also found in food and in every body, so that a text names them without being about them.
_NOT_TOLD_APART = (
    "vitamin", "vitamin B3", "mineral", "iron", "iodine", "folate", "supplement", "herbal medicine", "vaccine", "fluid",
    "oxygen", "alcohol", "blood product", "coagulation factor", "immunoglobulin", "interferon", "neurotransmitter",
    "insulin", "hormone", "growth hormone", "hyperglycaemic hormone", "estrogen", "androgen",
)  # fmt: skip
# Classes whose members share what is reacted to, under their names in the lexicon; aspirin is told apart there.
_CROSS_REACTING = {
    "drug:aspirin": "NSAID",
    **{
        name: name
        for name in (
            "penicillin", "cephalosporin", "carbapenem", "fluoroquinolone", "macrolide", "tetracycline",
            "aminoglycoside", "sulfonamide", "ACE inhibitor", "local anaesthetic", "triptan", "nitroimidazole",
        )
    },
}  # fmt: skip
_LONGEST = 10_000
_LONGEST_QUESTION = 2_000


@functools.lru_cache(maxsize=256)  # grading and refining ask it of the same question in every pass
def asked_things(question: str) -> frozenset[str]:
    """Keys of the medicines that are asked about, by any name, and of their kin (insulin glargine).

    Left out are classes, and what a message only says that somebody takes (I take metformin. What helps with a cold?).
    """
    slots = MedicalExtractor().read(question[:_LONGEST_QUESTION])
    keys = {slot.detail(KEY) for slot in slots if slot.name == "medications" and slot.subject == "other"}
    return frozenset(key for one in _medicines() if one.id in keys for key in _kin(one))


@functools.lru_cache(maxsize=2_048)
def things_in(text: str) -> frozenset[str]:
    """Keys of the medicines that a text names; one that names a class names all that are of it."""
    concepts = [mention.concept for mention in _spotter().find(text[:_LONGEST])]
    members = (key for concept in concepts if concept.group == _CLASS for key in _of_class(concept))
    return frozenset((*(concept.id for concept in concepts if concept.group != _CLASS), *members))


def of_its_class(allergen: Concept) -> tuple[Concept, ...]:
    """The other medicines that who is allergic to ``allergen`` may not stand either; of a class, its members."""
    if allergen.group == _CLASS:
        members = set(_of_class(allergen))
        return tuple(medicine for medicine in _medicines() if medicine.id in members)
    group = _CROSS_REACTING.get(allergen.id, allergen.group)
    if group not in _CROSS_REACTING.values():
        return ()
    return tuple(m for m in _medicines() if _CROSS_REACTING.get(m.id, m.group) == group and m.id != allergen.id)


@functools.cache
def _medicines() -> tuple[Concept, ...]:
    drugs = load_lexicon().of_kind("drug")
    return tuple(drug for drug in drugs if drug.group not in (_CLASS, *_NOT_TOLD_APART))


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
    return frozenset(medicine.preferred_en.lower().split())


@functools.cache
def _of_class(concept: Concept) -> tuple[str, ...]:
    names = {form.lower() for form in concept.forms_en}
    return tuple(one.id for one in _medicines() if one.group.lower() in names)
