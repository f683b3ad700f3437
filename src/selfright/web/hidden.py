"""What a page holds but does not show is no evidence: it is taken out before the page is read."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_DROPPED = frozenset(
    (
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "iframe",
        "object",
        "embed",
        "canvas",
        "audio",
        "video",
        "select",
    )
)
_CLASSES = frozenset(("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "d-none", "hidden"))
_ZERO = r"0*(?:\.0*)?(?:px|em|rem|pt|%|vw|vh)?\s*(?:!important)?\s*(?:;|$)"
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    rf"|(?<![\w-])(?:opacity\s*:\s*0?\.?0\d*\s*(?:!important)?\s*(?:;|$)|(?:font-size|zoom|max-height|max-width|height|width)\s*:\s*{_ZERO})"
    r"|(?<![\w-])font-size\s*:\s*[01](?:\.\d+)?px"
    r"|(?<![\w-])(?:left|right|top|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|transform\s*:[^;]*(?:scale[xy]?\(\s*0(?:\.0+)?\s*[,)]|translate[xy]?\(\s*-\d{3,})"
    r"|clip\s*:\s*rect\(\s*0|clip\s*:\s*rect\(1px|clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0)"
    r"|(?<![\w-])color\s*:\s*transparent"
)
_COLOUR = re.compile(r"(?<![\w-])(?:(color)|background(?:-color)?)\s*:\s*([^;!]+)")
_WHITE = frozenset(("white", "#fff", "#ffffff", "rgb(255,255,255)", "rgba(255,255,255,1)", "#ffff", "#ffffffff"))
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SIMPLE = re.compile(r"(?:[a-z][a-z0-9]*)?([.#][A-Za-z_][\w-]*)")
_SHEET_CHARACTERS = 300_000


def prune(root: "HtmlElement") -> None:
    """Removes what is not shown, as far as the page itself says so: attributes, styles in place, simple style rules.

    What other files or scripts hide is not known here. Text that follows a removed element stays.
    """
    names = _hidden_names(root)
    doomed = [element for element in root.iter() if isinstance(element.tag, str) and _is_hidden(element, names)]
    for element in doomed:
        if (parent := element.getparent()) is not None and element.tag not in ("html", "body"):
            _keep_tail(element, parent)
            parent.remove(element)


def _keep_tail(element: "HtmlElement", parent: "HtmlElement") -> None:
    before = element.getprevious()
    if not element.tail:
        return
    if before is None:
        parent.text = (parent.text or "") + element.tail
    else:
        before.tail = (before.tail or "") + element.tail


def _is_hidden(element: "HtmlElement", names: frozenset[str]) -> bool:
    attributes = element.attrib
    if element.tag in _DROPPED or "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    classes = (attributes.get("class") or "").split()
    if not _CLASSES.isdisjoint(classes):
        return True
    if names and (f"#{attributes.get('id')}" in names or any(f".{name}" in names for name in classes)):
        return True
    style = _COMMENT.sub("", (attributes.get("style") or "")[:2_000]).lower()
    return bool(style) and (_HIDING.search(style) is not None or _is_camouflaged(element, style))


def _is_camouflaged(element: "HtmlElement", style: str) -> bool:
    """Whether letters have the colour of what is behind them; a page without colours of its own is white."""
    colours = {bool(match[1]): re.sub(r"\s", "", match[2]) for match in _COLOUR.finditer(style)}
    colour, behind = colours.get(True), colours.get(False)
    if colour is None:
        return False
    if behind is not None:
        return colour == behind or {colour, behind} <= _WHITE
    return colour in _WHITE and not any(_has_background(above) for above in [element, *element.iterancestors()])


def _has_background(element: "HtmlElement") -> bool:
    return "background" in (element.get("style") or "").lower() or element.get("bgcolor") is not None


def _hidden_names(root: "HtmlElement") -> frozenset[str]:
    """Classes (``.name``) and ids (``#name``) that a style sheet within the page hides."""
    sheets = "\n".join(element.text or "" for element in root.iter("style"))[:_SHEET_CHARACTERS]
    found: set[str] = set()
    for rule in _COMMENT.sub("", sheets).split("}"):
        selectors, _, style = rule.rpartition("{")
        if selectors and _HIDING.search(style[:2_000].lower()):
            parts = selectors.rpartition("{")[2].split(",")
            found |= {match[1] for part in parts if (match := _SIMPLE.fullmatch(part.strip()))}
    return frozenset(found)
