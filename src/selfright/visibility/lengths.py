"""Lengths, shares and angles of style sheets as numbers: CSS pixels in a window of 1,280 by 800, degrees."""

import math
from collections.abc import Sequence
from typing import Any

WIDTH, HEIGHT = 1_280.0, 800.0
_UNITS = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54, "rem": 16.0,
    "vw": WIDTH / 100, "vh": HEIGHT / 100, "vmin": HEIGHT / 100, "vmax": WIDTH / 100,
    "vi": WIDTH / 100, "vb": HEIGHT / 100, "deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0,
}  # fmt: skip
_OF_THE_FONT = {"em": 1.0, "ex": 0.5, "ch": 0.5, "lh": 1.2, "ic": 1.0, "cap": 0.7}
_DEEPEST = 20


def significant(tokens: Sequence[Any]) -> list[Any]:
    """The tokens without blanks and comments."""
    return [token for token in tokens if token.type not in ("whitespace", "comment")]


def number(token: Any, size: float = 16.0, whole: float = 1.0, depth: int = 0) -> float | None:
    """A number, length, share of ``whole`` or angle; None for what is none. ``size`` is that of the font."""
    if token.type == "number":
        return float(token.value)
    if token.type == "percentage":
        return float(token.value) * whole / 100
    if token.type == "dimension":
        unit = token.unit.lower().removeprefix("s").removeprefix("d") if token.unit[1:2] in "vV" else token.unit.lower()
        factor = size * _OF_THE_FONT[unit] if unit in _OF_THE_FONT else _UNITS.get(unit)
        return None if factor is None else float(token.value) * factor
    if token.type == "function" and depth < _DEEPEST:
        return _compute(token, size, whole, depth + 1)
    return None


def _compute(function: Any, size: float, whole: float, depth: int) -> float | None:
    name, parts = function.lower_name, commas(function.arguments)
    if name == "calc" and len(parts) == 1:
        return _sum(parts[0], size, whole, depth)
    values = [value for part in parts if (value := _sum(part, size, whole, depth)) is not None]
    if len(values) != len(parts) or not values:
        return None
    if name == "clamp" and len(values) == 3:
        return max(values[0], min(values[1], values[2]))
    return {"min": min, "max": max}[name](values) if name in ("min", "max") else None


def _sum(tokens: Sequence[Any], size: float, whole: float, depth: int) -> float | None:
    total, product, sign, operator = 0.0, None, 1.0, "*"
    for token in tokens:
        if token.type == "literal" and token.value in "+-*/":
            if token.value in "+-":
                total, product, sign = total + sign * (product or 0.0), None, 1.0 if token.value == "+" else -1.0
            operator = "*" if token.value in "+-" else token.value
            continue
        nested = token.type == "() block" and depth < _DEEPEST
        value = (
            _sum(significant(token.content), size, whole, depth + 1) if nested else number(token, size, whole, depth)
        )
        if value is None:
            return None
        product = value if product is None else product * value if operator == "*" else product / (value or math.inf)
    return total + sign * (product or 0.0)


def commas(tokens: Sequence[Any]) -> list[list[Any]]:
    """The significant tokens between the commas."""
    parts: list[list[Any]] = [[]]
    for token in significant(tokens):
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
