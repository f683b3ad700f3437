"""Reads vitals and laboratory values: name, number, unit. What is not possible, or only a limit, is left out."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from selfright.domain.errors import InputError
from selfright.domain.slots import Slot
from selfright.domain.tables import read_table
from selfright_medical.lexicon import load_lexicon
from selfright_medical.spotting import apart

_MASS, _MOLES = "g/L", "mol/L"
_IN_UNITS = read_table(__package__, "units")
_UNITS: Mapping[str, tuple[str, float, float, str]] = _IN_UNITS["units"]
_WRITTEN = {spelling: unit for unit, (*_, spellings) in _UNITS.items() for spelling in spellings.split("|")}
_PLAIN = frozenset({"", "%", "/min", "mL/min/1.73m²", "10⁹/L", "kg/m²", "U/L", "mIU/L", "mmHg"})


@dataclass(frozen=True, slots=True)
class Measure:
    """How one measure is kept: unit, decimals, what values are possible, and in which other unit a bare number may be.

    ``molar``: grams a mole of the analyte, where it is also given in moles. ``low`` and ``high`` include themselves.
    """

    slot: str
    unit: str
    low: float
    high: float
    decimals: int = 0
    molar: float = 0.0
    bare: Sequence[str] = ()


def normalize(measure: Measure, number: float, unit: str) -> float | None:
    """``number`` in the measure's own unit, rounded; None where the value is not possible or the unit not fitting.

    Without a unit the measure's own is meant, or the first of ``bare`` in which the value is possible.
    """
    written = re.sub(r"\s+", " ", unit.strip().lower().replace("µ", "u").replace("μ", "u"))
    for candidate in [written] if written else ["", *measure.bare]:
        value = _convert(measure, number, candidate)
        if value is not None and measure.low <= value <= measure.high:
            return round(value, measure.decimals) if measure.decimals else float(round(value))
    return None


def format_value(value: float) -> str:
    """A number without superfluous zeros."""
    return f"{value:.6g}" if value < 1e6 else f"{value:.0f}"


def _convert(measure: Measure, number: float, unit: str) -> float | None:
    own, name = measure.unit, _WRITTEN.get(unit, "")
    if not unit or (name or unit).lower() == own.lower() or unit in _IN_UNITS["aliases"].get(own, "").split("|"):
        return number
    special: Mapping[str, Mapping[str, tuple[float, float]]] = _IN_UNITS["special"]
    change = special.get(measure.slot, {}).get(unit) or special.get(own, {}).get(unit)
    if change is None and name and own not in _PLAIN:
        change = _linear(name, own, measure.molar)
    return None if change is None else number * change[0] + change[1]


def _linear(unit: str, target: str, molar: float) -> tuple[float, float] | None:
    """Factor and offset from one unit to another; moles become grams by their weight."""
    (of, factor, offset, _), (wanted, base, _, _) = _UNITS[unit], _UNITS[target]
    if molar and (of, wanted) == (_MOLES, _MASS):
        of, factor = _MASS, factor * molar
    elif molar and (of, wanted) == (_MASS, _MOLES):
        of, factor = _MOLES, factor / molar
    return (factor / base, offset / base) if of == wanted else None


def as_number(text: str) -> float:
    """A number as it is written: ``1,200``, ``15만``, ``7.8``. Raises ``InputError`` for anything else."""
    plain = text.replace(",", "").strip()
    factor = 1.0
    if plain.endswith(("만", "천")):
        factor = 10_000.0 if plain.endswith("만") else 1_000.0
        plain = plain[:-1].strip()
    try:
        return float(plain) * factor
    except ValueError as error:
        raise InputError(f"expected a number such as 7.8 or 1,200, but found '{text}'") from error


_TABLE = read_table(__package__, "measures")
_FIELDS = {each.name for each in fields(Measure)}
MEASURED = {
    concept: Measure(**{name: value for name, value in row.items() if name in _FIELDS})
    for row in _TABLE["measure"]
    if "unit" in row
    for concept in row.get("concepts", [row["slot"].replace("_", "-")])
}
"""What is measured, by the name of its concept in the lexicon."""

VALUES = {measure.slot: measure for measure in MEASURED.values()}
"""What is measured as one number, by the name of its slot."""

_UNIT = (
    r"(?P<unit>mL/min/1\.73\s?(?:m2|m²|㎡)|mL/min|mmol/mol|[x×]?\s?10(?:\^9|⁹)/L|[x×]?\s?10(?:\^3"
    r"|³)/[uµμ]L|K/[uµμ]L|/[uµμ]L|[µμu]?mol/L|[nmp]mol/L|mEq/L"
    r"|[mµμun]?c?g/d?m?L|pg/mL|g/d?L|mg%|㎎/㎗|[mµμu]?I?U/m?L|kg/(?:m2|m²|㎡)|mmHg|kPa|bpm"
    r"|beats per minute|beats/min|breaths per minute|회/분|회/min|/분|/min|per minute"
    r"|°\s?[CF]|℃|℉|degrees? (?:fahrenheit|[CF])|degrees|도(?!록)|%|퍼센트|프로(?![가-힣])|percent"
    r"|킬로그램|킬로|키로|kg|㎏|lbs?|pounds?|stone|센티미터|센티|cm|㎝|ft|feet|미터|m(?![a-zA-Z])"
    r"|회|번|개|[CF](?![a-zA-Z]))?"
)
_NUMBER = r"(?P<number>\d{1,3}(?:,\d{3})+|\d{1,6}(?:\.\d{1,3})?(?:\s?[만천](?![가-힣]))?)"
_LINK = (
    r"(?:\s*\([^()\d]{1,12}\))?\s*(?:level|levels|value|count|result|reading|수치|농도|검사|값"
    r"|치)?s?\s*(?:은|는|이|가|도|을|를|의|이랑)?\s*"
    r"(?:[:=]|(?:has |have )?(?:went|gone|rose|risen|dropped|fell|fallen|increased|decreased"
    r"|climbed)(?: up| down)? to|is|was|of|at|were|are|has been|have been|came back (?:as|at)?"
    r"|came out (?:as|at)?|measured"
    r"|running|today|now|분당|about|around|약|대략|오늘|거의|지금|현재|최근에|정도|"
    r"last week|this morning|on room air)?\s*(?:at|of|is|was|a|분당|about|around|약)?\s*"
)
_THEN = re.compile(rf"\s?(?:에서|→|->)\s?{_NUMBER}\s?{_UNIT}")  # 9.2에서 6.1로: the later one holds
_LIMIT_BEFORE = re.compile(
    r"(?:above|over|under|below|less than|more than|greater than|at least|higher than|lower than|between|<|>|≥|≤"
    r"|(?<!went )(?<!gone )up to)\s*$",
    re.IGNORECASE,
)
_LIMIT_AFTER = re.compile(
    r"\s*(?:이상|이하|미만|초과|보다|넘|부터|까지(?!\s?(?:올|오르|나|내려|떨어|열))|~|or (?:more|less"
    r"|higher|lower|above)|and (?:above|below)|이면|면\b"
    r"|(?:이|가|을|를|정도|쯤)?\s?(?:빠지|빠졌|빠진|줄었|줄어|늘었|늘어|찌|쪘|감량))"
)
_PRESSURE = re.compile(
    r"(?:(?P<name>혈압|blood pressure|\bBP|\bbp)[^\d\n]{0,24}?)?(?<![\d/.])(?P<high>\d{2,3})\s?(?:/|에"
    r"|over|-)\s?(?P<low>\d{2,3})(?![\d/.])\s?(?P<unit>mm\s?Hg|mmhg)?"
)
_STANDING_ALONE = (
    (re.compile(
        r"(?<![\d.])(?P<number>3[4-9](?:\.\d)?|4[0-2](?:\.\d)?)\s?(?P<unit>도|℃|°\s?C)(?=[^가-힣]|까지|로|의"
        r"|를|가|나|였|이|쯤|예요|래)"), "temperature"),
    (re.compile(r"(?<![\d.])(?P<number>9[4-9](?:\.\d)?|10[0-7](?:\.\d)?)\s?(?P<unit>°\s?F|℉)"), "temperature"),
    (re.compile(
        r"(?<![\d.])(?P<number>\d{2,3}(?:\.\d)?)\s?(?P<unit>kg|㎏|킬로그램|킬로|키로)(?!/)(?!\s?(?:을|를|이"
        r"|가)?\s?(?:빠|감량|줄|늘|쪘|찌|gain|loss|lost))"), "body-weight"),
    (re.compile(r"(?<![\d.])(?P<number>1\d{2}(?:\.\d)?)\s?(?P<unit>cm|㎝|센티미터|센티)\b"), "height"),
)  # fmt: skip
_FEET = re.compile(
    r"(?<!\d)(?P<feet>[3-7])\s?(?:feet|foot|ft|['’])\s?(?:(?P<inches>1[01]|\d)\s?(?:inches|inch|in\b|[\"”]|''))?",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"{_NUMBER}\s?{_UNIT}", re.IGNORECASE)
_BACK = 24
_FEET_CM, _INCH_CM = 30.48, 2.54


def read_values(text: str) -> list[Slot]:
    """The values in the order of the text; of several readings of one place the first kind wins."""
    kept = apart((*_pressures(text), *_heights(text), *_named_values(text), *_alone(text)), len(text))
    return sorted(_pair([*kept]), key=lambda value: value.start)


def read_value(slot: str, text: str) -> Slot | None:
    """What ``text`` says of a slot that is known, in the slot's own unit: 7.8 mmol/L. None for what cannot be."""
    if slot in VALUES:
        match = _ALONE.fullmatch(text.strip())
        return next(_read(VALUES[slot], match), None) if match else None
    found = [value for value in _pressures(f"BP {text}") if value.name == slot]
    return found[0] if len(found) == 1 else None


def _pressures(text: str) -> Iterator[Slot]:
    for match in _PRESSURE.finditer(text):
        high, low = int(match["high"]), int(match["low"])
        if not (match["name"] or match["unit"]) or _LIMIT_AFTER.match(text, match.end()):
            continue
        if 60 <= high <= 280 and 30 <= low <= 180 and low < high:
            yield Slot("blood_pressure", f"{high}/{low}", "mmHg", start=match.start("high"), end=match.end())


def _named_values(text: str) -> Iterator[Slot]:
    pattern, by_name = _patterns()
    for match in pattern.finditer(text):
        number = match.start("number")
        if not (_LIMIT_AFTER.match(text, match.end()) or _LIMIT_BEFORE.search(text[max(0, number - _BACK) : number])):
            measure = by_name[" ".join(match["name"].lower().split())]
            yield from _read(measure, match, _THEN.match(text, match.end()))


def _alone(text: str) -> Iterator[Slot]:
    for pattern, concept in _STANDING_ALONE:
        for match in pattern.finditer(text):
            if not _LIMIT_AFTER.match(text, match.end()):
                yield from _read(MEASURED[concept], match)


def _heights(text: str) -> Iterator[Slot]:
    for match in _FEET.finditer(text):
        if match["inches"] or re.match(r"\s*tall", text[match.end() :]):
            value = int(match["feet"]) * _FEET_CM + int(match["inches"] or 0) * _INCH_CM
            yield Slot("height", format_value(round(value, 1)), "cm", start=match.start(), end=match.end())


def _read(measure: Measure, match: re.Match[str], said: re.Match[str] | None = None) -> Iterator[Slot]:
    """The value of a match; ``said``: where its number stands, if that is elsewhere."""
    said = said or match
    value = normalize(measure, as_number(said["number"]), said["unit"] or "")
    if value is not None:
        yield Slot(measure.slot, format_value(value), measure.unit or None, start=match.start(), end=said.end())


def _pair(values: list[Slot]) -> list[Slot]:
    """Systolic and diastolic pressure told apart become one value; a half alone keeps its name."""
    halves = {value.name: value for value in values if value.name in ("systolic", "diastolic")}
    if len(halves) < 2:
        return values
    high, low = halves["systolic"], halves["diastolic"]
    start, end = min(high.start, low.start), max(high.end, low.end)
    whole = Slot("blood_pressure", f"{high.value}/{low.value}", "mmHg", start=start, end=end)
    return [*(value for value in values if value.name not in halves), whole]


@functools.cache
def _patterns() -> tuple[re.Pattern[str], dict[str, Measure]]:
    concepts = load_lexicon().concepts
    by_name: dict[str, Measure] = {}
    for key, measure in MEASURED.items():
        concept = concepts[f"lab:{key}"]
        for form in (*concept.forms_en, *concept.forms_ko, *_TABLE["more_names"].get(key, ())):
            by_name.setdefault(" ".join(form.lower().split()), measure)
    names = "|".join(
        re.escape(name).replace(r"\ ", r"\s*") for name in sorted(by_name, key=lambda name: (-len(name), name))
    )
    pattern = (
        rf"(?<![A-Za-z가-힣])(?P<name>{names})(?![A-Za-z약]){_LINK}(?<![\d.]){_NUMBER}(?![\d/]"
        rf"|\.\d)\s?{_UNIT}(?![A-Za-z])"
    )
    return re.compile(pattern, re.IGNORECASE), by_name
