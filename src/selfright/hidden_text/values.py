"""What style sheets say as values: lengths, shares and angles as numbers, colours, and whether media queries hold.

Lengths are CSS pixels in a window of 1,280 by 800, angles are degrees.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
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
_WHITE, _BLACK = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
_SYSTEM = {
    **dict.fromkeys(("canvas", "field", "window", "background", "menu", "infobackground", "scrollbar"), _WHITE),
    **dict.fromkeys(("canvastext", "fieldtext", "windowtext", "menutext", "infotext", "captiontext"), _BLACK),
}
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


WIDE = frozenset(("inherit", "initial", "unset", "revert", "revert-layer"))
"""Words that any property may have for a value."""


def words(tokens: Sequence[Any]) -> set[str]:
    """The words among the tokens, in small letters."""
    return {token.lower_value for token in tokens if token.type == "ident"}


def colour_of(tokens: Sequence[Any], depth: int = 0) -> tuple[Colour | None, float] | None:
    """The first colour and its opacity; None where there is none. The colour is None where it cannot be told."""
    for token in tokens:
        if token.type == "ident" and token.lower_value in _SYSTEM:
            return _SYSTEM[token.lower_value], 1.0
        if token.type == "function" and depth < _DEEPEST:
            parts = commas(token.arguments)
            if token.lower_name == "light-dark":
                return colour_of(parts[0], depth + 1)
            if token.lower_name == "color-mix" and len(parts) == 3:
                return _mix(parts[1], parts[2], depth + 1)
            if token.lower_name.startswith("rgb") and words(parts[0][:1]) == {"from"} and len(parts) == 1:
                return _from_another(parts[0], depth + 1)
        try:
            found = parse_color(token)
        except (ValueError, TypeError, IndexError):
            continue
        if found is not None and found != "currentcolor":
            return _in_red_green_blue(found), float(found.alpha)
    return None


def _mix(first: Sequence[Any], second: Sequence[Any], depth: int) -> tuple[Colour | None, float]:
    """Two colours mixed, near enough to tell whether they are alike or seen at all, whatever the space."""
    one, other = colour_of(first, depth), colour_of(second, depth)
    shares = [next((float(t.value) / 100 for t in part if t.type == "percentage"), None) for part in (first, second)]
    share = shares[0] if shares[0] is not None else 1 - shares[1] if shares[1] is not None else 0.5
    if one is None or other is None or not 0 <= share <= 1:
        return None, 1.0
    alpha = share * one[1] + (1 - share) * other[1]
    if one[0] is None or other[0] is None or not alpha:
        return None, alpha
    weight = share * one[1] / alpha
    red, green, blue = (weight * a + (1 - weight) * b for a, b in zip(one[0], other[0], strict=True))
    return (red, green, blue), alpha


def _from_another(tokens: Sequence[Any], depth: int) -> tuple[Colour | None, float]:
    """``rgb(from COLOUR r g b / ALPHA)``; the colour is None where it is computed."""
    found = colour_of(tokens[1:2], depth) or (None, 1.0)
    is_same = [getattr(token, "lower_value", "") for token in tokens[2:5]] == ["r", "g", "b"]
    alpha = number(tokens[6]) if len(tokens) > 6 else None
    return found[0] if is_same else None, found[1] if alpha is None else alpha


def _in_red_green_blue(colour: Any) -> Colour | None:
    if colour.space in ("srgb", "hsl", "hwb"):
        red, green, blue = colour.to("srgb").coordinates
        return red, green, blue
    first, second, third = (value or 0.0 for value in colour.coordinates)
    if colour.space in ("display-p3", "srgb-linear", "a98-rgb", "prophoto-rgb", "rec2020"):
        return (first,) * 3 if first == second == third and first in (0.0, 1.0) else None
    whole = 1.0 if colour.space.startswith("ok") else 100.0
    chroma = second if colour.space.endswith("lch") else math.hypot(second, third)
    is_grey = colour.space.endswith(("lab", "lch")) and chroma / whole <= _GREY
    return (first / whole,) * 3 if is_grey else None


def behind_of(declared: Mapping[str, Sequence[Any]], above: Colour | None) -> Colour | None:
    """What is behind the letters of an element, ``above`` of the one around it; None where it cannot be told."""
    for name in ("background-image", "background"):
        for token in declared.get(name, ()):
            if token.type == "url" or (token.type == "function" and _is_picture(token)):
                return _one_colour(token)
    for name in ("background-color", "background"):
        tokens = declared.get(name, ())
        found = colour_of(tokens)
        if found is not None and found[1] >= VISIBLE:
            return found[0]
        if found is None and tokens and not words(tokens) <= {"none", "transparent", *WIDE}:
            return None
    return above


def _is_picture(token: Any) -> bool:
    return token.lower_name in ("url", "image", "image-set", "-webkit-image-set", "element", "cross-fade") or (
        token.lower_name.endswith("gradient")
    )


def _one_colour(picture: Any) -> Colour | None:
    """The colour of a gradient that has only one."""
    parts = commas(picture.arguments) if picture.type == "function" else []
    found = {colour for part in parts if (colour := colour_of(part)) is not None and colour[1] >= VISIBLE}
    return next(iter(found))[0] if len(found) == 1 and picture.lower_name.endswith("gradient") else None


def condition(rule: Any) -> bool | None:
    """Whether the rules within surely apply; None when they do not."""
    if rule.lower_at_keyword == "media":
        return applies(rule.prelude)
    return True if rule.lower_at_keyword in _SURE else False if rule.lower_at_keyword in _UNSURE else None


def applies(media: Sequence[Any]) -> bool | None:
    """Whether media queries hold in a window: True, False where that is not known, None when they do not."""
    found = [_holds(query) for query in commas(media)]
    return True if True in found else False if False in found else None


# What holds in the window of a desktop browser as it is when nobody has changed it.
_FEATURES = {
    "orientation": "landscape", "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference",
    "prefers-contrast": "no-preference", "prefers-reduced-transparency": "no-preference", "forced-colors": "none",
    "inverted-colors": "none", "hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine",
    "scripting": "enabled", "display-mode": "browser", "update": "fast", "grid": "0",
}  # fmt: skip
_SIZES = {"width": WIDTH, "height": HEIGHT}


def _holds(query: Sequence[Any]) -> bool | None:
    said = {token.lower_value for token in query if token.type == "ident"}
    if said - {"screen", "all", "and", "only", "print", "speech", "not"}:
        return False
    known = [_feature_holds(significant(token.content)) for token in query if token.type == "() block"]
    if said & {"print", "speech"}:
        known = [False]
    holds = None if None in known else all(known)
    if holds is None:
        return False
    return True if holds != ("not" in said) else None


def _feature_holds(content: Sequence[Any]) -> bool | None:
    """Whether a feature holds; None where that is not known."""
    names = [token.lower_value for token in content if token.type == "ident"]
    if not names:
        return None
    if len(content) == 1:
        return _FEATURES[names[0]] not in ("none", "no-preference", "0") if names[0] in _FEATURES else None
    if names[0] in _FEATURES and content[1] == ":" and len(content) == 3:
        return bool(_FEATURES[names[0]] == str(getattr(content[2], "lower_value", content[2].serialize())))
    bound, _, name = names[0].rpartition("-")
    if content[1] == ":" and name in _SIZES and (value := number(content[-1])) is not None:
        return {"min": _SIZES[name] >= value, "max": _SIZES[name] <= value}.get(bound, _SIZES[name] == value)
    return _range_holds(content, names[0])


def _range_holds(content: Sequence[Any], name: str) -> bool | None:
    """The same of a range: ``(400px <= width < 900px)``."""
    sides: list[float | None] = [None]
    signs = [""]
    for token in content:
        if token.type == "literal":
            signs[-1] += token.value
        else:
            sides.append(_SIZES.get(name) if token.type == "ident" else number(token))
            signs.append("")
    pairs = list(zip(sides[1:], signs[1:], sides[2:], strict=False))
    if not pairs or any(one is None or other is None or sign not in _ORDER for one, sign, other in pairs):
        return None
    return all(_ORDER[sign](one, other) for one, sign, other in pairs)


_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
}  # fmt: skip
