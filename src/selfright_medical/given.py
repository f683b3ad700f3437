"""Facts set by hand, as they would be if they had been read from a message."""

from dataclasses import replace

from selfright.domain.errors import InputError
from selfright.domain.slots import Slot
from selfright_medical.measures import VALUES, read_value
from selfright_medical.person import read_person
from selfright_medical.wording import key_slot

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
