"""The medical pack: everything that makes the general engine one for questions of health."""

import functools
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import resources
from itertools import islice

from selfright.domain.errors import InputError
from selfright.domain.packs import DomainPack, Pointer
from selfright.domain.passages import Language
from selfright.domain.slots import Slot
from selfright.domain.tables import read_table
from selfright_medical.complaints import complaints
from selfright_medical.contraindications import concerns, things_asked, things_in
from selfright_medical.extract import MedicalExtractor
from selfright_medical.lexicon import Concept, load_lexicon
from selfright_medical.llm_extract import ModelExtractor
from selfright_medical.measures import VALUES, read_value
from selfright_medical.medcat import load_medcat
from selfright_medical.person import read_person
from selfright_medical.red_flags import urgent
from selfright_medical.spotting import Mention, spotter
from selfright_medical.wording import KINDS, OF_OTHER_FIELDS, TEXTS, key_slot, names, summary, terms, vocabulary

_PRESSURE = "blood_pressure"
_SHOWN = 40
# In these words a bare value is read as in a message, and what is expected of it.
_PERSON = {
    "age": (("aged {}", "{} old", "생후 {}", "{}"), "an age, such as 60, 60세 or 4 months"),
    "pregnancy": (("{}", "{} pregnant", "임신 {}", "{} 중"), "pregnant, not pregnant, 12주 or 20 weeks"),
}


def read_given(slot: Slot) -> Slot:
    """The slot with its value in its own unit, or with the key of what it names.

    Raises ``InputError`` for an age, pregnancy or measurement that cannot be read as one.
    """
    said = f"{slot.value} {slot.unit or ''}".strip()
    if slot.name in _PERSON:
        fact = _of_person(slot.name, said)
        details = tuple(sorted({*slot.details, *fact.details})) if fact else ()
        expected = _PERSON[slot.name][1]
    elif slot.name in VALUES or slot.name == _PRESSURE:
        fact, details = read_value(slot.name, said), slot.details
        measure = VALUES.get(slot.name)
        expected = "two numbers in mmHg, such as 120/80"
        if measure is not None:
            expected = f"a number from {measure.low:g} to {measure.high:g} {measure.unit}".rstrip()
    else:
        return key_slot(slot)
    if fact is None:
        raise InputError(f"'{slot.name}' cannot be '{slot.value[:_SHOWN]}'; expected {expected}")
    return replace(slot, value=fact.value, unit=fact.unit, negated=slot.negated or fact.negated, details=details)


def _of_person(name: str, said: str) -> Slot | None:
    """What the words say, all of them; of a pregnancy they may say more ("not pregnant")."""
    number = f"{said} weeks" if name == "pregnancy" and said.isdecimal() else said
    for form in _PERSON[name][0]:
        text = form.format(number if form.endswith("pregnant") else said)
        is_free = name == "pregnancy" and form == "{}"
        for fact in read_person(text):
            if fact.name == name and (is_free or fact.end - fact.start == len(text)):
                return fact
    return None


@functools.cache
def user_words() -> tuple[str, ...]:
    """Nouns that stay whole in an index, sorted; see ``words.txt``, our own list.

    Compounds that fall into meaningful parts (혈액검사) are left out: found by their parts, they are found more often.
    Forms with Latin letters or digits need no entry, for those are cut off from Hangul anyway.
    """
    text = resources.files(__package__).joinpath("words.txt").read_text(encoding="utf-8")
    return tuple(sorted({line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")}))


_LONGEST = 10_000
_UNIT = r"(?:mg|mcg|µg|μg|ug|밀리그램|마이크로그램|IU|국제단위)"
_COUNTED = r"(?:g|ml|mL|cc|units?|tablets?|pills?|capsules?|drops?|puffs?|teaspoons?|그램|정|알|캡슐|포|방울|단위)"
_TAKING = (
    r"(?:take|taken|taking|dos(?:e|es|age|ing)|daily|a day|per day|every \d+|twice|once|times|inject|administer\w*"
    r"|복용|투여|투약|용량|하루|매일|드시|드세요|먹|주사|\d+\s*회|시간마다|식후|식전)"
)
_DOSE = re.compile(
    rf"\d[\d.,]*\s*{_UNIT}(?![a-z])|\d[\d.,]*\s*{_COUNTED}(?![a-z])[^.!?]*{_TAKING}"
    rf"|{_TAKING}[^.!?]*\d[\d.,]*\s*{_COUNTED}(?![a-z])",
    re.IGNORECASE,
)
_INTERACTION = re.compile(
    r"\binteract(?:s|ion|ions|ing)?\b[^.!?]*\b(?:drug|medic\w+|with)\b|\b(?:drug|medicine)s? interactions?\b"
    r"|\b(?:take|taken|taking|combin\w+|mix\w*)\b[^.!?]*\b(?:together|with (?:other )?(?:drug|medic|alcohol)\w*)\b"
    r"|상호\s*작용|병용|(?:함께|같이|동시에)\s*(?:복용|투여|먹|드시|드세요|사용)[^.!?]*(?:약|제|안|돼|됩"
    r"|위험|금기|가능)",
    re.IGNORECASE,
)


def needs_source(sentence: str) -> bool:
    """Whether a sentence states a dose or what medicines do together: such things are said with a citation or not."""
    return _DOSE.search(sentence) is not None or _INTERACTION.search(sentence) is not None


def notes(question: str, language: Language) -> tuple[str, ...]:
    """The note that goes with every answer to a question of health; none with others."""
    return (TEXTS[language]["answer"]["note"],) if is_medical(question) else ()


def is_medical(text: str) -> bool:
    """Whether a text names a condition, symptom, medicine or measurement that the lexicon knows."""
    text = text[:_LONGEST]
    found = [*complaints().find(text), *spotter("condition", "symptom", "drug", "lab").find(text)]
    return any(text[mention.start : mention.end] not in OF_OTHER_FIELDS for mention in found)


POINTERS = tuple(
    Pointer(tuple(row["slots"]), tuple(row["words"])) for row in read_table(__package__, "pointers")["pointer"]
)

_LONGEST_TEXT = 4_000  # characters of a text that are looked through
_NAMES = 3  # of a concept; more would drown the rest of the query


class BilingualLexicon:
    """A ``TermLexicon`` over the medical lexicon: 메트포르민 → metformin, and back. ``limit``: phrases for a text.

    Of each thing come the name that is shown and up to two more, brand names and abbreviations left out.
    """

    def __init__(self, limit: int = 16) -> None:
        self._limit = limit

    @property
    def name(self) -> str:
        """The list and its version."""
        return f"medical-{_fingerprint()}"

    def expand(self, text: str, language: Language) -> Sequence[str]:
        """Phrases in the other language, in the order of the text, each once."""
        text = text[:_LONGEST_TEXT]
        mentions = [mention for mention in _mentions(text, language) if mention.language == language]
        phrases = (phrase for mention in mentions for phrase in _names(mention.concept, language))
        return tuple(dict.fromkeys(phrases))[: self._limit]


def _mentions(text: str, language: Language) -> list[Mention]:
    """Names and, in Korean, complaints; a complaint that holds a name of its own stands for it."""
    named = spotter("condition", "symptom", "drug", "lab", "term").find(text)
    if language != "ko":
        return named
    things = [one for one in named if one.concept.kind != "term"]
    told = [
        mention
        for mention in complaints().find(text)
        if not any(mention.start < thing.end and thing.start < mention.end for thing in things)
    ]
    return sorted([*named, *told], key=lambda mention: mention.start)


def _names(concept: Concept, language: Language) -> Iterator[str]:
    forms = concept.forms_en if language == "ko" else concept.forms_ko
    plain = (form for form in forms if form not in concept.brands and (len(form) > _NAMES or form == forms[0]))
    return islice(plain, _NAMES)


@functools.cache
def _fingerprint() -> str:
    concepts = load_lexicon().concepts.values()
    text = "\n".join(f"{one.id}\t{'|'.join(one.forms_en)}\t{'|'.join(one.forms_ko)}" for one in concepts)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


MEDICAL = DomainPack(
    name="medical",
    kinds=KINDS,
    extractor=MedicalExtractor,
    model_extractor=ModelExtractor,
    linker=lambda model: MedicalExtractor(also=load_medcat(model)),
    words=user_words,
    lexicon=BilingualLexicon,
    summary=summary,
    terms=terms,
    hints={language: texts["answer"]["hints"] for language, texts in TEXTS.items()},
    keyed=read_given,
    pointers=POINTERS,
    urgent=urgent,
    concerns=concerns,
    warning={language: texts["answer"]["warning"] for language, texts in TEXTS.items()},
    needs_source=needs_source,
    notes=notes,
    about=is_medical,
    names=names,
    vocabulary=vocabulary,
    asked=things_asked,
    things=things_in,
)
