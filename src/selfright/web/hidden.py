"""What a page holds but does not show is no evidence: it is taken out before the page is read."""

from typing import TYPE_CHECKING

from selfright.domain.html_visibility import hidden_names, is_hidden

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


def prune(root: "HtmlElement") -> None:
    """Removes what is not shown, as far as the page itself says so: attributes, styles in place, simple style rules.

    What other files or scripts hide is not known here. Text that follows a removed element stays.
    """
    names = hidden_names(root)
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
    classes = (element.get("class") or "").split()
    return element.tag in _DROPPED or not _CLASSES.isdisjoint(classes) or is_hidden(element, names)
