"""What a web page holds but does not show, as far as the page itself says so.

Attributes, styles in place and simple rules of the page's own style sheets are read; what other files and scripts do is
not known here. Both who index pages and who fetch them from the web go by it.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_END = r"\s*(?:!important)?\s*(?:;|$)"
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    rf"|(?<![\w-])opacity\s*:\s*(?:0|0?\.0\d*){_END}"
    rf"|(?<![\w-])(?:font-size|zoom)\s*:\s*(?:0|[01]?\.\d+(?:px|pt)|[01](?:px|pt)|0?\.[01]\d*(?:em|rem)?|\d%)[a-z]{{0,3}}{_END}"
    r"|(?<![\w-])(?:left|right|top|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|transform\s*:[^;]*(?:scale[xy]?\(\s*0(?:\.0+)?\s*[,)]|translate[xy]?\(\s*-\d{3,})"
    r"|clip\s*:\s*rect\(\s*[01]|clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0)"
    r"|(?<![\w-])color\s*:\s*transparent|color\s*:\s*(?:rgb|hsl)a\([^)]*,\s*0(?:\.0+)?\s*\)"
)
_NO_ROOM = re.compile(rf"(?<![\w-])(?:max-)?(?:height|width)\s*:\s*[01]?(?:\.0+)?(?:px|em|rem|pt|%)?{_END}")
_CUT_OFF = re.compile(r"overflow(?:-[xy])?\s*:\s*(?:hidden|clip)")
_COLOUR = re.compile(r"(?<![\w-])color\s*:\s*([^;!]+)")
_BEHIND = re.compile(r"(?<![\w-])background(?:-color)?\s*:\s*([^;!]+)")
_RGB = re.compile(r"rgba?\((\d{1,3}),(\d{1,3}),(\d{1,3})")
_NAMED = {"white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240), "black": (0, 0, 0)}
_WHITE = (255, 255, 255)
_ALIKE = 12  # of 255: less than any eye tells apart in small print
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]{1,500})\{([^{}]{0,2000})\}")
_SIMPLE = re.compile(r"(?:[a-z][a-z0-9]*)?([.#][A-Za-z_][\w-]*)")
_SHEET_CHARACTERS = 300_000
_STYLE_CHARACTERS = 2_000

Colour = tuple[int, int, int]


def hidden_names(root: "HtmlElement") -> frozenset[str]:
    """Classes (``.name``) and ids (``#name``) that a style sheet within the page hides."""
    sheets = "\n".join(element.text or "" for element in root.iter("style"))[:_SHEET_CHARACTERS]
    found: set[str] = set()
    for selectors, body in _RULE.findall(_COMMENT.sub("", sheets)):
        if hides(body.lower()):
            found |= {match[1] for part in selectors.split(",") if (match := _SIMPLE.fullmatch(part.strip()))}
    return frozenset(found)


def is_hidden(element: "HtmlElement", names: frozenset[str] = frozenset()) -> bool:
    """Whether a reader of the page does not see the element; ``names`` are those of ``hidden_names``."""
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    if names and (
        f"#{element.get('id')}" in names or any(f".{name}" in names for name in (element.get("class") or "").split())
    ):
        return True
    style = _style(element)
    return hides(style) or _is_camouflaged(element, style)


def hides(style: str) -> bool:
    """Whether declarations (lower case) make what they apply to invisible whatever is around it."""
    return bool(style) and (
        _HIDING.search(style) is not None or (_CUT_OFF.search(style) is not None and _NO_ROOM.search(style) is not None)
    )


def _is_camouflaged(element: "HtmlElement", style: str) -> bool:
    """Whether letters have the colour of what is behind them; a page that names no colour is white."""
    said = _COLOUR.search(style)
    colour = _colour(said[1] if said else element.get("color") if element.tag == "font" else None)
    if colour is None:
        return False
    behind = next((found for above in (element, *element.iterancestors()) if (found := _behind(above))), _WHITE)
    return all(abs(a - b) <= _ALIKE for a, b in zip(colour, behind, strict=True))


def _behind(element: "HtmlElement") -> Colour | None:
    """The background the element sets; one that cannot be read (a picture, a name) counts as grey, like nothing."""
    said = _BEHIND.search(_style(element))
    if said is None and element.get("bgcolor") is None:
        return None
    return _colour(said[1] if said else element.get("bgcolor")) or (128, 128, 128)


def _colour(text: str | None) -> Colour | None:
    plain = re.sub(r"\s", "", (text or "").lower())
    if plain in _NAMED:
        return _NAMED[plain]
    if re.fullmatch(r"#[0-9a-f]{3,8}", plain):
        digits = plain[1:] if len(plain) >= 7 else "".join(2 * c for c in plain[1:4])
        return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
    match = _RGB.match(plain)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _style(element: "HtmlElement") -> str:
    return _COMMENT.sub("", (element.get("style") or "")[:_STYLE_CHARACTERS]).lower()
