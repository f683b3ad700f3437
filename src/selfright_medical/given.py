"""Facts set by hand, as they would be if they had been read from a message."""

from collections.abc import Iterator
from dataclasses import replace

from selfright.domain.errors import InputError
from selfright.domain.slots import Slot
from selfright_medical.measures import VALUES, read_value
from selfright_medical.person import read_person
from selfright_medical.wording import key_slot

_PRESSURE = "blood_pressure"
_SHOWN = 40


def read_given(slot: Slot) -> Slot:
    """The slot with its value in its own unit, or with the key of what it names.

    Raises ``InputError`` for an age, pregnancy or measurement that cannot be read as one.
    """
    if slot.name in ("age", "pregnancy"):
        return _of_person(slot)
    if slot.name in VALUES or slot.name == _PRESSURE:
        return _measure(slot)
    return key_slot(slot)


def _of_person(slot: Slot) -> Slot:
    said = _describe(slot)
    fact = next(_ages(said) if slot.name == "age" else _pregnancies(said), None)
    if fact is None:
        expected = {
            "age": "an age, such as 60, 60세 or 4 months",
            "pregnancy": "pregnant, not pregnant, 12주 or 20 weeks",
        }
        raise _refusal(slot, expected[slot.name])
    details = tuple(sorted({*slot.details, *fact.details}))
    return replace(slot, value=fact.value, unit=fact.unit, negated=slot.negated or fact.negated, details=details)


def _ages(said: str) -> Iterator[Slot]:
    for text in (f"aged {said}", f"{said} old", f"생후 {said}", said):
        yield from (fact for fact in read_person(text) if fact.name == "age" and fact.end - fact.start == len(text))


def _pregnancies(said: str) -> Iterator[Slot]:
    number = f"{said} weeks" if said.isdecimal() else said
    for text in (said, f"{number} pregnant", f"임신 {said}", f"{said} 중"):
        whole = (fact for fact in read_person(text) if text == said or fact.end - fact.start == len(text))
        yield from (fact for fact in whole if fact.name == "pregnancy")


def _measure(slot: Slot) -> Slot:
    value = read_value(slot.name, _describe(slot))
    if value is not None:
        return replace(slot, value=value.value, unit=value.unit)
    measure = VALUES.get(slot.name)
    if measure is None:
        raise _refusal(slot, "two numbers in mmHg, such as 120/80")
    raise _refusal(slot, f"a number from {measure.low:g} to {measure.high:g} {measure.unit}".rstrip())


def _describe(slot: Slot) -> str:
    return f"{slot.value} {slot.unit or ''}".strip()


def _refusal(slot: Slot, expected: str) -> InputError:
    return InputError(f"'{slot.name}' cannot be '{slot.value[:_SHOWN]}'; expected {expected}")
