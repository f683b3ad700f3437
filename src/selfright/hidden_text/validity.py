"""Which values browsers take: a declaration with another one is left out, and the one before it stays in force."""

from collections.abc import Mapping, Sequence
from typing import Any

from selfright.hidden_text.values import WIDE, colour_of, number, significant, words

_AUTO = frozenset("auto none normal min-content max-content fit-content stretch".split())
_BACKGROUND = _AUTO | frozenset(
    "repeat no-repeat repeat-x repeat-y round space center left right top bottom fixed scroll local cover contain text "
    "border-box padding-box content-box".split()
)
_OVERFLOW = frozenset("visible hidden clip scroll auto overlay".split())
_SYSTEM = frozenset(
    "currentcolor buttonface buttontext buttonborder highlight highlighttext linktext visitedtext activetext graytext "
    "mark marktext accentcolor accentcolortext selecteditem selecteditemtext".split()
)
_WORDS: Mapping[str, frozenset[str]] = {
    "display": frozenset(
        "none contents block inline run-in flow flow-root list-item table flex grid ruby math inline-block inline-flex "
        "inline-grid inline-table table-row table-cell table-column table-row-group table-header-group ruby-base "
        "table-footer-group table-column-group table-caption ruby-text -webkit-box -webkit-inline-box "
        "-webkit-flex -webkit-inline-flex".split()
    ),
    "visibility": frozenset(("visible", "hidden", "collapse")),
    "content-visibility": frozenset(("visible", "hidden", "auto")),
    "backface-visibility": frozenset(("visible", "hidden")),
    "position": frozenset(("static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky")),
    "contain": frozenset("none strict content size inline-size layout style paint".split()),
    "font-size": frozenset(
        "xx-small x-small small medium large x-large xx-large xxx-large smaller larger math".split()
    ),
    "text-indent": frozenset(("hanging", "each-line")),
    "rotate": frozenset(("none", "x", "y", "z")),
    "clip": frozenset(("auto",)),
    "background": _BACKGROUND,
    "background-clip": _BACKGROUND | {"border-area"},
    **dict.fromkeys(("overflow", "overflow-x", "overflow-y", "overflow-block", "overflow-inline"), _OVERFLOW),
}
_ALONE = frozenset(("none", "contents", "inline-block", "inline-flex", "inline-grid", "inline-table"))
_NOT_NEGATIVE = ("width", "height", "size", "line-height", "padding")
_FREE = ("font", "clip-path", "transform", "filter")  # words in them are names of families and boxes


def is_valid(name: str, value: Sequence[Any]) -> bool:
    """Whether a browser takes ``value`` for the property; what stands in place of variables is not known yet."""
    tokens = significant(value)
    if any(token.type == "function" and token.lower_name in ("var", "env", "attr", "if") for token in tokens):
        return True
    said = words(tokens)
    if said & WIDE or (name == "display" and said & _ALONE):
        return len(tokens) == 1
    others = [t for t in tokens if t.type == "ident" and t.lower_value not in _WORDS.get(name, _AUTO)]
    if name in _FREE:
        return len(tokens) > 1 or not others
    if "color" in name or name.startswith("background"):
        return all(token.lower_value in _SYSTEM or colour_of([token]) is not None for token in others)
    if others or (name.endswith(_NOT_NEGATIVE) and any((number(token) or 0.0) < 0 for token in tokens)):
        return False
    return all(number(token) is not None for token in tokens if token.type == "dimension")
