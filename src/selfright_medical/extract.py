"""Reads what a message says of the user's health, offline: rules, units and the lexicon."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from selfright.background import run_in_thread
from selfright.domain.passages import Language
from selfright.domain.slots import Slot
from selfright.domain.tables import read_table
from selfright.domain.text import language_of
from selfright_medical.allergies import GENERAL, denials, denies_kind, read_allergies
from selfright_medical.complaints import complaints
from selfright_medical.lexicon import load_lexicon
from selfright_medical.measures import read_values
from selfright_medical.person import read_person
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


Names = Callable[[str], Sequence[Mention]]
"""A further reader of names, such as ``MedCatNames``: those of a text in their order, side by side."""


class MedicalExtractor:
    """A ``SlotExtractor`` for Korean and English; of a longer text the first ``MAX_CHARACTERS`` are read.

    Every mention is a slot of its own, with its span; what is named twice comes twice. Values are the lexicon's names
    in the language of the mention. What others have is marked by ``subject``; so is what a general question asks about.
    ``also``: names that the lexicon lacks; of names that overlap the longer one holds, and of equals the lexicon's.
    """

    def __init__(self, also: Names | None = None) -> None:
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
        mentions = _mentions(text, values, self._also(text) if self._also else ())
        slots = [
            *(_with_subject(slot, scopes) for slot in (*read_person(text), *values)),
            *_name_slots(text, scopes, mentions),
        ]
        return tuple(replace(slot, turn=turn) for slot in sorted(slots, key=lambda slot: (slot.start, slot.end)))


def _mentions(text: str, values: Sequence[Slot], also: Sequence[Mention]) -> list[Mention]:
    """Names and complaints; of those that overlap the longest. A name that was read with its value is no medicine."""
    found = [*complaints().find(text), *spotter("condition", "symptom", "drug", "allergen", "lab").find(text), *also]
    found += [
        Mention(load_lexicon().concepts["symptom:fever"], value.start, value.start + 1, "ko", verbal=True)
        for value in values
        if value.name == "temperature" and text.startswith("열", value.start)
    ]
    measured = bytearray(len(text))
    for value in values:
        if not _FEVER_READ.match(text, value.start):
            measured[value.start : value.end] = b"\1" * (value.end - value.start)
    return [mention for mention in longest(found, len(text)) if not measured[mention.start]]


def _with_subject(slot: Slot, scopes: Scopes) -> Slot:
    return slot if slot.subject != "user" else replace(slot, subject=scopes.subject_at(slot.start, slot.end))


def _name_slots(text: str, scopes: Scopes, mentions: Sequence[Mention]) -> Iterator[Slot]:
    read = read_allergies(scopes.clauses, mentions)
    denied = denials(scopes.clauses, read, mentions)
    for start, end, kind in denied:  # an allergy that is said later contradicts it
        yield _with_subject(_no_allergy(kind, language_of(text[start:end]), start, end), scopes)
    allergies = {found.mention.start: found for found in read}
    drugs = [one for one in mentions if one.concept.kind == "drug"]
    near = {one.start: drugs[max(0, place - 3) : place + 4] for place, one in enumerate(drugs)}
    for mention in mentions:
        details = {KEY: mention.concept.id}
        slot = Slot("allergies", mention.concept.name(mention.language), start=mention.start, end=mention.end)
        if found := allergies.get(mention.start):
            subject = scopes.subject_of_allergy(mention)
            yield replace(slot, negated=found.negated, subject=subject, details=tuple(details.items()))
            continue
        name, medicines = _SLOT_OF.get(mention.concept.kind, ""), near.get(mention.start, ())
        if not name or _is_form_of(text, mention, medicines):
            continue
        standing = scopes.of(mention)
        if mention.concept.id in GENERAL:
            is_said = any(mention.start < end and start < mention.end for start, end, _ in denied)
            if is_said or not (standing.negated and denies_kind(scopes.clauses, mention, read)):
                continue
        if name == "medications":
            details |= _dosing(text, scopes, mention, medicines)
        else:
            details |= _qualities(text, mention, unsure=standing.unsure and name == "conditions")
        yield replace(
            slot,
            name=name,
            negated=standing.negated,
            subject=standing.subject,
            time=standing.time,
            details=tuple(sorted(details.items())),
        )


def _no_allergy(kind: str, language: Language, start: int, end: int) -> Slot:
    """That there is none of a ``kind``, or none at all."""
    if not kind:
        return Slot("allergies", "any", negated=True, start=start, end=end)
    name = load_lexicon().concepts[kind].name(language)
    return Slot("conditions", name, negated=True, start=start, end=end, details=((KEY, kind),))


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


_DOSE = re.compile(
    r"(?<![\d.])(?P<number>\d{1,5}(?:[.,]\d{1,3})?)\s?(?P<unit>mg|mcg|[µμu]g|g(?![a-z/])|밀리그램"
    r"|마이크로그램|그램|IU|units?|단위|유닛|㎎|mEq)(?!/d?L|/m?[lL])(?![a-zA-Z])"
)
_DOSES = read_table(__package__, "doses")
_OF = re.compile(r"\s+of\s")  # 100 mg of Zoloft: the dose of what follows
_BEFORE_OF = re.compile(r"\d[\w.,]*\s?[a-zA-Z㎎]+\s+of\s+(?:\w+\s+)?$")
_COUNT: dict[str, int] = _DOSES["counts"]
_N = rf"(?P<n>\d{{1,2}}|{'|'.join(_COUNT)})"


@functools.cache
def _rules() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """The rules of ``doses.toml``."""
    return {
        kind: [(re.compile(pattern.replace("%N", _N), re.IGNORECASE), said) for pattern, said in _DOSES[kind]]
        for kind in ("frequency", "timing", "route")
    }


def details_of(before: str, name: str, after: str) -> Mapping[str, str]:
    """What the words before, in and behind a medicine's name say: ``dose``, ``frequency``, ``timing``, ``route``."""
    found: dict[str, str] = {}
    of = _BEFORE_OF.search(before[-30:])  # 20 mg of
    if dose := _dose(of.group() if of else "", last=True) or _dose(after) or _dose(before[-30:], last=True):
        found["dose"] = dose
    around = f"{before} {after}"
    if frequency := _find_rule("frequency", after) or _find_rule("frequency", before):
        found["frequency"] = frequency
    timing = _find_rule("timing", around)
    if timing and not (timing in ("morning", "evening") and "frequency" in found):
        found["timing"] = timing
    if route := _find_rule("route", f"{before} {name} {after}"):
        found["route"] = route
    return found


def _find_rule(kind: str, text: str) -> str | None:
    for pattern, reading in _rules()[kind]:
        if match := pattern.search(text):
            said = match.groupdict().get("n") or ""
            return reading.format(_COUNT.get(said.lower()) or int(said or 0))
    return None


def _dose(text: str, *, last: bool = False) -> str | None:
    found = [match for match in _DOSE.finditer(text) if last or not _OF.match(text, match.end())]
    if not found:
        return None
    match = found[-1 if last else 0]
    unit = _DOSES["units"].get(match["unit"].lower(), match["unit"])
    return f"{match['number'].replace(',', '')} {unit}"
