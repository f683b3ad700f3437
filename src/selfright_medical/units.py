"""One unit for each measure: a table of units, and what a mole weighs from the table of analytes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from selfright.domain.errors import InputError
from selfright.domain.tables import read_table

_MASS, _MOLES = "g/L", "mol/L"
_TABLE = read_table(__package__, "units")
_UNITS: Mapping[str, tuple[str, float, float, str]] = _TABLE["units"]
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
    if not unit or (name or unit).lower() == own.lower() or unit in _TABLE["aliases"].get(own, "").split("|"):
        return number
    special: Mapping[str, Mapping[str, tuple[float, float]]] = _TABLE["special"]
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
