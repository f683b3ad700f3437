"""Reads what a message says of the user's health, offline: rules, units and the lexicon."""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from selfright.background import run_in_thread
from selfright.domain.slots import Slot, Subject
from selfright_medical.allergies import GENERAL, denials, read_allergies
from selfright_medical.complaints import complaints
from selfright_medical.doses import details_of
from selfright_medical.lexicon import load_lexicon
from selfright_medical.measures import Value, read_values
from selfright_medical.person import Fact, read_person
from selfright_medical.scopes import Scopes
from selfright_medical.spotting import Mention, longest, spotter

MAX_CHARACTERS = 50_000
KEY = "key"
"""The detail that holds the concept's id in the lexicon."""

_SLOT_OF = {"condition": "conditions", "symptom": "symptoms", "drug": "medications"}
_FEVER_READ = re.compile(r"열|fever", re.IGNORECASE)
_AFTER_MEDICINE = 90  # characters behind a medicine's name in which its dose may stand
_JUST_BEFORE = 25
_CLASS = "drug class"
_STRENGTH = re.compile(r"[\s\d.%]*(?:으?로\s)?")  # all that may stand between a medicine and what kind of thing it is
_NEAR = 60
_SEVERITY = (
    ("mild", re.compile(r"경미|경도|약간|조금|가벼|\bmild\b|\bslight", re.IGNORECASE)),
    ("moderate", re.compile(r"중등도|\bmoderate", re.IGNORECASE)),
    ("severe", re.compile(r"심한|심하|심해|중증|극심|\bsevere|\bterrible|\bworst", re.IGNORECASE)),
)


class NameSource(Protocol):
    """A further reader of names, such as ``MedCatNames``."""

    def find(self, text: str) -> Sequence[Mention]:
        """The names in the order of the text, side by side."""
        ...


class MedicalExtractor:
    """A ``SlotExtractor`` for Korean and English; of a longer text the first ``MAX_CHARACTERS`` are read.

    Every mention is a slot of its own, with its span; what is named twice comes twice. Values are the lexicon's names
    in the language of the mention. What others have is marked by ``subject``; so is what a general question asks about.
    ``also``: names that the lexicon lacks; of names that overlap the longer one holds, and of equals the lexicon's.
    """

    def __init__(self, also: NameSource | None = None) -> None:
        self._also = also

    async def extract(self, text: str, turn: int = 0) -> tuple[Slot, ...]:
        """The facts in the order in which they stand; see ``read``."""
        return await run_in_thread(len(text), lambda: self.read(text, turn))

    def read(self, text: str, turn: int = 0) -> tuple[Slot, ...]:
        """The facts, at once.

        Details: ``key`` (the concept), of medicines ``dose``, ``frequency``, ``route`` and ``timing``, of conditions
        ``severity`` and ``certainty``, of a pregnancy ``weeks``.
        """
        text = text[:MAX_CHARACTERS]
        scopes = Scopes(text)
        values = read_values(text)
        mentions = _mentions(text, values, self._also.find(text) if self._also else ())
        slots = [
            *_persons(scopes, read_person(text), turn),
            *_measure_slots(scopes, values, turn),
            *_name_slots(text, scopes, mentions, turn),
            *_deny_slots(scopes, mentions, turn),
        ]
        return tuple(sorted(slots, key=lambda slot: (slot.start, slot.end)))


def _mentions(text: str, values: Sequence[Value], also: Sequence[Mention]) -> list[Mention]:
    """Names and complaints; of those that overlap the longest. A name that was read with its value is no medicine."""
    found = [*complaints().find(text), *spotter("condition", "symptom", "drug", "allergen", "lab").find(text), *also]
    found += [
        Mention(load_lexicon().concepts["symptom:fever"], value.start, value.start + 1, "ko", verbal=True)
        for value in values
        if value.slot == "temperature" and text.startswith("열", value.start)
    ]
    measured = bytearray(len(text))
    for value in values:
        if not _FEVER_READ.match(text, value.start):
            measured[value.start : value.end] = b"\1" * (value.end - value.start)
    return [mention for mention in longest(found, len(text)) if not measured[mention.start]]


def _persons(scopes: Scopes, facts: Sequence[Fact], turn: int) -> Iterator[Slot]:
    for fact in facts:
        subject: Subject = fact.subject or scopes.subject_at(fact.start, fact.end)
        yield Slot(
            fact.slot,
            fact.value,
            fact.unit,
            fact.negated,
            subject,
            turn=turn,
            start=fact.start,
            end=fact.end,
            details=fact.details,
        )


def _measure_slots(scopes: Scopes, values: Sequence[Value], turn: int) -> Iterator[Slot]:
    for value in values:
        subject = scopes.subject_at(value.start, value.end)
        yield Slot(value.slot, value.value, value.unit, subject=subject, turn=turn, start=value.start, end=value.end)


def _name_slots(text: str, scopes: Scopes, mentions: Sequence[Mention], turn: int) -> Iterator[Slot]:
    allergies = {found.mention.start: found for found in read_allergies(scopes.clauses, mentions)}
    near = _neighbours([one for one in mentions if one.concept.kind == "drug"])
    for mention in mentions:
        medicines = near.get(mention.start, ())
        standing = scopes.of(mention)
        value, details = mention.concept.name(mention.language), {KEY: mention.concept.id}
        found = allergies.get(mention.start)
        if found:
            subject: Subject = scopes.subject_of_allergy(mention)
            yield _slot("allergies", value, mention, turn, details, negated=found.negated, subject=subject)
            continue
        name = _SLOT_OF.get(mention.concept.kind, "")
        if not name or mention.concept.id in GENERAL or _is_form_of(text, mention, medicines):
            continue
        if name == "medications":
            details |= _dosing(text, scopes, mention, medicines)
        else:
            details |= _qualities(text, mention, unsure=standing.unsure and name == "conditions")
        slot = _slot(name, value, mention, turn, details, negated=standing.negated, subject=standing.subject)
        yield slot if standing.time == "current" else _in_the_past(slot)


def _deny_slots(scopes: Scopes, mentions: Sequence[Mention], turn: int) -> Iterator[Slot]:
    """That somebody has no allergies: one that is said later contradicts it."""
    for start, end in denials(scopes.clauses, read_allergies(scopes.clauses, mentions)):
        subject = scopes.subject_at(start, end)
        yield Slot("allergies", "any", negated=True, subject=subject, turn=turn, start=start, end=end)


def _neighbours(medicines: Sequence[Mention]) -> dict[int, Sequence[Mention]]:
    """For each medicine, by its place, those around it and itself."""
    return {one.start: medicines[max(0, place - 3) : place + 4] for place, one in enumerate(medicines)}


def _slot(
    name: str, value: str, mention: Mention, turn: int, details: dict[str, str], *, negated: bool, subject: Subject
) -> Slot:
    pairs = tuple(sorted(details.items()))
    return Slot(name, value, None, negated, subject, turn=turn, start=mention.start, end=mention.end, details=pairs)


def _in_the_past(slot: Slot) -> Slot:
    from dataclasses import replace

    return replace(slot, time="past")


def _is_form_of(text: str, mention: Mention, medicines: Sequence[Mention]) -> bool:
    """Whether a class only says what kind of thing its neighbour is: 라타노프로스트 안약, the painkiller ibuprofen."""
    if mention.concept.kind != "drug" or mention.concept.group != _CLASS:
        return False
    others = (other for other in medicines if other.concept.group != _CLASS)
    return any(
        _STRENGTH.fullmatch(text, *sorted((min(other.end, mention.end), max(other.start, mention.start))))
        for other in others
        if abs(other.start - mention.start) <= _NEAR
    )


def _dosing(text: str, scopes: Scopes, mention: Mention, medicines: Sequence[Mention]) -> dict[str, str]:
    start, end = scopes.clauses.sentences[scopes.clauses.at(mention.start).sentence]
    first = not any(start <= other.start < mention.start for other in medicines)
    following = [
        other.start for other in medicines if other.start >= mention.end and not _is_form_of(text, other, medicines)
    ]
    last = min([end, mention.end + _AFTER_MEDICINE, *following])
    before = text[start if first else max(start, mention.start - _JUST_BEFORE) : mention.start]
    before = before if first else before[before.rfind(" and ") + 1 :] if " of " in before else ""
    return dict(details_of(before, text[mention.start : mention.end], text[mention.end : last]))


def _qualities(text: str, mention: Mention, *, unsure: bool) -> dict[str, str]:
    around = text[max(0, mention.start - 7) : mention.end + 7]
    severity = next((name for name, pattern in _SEVERITY if pattern.search(around)), None)
    found = {"severity": severity} if severity else {}
    return found | ({"certainty": "uncertain"} if unsure else {})
