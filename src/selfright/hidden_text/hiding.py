"""Which declarations make text invisible: by themselves, or by the colours and the size that it inherits."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from selfright.hidden_text.values import HEIGHT, VISIBLE, WIDTH, Colour, behind_of, colour_of, commas, number, words

Declared = Mapping[str, Sequence[Any]]
"""The tokens of each property, without blanks and comments."""

_ALIKE = 12 / 255  # less than any eye tells apart in small print
_TINY, _NARROW = 3.0, 2.0  # pixels
_BESIDE = 100.0  # pixels by which a fixed box lies outside of the window
_AWAY, _FAR = 500.0, 5_000.0  # pixels to the left or above, where nobody can scroll; to the right or below
_EDGES = ("top", "right", "bottom", "left")
_SIDES = (
    "left", "right", "top", "bottom", "inset", "inset-inline", "inset-block", "inset-inline-start", "inset-inline-end",
    "inset-block-start", "inset-block-end", "margin", "margin-left", "margin-top", "margin-right", "margin-bottom",
    "margin-inline-start", "margin-block-start", "margin-inline", "margin-block", "padding", "padding-left",
    "padding-top", "padding-inline-start", "text-indent", "word-spacing",
)  # fmt: skip
_ROOM = ("height", "width", "max-height", "max-width", "block-size", "inline-size", "max-block-size", "max-inline-size")
_CUT = ("hidden", "clip", "auto", "scroll", "strict", "paint", "content")
_CUTTING = ("overflow", "overflow-x", "overflow-y", "overflow-block", "overflow-inline", "contain")
_NOTHING = (-1.0, -1.0, -1.0)  # no background
_NOT_DISPLAYED = {"none", "table-column", "table-column-group"}
_TEXT_COLOURS = ("color", "-webkit-text-fill-color")
PROPERTIES = frozenset((
    *_SIDES, *_ROOM, *_CUTTING, *_TEXT_COLOURS, "display", "visibility", "content-visibility", "opacity", "filter",
    "zoom", "scale", "translate", "rotate", "transform", "backface-visibility", "clip", "clip-path",
    "position", "font", "font-size", "line-height", "letter-spacing", "font-size-adjust", "background",
    "background-color", "background-image", "background-clip",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """What an element hands down: the colour of letters and what is behind them (None: unknown), their size.

    A page that names no background is white, but letters whose colour it leaves open have another than what is behind.
    """

    colour: Colour | None = None
    behind: Colour | None = (1.0, 1.0, 1.0)
    size: float = 16.0
    opacity: float = 1.0  # and the scale, of the element and of all around it
    scale: float = 1.0
    visible: bool = True
    painted: bool = True
    variables: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def shows_text(self) -> bool:
        """Whether letters that stand here can be read."""
        alike = (
            self.colour is not None
            and self.behind is not None
            and all(abs(a - b) <= _ALIKE for a, b in zip(self.colour, self.behind, strict=True))
        )
        is_painted = self.visible and self.painted and self.opacity >= VISIBLE
        return is_painted and self.size * self.scale >= _TINY and not alike

    def reveal(self) -> "Look":
        """The same, seen."""
        return replace(self, visible=True, painted=True)

    def within(self, declared: Declared, variables: Mapping[str, Sequence[Any]]) -> "Look":
        """The look of an element that declares this."""
        behind = behind_of(declared, self.behind)
        look = replace(
            self,
            behind=behind,
            size=_size(declared, self.size),
            variables=variables,
            opacity=self.opacity * _opacity(declared),
            scale=self.scale * min([1.0, *(abs(factor) for factor in _scales(declared))]),
        )
        said = words(declared.get("visibility", ()))
        if said and said <= {"visible", "hidden", "collapse", "initial"}:
            look = replace(look, visible=not said & {"hidden", "collapse"})
        is_cut_out = "text" in words(declared.get("background-clip", declared.get("background", ())))
        for name in _TEXT_COLOURS:
            if name in declared and (found := colour_of(declared[name])) is not None:
                colour, alpha = found
                look = replace(look, colour=colour, painted=alpha >= VISIBLE or is_cut_out)
        if is_cut_out:  # letters through which only the background is seen
            own = behind_of(declared, _NOTHING)
            return replace(look, colour=own, behind=self.behind, painted=own != _NOTHING)
        if "currentcolor" in words([*declared.get("background-color", ()), *declared.get("background", ())]):
            return replace(look, painted=False)
        return look


def hides(declared: Declared, size: float = 16.0) -> bool:
    """Whether declarations make an element and all within it invisible. ``size`` is that of its letters, in pixels."""
    return bool(declared) and (
        bool(words(declared.get("display", ())) & _NOT_DISPLAYED)
        or "hidden" in words(declared.get("content-visibility", ()))
        or _opacity(declared) < VISIBLE
        or _is_away(declared, size)
        or _is_turned_away(declared, size)
        or _is_clipped(declared, size)
        or _has_no_room(declared, size)
        or any((number(token, size) or 0.0) <= -0.8 * size for token in declared.get("letter-spacing", ()))
    )


def _first(tokens: Sequence[Any], size: float, whole: float = 1.0) -> float | None:
    return number(tokens[0], size, whole) if tokens else None


def _functions(tokens: Sequence[Any], *names: str) -> list[tuple[str, list[list[Any]]]]:
    found = [token for token in tokens if token.type == "function" and token.lower_name.startswith(names)]
    return [(token.lower_name, commas(token.arguments)) for token in found]


def _opacity(declared: Declared) -> float:
    """How much of it is seen (0…1)."""
    shown = [_first(declared.get("opacity", ()), 16.0)]
    shown += [_first(part, 16.0) for _, parts in _functions(declared.get("filter", ()), "opacity") for part in parts]
    adjusted = _first(declared.get("font-size-adjust", ()), 16.0)
    is_tiny = adjusted is not None and adjusted < VISIBLE
    return 0.0 if is_tiny else math.prod(max(0.0, min(1.0, value)) for value in shown if value is not None)


def _is_away(declared: Declared, size: float) -> bool:
    sides = {name: declared.get(name, ()) for name in _SIDES}
    if inset := [(token,) for token in sides.pop("inset")]:
        sides |= dict(zip(_EDGES, (*inset, *inset[max(0, len(inset) - 2) :], *inset, *inset), strict=False))
    is_fixed = "fixed" in words(declared.get("position", ()))
    for name, tokens in sides.items():
        whole = HEIGHT if name in ("top", "bottom") else WIDTH
        # Nobody can scroll to what a fixed box shows outside of the window.
        least = _BESIDE if is_fixed and name in ("bottom", "right") else _AWAY
        most = whole if is_fixed and name in _EDGES else _FAR
        values = [value for token in tokens if (value := number(token, size, whole)) is not None]
        if any(value <= -least or value >= most for value in values):
            return True
    beyond = [token for token in sides["right"] if token.type != "percentage"]
    if any((number(token, size, WIDTH) or 0.0) >= WIDTH for token in beyond):
        return True
    indent = _first(declared.get("text-indent", ()), size, WIDTH)
    return indent is not None and indent >= WIDTH and _is_cut(declared)


def _is_turned_away(declared: Declared, size: float) -> bool:
    """Scaled to nothing, moved out of the window, or seen from the edge or from behind."""
    tokens = declared.get("transform", ())
    moved = [part for _, parts in _functions(tokens, "translate") for part in parts] + [
        [token] for token in declared.get("translate", ())
    ]
    lengths = [value for part in moved if (value := _first(part, size, WIDTH)) is not None]
    for _, parts in _functions(tokens, "matrix"):
        values = [_first(part, size) or 0.0 for part in parts]
        lengths += values[12:14] if len(values) == 16 else values[4:6]
    turns = _turns(declared, size)
    backwards = "hidden" in words(declared.get("backface-visibility", ()))
    return (
        any(abs(value) >= 2 * _AWAY for value in lengths)
        or any(abs(value) < 0.05 for value in _scales(declared))
        or any(abs(value % 180 - 90) < 1 or (backwards and 90 < value % 360 < 270) for value in turns)
    )


def _scales(declared: Declared) -> list[float]:
    """The factors by which it is shown larger or smaller, along any axis."""
    functions = _functions(declared.get("transform", ()), "scale", "matrix")
    factors = [value for name, parts in functions for value in _factors(name, parts)]
    factors += [value for token in declared.get("scale", ()) if (value := number(token)) is not None]
    zoom = _first(declared.get("zoom", ()), 16.0)
    return [*factors, zoom] if zoom else factors  # 0 is normal


def _factors(name: str, parts: list[list[Any]]) -> list[float]:
    values = [value for part in parts if (value := _first(part, 16.0)) is not None]
    if name.startswith("matrix"):
        side = 4 if len(values) == 16 else 2
        area = values[0] * values[side + 1] - values[1] * values[side] if len(values) in (6, 16) else 1.0
        return [math.sqrt(abs(area))]
    return values[:2]


def _turns(declared: Declared, size: float) -> list[float]:
    """Angles by which it is turned about an axis in its plane, or slanted."""
    functions = _functions(declared.get("transform", ()), "rotatex", "rotatey", "rotate3d", "skew")
    turned, single = declared.get("rotate", ()), ("rotatex", "rotatey", "skewx", "skewy", "skew")
    parts = [part for name, given in functions for part in (given if name in single else given[3:])]
    is_about_axis = words(turned) & {"x", "y"} or (len(turned) == 4 and not number(turned[2]))
    parts += [[turned[-1]], [turned[0]]] if is_about_axis else []
    return [value for part in parts if (value := _first(part, size)) is not None]


def _is_clipped(declared: Declared, size: float) -> bool:
    for _, parts in _functions(declared.get("clip", ()), "rect"):
        flat = [token for part in parts for token in part]
        top, right, bottom, left = ([number(token, size) for token in flat] + [None] * 4)[:4]
        if any(b is not None and b - (a or 0.0) <= _NARROW for a, b in ((top, bottom), (left, right))):
            return True
    shapes = _functions(declared.get("clip-path", ()), "inset", "circle", "ellipse", "polygon", "rect", "xywh")
    return any(_is_empty(name, parts, size) for name, parts in shapes)


def _is_empty(name: str, parts: list[list[Any]], size: float) -> bool:
    """Whether nothing is within a basic shape; shares are of 100 pixels."""
    points = [[value for token in part if (value := number(token, size, 100.0)) is not None] for part in parts]
    if name == "polygon":
        axes = [{round(point[axis], 3) for point in points if len(point) == 2} for axis in (0, 1)]
        return any(len(axis) == 1 or max(axis, default=1.0) <= 0 for axis in axes)
    places = [value for token in parts[0] if (value := number(token, size, 100.0)) is not None]
    if name in ("circle", "ellipse") and any(value <= -_AWAY or value >= _FAR for value in places):
        return True
    until = next((n for n, token in enumerate(parts[0]) if token.type == "ident"), len(parts[0]))  # "at", "round"
    values = [value for token in parts[0][:until] if (value := number(token, size, 100.0)) is not None]
    if name == "inset" and values:
        top, right, bottom, left = [*values, values[1]] if len(values) == 3 else (values * 4)[:4]
        return top + bottom >= 100 - _NARROW or left + right >= 100 - _NARROW
    if name in ("rect", "xywh"):
        first, second, third, fourth = (values * 4)[:4] if values else (0.0, 0.0, 100.0, 100.0)
        return min((third - first, second - fourth) if name == "rect" else (third, fourth)) <= _NARROW
    return name in ("circle", "ellipse") and bool(values) and min(values) <= _NARROW


def _is_cut(declared: Declared) -> bool:
    return any(words(declared.get(name, ())) & set(_CUT) for name in _CUTTING)


def _has_no_room(declared: Declared, size: float) -> bool:
    room = [
        value for name in (*_ROOM, "line-height") if (value := _first(declared.get(name, ()), size, WIDTH)) is not None
    ]
    thin = _first(declared.get("line-height", ()), size)
    return _is_cut(declared) and any(value < _NARROW for value in room if value != thin or value <= 0.1)


def _size(declared: Declared, above: float) -> float:
    """Of the shorthand ``font`` the first length, which stands before the slash."""
    lengths = [token for token in declared.get("font", ()) if token.type in ("dimension", "percentage", "function")]
    zero = [token for token in declared.get("font", ()) if token.type == "number" and not token.value]
    for tokens in (declared.get("font-size", ()), [*zero, *lengths]):
        if (value := _first(tokens, above, above)) is not None:
            return max(0.0, value)
    return above
