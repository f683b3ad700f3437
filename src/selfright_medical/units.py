"""One unit for each measure: a table of units, and what a mole weighs from the table of analytes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selfright.domain.errors import InputError
from selfright.domain.tables import read_table

_MASS, _MOLES = "g/L", "mol/L"
# Unit: what it measures, its factor to that base, an offset, and how people write it, in small letters. A percent or a
# ratio is converted by rules of its own.
_UNITS = {
    "mg/dL": (_MASS, 1e-2, 0.0, "mg/dl|mg%|㎎/㎗"),
    "mg/L": (_MASS, 1e-3, 0.0, "mg/l"),
    "g/dL": (_MASS, 10.0, 0.0, "g/dl"),
    "g/L": (_MASS, 1.0, 0.0, "g/l"),
    "ug/dL": (_MASS, 1e-5, 0.0, "ug/dl"),
    "ug/L": (_MASS, 1e-6, 0.0, "ug/l|mcg/l"),
    "ng/mL": (_MASS, 1e-6, 0.0, "ng/ml"),
    "ng/dL": (_MASS, 1e-8, 0.0, "ng/dl"),
    "pg/mL": (_MASS, 1e-9, 0.0, "pg/ml"),
    "mmol/L": (_MOLES, 1e-3, 0.0, "mmol/l"),
    "umol/L": (_MOLES, 1e-6, 0.0, "umol/l"),
    "nmol/L": (_MOLES, 1e-9, 0.0, "nmol/l"),
    "pmol/L": (_MOLES, 1e-12, 0.0, "pmol/l"),
    "kg": ("kg", 1.0, 0.0, "kg|킬로|킬로그램|㎏|키로"),
    "g": ("kg", 1e-3, 0.0, "g"),
    "lb": ("kg", 0.45359237, 0.0, "lb|lbs|pound|pounds"),
    "stone": ("kg", 6.35029318, 0.0, "stone"),
    "cm": ("cm", 1.0, 0.0, "cm|센티|센티미터|㎝"),
    "m": ("cm", 100.0, 0.0, "m|미터"),
    "ft": ("cm", 30.48, 0.0, "ft|feet"),
    "°C": ("°C", 1.0, 0.0, "c|°c|° c|℃|도|degree c|degrees c|degrees"),
    "°F": ("°C", 5 / 9, -160 / 9, "f|°f|° f|℉|degree f|degrees f|degrees fahrenheit"),
    "U/L": ("U/L", 1.0, 0.0, "iu/l|u/l|ul|units/l"),
    "mIU/L": ("U/L", 1e-3, 0.0, "miu/l|uiu/ml|mu/l"),
    "mmHg": ("mmHg", 1.0, 0.0, "mmhg|mm hg"),
}
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


def measure_table() -> Sequence[Mapping[str, Any]]:
    """The rows of ``measures.toml``: slot, names, and for what is one number its unit and bounds."""
    rows: list[dict[str, Any]] = read_table(__package__, "measures")["measure"]
    return rows


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
    if not unit or (name or unit).lower() == own.lower() or unit in _ALIASES.get(own, "").split("|"):
        return number
    change = _SPECIAL.get((measure.slot, unit)) or _SPECIAL.get((own, unit))
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


_ALIASES = {
    "/min": "bpm|회/분|회/min|회|beats per minute|beats/min|per minute|breaths per minute|/분|번",
    "%": "퍼센트|프로|percent",
    "mL/min/1.73m²": "ml/min/1.73m2|ml/min/1.73m²|ml/min/1.73㎡|ml/min|ml/min/1.73 m2|ml/분",
    "10⁹/L": "x10^9/l|10^9/l|x 10^9/l|×10⁹/l|10⁹/l|k/ul|x10^3/ul|×10³/ul|10^3/ul|k",
    "kg/m²": "kg/m2|kg/㎡",
}
# (measure's name or unit, unit) → factor and offset, where no physical unit stands behind the name.
_SPECIAL: dict[tuple[str, str], tuple[float, float]] = {
    ("hba1c", "mmol/mol"): (0.09148, 2.152),  # NGSP = 0.09148 × IFCC + 2.152, the IFCC–NGSP master equation
    ("10⁹/L", "/ul"): (0.001, 0.0),
    ("10⁹/L", "개"): (0.001, 0.0),
    ("sodium", "meq/l"): (1.0, 0.0),  # an ion of one charge
    ("potassium", "meq/l"): (1.0, 0.0),
    ("bun", "mmol/l"): (2.801, 0.0),  # 28.014 g nitrogen a mole of urea
}


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
