"""Colours of letters and of what is behind them, as far as a style sheet says them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tinycss2.color4 import parse_color

Colour = tuple[float, float, float]
"""Red, green and blue from 0 to 1."""

VISIBLE = 0.1  # of full opacity
_SYSTEM = {"canvas": (1.0, 1.0, 1.0), "field": (1.0, 1.0, 1.0), "canvastext": (0.0, 0.0, 0.0)}
_GREY = 0.02  # how colourful a grey may be, of 1


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
