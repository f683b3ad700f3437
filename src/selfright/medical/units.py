"""One unit for each measure: what other units mean is left to pint, what a mole weighs to the table of analytes."""

import functools
import re
from dataclasses import dataclass
from typing import Any

from selfright.domain.errors import InputError

# As pint reads units ← as people write them, in small letters. A percent or a ratio is converted by rules of its own.
_SPELLINGS = {
    "mg/dL": "mg/dl|mg%|㎎/㎗",
    "mg/L": "mg/l",
    "g/dL": "g/dl",
    "g/L": "g/l",
    "ug/dL": "ug/dl",
    "ug/L": "ug/l|mcg/l",
    "ng/mL": "ng/ml",
    "ng/dL": "ng/dl",
    "pg/mL": "pg/ml",
    "mmol/L": "mmol/l",
    "umol/L": "umol/l",
    "nmol/L": "nmol/l",
    "pmol/L": "pmol/l",
    "kg": "kg|킬로|킬로그램|㎏|키로",
    "g": "g",
    "lb": "lb|lbs|pound|pounds",
    "stone": "stone",
    "cm": "cm|센티|센티미터|㎝",
    "m": "m|미터",
    "ft": "ft|feet",
    "degC": "c|°c|° c|℃|도|degree c|degrees c",
    "degF": "f|°f|° f|℉|degree f|degrees f|degrees fahrenheit",
    "U/L": "iu/l|u/l",
    "mIU/L": "miu/l|uiu/ml|mu/l",
    "mmHg": "mmhg|mm hg",
    "kPa": "kpa",
}
_WRITTEN = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings.split("|")}
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
    bare: tuple[str, ...] = ()


def normalized(measure: Measure, number: float, unit: str) -> float | None:
    """``number`` in the measure's own unit, rounded; None where the value is not possible or the unit not fitting.

    Without a unit the measure's own is meant, or the first of ``bare`` in which the value is possible.
    """
    written = _plain(unit)
    for candidate in [written] if written else ["", *measure.bare]:
        value = _converted(measure, number, candidate)
        if value is not None and measure.low <= value <= measure.high:
            return round(value, measure.decimals) if measure.decimals else float(round(value))
    return None


def shown(value: float) -> str:
    """A number without superfluous zeros."""
    return f"{value:.6g}" if value < 1e6 else f"{value:.0f}"


def _plain(unit: str) -> str:
    return re.sub(r"\s+", " ", unit.strip().lower().replace("µ", "u").replace("μ", "u"))


def _converted(measure: Measure, number: float, unit: str) -> float | None:
    if not unit or _same(unit, measure.unit):
        return number
    special = _SPECIAL.get((measure.slot, unit)) or _SPECIAL.get((measure.unit, unit))
    if special:
        factor, offset = special
        return number * factor + offset
    name = _WRITTEN.get(unit)
    if not name or measure.unit in _PLAIN:
        return None
    change = _linear(name, measure.unit, measure.molar)
    return None if change is None else number * change[0] + change[1]


def _same(unit: str, own: str) -> bool:
    return _WRITTEN.get(unit, unit).lower() == own.lower() or unit in _ALIASES.get(own, ())


@functools.lru_cache(maxsize=256)
def _linear(unit: str, target: str, molar: float) -> tuple[float, float] | None:
    """Factor and offset from one unit to another, through pint; moles become grams by their weight."""
    registry = _registry()
    weight = registry.Quantity(molar, "g/mol") if molar else None
    target = _TO_PINT.get(target, target)

    def at(number: float) -> float | None:
        quantity = registry.Quantity(number, unit)
        if quantity.check("[substance] / [length] ** 3"):
            if weight is None or registry.Quantity(1, target).check("[substance] / [length] ** 3"):
                return _magnitude(quantity, target)
            quantity = quantity * weight
        elif weight is not None and registry.Quantity(1, target).check("[substance] / [length] ** 3"):
            quantity = quantity / weight
        return _magnitude(quantity, target)

    zero, one = at(0.0), at(1.0)
    return None if zero is None or one is None else (one - zero, zero)


def _magnitude(quantity: Any, target: str) -> float | None:
    return float(quantity.to(target).magnitude) if quantity.is_compatible_with(target) else None


@functools.cache
def _registry() -> Any:
    """pint's units, loaded at the first conversion."""
    import pint

    return pint.UnitRegistry(cache_folder=None)


_TO_PINT = {"°C": "degC"}
_ALIASES: dict[str, tuple[str, ...]] = {
    "°C": ("c", "°c", "℃", "도", "degrees c", "degrees"),
    "/min": (
        "bpm",
        "회/분",
        "회/min",
        "회",
        "beats per minute",
        "beats/min",
        "per minute",
        "breaths per minute",
        "/분",
        "번",
    ),
    "%": ("퍼센트", "프로", "percent"),
    "mL/min/1.73m²": ("ml/min/1.73m2", "ml/min/1.73m²", "ml/min/1.73㎡", "ml/min", "ml/min/1.73 m2", "ml/분"),
    "10⁹/L": ("x10^9/l", "10^9/l", "x 10^9/l", "×10⁹/l", "10⁹/l", "k/ul", "x10^3/ul", "×10³/ul", "10^3/ul", "k"),
    "kg/m²": ("kg/m2", "kg/㎡"),
    "U/L": ("iu/l", "u/l", "ul", "units/l"),
    "mIU/L": ("uiu/ml", "miu/l", "mu/l"),
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
