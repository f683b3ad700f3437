"""What style sheets say as values: lengths, shares and angles as numbers, colours, and whether media queries hold.

Lengths are CSS pixels in a window of 1,280 by 800, angles are degrees.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tinycss2.color4 import parse_color

Colour = tuple[float, float, float]
"""Red, green and blue from 0 to 1."""

VISIBLE = 0.1  # of full opacity
WIDTH, HEIGHT = 1_280.0, 800.0
_UNITS = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54, "rem": 16.0,
    "vw": WIDTH / 100, "vh": HEIGHT / 100, "vmin": HEIGHT / 100, "vmax": WIDTH / 100,
    "vi": WIDTH / 100, "vb": HEIGHT / 100, "deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0,
}  # fmt: skip
_OF_THE_FONT = {"em": 1.0, "ex": 0.5, "ch": 0.5, "lh": 1.2, "ic": 1.0, "cap": 0.7}
_DEEPEST = 20
_SYSTEM = {"canvas": (1.0, 1.0, 1.0), "field": (1.0, 1.0, 1.0), "canvastext": (0.0, 0.0, 0.0)}
_GREY = 0.02  # how colourful a grey may be, of 1
_SURE, _UNSURE = ("layer",), ("supports", "container", "scope", "starting-style")


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


def commas(tokens: Sequence[Any], *, with_blanks: bool = False) -> list[list[Any]]:
    """The tokens between the commas, by default without blanks and comments."""
    parts: list[list[Any]] = [[]]
    for token in tokens if with_blanks else significant(tokens):
        if token.type == "literal" and token.value == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def words(tokens: Sequence[Any]) -> set[str]:
    """The words among the tokens, in small letters."""
    return {token.lower_value for token in tokens if token.type == "ident"}


def colour_of(tokens: Sequence[Any]) -> tuple[Colour | None, float] | None:
    """The first colour and its opacity; None where there is none. The colour is None where it cannot be told."""
    for token in tokens:
        if token.type == "ident" and token.lower_value in _SYSTEM:
            return _SYSTEM[token.lower_value], 1.0
        try:
            found = parse_color(token)
        except (ValueError, TypeError, IndexError):
            continue
        if found is not None and found != "currentcolor":
            return _in_red_green_blue(found), float(found.alpha)
    return None


def _in_red_green_blue(colour: Any) -> Colour | None:
    if colour.space in ("srgb", "hsl", "hwb"):
        red, green, blue = colour.to("srgb").coordinates
        return red, green, blue
    first, second, third = (value or 0.0 for value in colour.coordinates)
    whole = 1.0 if colour.space.startswith("ok") else 100.0
    chroma = second if colour.space.endswith("lch") else math.hypot(second, third)
    is_grey = colour.space.endswith(("lab", "lch")) and chroma / whole <= _GREY
    return (first / whole,) * 3 if is_grey else None


def behind_of(declared: Mapping[str, Sequence[Any]], above: Colour | None) -> Colour | None:
    """What is behind the letters of an element, ``above`` of the one around it; None where it cannot be told."""
    for name in ("background-image", "background"):
        if any(
            token.type == "url" or (token.type == "function" and _is_picture(token)) for token in declared.get(name, ())
        ):
            return None
    for name in ("background-color", "background"):
        tokens = declared.get(name, ())
        found = colour_of(tokens)
        if found is not None and found[1] >= VISIBLE:
            return found[0]
        if found is None and tokens and not words(tokens) <= {"none", "inherit", "initial", "unset", "transparent"}:
            return None
    return above


def _is_picture(token: Any) -> bool:
    return token.lower_name in ("url", "image", "image-set", "-webkit-image-set", "element", "cross-fade") or (
        token.lower_name.endswith("gradient")
    )


def condition(rule: Any) -> bool | None:
    """Whether the rules within surely apply; None when they do not."""
    if rule.lower_at_keyword == "media":
        return applies(rule.prelude)
    return True if rule.lower_at_keyword in _SURE else False if rule.lower_at_keyword in _UNSURE else None


def applies(media: Sequence[Any]) -> bool | None:
    """Whether media queries hold in a window: True, False where that is not known, None when they do not."""
    found = [_holds(query) for query in commas(media)]
    return True if True in found else False if False in found else None


def _holds(query: Sequence[Any]) -> bool | None:
    words = {token.lower_value for token in query if token.type == "ident"}
    if words & {"print", "speech"} and "not" not in words:
        return None
    known = [_width_holds(significant(token.content)) for token in query if token.type == "() block"]
    if None in known or words - {"screen", "all", "and", "only"}:
        return False
    return True if all(known) else None


def _width_holds(content: Sequence[Any]) -> bool | None:
    if len(content) == 3 and content[1] == ":" and content[0].type == "ident":
        value = number(content[2])
        if value is not None and content[0].lower_value in ("min-width", "max-width"):
            return value <= WIDTH if content[0].lower_value == "min-width" else value >= WIDTH
    return None
